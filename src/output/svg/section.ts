// The measures that the drawings of a page share.

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
