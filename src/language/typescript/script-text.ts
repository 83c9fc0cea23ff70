// A script of several functions as one text, so that a span is a pair of numbers as everywhere; and the way back from a
// span to the file, or the function, that it lies in.
import type { Diagnostic, Source, Span } from "../diagnostic.ts";
import type { FunctionSource } from "./binding.ts";

interface Piece {
  readonly name: string;
  readonly text: string;
  readonly start: number;
  /** It has lines of a file, each where it is there. */
  readonly ofFile: boolean;
}

export class Pieces {
  readonly #pieces: Piece[] = [];
  /** Where the text of a place begins. Those of one file may have other lines of it each. */
  readonly #places = new Map<string, Map<string, number>>();
  readonly #whole = new Map<string, string>();
  #length = 0;

  /** Where a function's text begins. `before` and `after` stand around it where only its own text is known. */
  function(source: FunctionSource, before = "", after = ""): number {
    const { place, text } = source;
    if (place !== undefined && sameLayout(place, text)) return this.#file(place) + place.offset;
    const name = place?.file ?? (source.name === "" ? "handler" : source.name);
    return this.#add(name, before + text + after) + before.length;
  }

  #file(place: NonNullable<FunctionSource["place"]>): number {
    const texts = this.#places.get(place.file) ?? new Map<string, number>();
    this.#places.set(place.file, texts);
    const known = texts.get(place.text);
    if (known !== undefined) return known;
    const start = this.#add(place.file, place.text, true);
    texts.set(place.text, start);
    this.#whole.delete(place.file);
    return start;
  }

  #add(name: string, text: string, ofFile = false): number {
    const start = this.#length;
    this.#pieces.push({ name, text, start, ofFile });
    this.#length += text.length + 1;
    return start;
  }

  /** The text of all pieces, a line between two. */
  get text(): string {
    return this.#pieces.map(({ text }) => text).join("\n");
  }

  /** The source that a span lies in. */
  sourceAt(span: Span): Source {
    return this.#sourceOf(this.#at(span));
  }

  /** A diagnostic with its span in its own source. */
  local(diagnostic: Diagnostic): { readonly source: Source; readonly diagnostic: Diagnostic } {
    const piece = this.#at(diagnostic.span);
    const source = this.#sourceOf(piece);
    const { start, end } = diagnostic.span;
    const shift = (offset: number): number => {
      const own = Math.min(Math.max(offset - piece.start, 0), piece.text.length);
      return source.text === piece.text ? own : sameColumn(piece.text, own, source.text);
    };
    return { source, diagnostic: { ...diagnostic, span: { start: shift(start), end: shift(end) } } };
  }

  /** What is known of a file by all places in it. */
  #sourceOf({ name, text, ofFile }: Piece): Source {
    if (!ofFile) return { name, text };
    let whole = this.#whole.get(name);
    if (whole === undefined) {
      const lines: string[] = [];
      for (const known of this.#places.get(name)?.keys() ?? []) {
        known.split("\n").forEach((line, i) => {
          if (line.length >= (lines[i] ?? "").length) lines[i] = line;
        });
      }
      this.#whole.set(name, (whole = lines.join("\n")));
    }
    return { name, text: whole };
  }

  #at({ start }: Span): Piece {
    return (
      this.#pieces.findLast((piece) => piece.start <= start) ?? { name: "script", text: "", start: 0, ofFile: false }
    );
  }
}

/** The offset in one text of what is in the same line and column of another. */
function sameColumn(from: string, offset: number, to: string): number {
  let line = 0;
  let start = 0;
  for (let at = from.indexOf("\n"); at >= 0 && at < offset; at = from.indexOf("\n", at + 1)) {
    line++;
    start = at + 1;
  }
  let begin = 0;
  for (; line > 0; line--) begin = to.indexOf("\n", begin) + 1;
  return begin + offset - start;
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
