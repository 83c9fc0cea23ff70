// `strobe fmt`: a script in the house layout. Token by token, so that comments, directives and the author's own line
// breaks stay; only white space changes, so that the script means what it meant.
import { InternalError } from "../../base/internal-error.ts";
import type { Diagnostic, Source } from "../diagnostic.ts";
import { sameProgram } from "../same-tree.ts";
import { formatItems, type FormatItem } from "./format-items.ts";
import { parse, type Parsed } from "./parse.ts";
import { scan } from "./tokens.ts";
import { isTypeWord } from "./type-names.ts";
import type { FindSpelling } from "../probe-spelling.ts";

export interface Formatted {
  /** Undefined when the text does not parse: `diagnostics` says where. */
  readonly text?: string;
  readonly diagnostics: readonly Diagnostic[];
}

const indentation = "  ";
/** A block of one statement that was written on one line stays there up to this many columns. */
const widest = 110;

/**
 * The script with its white space made regular. Formatting what is formatted changes nothing.
 * @throws InternalError where the result would not mean the same
 */
export function format(source: Source, probes: FindSpelling): Formatted {
  const { program, diagnostics, items } = read(source, probes);
  if (items === undefined) return { diagnostics: diagnostics.filter(({ severity }) => severity === "error") };
  const text = layOut(items);
  if (text === source.text) return { text, diagnostics: [] };
  const after = read({ ...source, text }, probes);
  if (after.items === undefined || !sameItems(items, after.items) || !sameProgram(program, after.program)) {
    throw new InternalError(`what strobe fmt made of ${source.name} would not mean the same; it stays as it is`);
  }
  return { text, diagnostics: [] };
}

/** `items` are there when all of the text could be read. */
function read(source: Source, probes: FindSpelling): Parsed & { readonly items?: readonly FormatItem[] } {
  const parsed = parse(source, { positional: [], probes });
  if (!parsed.whole) return parsed;
  return {
    ...parsed,
    items: formatItems(
      source.text,
      parsed.program.probes.flatMap((probe) => probe.specs.map((spec) => spec.span)),
    ),
  };
}

/** Comments may be indented otherwise. */
function sameItems(before: readonly FormatItem[], after: readonly FormatItem[]): boolean {
  const words = ({ text }: FormatItem): string => text.replaceAll(/\s+/g, " ");
  return (
    before.length === after.length &&
    before.every((item, i) => {
      const other = after[i];
      return (
        item.kind === other.kind &&
        (item.text === other.text || (item.kind === "block-comment" && words(item) === words(other)))
      );
    })
  );
}

/**
 * An open bracket. A block's statements have lines of their own; a short one is all on one line; the rest groups an
 * expression.
 */
interface Open {
  readonly kind: "block" | "line" | "group";
  readonly close: number;
}

function layOut(items: readonly FormatItem[]): string {
  const spacing = new Spacing(items);
  const opens: Open[] = [];
  let out = "";
  let line = "";
  let indent = "";
  const blocks = (): number => opens.filter(({ kind }) => kind === "block").length;
  for (const [at, item] of items.entries()) {
    const inner = opens.at(-1);
    const closes = inner?.close === at;
    const breaks = at === 0 ? "none" : lineBreak(items, at, inner, spacing);
    if (breaks !== "none") {
      out += `${indent}${line}\n`;
      line = "";
      if (item.newlines > 1 && !closes && !opens.some((open) => open.kind !== "group" && isOpening(items[at - 1])))
        out += "\n";
    }
    if (line === "") {
      const further =
        breaks === "continuation" &&
        !closes &&
        (opens.length > 0 || item.kind !== "spec") &&
        !isHeader(items, at, opens);
      const depth = blocks() - (closes && inner.kind === "block" ? 1 : 0) + (further ? 1 : 0);
      indent = item.kind === "directive" ? "" : indentation.repeat(depth);
    } else if (spacing.before(at)) {
      line += " ";
    }
    line += item.kind === "block-comment" ? reindented(item.text, indent) : item.text;
    if (closes) opens.pop();
    if (isOpening(item)) {
      const close = spacing.closing(at);
      const kind =
        item.text !== "{" ? "group" : fitsLine(items, at, close, indent.length + line.length) ? "line" : "block";
      opens.push({ kind, close });
    }
  }
  return line === "" ? out : `${out}${indent}${line}\n`;
}

/** Whether a line begins at an item: of a new statement, of the same one where its author began one, or none. */
function lineBreak(
  items: readonly FormatItem[],
  at: number,
  inner: Open | undefined,
  spacing: Spacing,
): "statement" | "continuation" | "none" {
  const item = items[at];
  const previous = items[at - 1];
  if (item.kind === "directive" || previous.kind === "directive") return "statement";
  const statement = inner === undefined || inner.kind === "block";
  const between = statement && (startsBlock(previous, inner) || endsStatement(items, at, spacing));
  if (isComment(item)) {
    if (item.newlines === 0) return "none";
    const last = inner?.kind === "block" && spacing.beforeComments(inner.close) < at;
    return between || last ? "statement" : "continuation";
  }
  if (inner?.kind === "block" && inner.close === at) return "statement";
  if (isComment(previous)) {
    if (previous.kind === "block-comment" && item.newlines === 0) return "none";
    return statement && endsStatement(items, at, spacing) ? "statement" : "continuation";
  }
  if (inner?.kind === "line") return "none";
  if (between) return "statement";
  const joined = item.kind === "punctuation" && ["{", ";", ","].includes(item.text);
  return item.newlines > 0 && !joined ? "continuation" : "none";
}

function startsBlock(previous: FormatItem, inner: Open | undefined): boolean {
  return inner?.kind === "block" && previous.kind === "punctuation" && previous.text === "{";
}

/** Whether what stands before an item, comments aside, is the end of a statement or of the block that it is. */
function endsStatement(items: readonly FormatItem[], at: number, spacing: Spacing): boolean {
  const before = spacing.beforeComments(at);
  if (before < 0) return true;
  const { kind, text } = items[before];
  if (kind === "directive") return true;
  if (kind !== "punctuation") return false;
  if (text === ";" || text === "{") return true;
  if (text !== "}") return false;
  const item = items[at];
  // `struct { … } name;`
  if (spacing.closesType(before)) return item.newlines > 0;
  if (item.kind === "word") return item.text !== "else";
  return item.kind !== "punctuation" || ["{", "++", "--", "*", "("].includes(item.text);
}

/** A probe's second line is no further in: its specs and its predicate stand below each other. */
function isHeader(items: readonly FormatItem[], at: number, opens: readonly Open[]): boolean {
  return opens.length === 0 && (items[at].kind === "spec" || items[at].text === "/" || isComment(items[at]));
}

function isComment(item: FormatItem): boolean {
  return item.kind === "line-comment" || item.kind === "block-comment";
}

function isOpening({ kind, text }: FormatItem): boolean {
  return kind === "punctuation" && (text === "{" || text === "(" || text === "[");
}

/** Whether the block that opens at an item was on one line, has one statement at most, and is short enough to stay. */
function fitsLine(items: readonly FormatItem[], open: number, close: number, column: number): boolean {
  const inside = items.slice(open + 1, close);
  if (inside.length === 0) return true;
  const last = inside.findLast((item) => !isComment(item));
  const semicolons = inside.filter(({ kind, text }) => kind === "punctuation" && text === ";").length;
  const lines = [...inside, items[close]].some(
    ({ kind, newlines }) => newlines > 0 || kind === "line-comment" || kind === "directive",
  );
  const blocks = inside.some(({ kind, text }) => kind === "punctuation" && text === "{");
  const single = semicolons === 0 || (semicolons === 1 && last?.text === ";");
  return single && !lines && !blocks && inside.reduce((sum, { text }) => sum + text.length + 1, column) <= widest;
}

/** The lines of a comment keep their distances: all move with the first. */
function reindented(text: string, indent: string): string {
  const [first, ...rest] = text.split("\n");
  return [
    first,
    ...rest.map((line) => `${indent}${line.trimStart().startsWith("*") ? " " : "   "}${line.trim()}`.trimEnd()),
  ].join("\n");
}

const operators = new Set([
  "+",
  "-",
  "*",
  "/",
  "%",
  "&",
  "|",
  "^",
  "<<",
  ">>",
  "&&",
  "||",
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "=",
  "?",
  ":",
  "+=",
  "-=",
  "*=",
  "/=",
  "%=",
  "&=",
  "|=",
  "^=",
  "<<=",
  ">>=",
]);
const prefixes = new Set(["-", "+", "!", "~", "*", "&", "++", "--"]);
const keywords = new Set(["if", "while", "for", "unroll", "return", "else", "let", "in"]);

/** What stands between two items of a line. */
class Spacing {
  readonly #items: readonly FormatItem[];
  readonly #closing: ReadonlyMap<number, number>;
  /** Where the parentheses of casts close. */
  readonly #casts = new Set<number>();
  /** Where the braces of structs, unions and enums close. */
  readonly #types = new Set<number>();
  /** The slashes around predicates. */
  readonly #slashes = new Map<number, "open" | "close">();

  /** For each item the last before it that is no comment. */
  readonly #before: Int32Array;

  constructor(items: readonly FormatItem[]) {
    this.#items = items;
    this.#before = new Int32Array(items.length + 1).fill(-1);
    for (let at = 1; at <= items.length; at++)
      this.#before[at] = isComment(items[at - 1]) ? this.#before[at - 1] : at - 1;
    const open: number[] = [];
    const closing = new Map<number, number>();
    let slash = -1;
    for (const [at, { kind, text }] of items.entries()) {
      if (kind !== "punctuation") continue;
      if (text === "{" || text === "(" || text === "[") {
        if (text === "{" && open.length === 0 && slash >= 0) this.#slashes.set(this.beforeComments(at), "close");
        if (text === "{") slash = -1;
        open.push(at);
      } else if (text === "}" || text === ")" || text === "]") {
        const start = open.pop();
        if (start === undefined) continue;
        closing.set(start, at);
        if (text === ")" && this.#isCast(start, at)) this.#casts.add(at);
        if (text === "}" && this.#opensType(start)) this.#types.add(at);
      } else if (text === "/" && open.length === 0 && slash < 0) {
        slash = at;
        this.#slashes.set(at, "open");
      }
    }
    this.#closing = closing;
  }

  /** The last item before one that is no comment; -1. */
  beforeComments(at: number): number {
    return this.#before[at];
  }

  /** Where the bracket that opens at an item closes. */
  closing(at: number): number {
    return this.#closing.get(at) ?? this.#items.length;
  }

  closesType(at: number): boolean {
    return this.#types.has(at);
  }

  #opensType(open: number): boolean {
    return [1, 2].some((back) => ["struct", "union", "enum"].includes(this.#items[open - back]?.text ?? ""));
  }

  /** Whether a space stands before an item, within a line. */
  before(at: number): boolean {
    return this.#isSpaced(at) || !this.#staysApart(at);
  }

  /**
   * Whether an item and the one before it are read as the same two without a space: `- -$x` is not `--$x`, and the
   * element `1 .5` is not the number 1.5.
   */
  #staysApart(at: number): boolean {
    const { kind, text } = this.#items[at - 1];
    const [item, next] = [this.#items[at].text, this.#items[at + 1]?.text ?? ""];
    return (
      (kind !== "word" && kind !== "punctuation") ||
      scan(text + item + (item === "." ? next : ""), 0).end === text.length
    );
  }

  #isSpaced(at: number): boolean {
    const { kind, text } = this.#items[at];
    const previous = this.#items[at - 1];
    if (isComment(this.#items[at]) || isComment(previous)) return true;
    if (this.#slashes.get(at) === "close" || this.#slashes.get(at - 1) === "open") return false;
    const symbol = kind === "punctuation" ? text : "";
    const last = previous.kind === "punctuation" ? previous.text : "";
    if (last === "{" || symbol === "}") return !(last === "{" && symbol === "}");
    if (["(", "[", ".", "->", ".."].includes(last) || this.#isPrefix(at - 1) || this.#casts.has(at - 1)) return false;
    if (symbol === "(" && this.#isMark(at - 1)) return false;
    switch (symbol) {
      case ",":
      case ";":
      case ".":
      case "->":
      case "..":
      case ")":
      case "]":
        return false;
      case "!":
        return !this.#isMark(at);
      case "[":
        return operators.has(last) || last === ",";
      case "(":
        return (
          keywords.has(previous.text) ||
          (isTypeWord(previous.text) && previous.text !== "typeof") ||
          (last !== "" && last !== ")" && last !== "]")
        );
      case "++":
      case "--":
        return this.#isPrefix(at);
      default:
        return true;
    }
  }

  /** `name!(…)`: a macro's use, marked as one. */
  #isMark(at: number): boolean {
    const { kind, text } = this.#items[at];
    const previous = this.#items[at - 1];
    return (
      kind === "punctuation" &&
      text === "!" &&
      previous?.kind === "word" &&
      /^[A-Za-z_]/.test(previous.text) &&
      !keywords.has(previous.text) &&
      previous.text !== "comptime"
    );
  }

  /** Whether an operator has its operand behind it only. */
  #isPrefix(at: number): boolean {
    const { kind, text } = this.#items[at];
    if (kind !== "punctuation" || !prefixes.has(text) || this.#isMark(at)) return false;
    const before = this.beforeComments(at);
    if (before < 0) return true;
    const previous = this.#items[before];
    if (previous.kind !== "punctuation") return keywords.has(previous.text) || (text === "*" && this.#isType(before));
    if (previous.text === ")") return this.#casts.has(before);
    // `struct file **p`
    if (text === "*" && previous.text === "*" && this.#isPrefix(before)) return true;
    if (previous.text === "/" && this.#slashes.has(before)) return true;
    if (previous.text === "}") return text === "++" || text === "--" || text === "*";
    if (previous.text === "++" || previous.text === "--") return this.#isPrefix(before);
    return previous.text !== "]";
  }

  #isType(at: number): boolean {
    const { kind, text } = this.#items[at];
    return (
      kind === "word" && (isTypeWord(text) || ["struct", "union", "enum"].includes(this.#items[at - 1]?.text ?? ""))
    );
  }

  /** `(struct file *)x`, `(uint64)x`: the parentheses hold a type's name, and something to convert follows. */
  #isCast(open: number, close: number): boolean {
    const words = this.#items.slice(open + 1, close).filter(({ kind }) => !isComment({ kind, text: "", newlines: 0 }));
    const before = this.#items[open - 1];
    if (words.length === 0 || (before?.kind === "word" && !keywords.has(before.text))) return false;
    const next = this.#items[close + 1];
    if (next === undefined || (next.kind === "punctuation" && !["(", "*", "&", "-", "~", "!"].includes(next.text)))
      return false;
    if (
      !words.every(
        ({ kind, text }) => (kind === "word" && /^[A-Za-z_0-9]/.test(text)) || ["*", "[", "]"].includes(text),
      )
    )
      return false;
    const [first] = words;
    const certain = isTypeWord(first.text) || first.text.endsWith("_t") || words.at(-1)?.text === "*";
    return certain || (next.kind === "word" && !keywords.has(next.text));
  }
}
