// Text of others as it is shown on a terminal: what would drive one, or put words elsewhere than they are, is spelled
// out. Only there: files and pipes get the bytes.
import { byteOf } from "../language/text-bytes.ts";

/** C0 but the tab, DEL, C1, what turns the direction of writing, and bytes that are no UTF-8. */
// oxlint-disable-next-line no-control-regex
const hidden = /[\0-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\p{Surrogate}]/gu;

/**
 * `\n`, `\r`, `\x1b`, `\u009b`, and `\x9b` of a byte that is no UTF-8. `lines`: newlines are no part of a name, and
 * stay.
 */
export function shownText(text: string, lines = false): string {
  return text.replace(hidden, (character) => {
    if (character === "\n") return lines ? character : "\\n";
    if (character === "\r") return "\\r";
    const code = character.charCodeAt(0);
    const byte = code < 0x80 ? code : byteOf(code);
    return byte === undefined ? `\\u${code.toString(16).padStart(4, "0")}` : `\\x${byte.toString(16).padStart(2, "0")}`;
  });
}
