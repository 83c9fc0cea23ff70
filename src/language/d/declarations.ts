// Declarations: variables, types, inline definitions, providers.
import { dDeclarations } from "../../messages/d-declarations.ts";
import type { Message } from "../../messages/message.ts";
import * as nodes from "../nodes.ts";
import type { TypeName } from "../program.ts";
import { constant as readConstant, expression } from "./expressions.ts";
import type { Token } from "./tokens.ts";
import { declareTranslator } from "./translators.ts";
import { baseType, beginsType, declarator, typeName, type ReadConstant } from "./type-names.ts";
import { knownType, spelledType } from "./types.ts";
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
  const pointsToFunction = next.text === "(" && p.peek(2).text === "*";
  return beginsType(unit) && (next.kind === "identifier" || next.text === "*" || next.text === ";" || pointsToFunction);
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
  const storage = storageClass(unit);
  if (p.atWord("inline")) p.unexpected("a type");
  const table = storage === "self" ? unit.thread : storage === "this" ? unit.event : unit.globals;
  const base = baseType(unit, constant);
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
    if (table === unit.globals && isBuiltIn(name)) p.fail(dDeclarations.builtinRedeclared(name), span);
    const before = table.get(name);
    if (before !== undefined) {
      const [now, then] = [type, before.type].map((one) => (one === undefined ? "" : spelledType(one)));
      if (now !== then || before.keyed !== (keys !== undefined || isList(type)))
        p.fail(dDeclarations.redeclared(name, `scalar ${now}`, `scalar ${then}`), span);
      continue;
    }
    const array = keys !== undefined || isList(type);
    const element = array && keys === undefined ? { ...type, dimensions: [] } : type;
    const inMemory =
      (type.tag === "struct" ||
        type.tag === "union" ||
        // Variables of a clause have no keys.
        (table === unit.event && keys === undefined && isList(type)) ||
        (table === unit.globals && unit.addressed.has(name))) &&
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

/** A pointer to a struct that neither the script nor the kernel has: an address, whose name is kept. */
function forward(unit: Unit, type: TypeName): TypeName {
  const { pointers, tag, name } = type;
  if (pointers === 0 || !isIncomplete(unit, { ...type, pointers: 0 })) return type;
  const { tag: _, ...rest } = type;
  return { ...rest, name: "void", alias: `${tag} ${name}` };
}

/** A struct, union or enum as a whole that neither the script nor the kernel has. */
function isIncomplete({ structs, enums, given }: Unit, { tag, name, pointers }: TypeName): boolean {
  if (tag === undefined || pointers > 0) return false;
  if (structs.some((one) => one.name === name) || enums.some((one) => one.name === name)) return false;
  return given.machine?.hasType?.(name, tag) === false;
}

/** `self`, `typedef` or another word in front of a declaration; "" without one. */
function storageClass({ cursor: p }: Unit): string {
  const { text } = p.token;
  if (!storageClasses.has(text)) return "";
  const first = p.advance();
  if (storageClasses.has(p.token.text)) p.fail(dDeclarations.storageClasses(), first);
  if (["static", "auto", "register"].includes(text)) p.fail(dDeclarations.storageClass(), first);
  return text;
}

const storageClasses: ReadonlySet<string> = new Set("auto register static extern typedef self this".split(" "));

/** `(int, char *)` of a function. */
function parameters(unit: Unit, constant: ReadConstant): void {
  const p = unit.cursor;
  const first = p.expect("(");
  let count = 0;
  let empty = false;
  if (!p.at(")"))
    do {
      if (p.accept("...")) break;
      if (storageClasses.has(p.token.text)) p.fail(dDeclarations.parameterClass());
      const { name, pointers } = typeName(unit, constant);
      empty ||= name === "void" && pointers === 0;
      count++;
      if (p.token.kind === "identifier") p.advance();
    } while (p.accept(","));
  if (empty && count > 1) p.fail(dDeclarations.voidParameter(), first);
  p.expect(")");
}

function isList({ dimensions, name }: TypeName): boolean {
  return dimensions.length > 0 && name !== "string";
}

/** `provider x { probe y(int); };`: probes of programs are found in the programs. */
function provider(unit: Unit): void {
  const p = unit.cursor;
  p.advance();
  const { text } = p.expectName("a provider's name");
  const probes = new Set<string>();
  p.expect("{");
  while (!p.at("}")) {
    if (p.token.kind === "end") p.unexpected("`}`");
    if (p.advance().text !== "probe") continue;
    const probe = p.expectName("a probe's name");
    if (probes.has(probe.text)) p.fail(dDeclarations.probeTwice(text, probe.text.replaceAll("__", "-")), probe);
    probes.add(probe.text);
  }
  p.expect("}");
  p.expect(";");
}

/** `inline int N = 5;`, `inline int f[int n] = n * 2;` */
function inline(unit: Unit): void {
  const p = unit.cursor;
  p.advance();
  const constant = (): bigint => readConstant(unit);
  const base = baseType(unit, constant);
  const { name, type, keys, keyNames = [], span } = declarator(unit, base, constant);
  if (unit.globals.has(name)) p.fail(dDeclarations.inlineRedefines(name), span);
  if (unit.inlines.has(name)) p.fail(dDeclarations.inlineRedefines(name, "inline"), span);
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
    const parameters = keys.map((key, i) => ({ name: keyNames[i] ?? "", known: knownType(key) }));
    unit.inlines.set(name, { value: nodes.integer(0, span), known, parameters, words });
    return;
  }
  const value = expression(unit);
  p.expect(";");
  const own = unit.known(value);
  if ((known === "string") !== (own === "string") && known !== undefined && own !== undefined)
    p.fail(dDeclarations.inlineType(name, spelledType(type), spelledType(own)), span);
  const given = unit.known(value);
  unit.inlines.set(name, {
    value: known === undefined || known === "string" || known === given ? value : unit.cast(known, value),
    known: known ?? given,
  });
}
