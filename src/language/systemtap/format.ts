// The house's layout. Words stay as they are, in their order, and so does what they mean: white space alone is chosen.
// Lines end where the author ended them, and behind each `{`, before each `}`.
import { systemtap } from "../../messages/systemtap.ts";
import type { Source } from "../diagnostic.ts";
import type { Formatted } from "../language.ts";
import { parseScript } from "./parse-script.ts";
import { scan, type Token } from "./tokens.ts";

/** A word, or a comment. */
interface Piece {
  readonly text: string;
  readonly kind: Token["kind"] | "comment" | "line-comment";
  /** Line ends before it, two at most; and whether anything stood between it and the one before. */
  readonly lines: number;
  readonly apart: boolean;
}

export function format(source: Source): Formatted {
  const { diagnostics } = parseScript(source, parametersOf(source.text), undefined);
  const errors = diagnostics.filter(({ severity, message }) => severity === "error" && message !== "");
  if (errors.length > 0) return { diagnostics: errors };
  const pieces = piecesOf(source.text);
  const bad = pieces.find(({ kind }) => kind === "bad");
  if (bad !== undefined)
    return {
      diagnostics: [
        { severity: "error", span: { start: 0, end: 0 }, ...systemtap.unreadable(`unreadable ${bad.text}`) },
      ],
    };
  return { text: layOut(pieces), diagnostics };
}

/** What stands for the command line's arguments, so that a script that wants some can be read. */
function parametersOf(text: string): string[] {
  const wanted = Math.max(0, ...[...text.matchAll(/[$@](\d{1,3})\b/g)].map(([, number]) => Number(number)));
  return Array.from({ length: wanted }, () => "1");
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  const between = (from: number, to: number): void => {
    // Comments, and white space around them.
    const comment = /\/\/[^\n]*|\/\*[^]*?\*\/|#[^\n]*/g;
    comment.lastIndex = from;
    let end = from;
    for (;;) {
      const found = comment.exec(text);
      if (found === null || found.index >= to) break;
      push(
        found[0].trimEnd(),
        found[0].startsWith("/*") ? "comment" : "line-comment",
        text.slice(end, found.index),
        found.index > end,
      );
      end = comment.lastIndex;
    }
    gap = text.slice(end, to);
  };
  let gap = "";
  const push = (word: string, kind: Piece["kind"], space: string, apart: boolean): void => {
    pieces.push({ text: word, kind, lines: Math.min(2, space.split("\n").length - 1), apart });
  };
  for (;;) {
    const token = scan(text, at);
    between(at, token.start);
    if (token.kind === "end") return pieces;
    push(token.text, token.kind, gap, token.start > at);
    at = token.end;
  }
}

const opens = new Set(["{", "(", "[", "%("]);
const closes = new Set(["}", ")", "]", "%)"]);
const keywords = new Set([
  "if",
  "while",
  "for",
  "foreach",
  "catch",
  "return",
  "in",
  "limit",
  "delete",
  "probe",
  "else",
  "try",
  "function",
  "global",
]);
/** What stands apart on both sides. */
const spaced = new Set(
  "= += -= *= /= %= &= |= ^= <<= >>= .= <<< == != < <= > >= =~ !~ && || | ^ << >> ? %? %:".split(" "),
);

function layOut(pieces: readonly Piece[]): string {
  let out = "";
  const stack: string[] = [];
  let start = true;
  pieces.forEach((piece, i) => {
    const before = pieces[i - 1];
    const braces = (): number => stack.filter((one) => one === "{").length;
    const inside = stack.length - braces();
    const closing = piece.kind === "punctuation" && closes.has(piece.text);
    if (closing) stack.pop();
    let lines = before === undefined ? 0 : piece.lines;
    if (before?.kind === "line-comment") lines = Math.max(1, lines);
    // A block of statements: braces of probe points stand in a line.
    const blockOpened = before?.text === "{" && isBlock(pieces, i - 1);
    const blockCloses = piece.text === "}" && isBlockEnd(pieces, i);
    const emptied = blockOpened && blockCloses;
    if (!emptied && (blockOpened || blockCloses) && inside === 0 && piece.kind !== "line-comment")
      lines = Math.max(1, lines);
    if (emptied) lines = 0;
    if (blockOpened || blockCloses) lines = Math.min(1, lines);
    if (lines > 0) {
      out += "\n".repeat(lines);
      const depth = braces() + (stack.length > braces() ? 1 : 0);
      out += "  ".repeat(depth);
      start = true;
    }
    if (!start && before !== undefined && apart(before, piece, pieces, i)) out += " ";
    out += piece.text;
    start = false;
    if (piece.kind === "punctuation" && opens.has(piece.text)) stack.push(piece.text);
  });
  return out === "" ? "" : `${out}\n`;
}

/** `{` behind a `.`, or between components: alternatives of a probe point, in which no statement stands. */
function isBlock(pieces: readonly Piece[], at: number): boolean {
  const { text } = pieces[at - 1] ?? { text: "" };
  return (
    text !== "." &&
    !(
      pieces[at - 1]?.text === "probe" ||
      (text === "," && pieces[at + 1]?.kind === "identifier" && [",", ".", "}"].includes(pieces[at + 2]?.text ?? ""))
    )
  );
}

function isBlockEnd(pieces: readonly Piece[], at: number): boolean {
  let depth = 0;
  for (let i = at; i >= 0; i--) {
    if (pieces[i].kind !== "punctuation") continue;
    if (pieces[i].text === "}") depth++;
    if (pieces[i].text === "{" && --depth === 0) return isBlock(pieces, i);
  }
  return true;
}

const values = new Set(["identifier", "number", "string", "target", "at"]);

function apart(before: Piece, piece: Piece, pieces: readonly Piece[], at: number): boolean {
  if (piece.kind === "line-comment" || piece.kind === "comment" || before.kind === "comment") return true;
  const [left, right] = [before.text, piece.text];
  const word = (one: Piece): boolean => one.kind !== "punctuation" && one.kind !== "bad";
  const operand = values.has(before.kind) && !keywords.has(left) ? true : closes.has(left) && left !== "}";
  if (right === "{") return left !== "." && left !== "(";
  if (left === "{") return right !== "}" && isBlock(pieces, at - 1);
  if (right === "}") return isBlockEnd(pieces, at);
  // `{open,close}*`.
  if (left === "}" && !piece.apart && right !== "if" && !isBlockEnd(pieces, at - 1)) return false;
  if (left === "}") return right !== ";" && right !== "," && right !== "." && right !== "?" && right !== "!";
  if (right === "," || right === ";") return false;
  if (left === "," || left === ";") return true;
  // What touches means something: `$x$`, `sched_*`, `f%[10]`, `$a[0]`.
  if (
    !piece.apart &&
    (right === "$" ||
      right === "$$" ||
      right === "%" ||
      right === "*" ||
      right === "**" ||
      left === "*" ||
      left === "**") &&
    !(spaced.has(left) || spaced.has(right))
  )
    return false;
  if (spaced.has(left) || spaced.has(right)) return right === "?" || left === "?" || right === "!" ? piece.apart : true;
  if (right === "." || left === "." || right === "->" || left === "->") return piece.apart;
  if (right === "(")
    return (
      keywords.has(left) ||
      (word(before) ? piece.apart && before.kind !== "identifier" : !opens.has(left) && piece.apart)
    );
  if (right === "[") return piece.apart && before.kind !== "identifier" ? true : keywords.has(left);
  if (opens.has(left) && left !== "%(") return false;
  if (closes.has(right) && right !== "%)") return false;
  if (right === "++" || right === "--" || left === "++" || left === "--") return piece.apart;
  if (right === "+" || right === "-")
    return operand ? piece.apart || !isSorting(pieces, at) : piece.apart || keywords.has(left);
  if (left === "+" || left === "-") return isBinary(pieces, at - 1) ? true : piece.apart;
  return word(before) && word(piece) ? true : piece.apart;
}

/** `a+` in the head of a foreach. */
function isSorting(pieces: readonly Piece[], at: number): boolean {
  return [")", "]", ",", "in", "limit"].includes(pieces.at(at + 1)?.text ?? "");
}

function isBinary(pieces: readonly Piece[], at: number): boolean {
  const before = pieces[at - 1];
  return (
    before !== undefined &&
    ((values.has(before.kind) && !keywords.has(before.text)) || before.text === ")" || before.text === "]") &&
    !isSorting(pieces, at)
  );
}
