// What failed, in SystemTap's words.
import type { MistakeShape } from "../render-diagnostic.ts";
import type { FaultPlace, FaultWords } from "../rules.ts";

export function words({ kind, word, most, otherwise }: Parameters<FaultWords["words"]>[0]): string {
  switch (kind) {
    case "division":
      return "division by 0";
    case "full":
      return `Array overflow, check size limit (${most})`;
    case "empty":
      return "empty aggregate";
    case "read":
      return readWords(word);
    default:
      return otherwise;
  }
}

/** By the function that reads: `kernel_string2`, `user_string_n`. Numbers of a process have no words of their own. */
function readWords(word: string): string {
  const [, space, type = ""] = /^(kernel|user)_([a-z]+)/.exec(word) ?? [];
  if (space === undefined || (space === "user" && !/^(?:string|buffer)$/.test(type)))
    return "read fault [man error::fault] at 0x%x";
  return `${space} ${type} copy fault${space === "user" ? " -14" : ""} at 0x%x [man error::fault]`;
}

/** Calls of the library's own functions are no places of the script. */
export function told(what: string, places: readonly FaultPlace[], probe: string): string {
  const own = places.filter(({ source }) => source !== library);
  const [first, ...calls] = (own.length === 0 ? places : own).map(near);
  return `${what} near ${first}${calls.map((call) => ` (called from ${call})`).join("")} in probe ${probe}`;
}

/** What the text goes by that was taken of the library. */
export const library = "the library";

/** `semantic error: unresolved array: a: identifier 'a' at x.stp:1:15`, as SystemTap tells mistakes. */
export function mistake({ message, ...place }: Parameters<MistakeShape["head"]>[0]): string {
  const { word, source, line, column } = place;
  const what = /^(?:parse|semantic) error:/.test(message) ? message : `semantic error: ${message}`;
  return `${what}: ${word === "" ? `at ${source}:${line}:${column}` : near(place)}`;
}

function near({ source, line, column, word }: FaultPlace): string {
  const kind = word.startsWith('"')
    ? "string"
    : /^\d/.test(word)
      ? "number"
      : /^[\w$]/.test(word)
        ? "identifier"
        : "operator";
  return `${kind} '${word.replaceAll(/^"|"$/g, "")}' at ${source}:${line}:${column}`;
}
