// Text as XML takes it: names of others can neither end an element nor hold what no XML may.
import { shownText } from "../shown-text.ts";

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Control characters are spelled out, as on a terminal; U+FFFE and U+FFFF, which XML 1.0 has not, are replaced. */
export function xmlText(text: string): string {
  return shownText(text)
    .replaceAll(/[\ufffe\uffff]/g, "\ufffd")
    .replaceAll(/[&<>"]/g, (character) => escapes[character]);
}

/** A number of pixels, to the hundredth. */
export function pixels(value: number): string {
  return String(Math.round(value * 100) / 100);
}
