// Types as they are written: `struct task_struct *`, `unsigned long`, `uint8[16]`, `typeof(x)`.
import { syntax } from "../../messages/syntax.ts";
import type { TypeName } from "../program.ts";
import type { Cursor } from "./cursor.ts";

const qualifiers = new Set([
  "const",
  "volatile",
  "restrict",
  "register",
  "static",
  "extern",
  "inline",
  "__user",
  "__kernel",
  "__rcu",
  "__percpu",
]);
const cWords = new Set(["unsigned", "signed", "char", "short", "int", "long", "void", "float", "double", "_Bool"]);
const known = new Set([
  "bool",
  "int8",
  "int16",
  "int32",
  "int64",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "string",
  "buffer",
  "inet",
  "void",
  "int8_t",
  "int16_t",
  "int32_t",
  "int64_t",
  "uint8_t",
  "uint16_t",
  "uint32_t",
  "uint64_t",
  "u8",
  "u16",
  "u32",
  "u64",
  "s8",
  "s16",
  "s32",
  "s64",
  "size_t",
  "ssize_t",
  "pid_t",
  "uintptr_t",
]);
const operandStart = new Set(["(", "*", "&", "-", "+", "!", "~", "++", "--"]);

/** Whether a name can only be a type. */
export function isTypeWord(name: string): boolean {
  return (
    known.has(name) ||
    cWords.has(name) ||
    qualifiers.has(name) ||
    name === "struct" ||
    name === "union" ||
    name === "enum" ||
    name === "typeof"
  );
}

/**
 * A type at the cursor; undefined, with the cursor where it was, when there is none. Reports nothing but inside
 * `typeof`.
 */
export function tryType(p: Cursor): TypeName | undefined {
  const start = p.token.start;
  const base = tryBaseType(p);
  if (base === undefined) {
    p.seek(start);
    return undefined;
  }
  // Read from left to right: `int32[4]*` is a pointer to an array, `int32*[4]` an array of pointers.
  const modifiers = [
    { pointers: base.pointers, dimensions: [...base.dimensions] },
    ...(base.behind ?? []).map((m) => ({ ...m, dimensions: [...m.dimensions] })),
  ];
  for (;;) {
    if (p.token.kind === "identifier" && qualifiers.has(p.token.text)) {
      p.advance();
    } else if (p.at("*")) {
      p.advance();
      if (modifiers.at(-1)!.dimensions.length > 0) modifiers.push({ pointers: 0, dimensions: [] });
      if (++modifiers.at(-1)!.pointers > mostPointers) p.fail(syntax.pointerTooDeep());
    } else if (p.at("[")) {
      const inside = p.peek();
      if (inside.text === "]" && inside.kind === "punctuation") {
        p.advance();
        modifiers.at(-1)!.dimensions.push(0);
      } else {
        const length =
          inside.kind === "integer"
            ? Number(inside.text)
            : inside.kind === "identifier"
              ? definedNumber(p, inside.text)
              : NaN;
        p.advance();
        p.advance();
        if (!Number.isSafeInteger(length) || !p.at("]")) {
          p.seek(start);
          return undefined;
        }
        modifiers.at(-1)!.dimensions.push(length);
      }
      p.advance();
    } else {
      break;
    }
  }
  const [first, ...behind] = modifiers;
  return { ...base, ...first, ...(behind.length === 0 ? {} : { behind }), span: { start, end: p.last } };
}

/** What walks types goes down each `*`. */
const mostPointers = 100;

export function parseType(p: Cursor): TypeName {
  const start = p.token;
  const type = tryType(p);
  if (type !== undefined) return type;
  return p.fail(syntax.expected("a type", p.describe(start)), start);
}

/**
 * The type of a cast whose `(` is at the cursor; undefined, with the cursor where it was, for any other parenthesis. A
 * lone name in parentheses is a type when an operand follows, unless it is a builtin or a macro's parameter or a
 * #define.
 */
export function tryCast(p: Cursor): TypeName | undefined {
  const open = p.token.start;
  const name = p.peek();
  if (name.kind !== "identifier") return undefined;
  const certain = isTypeWord(name.text) || p.typedefs.has(name.text);
  if (!certain && (p.builtins.isValue(name.text) || name.text === "true" || name.text === "false")) return undefined;
  p.advance();
  const type = tryType(p);
  if (type !== undefined && p.accept(")")) {
    // Where a macro is defined its parameter may be a type: a use of it tells.
    const parameter = p.expansion?.arguments.get(name.text);
    const lone = type.pointers === 0 && type.dimensions.length === 0 && !certain;
    const value = parameter !== undefined && parameter.kind !== "type" && parameter.kind !== "parameter";
    const ambiguous = lone && (value || p.definitions.has(name.text));
    const { kind, text } = p.token;
    const operand =
      kind === "punctuation" ? operandStart.has(text) || (text === "{" && certain) : kind !== "end" && kind !== "bad";
    if (operand && !ambiguous) return type;
  }
  p.seek(open);
  return undefined;
}

function tryBaseType(p: Cursor): TypeName | undefined {
  const start = p.token.start;
  const result = (name: string, tag?: TypeName["tag"]): TypeName => ({
    name,
    ...(tag === undefined ? {} : { tag }),
    pointers: 0,
    dimensions: [],
    span: { start, end: p.last },
  });
  while (p.token.kind === "identifier" && qualifiers.has(p.token.text)) p.advance();
  if (p.token.kind !== "identifier") return undefined;
  const word = p.token.text;

  if (word === "struct" || word === "union" || word === "enum") {
    p.advance();
    // A name, or one in quotes (a C++ or Rust type).
    if (p.token.kind !== "identifier" && p.token.kind !== "string") return undefined;
    return result(p.advance().text, word);
  }
  if (cWords.has(word)) {
    const words: string[] = [];
    while (p.token.kind === "identifier" && (cWords.has(p.token.text) || qualifiers.has(p.token.text))) {
      const { text } = p.advance();
      if (cWords.has(text)) words.push(text);
    }
    return result(canonicalC(words));
  }
  if (word === "typeof" && p.peek().text === "(") {
    p.advance();
    p.advance();
    const inside = p.token.start;
    const type = p.nested(() => tryType(p));
    if (type !== undefined && p.accept(")")) return type;
    p.seek(inside);
    const of = p.grammar.expression(p);
    p.expect(")", "after `typeof(…`");
    return { ...result("typeof"), of };
  }
  const parameter = p.expansion?.arguments.get(word);
  if (parameter?.kind === "type") {
    p.advance();
    return parameter.type;
  }
  // Any other argument is a value.
  if (parameter !== undefined && parameter.kind !== "parameter") return undefined;
  const definition = p.definitions.get(word);
  if (definition !== undefined && !p.open.has(word)) {
    const text = p.bodies.slice(0, definition.body.end);
    const type = p.replay({ text, start: definition.body.start, where: undefined, name: word, at: p.token }, () => {
      const found = tryType(p);
      return p.token.kind === "end" ? found : undefined;
    });
    if (type !== undefined) {
      p.advance();
      return type;
    }
  }
  p.advance();
  return p.typedefs.get(word) ?? result(word);
}

/** `long unsigned int` → `unsigned long`; `unsigned` → `unsigned int`. */
function canonicalC(words: readonly string[]): string {
  const unsigned = words.includes("unsigned");
  const longs = words.filter((w) => w === "long").length;
  if (words.includes("_Bool")) return "bool";
  for (const other of ["void", "float", "double"]) if (words.includes(other)) return other;
  if (words.includes("char")) return unsigned ? "unsigned char" : words.includes("signed") ? "signed char" : "char";
  const base = words.includes("short") ? "short" : longs > 1 ? "long long" : longs === 1 ? "long" : "int";
  return unsigned ? `unsigned ${base}` : base;
}

function definedNumber(p: Cursor, name: string): number {
  const constant = p.constants.get(name);
  if (constant !== undefined) return Number(constant);
  const definition = p.definitions.get(name);
  return definition === undefined
    ? NaN
    : Number(p.bodies.slice(definition.body.start, definition.body.end).trim() || NaN);
}
