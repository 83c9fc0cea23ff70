// Regular expressions: POSIX's extended ones, as JavaScript's.
import { Failure } from "../../base/failure.ts";

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

/** What matches the same texts, with the same groups. */
export function toPattern(pattern: string): string | Failure {
  let out = "";
  for (let at = 0; at < pattern.length;) {
    const letter = pattern[at];
    if (letter === "[") {
      const [, not, list] = /^\[(\^?)(\]?(?:\[:\w+:\]|[^\]])*)\]/.exec(pattern.slice(at)) ?? [];
      if (list === undefined) return new Failure("`[` has no `]`");
      const unknown = Array.from(list.matchAll(/\[:(\w+):\]/g), ([, name]) => name).find(
        (name) => !Object.hasOwn(classes, name),
      );
      if (unknown !== undefined) return new Failure(`there is no class [:${unknown}:]`);
      out += `[${not}${list.replace(/\[:(\w+):\]|[\]\\[]/g, (part, name?: string) => (name === undefined ? `\\${part}` : classes[name]))}]`;
      at += not.length + list.length + 2;
    } else if (letter === "\\") {
      const escaped = pattern[at + 1];
      if (escaped === undefined || /\w/.test(escaped)) return new Failure(`\`\\${escaped ?? ""}\` means nothing here`);
      out += `\\${escaped}`;
      at += 2;
    } else if (letter === "(" && pattern[at + 1] === "?") {
      return new Failure("`(?` is not supported");
    } else if (/[*+?}]/.test(letter) && /[*+?]/.test(pattern[at + 1] ?? "")) {
      return new Failure(`\`${letter}${pattern[at + 1]}\` repeats a repetition`);
    } else {
      out += letter;
      at++;
    }
  }
  try {
    return new RegExp(out, "s").source;
  } catch {
    return new Failure("it is not well-formed");
  }
}
