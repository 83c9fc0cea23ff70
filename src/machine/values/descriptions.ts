// Descriptions of types of libraries: text that says which types, and where in them what is that their languages show (docs/values.md).
// oxlint-disable-next-line typescript/triple-slash-reference -- modules that are no TypeScript are declared for every compiler of ours
/// <reference path="./libraries/values.d.ts" />
import { parseExpressionText } from "../../language/bpftrace/parse.ts";
import { findMember } from "../../language/check/members.ts";
import type { Expression, TypeName } from "../../language/program.ts";
import type { Form, Part, PointerType, Shape, StructType, Type } from "../../language/types.ts";
import { forms, partNames, u64, u8 } from "../../language/types.ts";
import { readOthersFile } from "../../linux/others-files.ts";
import { noteFile } from "../../store/seen-files.ts";
import cpp from "./libraries/libc++.values";
import stdcpp from "./libraries/libstdc++.values";
import go from "./libraries/go.values";
import rust from "./libraries/rust.values";
import { Failure, type Reason } from "../../base/failure.ts";
import { descriptionReasons } from "../../messages/on-demand.ts";

export interface Description {
  readonly names: readonly NamePattern[];
  readonly form: Form;
  readonly parts: ReadonlyMap<Part, Expression>;
  /**
   * Types that other types are made of: the name, of which (`self`, or one before), the way to a member of it, the
   * number of the argument.
   */
  readonly types: readonly {
    readonly name: string;
    readonly from: string;
    readonly path: readonly string[];
    readonly argument: number;
  }[];
  readonly variables: readonly { readonly name: string; readonly value: Expression }[];
  readonly none: string;
  readonly bare: string;
}

/** Descriptions of types, the first that fits a type first, and those whose name fitted and nothing else. */
export interface Descriptions {
  readonly all: readonly Description[];
  /** Types that were looked at, whose name a description has, and whose members none: of another version of their library. */
  readonly unfitting: Set<string>;
}

/** `parameters`: names that are given to the types that it is made of. */
interface NamePattern {
  readonly name: RegExp;
  readonly parameters: readonly string[];
}

/** What a type is made of, by its debug information. */
export interface TypeArguments {
  /** Of a type, or of the type of a member. */
  of(type: Type, path: readonly string[]): readonly Type[];
}

/** A text of descriptions is no longer than this, each line no longer than that. */
const mostText = 1 << 20;
const mostLine = 4096;

/** What is wrong with a text of descriptions. */
export class DescriptionError extends Error {
  constructor(file: string, line: number, message: Reason) {
    super(`${file}:${line}: ${message}`);
  }
}

let builtIn: readonly Description[] | undefined;

/** Those that strobe has itself, of which the first that fits a type is its. */
function builtInDescriptions(): readonly Description[] {
  return (builtIn ??= [
    ["libstdc++.values", stdcpp],
    ["libc++.values", cpp],
    ["rust.values", rust],
    ["go.values", go],
  ].flatMap(([file, text]) => parseDescriptions(text, file)));
}

/**
 * Those of files, before strobe's own.
 * @throws DescriptionError, RefusedFile, or Node's error
 */
export function readDescriptions(paths: readonly string[]): Descriptions {
  const given = paths.flatMap((path) => {
    noteFile(path);
    return parseDescriptions(readOthersFile(path, { limit: mostText }).toString(), path);
  });
  return {
    all: given.length === 0 ? builtInDescriptions() : [...given, ...builtInDescriptions()],
    unfitting: new Set(),
  };
}

/** @throws DescriptionError */
export function parseDescriptions(text: string, file: string): Description[] {
  if (text.length > mostText) throw new DescriptionError(file, 1, descriptionReasons().fileTooLarge());
  const found: Description[] = [];
  let names: NamePattern[] = [];
  let draft: Draft | undefined;
  const finish = (line: number): void => {
    if (names.length > 0) {
      if (draft?.form === undefined)
        throw new DescriptionError(file, line, descriptionReasons().noForm(forms.join(", ")));
      found.push(described(names, draft, draft.form, file));
    }
    names = [];
    draft = undefined;
  };
  text.split("\n").forEach((whole, index) => {
    const number = index + 1;
    const line = whole.trimEnd();
    if (line.length > mostLine) throw new DescriptionError(file, number, descriptionReasons().lineTooLong(mostLine));
    if (line.startsWith("#")) return;
    if (line === "") return finish(number);
    if (!/^\s/.test(line)) {
      if (draft !== undefined) finish(number);
      names.push(namePattern(line));
      return;
    }
    if (names.length === 0) throw new DescriptionError(file, number, descriptionReasons().noName());
    draft ??= {
      parts: new Map(),
      types: [],
      variables: [],
      none: undefined,
      bare: undefined,
      form: undefined,
      line: number,
    };
    readLine(draft, line.trim(), file, number);
  });
  finish(text.split("\n").length);
  return found;
}

interface Draft {
  form: Form | undefined;
  readonly parts: Map<Part, Expression>;
  readonly types: Description["types"][number][];
  readonly variables: Description["variables"][number][];
  none: string | undefined;
  bare: string | undefined;
  readonly line: number;
}

function readLine(draft: Draft, line: string, file: string, number: number): void {
  const [, word, rest] = /^(\S+)\s*(.*)$/.exec(line) ?? ["", line, ""];
  const fail = (message: Reason): never => {
    throw new DescriptionError(file, number, message);
  };
  if ((forms as readonly string[]).includes(word) && rest === "") draft.form = word as Form;
  else if (word === "none") draft.none = rest;
  else if (word === "bare") draft.bare = rest;
  else if (word === "type") {
    const written = /^(\w+)\s+\$?(\w+)((?:\.\w+)*)\s+(\d+)$/.exec(rest);
    if (written === null) return fail(descriptionReasons().noType());
    draft.types.push({
      name: written[1],
      from: written[2],
      path: written[3].split(".").slice(1),
      argument: Number(written[4]),
    });
  } else if (word === "with") {
    const written = /^(\w+)\s+(.+)$/.exec(rest);
    if (written === null) return fail(descriptionReasons().noVariable());
    const value = parseExpressionText(written[2]);
    if (value instanceof Failure) return fail(descriptionReasons().badExpression(word, value.reason));
    if (!onlyReads(value)) return fail(descriptionReasons().doesMore(word));
    draft.variables.push({ name: written[1], value });
  } else if ((partNames as readonly string[]).includes(word)) {
    const read = parseExpressionText(rest);
    if (read instanceof Failure) return fail(descriptionReasons().badExpression(word, read.reason));
    if (!onlyReads(read)) return fail(descriptionReasons().doesMore(word));
    draft.parts.set(word as Part, read);
  } else
    fail(descriptionReasons().unknownWord(word, [...forms, ...partNames, "with", "type", "none", "bare"].join(", ")));
}

const harmless: ReadonlySet<string> = new Set([
  "integer",
  "boolean",
  "variable",
  "unary",
  "binary",
  "conditional",
  "member",
  "index",
  "cast",
  "sizeof",
  "tuple",
  "block-expression",
  "block",
  "expression",
  "assign",
  "declare",
  "if",
  "while",
  "increment",
]);

/** Whoever wrote a file of descriptions does nothing with it but have values read. */
function onlyReads(of: unknown): boolean {
  if (Array.isArray(of)) return of.every(onlyReads);
  if (typeof of !== "object" || of === null) return true;
  const { kind } = of as { readonly kind?: unknown };
  if (kind !== undefined && !(typeof kind === "string" && harmless.has(kind))) return false;
  return Object.entries(of).every(([key, value]) => key === "type" || onlyReads(value));
}

const needed: Readonly<Record<Form, readonly (readonly Part[])[]>> = {
  text: [["data", "length"]],
  list: [
    ["data", "length"],
    ["length", "begin", "next", "item"],
  ],
  set: [["length", "begin", "next", "item"]],
  mapping: [["length", "begin", "next", "key", "value"]],
  optional: [["has", "item"]],
  pointer: [["data"]],
  value: [["item"]],
  tuple: [[]],
  variants: [[]],
};

function described(names: readonly NamePattern[], draft: Draft, form: Form, file: string): Description {
  if (!needed[form].some((parts) => parts.every((part) => draft.parts.has(part)))) {
    throw new DescriptionError(
      file,
      draft.line,
      descriptionReasons().needsParts(form, needed[form].map((each) => each.join(", ")).join("; or ")),
    );
  }
  const { parts, types, variables, none = "none", bare = "" } = draft;
  return { names, form, parts, types, variables, none, bare };
}

/** `std::vector<T>` names the types that it is made of; anything else is a glob of the whole name. */
function namePattern(written: string): NamePattern {
  const generic = /^([^<]*)<([A-Z]\w*(?:, ?[A-Z]\w*)*)>$/.exec(written);
  if (generic !== null) return { name: new RegExp(`^${glob(generic[1])}<`), parameters: generic[2].split(/, ?/) };
  return { name: new RegExp(`^${glob(written)}$`), parameters: [] };
}

/** `*` is anything; `[[]` a bracket. */
function glob(written: string): string {
  return written
    .replaceAll("[[]", "[")
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replace(/\*+/g, ".*");
}

const mostUnfitting = 64;

/** `std::vector<int>::iterator` has a pattern's name only as far as its class goes. */
function isWithin(name: string): boolean {
  return /[>)]::[^<>]*$/.test(name);
}

/** The first description that fits a type: its name, and everything that its expressions mention. */
export function shapeFor(
  name: string,
  self: StructType | PointerType,
  made: TypeArguments,
  { all, unfitting }: Descriptions,
): Shape | undefined {
  let named = false;
  for (const description of all) {
    const pattern = description.names.find((one) => one.name.test(name));
    if (pattern === undefined) continue;
    named = true;
    const own = pattern.parameters.length === 0 ? [] : made.of(self, []);
    if (own.length < pattern.parameters.length) continue;
    // There is nothing to read of elements without bytes.
    const [first] = own;
    if (description.form === "list" && first?.kind === "struct" && first.size === 0) continue;
    const types = new Map(pattern.parameters.map((parameter, i) => [parameter, own[i]]));
    for (const { name: other, from, path, argument } of description.types) {
      const of = from === "self" ? self : types.get(from);
      const type = of === undefined ? undefined : made.of(of, path)[argument];
      if (type !== undefined) types.set(other, type);
    }
    if (description.types.some((one) => !types.has(one.name))) continue;
    const { form, parts, variables, none, bare } = description;
    const reader = new Reader(self, types);
    if (
      [...parts].every(([part, expression]) => fits(part, reader.typeOf(expression))) &&
      variables.every(({ value }) => reader.typeOf(value) !== "missing")
    ) {
      return { form, parts, types, variables, none, bare };
    }
  }
  if (named && !isWithin(name) && unfitting.size < mostUnfitting) unfitting.add(name);
  return undefined;
}

function fits(part: Part, type: Known): boolean {
  if (type === "missing") return false;
  if (type === undefined) return true;
  return part === "data"
    ? type.kind === "pointer" || type.kind === "integer"
    : part === "length"
      ? type.kind === "integer"
      : true;
}

/** The type of an expression as far as it can be told; "missing" where it mentions a member that is not there. */
type Known = Type | undefined | "missing";

class Reader {
  readonly #self: Type;
  readonly #types: ReadonlyMap<string, Type>;

  constructor(self: Type, types: ReadonlyMap<string, Type>) {
    this.#self = self;
    this.#types = types;
  }

  typeOf(e: Expression): Known {
    switch (e.kind) {
      case "variable":
        return e.name === "self" ? this.#self : undefined;
      case "member": {
        const object = this.typeOf(e.object);
        if (object === undefined || object === "missing") return object;
        const struct = object.kind === "pointer" ? object.target : object;
        return struct.kind === "struct" ? (findMember(struct, e.name)?.type ?? "missing") : "missing";
      }
      case "unary": {
        const operand = this.typeOf(e.operand);
        if (operand === undefined || operand === "missing") return operand;
        if (e.operator === "*") return operand.kind === "pointer" ? operand.target : "missing";
        return e.operator === "&" ? { kind: "pointer", target: operand, space: "user" } : undefined;
      }
      case "index": {
        const object = this.typeOf(e.object);
        if (object === undefined || object === "missing") return object;
        return (
          this.#all([e.index]) ??
          (object.kind === "array" ? object.element : object.kind === "pointer" ? object.target : "missing")
        );
      }
      case "cast":
        return this.#numbers([e.operand]) ?? this.#named(e.to);
      case "binary":
        return this.#numbers([e.left, e.right]);
      case "conditional":
        return this.#all([e.condition, e.then, e.otherwise]);
      case "tuple":
        return this.#all(e.elements);
      case "sizeof":
        return "kind" in e.of ? this.#all([e.of]) : undefined;
      default:
        return undefined;
    }
  }

  /** "missing" when one of them is. */
  #all(parts: readonly Expression[]): "missing" | undefined {
    return parts.some((part) => this.typeOf(part) === "missing") ? "missing" : undefined;
  }

  /** "missing" when one of them is, or is a struct, which another version of a library may have for a number. */
  #numbers(parts: readonly Expression[]): "missing" | undefined {
    return parts.some((part) => {
      const type = this.typeOf(part);
      return type === "missing" || type?.kind === "struct";
    })
      ? "missing"
      : undefined;
  }

  #named({ name, pointers, dimensions }: TypeName): Type | undefined {
    let type = this.#types.get(name) ?? { uint64: u64, uint8: u8 }[name];
    if (type === undefined || dimensions.length > 0) return undefined;
    for (let i = 0; i < pointers; i++) type = { kind: "pointer", target: type, space: "user" };
    return type;
  }
}
