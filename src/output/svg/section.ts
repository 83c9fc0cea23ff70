// What the drawings of a page share: their measures, and text as XML takes it, in which names of others can neither end an
// element nor hold what no XML may.
import { shownText } from "../shown-text.ts";

/** Pixels. */
export const pageWidth = 1200;
export const margin = 10;
/** Of the page's type, 12 pixels high. */
export const characterWidth = 7.25;

/** A drawing, between the margins of the page. */
export interface Section {
  readonly title: string;
  /** What is not in it. */
  readonly note: string;
  /** Pixels. */
  readonly height: number;
  /** SVG, from 0,0 on. */
  readonly body: string;
}

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
