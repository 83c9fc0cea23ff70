// Translators: what the members of one type are in terms of a value of another, and `xlate`. D's own library of them is
// D text, of which a script reads what it names.
import { dDeclarations } from "../../messages/d-declarations.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression, TypeName } from "../program.ts";
import { libraryTranslators } from "./stable-types.ts";
import { tokensOf, type Token } from "./tokens.ts";
import { beginsType, isIncomplete, typeName } from "./type-names.ts";
import { isNumber, knownType, spelledType } from "./types.ts";
import { unfit } from "./prototypes.ts";
import type { Translator, Unit } from "./unit.ts";

/** Reads an expression at the unit's cursor. */
export type ReadExpression = (unit: Unit) => Expression;

/** Values of translated types: only their members are ever made. */
const translated = new WeakMap<
  Expression,
  { readonly type: string; readonly from: Translator; readonly of: Expression }
>();

/** `read`: members are read as they are declared, so that their types are looked at. `translator psinfo_t < struct task_struct *T > { pr_pid = T->tgid; … };` */
export function declareTranslator(unit: Unit, read?: ReadExpression): void {
  const p = unit.cursor;
  const first = p.advance();
  const output = translatedType(unit);
  if (knownType(output) !== undefined) p.fail(dDeclarations.translatorOutput(), p.from(first));
  if (isIncomplete(unit, output)) p.fail(dDeclarations.incompleteOutput(spelledType(output)), p.from(first));
  const type = spelled(output);
  p.expect("<");
  if (!namesType(unit)) p.unexpected("a type");
  const input = typeName(unit, noConstant(unit));
  const { text: parameter } = p.expectName("a name for what is translated");
  p.expect(">");
  p.expect("{");
  const members = new Map<string, readonly Token[]>();
  while (!p.accept("}")) {
    const name = p.token;
    const { text } = p.expectName("a member's name");
    const struct = ownStruct(unit, spelled(output));
    if (struct !== undefined && !struct.members.some((one) => one.name === text))
      p.fail(dDeclarations.translatorMember(text, spelled(output)), name);
    p.expect("=");
    const words: Token[] = [];
    while (!p.at(";")) {
      if (p.token.kind === "end") p.unexpected("`;`");
      words.push(p.advance());
    }
    p.advance();
    members.set(text, words);
    const type = struct === undefined ? undefined : declaredMember(unit, spelled(output), text);
    if (type === undefined || read === undefined) continue;
    const span = unit.cursor.from(name);
    const given = unit.typed(nodes.cast(input, nodes.integer(0, span), span), knownType(input));
    const value = withParameters(unit, [[parameter, given]], () =>
      unit.reading(p.elsewhere(words, span), () => read(unit)),
    );
    const known = unit.known(value);
    if (unfit(type, known, value))
      p.fail(dDeclarations.translatorMemberType(text, spelledType(type), spelledType(known!)), name);
  }
  p.expect(";");
  if (unit.translators.has(type)) p.fail(dDeclarations.translatorTwice(spelledType(input), type), p.from(first));
  unit.translators.set(type, { parameter, input, members });
}

/** `xlate <psinfo_t *> (curthread)`, behind the word. */
export function xlate(unit: Unit, start: Span, read: ReadExpression): Expression {
  const p = unit.cursor;
  p.expect("<");
  const type = spelled(translatedType(unit));
  p.expect(">");
  p.expect("(");
  const of = read(unit);
  p.expect(")");
  return translate(unit, type, of, p.from(start));
}

export function translate(unit: Unit, type: string, of: Expression, span: Span): Expression {
  const known = unit.translators.get(type) ?? ofLibrary(unit, type, span);
  if (known === undefined) return unit.cursor.fail(dDeclarations.noTranslator(fromType(unit, of), type), span);
  const given = unit.known(of);
  const wanted = knownType(known.input);
  if (given !== undefined && (wanted === undefined || (wanted === "string") !== (given === "string")))
    return unit.cursor.fail(dDeclarations.noTranslator(fromType(unit, of), type), span);
  const e = nodes.word(`xlate <${type}>`, span);
  translated.set(e, { type, from: known, of });
  return e;
}

/** A name that is no type's is as any other word there. */
function translatedType(unit: Unit): TypeName {
  const { text } = unit.cursor.token;
  if (!namesType(unit) && !unit.translators.has(text) && !Object.hasOwn(libraryTranslators, text))
    unit.cursor.unexpected("a type");
  return typeName(unit, noConstant(unit));
}

/** Whether the word may name a type: one of D, of the script or of the kernel. */
function namesType(unit: Unit): boolean {
  const { kind, text } = unit.cursor.token;
  return kind !== "identifier" || beginsType(unit) || unit.given.machine?.hasType?.(text) !== false;
}

/** A translated value as a whole, of which only members are values. */
export function isTranslated(e: Expression): boolean {
  return translated.has(e);
}

function fromType(unit: Unit, of: Expression): string | undefined {
  const known = unit.known(of);
  return known === undefined ? undefined : spelledType(known);
}

function ofLibrary(unit: Unit, type: string, span: Span): Translator | undefined {
  const text = Object.hasOwn(libraryTranslators, type) ? libraryTranslators[type] : undefined;
  if (text === undefined) return undefined;
  unit.reading(unit.cursor.elsewhere(tokensOf(text), span), () => declareTranslator(unit));
  return unit.translators.get(type);
}

/** A member of a translated value; undefined for any other value. */
export function translatedMember(
  object: Expression,
  name: string,
  span: Span,
  unit: Unit,
  read: ReadExpression,
): Expression | undefined {
  const found = translated.get(object);
  if (found === undefined) return undefined;
  const { type, from, of } = found;
  const words = from.members.get(name);
  if (words === undefined) return unit.cursor.fail(dDeclarations.noMember(type, name, [...from.members.keys()]), span);
  const value = withParameters(unit, [[from.parameter, nodes.cast(from.input, of, span)]], () =>
    unit.reading(unit.cursor.elsewhere(words, span), () => read(unit)),
  );
  const known = declaredMember(unit, type, name);
  return isNumber(known) && unit.known(value) !== known ? unit.cast(known, value, span) : value;
}

/** An expression of D text that stands for something in the script at a place. */
export function readText(
  unit: Unit,
  text: string,
  span: Span,
  read: ReadExpression,
  parameters: readonly (readonly [name: string, value: Expression])[] = [],
): Expression {
  return withParameters(unit, parameters, () =>
    unit.reading(unit.cursor.elsewhere(tokensOf(text), span), () => read(unit)),
  );
}

/** Names stand for values while something is read. */
export function withParameters<T>(
  unit: Unit,
  parameters: readonly (readonly [name: string, value: Expression])[],
  read: () => T,
): T {
  const before = parameters.map(([name]) => unit.inlines.get(name));
  for (const [name, value] of parameters) unit.inlines.set(name, { value, known: unit.known(value) });
  try {
    return read();
  } finally {
    for (const [i, [name]] of parameters.entries()) {
      const own = before[i];
      if (own === undefined) unit.inlines.delete(name);
      else unit.inlines.set(name, own);
    }
  }
}

function declaredMember(unit: Unit, type: string, name: string): ReturnType<typeof knownType> {
  const struct = ownStruct(unit, type);
  const member = struct?.members.find((one) => one.name === name);
  return member === undefined || !("pointers" in member.type) ? undefined : knownType(member.type);
}

/** A struct or union that the script declares. */
function ownStruct(unit: Unit, type: string): Unit["structs"][number] | undefined {
  return unit.structs.find((one) => type === `${one.union ? "union" : "struct"} ${one.name}`);
}

/** Pointers to a translated type are what it is. */
function spelled({ tag, name }: TypeName): string {
  return tag === undefined ? name : `${tag} ${name}`;
}

function noConstant(unit: Unit): () => bigint {
  return () => unit.cursor.unexpected("a type without dimensions");
}
