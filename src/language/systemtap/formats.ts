// The formats of printf() and sprintf().
import { Failure } from "../../base/failure.ts";
import { formatReasons } from "../../messages/systemtap.ts";
import type { ValueType } from "./syntax.ts";

export interface Conversion {
  readonly flags: string;
  /** "" where there is none; "*" takes an argument. */
  readonly width: string;
  readonly precision: string | undefined;
  readonly letter: string;
  /** What its arguments are, those of `*` first. */
  readonly takes: readonly ValueType[];
  readonly text: string;
}

const conversion = /%([-0+ #]*)(\*|\d+)?(?:\.(\*|\d*))?l?([diouxXpscbBmMn%])/y;

/** Texts and conversions. `%%` is text. */
export function parseFormat(format: string): (string | Conversion)[] | Failure {
  const pieces: (string | Conversion)[] = [];
  let literal = "";
  for (let at = 0; at < format.length;) {
    conversion.lastIndex = at;
    const match = format[at] === "%" ? conversion.exec(format) : null;
    if (match === null) {
      if (format[at] === "%")
        return new Failure(formatReasons.noConversion(/%\S{0,3}/y.exec(format.slice(at))?.[0] ?? "%"));
      literal += format[at++];
      continue;
    }
    const [text, flags = "", width = "", precision, letter] = match;
    at += text.length;
    if (letter === "%") {
      literal += "%";
      continue;
    }
    if (literal !== "") pieces.push(literal);
    literal = "";
    const takes: ValueType[] = [
      ...(width === "*" ? ["long" as const] : []),
      ...(precision === "*" ? ["long" as const] : []),
    ];
    takes.push(letter === "s" ? "string" : "long");
    pieces.push({ flags, width, precision, letter, takes, text });
  }
  if (literal !== "") pieces.push(literal);
  return pieces;
}
