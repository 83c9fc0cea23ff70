// A script of several functions as one text, so that a span is a pair of numbers as everywhere; and the way back from a span to
// the file, or the function, that it lies in.
import type { Diagnostic, Source, Span } from "../diagnostic.ts";
import type { FunctionSource } from "./binding.ts";

interface Piece { readonly name: string; readonly text: string; readonly start: number }

export class Pieces {
  readonly #pieces: Piece[] = [];
  readonly #files = new Map<string, number>();
  #length = 0;

  /** Where a function's text begins. `before` and `after` stand around it where only its own text is known. */
  function(source: FunctionSource, before = "", after = ""): number {
    const { place, text } = source;
    if (place !== undefined && sameLayout(place, text)) return this.#file(place) + place.offset;
    const name = place?.file ?? (source.name === "" ? "handler" : source.name);
    return this.#add(name, before + text + after) + before.length;
  }

  #file(place: NonNullable<FunctionSource["place"]>): number {
    const known = this.#files.get(place.file);
    if (known !== undefined) return known;
    const start = this.#add(place.file, place.text);
    this.#files.set(place.file, start);
    return start;
  }

  #add(name: string, text: string): number {
    const start = this.#length;
    this.#pieces.push({ name, text, start });
    this.#length += text.length + 1;
    return start;
  }

  /** The text of all pieces, a line between two. */
  get text(): string {
    return this.#pieces.map(({ text }) => text).join("\n");
  }

  /** The source that a span lies in. */
  sourceAt(span: Span): Source {
    const { name, text } = this.#at(span);
    return { name, text };
  }

  /** A diagnostic with its span in its own source. */
  local(diagnostic: Diagnostic): { readonly source: Source; readonly diagnostic: Diagnostic } {
    const piece = this.#at(diagnostic.span);
    const { start, end } = diagnostic.span;
    const shift = (offset: number): number => Math.min(Math.max(offset - piece.start, 0), piece.text.length);
    return { source: { name: piece.name, text: piece.text }, diagnostic: { ...diagnostic, span: { start: shift(start), end: shift(end) } } };
  }

  #at({ start }: Span): Piece {
    return this.#pieces.findLast((piece) => piece.start <= start) ?? { name: "script", text: "", start: 0 };
  }
}

/** Whether a function's text stands at its place, with types blanked out at most: then offsets are the same in both. */
function sameLayout({ text: file, offset }: NonNullable<FunctionSource["place"]>, text: string): boolean {
  if (offset < 0 || offset + text.length > file.length) return false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    // A stripper may leave a semicolon where a type stood.
    if (character !== file[offset + i] && !/[\s;]/.test(character)) return false;
  }
  return true;
}
