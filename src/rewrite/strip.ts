// TypeScript to JavaScript without moving a character: types become blanks, as Node itself does it where it knows
// TypeScript.
import { scripts } from "../messages/scripts.ts";
import { ScriptError, type Span } from "../language/diagnostic.ts";
import { fromPackage } from "../linux/packages.ts";
import { InternalError } from "../base/internal-error.ts";

type Stripper = Pick<typeof import("@swc/wasm-typescript"), "transformSync">;

/** The stripper's code for syntax that is more than types. */
const UNSUPPORTED = "UnsupportedSyntax";
/** Characters of a line; longer ones are looked at in pieces first. */
const LONG = 4096;

/** The stripper goes on after each of them, with a message of the whole line: 3000 in a line take 19 s. */
const declarationsWithoutNames = /(?:\bawait\s+using\s+){64}/;

let loaded: Stripper | undefined;
/** Loaded when it is first needed: it is large, and JavaScript needs none. */
const stripper = (): Stripper => (loaded ??= fromPackage(() => require("@swc/wasm-typescript") as Stripper));

/** What the stripper throws. Lines count from 1; columns from 0, as a terminal counts them. */
interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/**
 * A TypeScript file's text with blanks for types: each character that is left is where it was.
 * @throws ScriptError for what does not parse, and for syntax that is more than types (enums, namespaces, parameter properties)
 */
export function stripTypes(file: string, text: string): string {
  const repeated = declarationsWithoutNames.exec(text);
  if (repeated !== null)
    throw refused(
      file,
      text,
      { start: repeated.index, end: repeated.index + repeated[0].length },
      { code: "InvalidSyntax", message: scripts.awaitAsName().message },
    );
  const broken = inShortLines(text);
  if (broken !== text) {
    const { refusal } = stripped(file, broken);
    // What else is wrong may be so only with lines that end elsewhere.
    if (refusal?.code === UNSUPPORTED) throw refused(file, text, spanIn(broken, refusal), refusal);
  }
  const { code, refusal } = stripped(file, text);
  if (refusal !== undefined) throw refused(file, text, spanIn(text, refusal), refusal);
  if (code.length !== text.length) throw new InternalError(`${file} has another length after its types were blanked`);
  return code;
}

/** @throws ScriptError when the stripper gives up */
function stripped(file: string, text: string): { readonly code: string; readonly refusal?: Refusal } {
  try {
    return stripper().transformSync(text, { mode: "strip-only", filename: file });
  } catch (error) {
    if (!isRefusal(error)) throw gaveUp(file, text, error);
    return { code: "", refusal: error };
  }
}

/**
 * Text of the same length, where a long line goes on in others behind `;`, `,`, `{` and `}`. The stripper prepares a
 * message for each syntax that it refuses, with the whole line that this is in: of 3000 enums in a line of 40 kB that
 * takes 15 s.
 */
function inShortLines(text: string): string {
  if (text.length <= LONG) return text;
  // What stands behind `//` to the end of the line is a comment, or in a text.
  return text.replaceAll(/^.+$/gm, (line) => {
    if (line.length <= LONG) return line;
    const comment = line.indexOf("//");
    const code = comment < 0 ? line : line.slice(0, comment);
    return code.replaceAll(/(?<=[;,{}]) /g, "\n") + line.slice(code.length);
  });
}

/** The stripper has a stack of its own size, and is of no more use once it has run over. */
function gaveUp(file: string, text: string, error: unknown): unknown {
  if (!(error instanceof Error && ["RuntimeError", "RangeError"].includes(error.name))) return error;
  loaded = undefined;
  delete require.cache[require.resolve("@swc/wasm-typescript")];
  return new ScriptError({ name: file, text }, [
    { severity: "error", span: { start: 0, end: 0 }, ...scripts.fileNestedTooDeeplyTypes() },
  ]);
}

function isRefusal(error: unknown): error is Refusal {
  return typeof error === "object" && error !== null && "code" in error && "startLine" in error && "message" in error;
}

function refused(
  file: string,
  text: string,
  span: Span,
  { code, message }: Pick<Refusal, "code" | "message">,
): ScriptError {
  const unsupported = /^TypeScript (.*) is not supported in strip-only mode$/.exec(message);
  return new ScriptError({ name: file, text }, [
    {
      severity: "error",
      span,
      ...(unsupported
        ? scripts.moreThanTypes(unsupported[1])
        : scripts.notStripped(code === UNSUPPORTED ? "feature" : "syntax", lowerFirst(message))),
    },
  ]);
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function spanIn(text: string, { startLine, startColumn, endLine, endColumn }: Refusal): Span {
  return { start: offsetAt(text, startLine, startColumn), end: offsetAt(text, endLine, endColumn) };
}

function offsetAt(text: string, line: number, column: number): number {
  let at = 0;
  for (let number = 1; number < line && at >= 0; number++) at = text.indexOf("\n", at) + 1;
  for (let left = column; left > 0 && at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    left -= code < 0x80 ? 1 : 2;
    if (code > 0xffff) at++;
  }
  return at;
}
