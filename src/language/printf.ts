import { formatReasons } from "../messages/on-demand.ts";
import type { Reason } from "../base/failure.ts";
/** A printf format, parsed once by the checker. */
export interface PrintfFormat {
  readonly text: string;
  readonly pieces: readonly (string | PrintfConversion)[];
}
export interface PrintfConversion {
  /** Letter: d i u x X o c s p r b B e E f F g G (and the %rx, %rh, %rd, %gr forms as "rx", "rh", "rd", "gr"). */
  readonly letter: string;
  /** "-", "0", "+", " ", "#", "'" in any order; "##" is "#" that 0 has, too. */
  readonly flags: string;
  readonly width: number;
  /** -1 when absent; -2 for `.*`, taken from the arguments. */
  readonly precision: number;
  /**
   * With a length modifier: the bits of the value that count (`hh` 8, `h` 16, `l` and wider 64). Without one, all it
   * has.
   */
  readonly bits?: 8 | 16 | 64;
}

/** A format that cannot be read: `offset` is where in its text. */
export class PrintfError extends Error {
  readonly offset: number;

  constructor(message: Reason, offset: number) {
    super(message);
    this.name = "PrintfError";
    this.offset = offset;
  }
}

/** Columns, and digits, that a conversion may be padded to. */
export const mostWidth = 1 << 16;

const conversion = /%([-0+ #']*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L)?(rx|rh|rd|gr|[a-zA-Z])/y;

/**
 * Splits a format into texts and conversions; `%%` is text, and so is a `%` that begins no conversion. Throws
 * PrintfError.
 */
export function parsePrintf(text: string): PrintfFormat {
  const pieces: (string | PrintfConversion)[] = [];
  let literal = "";
  let at = 0;
  while (at < text.length) {
    const percent = text.indexOf("%", at);
    if (percent === -1) {
      literal += text.slice(at);
      break;
    }
    literal += text.slice(at, percent);
    if (text[percent + 1] === "%") {
      literal += "%";
      at = percent + 2;
      continue;
    }
    conversion.lastIndex = percent;
    const match = conversion.exec(text);
    const [whole, flags = "", width, precision, modifier, letter = ""] = match ?? [""];
    if (width === "*") throw new PrintfError(formatReasons().starWidth(), percent);
    // "100%\n", "%k": a lone percent sign is one.
    if (!/^(?:[diuxXocsprbBeEfFgG]|rx|rh|rd|gr)$/.test(letter)) {
      literal += "%";
      at = percent + 1;
      continue;
    }
    if (Number(width) > mostWidth || Number(precision) > mostWidth)
      throw new PrintfError(formatReasons().tooWide(whole, mostWidth), percent);
    if (literal !== "") pieces.push(literal);
    literal = "";
    pieces.push({
      letter,
      flags,
      width: width === undefined ? 0 : Number(width),
      precision: precision === undefined ? -1 : precision === "*" ? -2 : Number(precision),
      ...(modifier === undefined || !"diuxXobB".includes(letter)
        ? {}
        : { bits: modifier === "hh" ? 8 : modifier === "h" ? 16 : 64 }),
    });
    at = percent + whole.length;
  }
  if (literal !== "") pieces.push(literal);
  return { text, pieces };
}
