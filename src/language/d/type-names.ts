// Types as they are written, and declarations of them: struct, union, enum, typedef.
import type { Span } from "../diagnostic.ts";
import type { Expression, StructDeclaration, TypeName } from "../program.ts";
import { dDeclarations } from "../../messages/d-declarations.ts";
import type { Message } from "../../messages/message.ts";
import { isTypeName, knownType, spelledType, textSize, typedefs, typeWords } from "./types.ts";
import { isReserved } from "./tokens.ts";
import type { Unit } from "./unit.ts";

export const storageClasses: ReadonlySet<string> = new Set("auto register static extern typedef self this".split(" "));

/** Constant expressions are the parser's to read (expressions.ts). */
export type ReadConstant = (refused?: Message) => bigint;

export function beginsType({ cursor, typedefs: own }: Unit, ahead = 0): boolean {
  const token = cursor.peek(ahead);
  return token.kind === "identifier" && (isTypeName(token.text) || own.has(token.text));
}

/** The base of a declaration: without pointers and dimensions. */
export function baseType(unit: Unit, constant: ReadConstant): TypeName {
  const p = unit.cursor;
  const { token } = p;
  const words: string[] = [];
  for (;;) {
    const { text } = p.token;
    if (p.token.kind !== "identifier") break;
    if (["const", "volatile", "restrict", "static", "extern", "register"].includes(text)) {
      p.advance();
      continue;
    }
    if (words.length === 0 && (text === "struct" || text === "union" || text === "enum")) {
      const tagged = tag(unit, text, constant);
      while (p.acceptWord("const") || p.acceptWord("volatile")) continue;
      return tagged;
    }
    if ((words[0] === "unsigned" || words[0] === "signed") && (text === "struct" || text === "union")) {
      tag(unit, text, constant);
      p.fail(dDeclarations.signedType(), p.from(token));
    }
    if (words.length > 0 && !(typeWords.has(text) && typeWords.has(words[0]))) break;
    words.push(text);
    p.advance();
  }
  const span = p.from(token);
  const name = inOrder(words).join(" ");
  if (name === "") return p.unexpected("a type");
  if (words.length > 1) {
    const attributes = words.filter((word) => ["signed", "unsigned", "long", "short"].includes(word));
    if (words.includes("void") && attributes.length > 0) p.fail(dDeclarations.voidAttributes(), span);
    if (words.includes("string") || words.includes("void") || words.includes("float") || words.includes("double")) {
      if (words.includes("signed") || words.includes("unsigned")) p.fail(dDeclarations.signedType(), span);
      if (words.length === attributes.length + 1 && name !== "long double")
        p.fail(dDeclarations.typeUnknown(name), span);
      if (name !== "long double") p.fail(dDeclarations.typeCombination(), span);
    }
    if (words.includes("long") && words.includes("short"))
      p.fail(dDeclarations.typeUnknown(`short long ${words.includes("int") ? "int" : ""}`), span);
    if (words.filter((word) => word === "long").length > 2 || (words.includes("signed") && words.includes("unsigned")))
      p.fail(dDeclarations.typeUnknown(words.includes("int") ? name : `${name} `), span);
    if (words.filter((word) => ["char", "int"].includes(word)).length > 1)
      p.fail(dDeclarations.typeCombination(), span);
    if (words.includes("char") && (words.includes("long") || words.includes("short")))
      p.fail(dDeclarations.longChar(), span);
  }
  const own = unit.typedefs.get(name);
  if (own !== undefined) return { ...own, span, ...(isPlain(own) ? { alias: name } : {}) };
  if (name === "string") return { name, pointers: 0, dimensions: [textSize], span };
  if (!Object.hasOwn(typedefs, name)) return { name, pointers: 0, dimensions: [], span };
  return { name: typedefs[name], alias: name, pointers: 0, dimensions: [], span };
}

const order = ["signed", "unsigned", "short", "long", "char", "int"];

/** C's words of a number in the order in which types are called: `long unsigned int`. */
function inOrder(words: readonly string[]): readonly string[] {
  if (words.length < 2 || words.some((word) => !order.includes(word))) return words;
  return [...words].sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

function isPlain({ pointers, dimensions }: TypeName): boolean {
  return pointers === 0 && dimensions.length === 0;
}

function tag(unit: Unit, kind: "struct" | "union" | "enum", constant: ReadConstant): TypeName {
  const p = unit.cursor;
  const first = p.advance();
  const name = p.token.kind === "identifier" ? p.advance().text : "";
  const named = name === "" ? unit.name(kind) : name;
  if (p.at("{")) {
    if (kind === "enum") enumeration(unit, named, first, constant);
    else unit.structs.push(structure(unit, kind === "union", named, first, constant));
  } else if (name === "") p.unexpected("a name");
  return { name: named, tag: kind, pointers: 0, dimensions: [], span: p.from(first) };
}

/** A struct, union or enum as a whole that neither the script nor the kernel has. */
export function isIncomplete({ structs, enums, given }: Unit, { tag, name, pointers }: TypeName): boolean {
  if (tag === undefined || pointers > 0) return false;
  if (structs.some((one) => one.name === name) || enums.some((one) => one.name === name)) return false;
  return given.machine?.hasType?.(name, tag) === false;
}

/** A pointer to a struct that neither the script nor the kernel has: an address, whose name is kept. */
export function forward(unit: Unit, type: TypeName): TypeName {
  const { pointers, tag, name } = type;
  if (pointers === 0 || !isIncomplete(unit, { ...type, pointers: 0 })) return type;
  const { tag: _, ...rest } = type;
  return { ...rest, name: "void", alias: `${tag} ${name}` };
}

function enumeration(unit: Unit, name: string, first: Span, constant: ReadConstant): void {
  const p = unit.cursor;
  p.expect("{");
  if (p.at("}")) p.unexpected("a name");
  if (unit.enums.some((one) => one.name === name)) p.fail(dDeclarations.typeRedeclared(`enum ${name}`), first);
  const constants: { name: string; value: bigint }[] = [];
  let next = 0n;
  while (!p.at("}")) {
    const { text } = p.expectName("a name");
    if (p.accept("=")) next = constant(dDeclarations.enumeratorConstant(text));
    if (constants.some(({ name }) => name === text) || unit.constants.has(text) || unit.globals.has(text))
      p.fail(dDeclarations.enumeratorTwice(text), first);
    if (next > 0x7fff_ffffn) p.fail(dDeclarations.enumeratorOverflow(text), first);
    constants.push({ name: text, value: next });
    unit.constants.set(text, next);
    next++;
    if (!p.accept(",")) break;
  }
  p.expect("}");
  unit.enums.push({ name, constants, span: p.from(first) });
}

function structure(unit: Unit, union: boolean, name: string, first: Span, constant: ReadConstant): StructDeclaration {
  const p = unit.cursor;
  p.expect("{");
  const members: StructDeclaration["members"][number][] = [];
  if (unit.structs.some((one) => one.name === name && one.name !== ""))
    p.fail(dDeclarations.typeRedeclared(`${union ? "union" : "struct"} ${name}`), first);
  if (p.at("}")) p.unexpected("a member");
  while (!p.at("}") && p.token.kind !== "end") {
    const at = p.token;
    if (storageClasses.has(at.text)) p.unexpected("a type");
    const before = unit.structs.length;
    const base = baseType(unit, constant);
    if (p.at(";")) {
      // Without a name: its members are the struct's own.
      const inner = unit.structs.length > before ? unit.structs.at(-1) : undefined;
      if (inner === undefined) p.unexpected("a member's name");
      unit.structs.pop();
      members.push({ name: "", type: { ...inner!, name: "" }, span: p.from(at) });
      p.advance();
      continue;
    }
    do {
      const { name: member, type, keys } = declarator(unit, base, constant);
      if (keys !== undefined) p.fail(dDeclarations.dynamicMember(member), at);
      // A function has no place in memory.
      if (p.at("(")) p.fail(dDeclarations.voidMember(member), at);
      if (members.some((one) => one.name === member)) p.fail(dDeclarations.memberTwice(member), at);
      if (type.name === "void" && type.pointers === 0) p.fail(dDeclarations.voidMember(member), at);
      const isWhole = type.tag === (union ? "union" : "struct") && type.name === name && type.pointers === 0;
      if (isWhole || isIncomplete(unit, type))
        p.fail(dDeclarations.incompleteMember(spelledType({ ...type, dimensions: [] }), member), at);
      const bits = p.accept(":") ? Number(constant(dDeclarations.bitFieldConstant())) : undefined;
      if (bits !== undefined && bits <= 0) p.fail(dDeclarations.bitFieldConstant(), at);
      const known = bits === undefined ? undefined : knownType(type);
      if (bits !== undefined && (known === undefined ? type.tag !== "enum" : known === "string"))
        p.fail(dDeclarations.bitFieldType(member), at);
      if (bits !== undefined && known !== undefined && bits > Number(/\d+$/.exec(known)?.[0] ?? 64))
        p.fail(dDeclarations.bitFieldSize(member), at);
      members.push({
        name: member,
        type: forward(unit, type),
        ...(bits === undefined ? {} : { bitWidth: bits }),
        span: p.from(at),
      });
    } while (p.accept(","));
    p.expect(";");
  }
  p.expect("}");
  return { union, name, members, span: p.from(first) };
}

/** `*name[3]`; `(*name)(…)`, a pointer to a function, is an address. */
export function declarator(
  unit: Unit,
  base: TypeName,
  constant: ReadConstant,
): {
  readonly name: string;
  readonly type: TypeName;
  readonly span: Span;
  readonly keys?: readonly TypeName[];
  readonly keyNames?: readonly string[];
} {
  const p = unit.cursor;
  const pointers = stars(unit);
  if (p.at("(")) {
    const start = p.index + 1;
    const pointsTo = p.peek().text === "*";
    const span = { start: p.token.start, end: p.token.end };
    skipParentheses(unit);
    const toFunction = pointsTo && p.at("(");
    if (toFunction) skipParentheses(unit);
    // What stands behind it counts before what is in it.
    const { dimensions, keyed } = sizes(unit, "", span, constant);
    const whole = toFunction
      ? { name: "void", pointers: 0, dimensions, span: base.span }
      : derived(base, pointers, dimensions);
    const end = p.index;
    p.seek(start);
    const inner = declarator(unit, whole, constant);
    p.expect(")");
    p.seek(end);
    return { ...inner, ...keyed };
  }
  if (isReserved(p.token.text)) p.unexpected("a name");
  const { text, start, end } = p.expectName("a name");
  const { dimensions, keyed } = sizes(unit, text, { start, end }, constant);
  return { name: text, type: derived(base, pointers, dimensions), span: { start, end }, ...keyed };
}

/** `[3]` of an array and `[int, string]` of an associative one. */
function sizes(
  unit: Unit,
  name: string,
  span: Span,
  constant: ReadConstant,
): {
  readonly dimensions: readonly number[];
  readonly keyed?: { readonly keys: readonly TypeName[]; readonly keyNames: readonly string[] };
} {
  const p = unit.cursor;
  const dimensions: number[] = [];
  let keys: TypeName[] | undefined;
  const keyNames: string[] = [];
  while (p.accept("[")) {
    if (beginsType(unit)) {
      if (keys !== undefined) p.fail(dDeclarations.arrayOfArrays(), span);
      // An associative array's keys.
      keys = [];
      do {
        if (p.at("...")) p.fail(dDeclarations.arrayOfAny(), span);
        const key = typeName(unit, constant);
        keys.push(key);
        // A parameter of an inline has a name.
        keyNames.push(p.token.kind === "identifier" ? p.advance().text : "");
        if (key.name === "void" && key.pointers === 0)
          p.fail(dDeclarations.parameterType("array", "void", keyNames.at(-1) || "(anonymous)", keys.length), span);
      } while (p.accept(","));
    } else if (p.at("]")) p.fail(dDeclarations.arrayWithoutSize(name), span);
    else {
      const size = Number(constant(dDeclarations.arraySize()));
      if (size <= 0) p.fail(dDeclarations.arraySize(), span);
      if (size > 0xffff_ffff) p.fail(dDeclarations.arrayTooLarge(), span);
      dimensions.push(size);
    }
    p.expect("]");
  }
  return { dimensions, ...(keys === undefined ? {} : { keyed: { keys, keyNames } }) };
}

function derived(base: TypeName, pointers: number, dimensions: readonly number[]): TypeName {
  if (pointers === 0 && dimensions.length === 0) return base;
  if (base.dimensions.length === 0) return { ...base, pointers: base.pointers + pointers, dimensions };
  if (base.name === "string" && pointers === 0) return { ...base, dimensions: [...dimensions] };
  return { ...base, behind: [...(base.behind ?? []), { pointers, dimensions }] };
}

function stars({ cursor: p }: Unit): number {
  let count = 0;
  for (;;) {
    if (p.accept("*")) count++;
    else if (!p.acceptWord("const") && !p.acceptWord("volatile") && !p.acceptWord("restrict")) return count;
  }
}

function skipParentheses({ cursor: p }: Unit): void {
  p.expect("(");
  for (let depth = 1; depth > 0;) {
    if (p.token.kind === "end") p.unexpected("`)`");
    if (p.at("(")) depth++;
    if (p.at(")")) depth--;
    p.advance();
  }
}

/** In a cast, sizeof(), xlate<>: a type without a name. */
export function typeName(unit: Unit, constant: ReadConstant): TypeName {
  const p = unit.cursor;
  const base = baseType(unit, constant);
  const pointers = stars(unit);
  const dimensions: number[] = [];
  while (p.accept("[")) {
    dimensions.push(p.at("]") ? 0 : Number(constant()));
    p.expect("]");
  }
  return derived(base, pointers, dimensions);
}

/** Bytes of a number or a pointer. */
function sizeOfPlain({ pointers, dimensions, ...type }: TypeName): bigint | undefined {
  const known = pointers > 0 ? "uint64" : knownType({ ...type, pointers, dimensions: [] });
  const bits = known === undefined ? undefined : /\d+$/.exec(known)?.[0];
  if (bits === undefined || type.behind !== undefined) return undefined;
  return dimensions.reduce((all, one) => all * BigInt(one), BigInt(bits) / 8n);
}

/** A constant's value, as far as a front-end can tell. */
export function constantValue(e: Expression, unit: Unit): bigint | undefined {
  switch (e.kind) {
    case "integer":
      return e.value;
    case "identifier":
      return unit.constants.get(e.name);
    case "sizeof":
      return "kind" in e.of ? undefined : sizeOfPlain(e.of);
    case "cast": {
      const value = constantValue(e.operand, unit);
      const [, sign, bits] = /^(u?)int(\d+)$/.exec(e.to.name) ?? [];
      if (value === undefined || bits === undefined || e.to.pointers > 0) return undefined;
      return sign === "u" ? BigInt.asUintN(Number(bits), value) : BigInt.asIntN(Number(bits), value);
    }
    case "unary": {
      const value = constantValue(e.operand, unit);
      if (value === undefined) return undefined;
      return e.operator === "-" ? -value : e.operator === "~" ? ~value : e.operator === "+" ? value : undefined;
    }
    case "binary": {
      const [l, r] = [constantValue(e.left, unit), constantValue(e.right, unit)];
      if (l === undefined || r === undefined) return undefined;
      switch (e.operator) {
        case "+":
          return l + r;
        case "-":
          return l - r;
        case "*":
          return l * r;
        case "/":
          return r === 0n ? undefined : l / r;
        case "%":
          return r === 0n ? undefined : l % r;
        case "<<":
          return r > 64n ? undefined : l << r;
        case ">>":
          return r > 64n ? undefined : l >> r;
        case "|":
          return l | r;
        case "&":
          return l & r;
        case "^":
          return l ^ r;
        default:
          return undefined;
      }
    }
    default:
      return undefined;
  }
}
