// Regular expressions: POSIX's extended ones, as JavaScript's.
import { Failure } from "../../base/failure.ts";
import { patternReasons } from "../../messages/systemtap.ts";

const classes: Readonly<Record<string, string>> = {
  alpha: "A-Za-z",
  digit: "0-9",
  alnum: "A-Za-z0-9",
  upper: "A-Z",
  lower: "a-z",
  space: " \\t\\n\\v\\f\\r",
  blank: " \\t",
  punct: "!-\\/:-@\\[-`{-~",
  print: " -~",
  graph: "!-~",
  cntrl: "\\x00-\\x1f\\x7f",
  xdigit: "0-9A-Fa-f",
};

/** How often what stands before it is meant: `*`, `{2,}`. */
const repetition = /(?:[*+?]|\{\d+(?:,\d*)?\})/y;

/** What matches the same texts, with the same groups. */
export function toPattern(pattern: string): string | Failure {
  let out = "";
  /** Where in `out` the last thing begins that may be repeated, and whether it is already. */
  let last: { readonly from: number; readonly repeated: boolean } | undefined;
  const groups: number[] = [];
  for (let at = 0; at < pattern.length;) {
    const letter = pattern[at];
    const from = out.length;
    repetition.lastIndex = at;
    const [times] = repetition.exec(pattern) ?? [];
    if (times !== undefined) {
      if (last === undefined) return new Failure(patternReasons.repeatsNothing(times));
      // Of a repetition that is repeated itself JavaScript has another meaning, or none.
      if (last.repeated) out = `${out.slice(0, last.from)}(?:${out.slice(last.from)})`;
      out += times;
      at += times.length;
      last = { from: last.from, repeated: true };
      continue;
    }
    if (letter === "{") return new Failure(patternReasons.noTimes());
    last = { from, repeated: false };
    if (letter === "[") {
      const [, not, list] = /^\[(\^?)(\]?(?:\[:\w+:\]|[^\]])*)\]/.exec(pattern.slice(at)) ?? [];
      if (list === undefined) return new Failure(patternReasons.unclosedList());
      const unknown = Array.from(list.matchAll(/\[:(\w+):\]/g), ([, name]) => name).find(
        (name) => !Object.hasOwn(classes, name),
      );
      if (unknown !== undefined) return new Failure(patternReasons.noClass(unknown));
      out += `[${not}${list.replace(/\[:(\w+):\]|[\]\\[]/g, (part, name?: string) => (name === undefined ? `\\${part}` : classes[name]))}]`;
      at += not.length + list.length + 2;
    } else if (letter === "\\") {
      const escaped = pattern[at + 1];
      if (escaped === undefined) return new Failure(patternReasons.unfinishedEscape());
      // Letters and digits mean themselves: there are no classes `\d`, and no `\1` for what a group matched.
      out += /\w/.test(escaped) ? escaped : `\\${escaped}`;
      at += 2;
    } else {
      if (letter === "(") groups.push(from);
      else if (letter === ")") last = { from: groups.pop() ?? from, repeated: false };
      if (/[(|^$]/.test(letter)) last = undefined;
      out += letter;
      at++;
    }
  }
  try {
    return new RegExp(out, "s").source;
  } catch {
    return new Failure(patternReasons.malformed());
  }
}
