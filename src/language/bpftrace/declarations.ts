// What stands outside of probes: C types, the config block, map declarations, functions.
import { syntax } from "../../messages/syntax.ts";
import type {
  ConfigEntry,
  EnumDeclaration,
  Expression,
  FunctionDeclaration,
  LayoutAttributes,
  MapDeclaration,
  StructDeclaration,
  TypeName,
} from "../program.ts";
import type { Cursor } from "./cursor.ts";
import { parseExpression, parseVariable, spanOf } from "./expressions.ts";
import { integerValue } from "./literals.ts";
import { parseBlock } from "./statements.ts";
import { parseType } from "./type-names.ts";

type Member = StructDeclaration["members"][number];
export interface Declared {
  readonly structs: StructDeclaration[];
  readonly enums: EnumDeclaration[];
}

/** `struct S { … };`, `union U { … };`, `enum E { … };`, and a typedef of any of these or of another type. */
export function parseTypeDefinition(p: Cursor, into: Declared): void {
  const typedef = p.atWord("typedef");
  const start = typedef ? p.advance().start : p.token.start;
  const defines = definesType(p);
  const enumeration = p.atWord("enum");
  if (defines && enumeration) {
    const found = parseEnum(p);
    const name = typedef && p.token.kind === "identifier" ? p.advance().text : found.name;
    into.enums.push({ ...found, name });
    if (typedef) p.typedefs.set(name, { name, tag: "enum", pointers: 0, dimensions: [], span: found.span });
  } else if (defines) {
    const found = parseStruct(p, into);
    if (found.name !== "") into.structs.push(found);
    if (typedef) {
      const name = p.expectName("a name for the type").text;
      if (name !== found.name) into.structs.push({ ...found, name });
      p.typedefs.set(name, {
        name,
        tag: found.union ? "union" : "struct",
        pointers: 0,
        dimensions: [],
        span: found.span,
      });
    } else if (found.name === "") {
      p.report("error", { start, end: start + 6 }, syntax.namelessStruct());
    }
  } else if (typedef) {
    const base = parseType(p);
    const declared = parseDeclarator(p, base);
    p.typedefs.set(declared.name, declared.type);
  } else {
    // `struct S;` says nothing that is needed.
    p.advance();
    p.expectName("a name");
    if (!p.at(";")) p.fail(syntax.expected("`{` and the members", p.describe()));
  }
  p.accept(";");
}

/** Whether a `{` follows `struct`, `struct name` or `enum name : type`: a definition, not just a mention. */
export function definesType(p: Cursor): boolean {
  if (!p.atWord("struct") && !p.atWord("union") && !p.atWord("enum")) return false;
  const { start } = p.token;
  p.advance();
  parseAttributes(p);
  if (p.token.kind === "identifier") p.advance();
  parseAttributes(p);
  const found = p.at("{") || (p.at(":") && p.peek().kind === "identifier");
  p.seek(start);
  return found;
}

function parseStruct(p: Cursor, into: Declared): StructDeclaration {
  return p.nested(() => {
    const keyword = p.advance();
    const before = parseAttributes(p);
    const name = p.token.kind === "identifier" ? p.advance().text : "";
    p.expect("{", `after \`${keyword.text}${name === "" ? "" : ` ${name}`}\``);
    const members: Member[] = [];
    while (!p.at("}")) {
      if (p.token.kind === "end") p.fail(syntax.unclosedStruct(`${keyword.text} ${name}`));
      if (p.accept(";")) continue;
      parseMembers(p, members, into);
    }
    const close = p.advance();
    const attributes = { ...before, ...parseAttributes(p) };
    return {
      union: keyword.text === "union",
      name,
      members,
      ...given(attributes),
      span: { start: keyword.start, end: close.end },
    };
  });
}

/** `int a, *b, c[4], d : 3;` */
function parseMembers(p: Cursor, members: Member[], into: Declared): void {
  const start = p.token.start;
  let nested: StructDeclaration | undefined;
  let base: TypeName | undefined;
  if (definesType(p)) {
    if (p.atWord("enum")) {
      const found = parseEnum(p);
      into.enums.push(found);
      base = {
        ...(found.name === "" ? { name: "int" } : { name: found.name, tag: "enum" as const }),
        pointers: 0,
        dimensions: [],
        span: found.span,
      };
    } else {
      nested = parseStruct(p, into);
      // As in C, its name is known outside as well.
      if (nested.name !== "") into.structs.push(nested);
    }
  } else {
    base = parseType(p);
  }
  parseAttributes(p);
  if (nested !== undefined && (p.at(";") || p.at("}"))) {
    members.push({ name: "", type: nested, span: nested.span });
  } else {
    do {
      if (nested !== undefined && p.token.kind === "identifier" && p.peek().text !== "[") {
        const name = p.advance();
        members.push({ name: name.text, type: nested, span: spanOf(name) });
      } else {
        let of = base;
        if (of === undefined) {
          // An array of, or a pointer to, a struct defined on the spot: give the struct a name and refer to it.
          const name = nested!.name === "" ? `anonymous at ${nested!.span.start}` : nested!.name;
          if (nested!.name === "" && !into.structs.some((s) => s.name === name))
            into.structs.push({ ...nested!, name });
          of = { name, tag: nested!.union ? "union" : "struct", pointers: 0, dimensions: [], span: nested!.span };
        }
        members.push(parseDeclarator(p, of));
      }
    } while (p.accept(","));
  }
  // Behind the last one it may be left out.
  if (!p.accept(";") && (!p.at("}") || p.token.start === start)) {
    if (p.token.start === start) p.advance();
    p.expect(";", "after the struct's member");
  }
}

/**
 * `*name[2][3] : 4`, `(*name)(int)`: what is around a member's name. A pointer to a function or to an array becomes
 * `void *`.
 */
function parseDeclarator(p: Cursor, base: TypeName): Member & { type: TypeName } {
  let pointers = base.pointers;
  while (p.at("*") || p.atWord("const") || p.atWord("volatile")) if (p.advance().text === "*") pointers++;
  if (p.at("(") && p.peek().text === "*") {
    p.advance();
    while (p.accept("*"));
    const name = p.expectName("a member's name");
    p.expect(")", "after the member's name");
    skipBalanced(p);
    return {
      name: name.text,
      type: { name: "void", pointers: 1, dimensions: [], span: base.span },
      span: spanOf(name),
    };
  }
  // An unnamed bit-field is padding.
  const name = p.at(":") ? { ...p.token, text: "" } : p.expectName("a member's name");
  const dimensions: number[] = [];
  while (p.accept("[")) {
    dimensions.push(p.at("]") ? 0 : Number(constantExpression(p, "an array's length")));
    p.expect("]", "after the array's length");
  }
  const bitWidth = p.accept(":") ? Number(constantExpression(p, "a bit-field's width")) : undefined;
  const attributes = parseAttributes(p);
  const type = { ...base, pointers, dimensions: [...dimensions, ...base.dimensions] };
  return {
    name: name.text,
    type,
    ...(bitWidth === undefined ? {} : { bitWidth }),
    ...given(attributes),
    span: spanOf(name),
  };
}

function parseEnum(p: Cursor): EnumDeclaration {
  const keyword = p.advance();
  const name = p.token.kind === "identifier" ? p.advance().text : "";
  if (p.accept(":")) parseType(p);
  p.expect("{", "after `enum`");
  const constants: { name: string; value: bigint }[] = [];
  let next = 0n;
  while (!p.at("}")) {
    const constant = p.expectName("the name of an enum's constant");
    if (p.accept("=")) next = constantExpression(p, "an enum's value");
    constants.push({ name: constant.text, value: next });
    p.constants.set(constant.text, next);
    next++;
    if (!p.accept(",")) break;
  }
  const close = p.expect("}", "at the end of the enum");
  return { name, constants, span: { start: keyword.start, end: close.end } };
}

function constantExpression(p: Cursor, what: string): bigint {
  const expression = parseExpression(p);
  const value = evaluate(p, expression);
  if (value === undefined) return p.fail(syntax.expectedConstant(what), expression.span);
  return value;
}

function evaluate(p: Cursor, e: Expression): bigint | undefined {
  switch (e.kind) {
    case "integer":
      return e.value;
    case "identifier":
      return p.constants.get(e.name);
    case "unary": {
      const value = evaluate(p, e.operand);
      if (value === undefined) return undefined;
      return e.operator === "-" ? -value : e.operator === "~" ? ~value : e.operator === "+" ? value : undefined;
    }
    case "binary": {
      const left = evaluate(p, e.left);
      const right = evaluate(p, e.right);
      if (left === undefined || right === undefined) return undefined;
      switch (e.operator) {
        case "+":
          return left + right;
        case "-":
          return left - right;
        case "*":
          return BigInt.asIntN(64, left * right);
        case "/":
          return right === 0n ? undefined : left / right;
        case "%":
          return right === 0n ? undefined : left % right;
        case "|":
          return left | right;
        case "&":
          return left & right;
        case "^":
          return left ^ right;
        case "<<":
          return right < 0n || right > 63n ? undefined : BigInt.asIntN(64, left << right);
        case ">>":
          return right < 0n || right > 63n ? undefined : left >> right;
        default:
          return undefined;
      }
    }
    default:
      return undefined;
  }
}

/**
 * `__attribute__((packed))`, `__packed`, `__aligned(8)` and the like; what says nothing about the layout is passed
 * over.
 */
function parseAttributes(p: Cursor): LayoutAttributes {
  let attributes: LayoutAttributes = {};
  while (p.token.kind === "identifier" && /^(__attribute__|__packed|__aligned|_Alignas)$/.test(p.token.text)) {
    const from = p.token.start;
    p.advance();
    skipBalanced(p);
    const text = p.source.text.slice(from, p.last);
    if (/\b(__packed|__packed__|packed)\b/.test(text)) attributes = { ...attributes, packed: true };
    const aligned = /\b(?:aligned|__aligned__|__aligned|_Alignas)\b(?:\s*\(\s*(\d+))?/.exec(text);
    // Without a number it is the machine's greatest.
    if (aligned !== null) attributes = { ...attributes, align: Math.max(1, Number(aligned[1] ?? 16)) };
  }
  return attributes;
}

function given(attributes: LayoutAttributes): { attributes?: LayoutAttributes } {
  return attributes.packed === undefined && attributes.align === undefined ? {} : { attributes };
}

function skipBalanced(p: Cursor): void {
  if (!p.at("(")) return;
  let depth = 0;
  do {
    if (p.at("(")) depth++;
    if (p.at(")")) depth--;
    if (p.token.kind === "end") p.fail(syntax.unclosedParenthesis());
    p.advance();
  } while (depth > 0);
}

/** `config = { name = value; … }` */
export function parseConfig(p: Cursor, entries: ConfigEntry[]): void {
  p.advance();
  p.expect("=", "after `config`");
  p.expect("{", "after `config =`");
  while (!p.at("}")) {
    const name = p.expectName("the name of a setting");
    p.expect("=", "after the setting's name");
    const minus = p.accept("-") ? "-" : "";
    const value = p.token;
    if (value.kind !== "identifier" && value.kind !== "integer" && value.kind !== "string")
      p.fail(syntax.expected("a value", p.describe()));
    p.advance();
    const number = value.kind === "integer" ? integerValue(value.text) : undefined;
    const text = typeof number === "bigint" ? String(number) : value.text;
    const setting = name.text.toLowerCase().replace(/^bpftrace_/, "");
    const earlier = entries.some((entry) => entry.name === setting);
    if (earlier) p.report("error", name, syntax.settingTwice(setting));
    entries.push({ name: setting, value: minus + text, span: { start: name.start, end: value.end } });
    if (!p.accept(";") && !p.at("}")) p.expect(";", "after the setting");
  }
  p.advance();
  p.accept(";");
}

/** `let @m = lruhash(100);` */
export function parseMapDeclaration(p: Cursor): MapDeclaration {
  const { start } = p.advance();
  if (p.token.kind !== "map") p.fail(syntax.expected("a map as in `let @m = lruhash(100);`", p.describe()));
  const name = p.advance().text;
  p.expect("=", "after the map's name");
  const storage = p.expectName("a kind of map (hash, lruhash, percpuhash, percpulruhash)").text;
  p.expect("(", "after the kind of map");
  if (p.at(")")) p.fail(syntax.noEntries(name, storage));
  const entries = Number(constantExpression(p, "the number of entries"));
  p.expect(")", "after the number of entries");
  const span = { start, end: p.last };
  p.expect(";", "after the map's declaration");
  return { name, storage, entries, span };
}

/** `fn name($a : T) : T { … }` */
export function parseFunction(p: Cursor): FunctionDeclaration {
  const { start } = p.advance();
  const name = p.expectName("the function's name").text;
  p.expect("(", "after the function's name");
  const parameters: FunctionDeclaration["parameters"][number][] = [];
  while (!p.at(")")) {
    const variable = parseVariable(p);
    p.expect(":", "between a parameter and its type");
    const type = parseType(p);
    parameters.push({ name: variable.name, type, span: { start: variable.span.start, end: type.span.end } });
    if (!p.accept(",")) break;
  }
  p.expect(")", "after the parameters");
  const result = p.accept(":") ? parseType(p) : undefined;
  const body = parseBlock(p, `of the function \`${name}\``);
  return { name, parameters, ...(result === undefined ? {} : { result }), body, span: { start, end: body.span.end } };
}
