// Declarations: variables, types, inline definitions, providers.
import { dDeclarations } from "../../messages/d-declarations.ts";
import type { Message } from "../../messages/message.ts";
import * as nodes from "../nodes.ts";
import type { TypeName } from "../program.ts";
import { constant as readConstant, expression } from "./expressions.ts";
import { kindOfFunction } from "./names.ts";
import type { Token } from "./tokens.ts";
import { declareTranslator, withParameters } from "./translators.ts";
import {
  baseType,
  beginsType,
  declarator,
  forward,
  isIncomplete,
  storageClasses,
  typeName,
  type ReadConstant,
} from "./type-names.ts";
import { knownType, named, spelledType } from "./types.ts";
import type { Unit } from "./unit.ts";
import { isBuiltIn } from "./variables.ts";

export function declares(unit: Unit): boolean {
  const p = unit.cursor;
  const { token } = p;
  if (token.kind !== "identifier") return false;
  const next = p.peek();
  if (token.text === "provider") return next.kind === "identifier" || next.kind === "number";
  if (["inline", "typedef", "translator", "extern", "static", "auto", "register"].includes(token.text))
    return next.kind === "identifier";
  if (token.text === "self" || token.text === "this") return next.kind === "identifier";
  if (["struct", "union", "enum"].includes(token.text)) return next.kind === "identifier" || next.text === "{";
  return beginsType(unit) && (next.kind === "identifier" || ["*", ";", "("].includes(next.text));
}

export function declaration(unit: Unit): void {
  const p = unit.cursor;
  const first = p.token;
  const constant = (refused?: Message): bigint => readConstant(unit, refused);
  switch (first.text) {
    case "inline":
      return inline(unit);
    case "translator":
      return declareTranslator(unit, expression);
    case "provider":
      return provider(unit);
    default:
  }
  const before = storageClass(unit);
  if (p.atWord("inline")) p.unexpected("a type");
  const base = withoutType(unit, before) ?? baseType(unit, constant);
  // Behind the type it is one, too.
  if (before !== "" && storageClasses.has(p.token.text)) p.fail(dDeclarations.storageClasses(), first);
  const storage = before === "" ? storageClass(unit) : before;
  const table = storage === "self" ? unit.thread : storage === "this" ? unit.event : unit.globals;
  if (p.at(";") && (storage !== "" || base.tag === undefined))
    p.fail(dDeclarations.uselessDeclaration(), p.from(first));
  if (p.accept(";")) return;
  do {
    const { name, type: written, keys, span } = declarator(unit, base, constant);
    const type = forward(unit, written);
    // D has no functions of scripts' own: what is declared cannot be called.
    if (p.at("(")) {
      parameters(unit, constant);
      continue;
    }
    if (table === unit.event && keys !== undefined) p.fail(dDeclarations.localAssociativeArray(name), span);
    if (storage === "typedef") {
      if (unit.typedefs.has(name)) p.fail(dDeclarations.typedefRedeclared(name), span);
      if (unit.globals.has(name)) p.fail(dDeclarations.typedefOfVariable(name), span);
      unit.typedefs.set(name, type);
      continue;
    }
    if (type.name === "void" && type.pointers === 0)
      p.fail(isList(type) ? dDeclarations.voidArray() : dDeclarations.voidObject(name), span);
    if (isIncomplete(unit, type))
      p.fail(dDeclarations.incompleteMember(spelledType({ ...type, dimensions: [] }), name), span);
    if (table === unit.globals && (unit.typedefs.has(name) || unit.constants.has(name)))
      p.fail(dDeclarations.namesType(name), span);
    if (table === unit.globals && (isBuiltIn(name) || kindOfFunction(unit, name) !== undefined))
      p.fail(dDeclarations.builtinRedeclared(name), span);
    const known = table.get(name);
    if (known !== undefined) {
      const [now, then] = [
        [keys, type],
        [known.keyTypes, known.type],
      ].map(([keyed, of]) => spelledVariable(keyed !== undefined, of as TypeName | undefined));
      if (now !== then) p.fail(dDeclarations.redeclared(name, now, then), span);
      continue;
    }
    const array = keys !== undefined || isList(type);
    const element = array && keys === undefined ? { ...type, dimensions: [] } : type;
    const inMemory =
      (type.tag === "struct" ||
        type.tag === "union" ||
        // Variables of a clause have no keys.
        (keys === undefined &&
          isList(type) &&
          (table === unit.event || (table === unit.globals && unit.addressed.has(name))))) &&
      type.pointers === 0 &&
      type.behind === undefined;
    if (inMemory) {
      table.set(name, {
        known: knownType(element),
        keyed: keys !== undefined,
        declared: true,
        type,
        ...unit.memory(type),
      });
      continue;
    }
    const dimensions = keys === undefined && array ? { dimensions: type.dimensions.length } : {};
    table.set(name, {
      known: knownType(element),
      keyed: array,
      declared: true,
      type,
      ...dimensions,
      ...(keys === undefined ? {} : { keyTypes: keys }),
    });
  } while (p.accept(","));
  p.expect(";");
}

/** `self x;` is an integer. */
function withoutType(unit: Unit, storage: string): TypeName | undefined {
  const { token } = unit.cursor;
  const isName = token.kind === "identifier" && !beginsType(unit) && [";", ",", "["].includes(unit.cursor.peek().text);
  return isName && (storage === "self" || storage === "this") ? named("int32", token) : undefined;
}

function spelledVariable(keyed: boolean, type: TypeName | undefined): string {
  const of = type === undefined ? "" : spelledType({ ...type, dimensions: [] });
  const sizes = type !== undefined && isList(type) ? type.dimensions.map((size) => `[${size}]`).join("") : "";
  return `${keyed ? "associative array" : "scalar"} ${of}${sizes === "" ? "" : ` ${sizes}`}`;
}

/** `self`, `typedef` or another word in front of a declaration; "" without one. */
function storageClass({ cursor: p }: Unit): string {
  const { text } = p.token;
  if (!storageClasses.has(text)) return "";
  const first = p.advance();
  if (storageClasses.has(p.token.text)) p.fail(dDeclarations.storageClasses(), first);
  if (["static", "auto", "register"].includes(text)) p.fail(dDeclarations.storageClass("in D"), first);
  return text;
}

/** `(int, char *)` of a function. */
function parameters(unit: Unit, constant: ReadConstant): void {
  const p = unit.cursor;
  const first = p.expect("(");
  const names = new Set<string>();
  let count = 0;
  let empty = false;
  if (!p.at(")"))
    do {
      if (p.accept("...")) break;
      if (p.atWord("self") || p.atWord("this")) p.unexpected("a type");
      if (storageClasses.has(p.token.text)) p.fail(dDeclarations.parameterClass());
      const type = typeName(unit, constant);
      const named = p.token.kind === "identifier";
      const { name = "", keys } = named ? declarator(unit, type, constant) : {};
      count++;
      if (named && names.has(name)) p.fail(dDeclarations.parameterTwice(name, count), first);
      names.add(name);
      if (keys !== undefined) p.fail(dDeclarations.parameterType("function", "dynamic variable", name, count), first);
      if (type.name !== "void" || type.pointers > 0) continue;
      if (named) p.fail(dDeclarations.voidParameterName(name), first);
      empty = true;
    } while (p.accept(","));
  if (empty && count > 1) p.fail(dDeclarations.voidParameter(), first);
  p.expect(")");
}

function isList({ dimensions, name }: TypeName): boolean {
  return dimensions.length > 0 && name !== "string";
}

/** Bytes of a probe's name, its end included. */
const longestProbeName = 64;

/** `provider x { probe y(int); };`: probes of programs are found in the programs. */
function provider(unit: Unit): void {
  const p = unit.cursor;
  p.advance();
  const { text, ...span } = p.expectName("a provider's name");
  if (/\d$/.test(text)) p.fail(dDeclarations.providerDigit(text), span);
  const probes = new Set<string>();
  p.expect("{");
  while (!p.at("}")) {
    if (!p.acceptWord("probe")) p.unexpected("a probe");
    const probe = p.expectName("a probe's name");
    if (probe.text.length >= longestProbeName)
      p.fail(dDeclarations.probeLength(probe.text, longestProbeName - 1), probe);
    if (probes.has(probe.text)) p.fail(dDeclarations.probeTwice(text, probe.text.replaceAll("__", "-")), probe);
    probes.add(probe.text);
    parameters(unit, (refused) => readConstant(unit, refused));
    // What it is translated to.
    if (p.accept(":")) parameters(unit, (refused) => readConstant(unit, refused));
    p.expect(";");
  }
  p.expect("}");
  p.expect(";");
}

/** `inline int N = 5;`, `inline int f[int n] = n * 2;` */
function inline(unit: Unit): void {
  const p = unit.cursor;
  p.advance();
  const constant = (): bigint => readConstant(unit);
  if (storageClasses.has(p.token.text)) p.fail(dDeclarations.storageClass("for inline declaration"));
  const base = baseType(unit, constant);
  const { name, type, keys, keyNames = [], span } = declarator(unit, base, constant);
  if (unit.globals.has(name) || isBuiltIn(name)) p.fail(dDeclarations.inlineRedefines(name), span);
  if (unit.inlines.has(name)) p.fail(dDeclarations.inlineRedefines(name, "inline"), span);
  if (type.name === "void" && type.pointers === 0) p.fail(dDeclarations.voidInline(name), span);
  p.expect("=");
  const known = knownType(type);
  if (keys !== undefined) {
    const words: Token[] = [];
    for (let depth = 0; depth > 0 || !p.at(";");) {
      if (p.token.kind === "end") p.unexpected("`;`");
      depth += p.at("(") || p.at("[") ? 1 : p.at(")") || p.at("]") ? -1 : 0;
      words.push(p.advance());
    }
    p.expect(";");
    const parameters = keys.map((key, i) => ({ name: keyNames[i] ?? "", type: key }));
    // Read once for its mistakes, of which it has as many where nobody uses it.
    const some = parameters.map((one) => [one.name, unit.typed(nodes.integer(0, span), knownType(one.type))] as const);
    withParameters(unit, some, () => unit.reading(p.elsewhere(words, span), () => expression(unit)));
    unit.inlines.set(name, { value: nodes.integer(0, span), known, parameters, words });
    return;
  }
  const value = expression(unit);
  p.expect(";");
  const own = unit.known(value);
  const whole = (type.tag === "struct" || type.tag === "union") && type.pointers === 0;
  if (own !== undefined && (whole || (known !== undefined && (known === "string") !== (own === "string"))))
    p.fail(dDeclarations.inlineType(name, spelledType(type), spelledType(own)), span);
  const given = unit.known(value);
  unit.inlines.set(name, {
    value: known === undefined || known === "string" || known === given ? value : unit.cast(known, value),
    known: known ?? given,
  });
}
