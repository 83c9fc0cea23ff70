// Types in TypeScript's words.
import type { Argument } from "../language/context.ts";
import { char, type Member, type StructType, type Type } from "../language/types.ts";

/** Names that no interface may have. */
const reserved = new Set([
  "any",
  "unknown",
  "never",
  "void",
  "null",
  "undefined",
  "string",
  "number",
  "bigint",
  "boolean",
  "symbol",
  "object",
  "break",
  "case",
  "catch",
  "class",
  "const",
  "continue",
  "debugger",
  "default",
  "delete",
  "do",
  "else",
  "enum",
  "export",
  "extends",
  "false",
  "finally",
  "for",
  "function",
  "if",
  "import",
  "in",
  "instanceof",
  "new",
  "return",
  "super",
  "switch",
  "this",
  "throw",
  "true",
  "try",
  "typeof",
  "var",
  "while",
  "with",
  "implements",
  "interface",
  "let",
  "package",
  "private",
  "protected",
  "public",
  "static",
  "yield",
  "await",
  "type",
]);

/** Words that declarations import from the library. */
type LibraryType =
  | "u8"
  | "u16"
  | "u32"
  | "u64"
  | "i8"
  | "i16"
  | "i32"
  | "i64"
  | "bool"
  | "char"
  | "Pointer"
  | "FixedArray";

/** Structs that have been mentioned. Each is declared once, in the file of its first letter. */
export class Structs {
  readonly #names = new Map<StructType, string>();
  readonly #taken = new Set<string>();
  readonly #waiting: StructType[] = [];
  /** Words that were made of types: tens of thousands of parameters are of a few thousand types. */
  readonly words = new Map<Type, string | undefined>();

  /** The interface's name; mentioning a struct has it declared. */
  nameOf(type: StructType): string {
    const known = this.#names.get(type);
    if (known !== undefined) return known;
    const plain = identifier(type.name);
    // A union may have a struct's name, and two files of a kernel may mean different things by one.
    let name = plain;
    for (let i = 2; this.#taken.has(name); i++) name = `${plain}_${i}`;
    this.#taken.add(name);
    this.#names.set(type, name);
    this.#waiting.push(type);
    return name;
  }

  /** What it goes by in the interface of all structs: its own name, unless another had that first. */
  keyOf(type: StructType): string {
    const name = this.nameOf(type);
    return name === identifier(type.name) ? type.name : name;
  }

  /** Those mentioned since the last time. */
  take(): readonly StructType[] {
    return this.#waiting.splice(0);
  }
}

/** Names of C++ and Rust, `std::vector<int>`, have in them what interfaces' must not. */
function identifier(name: string): string {
  if (reserved.has(name)) return `${name}_`;
  if (isIdentifier(name)) return name;
  return name.replace(/^(?=\d)|[^\w$]+/g, "_").slice(0, longestName);
}

const longestName = 100;

function isIdentifier(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name);
}

/** The file that a name is declared in, without folder and ending. */
export function letterFile(name: string): string {
  const [first] = name.replace(/^_+/, "").toLowerCase();
  return first !== undefined && first >= "a" && first <= "z" ? first : "other";
}

/** Where a type is written down: structs are spelled as seen from there. */
export interface Place {
  readonly structs: Structs;
  /** The file itself, when it is one of structs. */
  readonly file?: string;
  /** Files of structs that it needs. */
  readonly imports: Set<string>;
  /** Types of the library that it needs. */
  readonly library: Set<LibraryType>;
}

/** With a file's name, that file of structs. */
export function placeOf(structs: Structs, file?: string): Place {
  return { structs, ...(file === undefined ? {} : { file }), imports: new Set(), library: new Set() };
}

export function typeText(type: Type, place: Place): string {
  const library = (name: LibraryType): LibraryType => {
    place.library.add(name);
    return name;
  };
  switch (type.kind) {
    case "boolean":
      return library("bool");
    case "integer":
      return library(type.character === true ? "char" : `${type.signed ? "i" : "u"}${type.bits}`);
    case "enum":
      return library(`${type.signed ? "i" : "u"}${type.bits}`);
    case "pointer":
      return `${library("Pointer")}${type.target.kind === "void" ? "" : `<${elementText(type.target, place)}>`}`;
    case "array":
      return `${library("FixedArray")}<${elementText(type.element, place)}>`;
    case "struct":
      return type.name === "" ? `{ ${members(type, place).join("; ")} }` : structText(type, place);
    case "string":
      return "string";
    case "void":
    case "unknown":
    case "buffer":
    case "tuple":
    case "record":
    case "sequence":
    case "choice":
    case "stack":
    case "named":
    case "aggregate":
      return "unknown";
  }
}

/** Formats of tracepoints say char, and their reader a small number: in a row they are text to handlers. */
function elementText(type: Type, place: Place): string {
  return typeText(type.kind === "integer" && type.bits === 8 && type.signed ? char : type, place);
}

function structText(type: StructType, { structs, file, imports }: Place): string {
  const name = structs.nameOf(type);
  const home = letterFile(name);
  if (home === file) return name;
  imports.add(home);
  return `${home}.${name}`;
}

/** `name: type`, a line a member; those of nameless structs and unions are the container's own. */
export function members(type: StructType, place: Place): string[] {
  const seen = new Set<string>();
  const lines: string[] = [];
  const add = (list: readonly Member[]): void => {
    for (const { name, type: of } of list) {
      if (name === "" && of.kind === "struct") add(of.members);
      // Padding has no name.
      if (name === "" || seen.has(name)) continue;
      seen.add(name);
      lines.push(`${propertyName(name)}: ${typeText(of, place)}`);
    }
  };
  add(type.members);
  return lines;
}

/**
 * A function as a signature in text, `"file *file, count u64 => i64"`; undefined when a word does not say its types. A
 * kernel has fifty thousand functions, and an editor that reads a string each is ready in a third of the time that it
 * takes for an object each.
 */
export function signatureText(
  args: readonly Pick<Argument, "name" | "type">[],
  result: Type,
  structs: Structs,
): string | undefined {
  let text = '"';
  for (let i = 0; i < args.length; i++) {
    const word = typeWord(args[i].type, structs);
    if (word === undefined) return undefined;
    text += `${i === 0 ? "" : ", "}${args[i].name || `arg${i}`} ${word}`;
  }
  if (result.kind === "void") return `${text} =>"`;
  const word = typeWord(result, structs);
  return word === undefined ? undefined : `${text} => ${word}"`;
}

/** `u64`, `*file`, `**char`, `*` for an address of anything. */
function typeWord(type: Type, structs: Structs): string | undefined {
  let word = structs.words.get(type);
  if (word === undefined && !structs.words.has(type)) structs.words.set(type, (word = newWord(type, structs)));
  return word;
}

function newWord(type: Type, structs: Structs): string | undefined {
  switch (type.kind) {
    case "boolean":
      return "bool";
    case "integer":
      return type.character === true ? "char" : `${type.signed ? "i" : "u"}${type.bits}`;
    case "enum":
      return `${type.signed ? "i" : "u"}${type.bits}`;
    case "pointer": {
      if (type.target.kind === "void") return "*";
      const target = typeWord(type.target, structs);
      return target === undefined ? undefined : `*${target}`;
    }
    case "struct":
      return type.name === "" ? undefined : structs.nameOf(type);
    case "array":
    case "string":
    case "void":
    case "unknown":
    case "buffer":
    case "tuple":
    case "record":
    case "sequence":
    case "choice":
    case "stack":
    case "named":
    case "aggregate":
      return undefined;
  }
}

export function argumentsText(args: readonly Pick<Argument, "name" | "type">[], place: Place): string {
  return args.length === 0
    ? "{}"
    : `{ ${args.map(({ name, type }, i) => `${propertyName(name || `arg${i}`)}: ${typeText(type, place)}`).join("; ")} }`;
}

export function propertyName(name: string): string {
  return isIdentifier(name) ? name : JSON.stringify(name);
}
