// The house's layout. Words stay as they are, in their order: white space alone is chosen. Lines end where the author
// ended them; a clause's are indented by what is open around them.
import type { Source } from "../diagnostic.ts";
import type { Formatted, Given } from "../language.ts";
import { parse } from "./parse.ts";
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
  const { diagnostics } = parse(source, argumentsFor(source.text));
  const errors = diagnostics.filter(({ severity, code }) => severity === "error" && code === "syntax");
  if (errors.length > 0) return { diagnostics: errors };
  return { text: layOut(piecesOf(source.text)), diagnostics: [] };
}

/** What stands for the command line's arguments, so that a script that wants some can be read. */
function argumentsFor(text: string): Given {
  const wanted = Math.max(0, ...[...text.matchAll(/\$(\d{1,3})\b/g)].map(([, number]) => Number(number)));
  return { positional: Array.from({ length: wanted }, () => "1"), target: 1 };
}

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; ;) {
    const token = scan(text, at);
    let gap = at;
    const comments = /\/\/[^\n]*|\/\*[^]*?\*\//g;
    const push = (piece: Pick<Piece, "text" | "kind">, start: number): void => {
      const lines = Math.min(2, text.slice(gap, start).split("\n").length - 1);
      pieces.push({ ...piece, lines, apart: start > gap });
    };
    comments.lastIndex = at;
    for (let found; (found = comments.exec(text)) !== null && found.index < token.start;) {
      push({ text: found[0].trimEnd(), kind: found[0].startsWith("/*") ? "comment" : "line-comment" }, found.index);
      gap = comments.lastIndex;
    }
    if (token.kind === "end") return pieces;
    push({ text: text.slice(token.start, token.end).trimEnd(), kind: token.kind }, token.start);
    at = token.end;
  }
}

function layOut(pieces: readonly Piece[]): string {
  let out = "";
  /** What is open: blocks, and parentheses. */
  const open: string[] = [];
  pieces.forEach((piece, i) => {
    const before = pieces[i - 1];
    const closing = piece.kind === "punctuation" && /^[})\]]$/.test(piece.text);
    const depth = open.filter((one) => one === "{").length;
    if (closing) open.pop();
    const outer = open.filter((one) => one === "{").length;
    const lines =
      before === undefined
        ? 0
        : before.kind === "line-comment" || before.kind === "directive" || piece.kind === "directive"
          ? Math.max(1, piece.lines)
          : piece.lines;
    if (lines > 0) {
      const behindOpen = before?.text === "{" || (closing && piece.text === "}");
      const more = open.length > outer && !closing ? 1 : 0;
      out += "\n".repeat(behindOpen ? 1 : lines) + (piece.kind === "directive" ? "" : "  ".repeat(outer + more));
    } else if (before !== undefined && apart(pieces, i, depth)) out += " ";
    out += piece.text;
    if (piece.kind === "punctuation" && /^[{([]$/.test(piece.text)) open.push(piece.text);
  });
  return out === "" ? "" : `${out}\n`;
}

const binary = new Set(
  "= += -= *= /= %= &= |= ^= <<= >>= == != < <= > >= && || ^^ | ^ << >> ? : + - * / % &".split(" "),
);
const operands = new Set(["identifier", "number", "string", "character", "macro", "aggregation"]);

function apart(pieces: readonly Piece[], at: number, depth: number): boolean {
  const [before, piece] = [pieces[at - 1], pieces[at]];
  if (piece.kind === "line-comment" || piece.kind === "comment" || before.kind === "comment") return true;
  const [left, right] = [before.text, piece.text];
  if (right === "{" || left === "{" || right === "}" || left === "}")
    return right !== ";" && right !== "," && !(left === "{" && right === "}");
  // Descriptions, predicates and declarations stay as they are written.
  if (depth === 0) return right !== "," && right !== ";" && (piece.apart || left === ",");
  if (right === "," || right === ";" || right === ")" || right === "]") return false;
  if (left === "," || left === ";") return true;
  if (left === "(" || left === "[" || left === "->" || right === "->" || left === "." || right === ".") return false;
  if (isBinary(pieces, at)) return true;
  if (isBinary(pieces, at - 1)) return true;
  return piece.apart && !(binary.has(left) && before.kind === "punctuation");
}

function isBinary(pieces: readonly Piece[], at: number): boolean {
  const piece = pieces[at];
  const before = pieces.at(at - 1);
  if (at === 0 || piece.kind !== "punctuation" || !binary.has(piece.text) || before === undefined) return false;
  // Behind a type in parentheses it is a pointer's star, or a sign.
  if (before.text === ")" && /^[-*&]$/.test(piece.text)) return piece.apart;
  if (piece.text === "*" && pieces[at + 1]?.text === ")") return false;
  if (!/^[-+*&]$/.test(piece.text)) return true;
  return operands.has(before.kind) || before.text === ")" || before.text === "]";
}
