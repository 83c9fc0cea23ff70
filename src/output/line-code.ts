// The code that writes a line of bytes from a record. It is generated for each format: V8 compiles such a function for
// just what its format has, while closures that several formats share are compiled for none of them.
import type { RecordMemory } from "../session/events.ts";
import { isPlainJson, isPlainText, jsonInside, type ByteWriter } from "./bytes.ts";
import * as writers from "./write-bytes.ts";

/** Writes one record, which begins at `offset`. */
export type RecordWriter = (offset: number) => void;

/**
 * A call of one of write-bytes.ts' functions, and the most bytes it writes. `o` is the record's offset in `words`,
 * `view`.
 */
export interface Step {
  readonly call: string;
  readonly most: number;
  /** Up to so many bytes are filled with spaces; on their left or on their right. */
  readonly width: number;
  readonly left: boolean;
  /** Text, which may hold anything; numbers are what they are in JSON, too. */
  readonly text?: boolean;
  /** What follows when it wrote so many bytes. */
  readonly trailer?: { readonly behind: number; readonly bytes: Uint8Array };
}

/**
 * What a line is for: bytes as they are; the inside of a JSON string, but for what is `bare`; a terminal, which shows
 * what came from outside of the script with its control characters spelled out.
 */
export type LineFor = "bytes" | "json" | "terminal";

/** Longer ones are copied from an array, which takes twice as long: what JSON has around each line fits. */
const longestInCode = 32;

export class LineCode {
  readonly #to: LineFor;
  readonly #statements: string[] = [];
  /** What the code knows by number. */
  readonly #values: unknown[] = [];
  /** Bytes that are written at most, without what makes room for itself. */
  #most = 0;

  constructor(to: LineFor = "bytes") {
    this.#to = to;
  }

  constant(bytes: Uint8Array): void {
    this.bare(this.#to === "json" ? jsonInside(bytes) : bytes);
  }

  bare(bytes: Uint8Array): void {
    this.#most += bytes.length;
    if (bytes.length > longestInCode) return this.#add(`at = constant(bytes, at, ${this.#value(bytes)});`);
    this.#add(`${stores(bytes)} at += ${bytes.length};`);
  }

  step({ call, most, width, left, text, trailer }: Step): void {
    this.#most += Math.max(most + (trailer?.bytes.length ?? 0), width);
    this.#add(`start = at; at = ${call};`);
    if (trailer)
      this.#add(`if (at - start === ${trailer.behind}) at = constant(bytes, at, ${this.#value(trailer.bytes)});`);
    // Columns are of what is seen.
    if (text && this.#to === "terminal") this.#spellOut(false);
    if (width > 0) this.#add(`at = ${left ? "padLeft" : "padRight"}(bytes, at, start, ${width});`);
    if (text) this.#escape();
  }

  /** What is written by itself. `lines`: of more than one. */
  other(write: RecordWriter, lines = false): void {
    this.#add(`start = out.length = at; ${this.#value(write)}(o); at = out.length; ${roomAgain}`);
    if (this.#to === "terminal") this.#spellOut(lines);
    this.#escape();
  }

  #spellOut(lines: boolean): void {
    this.#add(
      `if (!isPlainText(data, start, at)) { out.length = at; out.escapeControls(start, ${lines}); at = out.length; ${roomAgain} }`,
    );
  }

  #escape(): void {
    if (this.#to === "json")
      this.#add(
        `if (!isPlainJson(data, start, at)) { out.length = at; out.escapeJson(start); at = out.length; ${roomAgain} }`,
      );
  }

  writer(memory: RecordMemory, out: ByteWriter): RecordWriter {
    const known = {
      out,
      words: memory.words,
      view: memory.view,
      values: this.#values,
      isPlainJson,
      isPlainText,
      ...writers,
    };
    const source = `return (o) => {
      out.reserve(${this.#most});
      let { bytes, data } = out, at = out.length, start = at;
      ${this.#statements.join("\n      ").replaceAll(roomAgain, `out.reserve(${this.#most}); ({ bytes, data } = out);`)}
      out.length = at;
    };`;
    // Of text that was made here: of the script it has numbers only.
    // oxlint-disable-next-line typescript/no-implied-eval
    const make = new Function(...Object.keys(known), source) as (...values: readonly unknown[]) => RecordWriter;
    return make(...Object.values(known));
  }

  #add(statement: string): void {
    this.#statements.push(statement);
  }

  #value(value: unknown): string {
    return `values[${this.#values.push(value) - 1}]`;
  }
}

/** Writes the bytes at `at`, as many at once as it goes. */
function stores(bytes: Uint8Array): string {
  const { buffer, byteOffset, length } = bytes;
  const view = new DataView(buffer, byteOffset, length);
  const text: string[] = [];
  let i = 0;
  for (; i + 4 <= length; i += 4) text.push(`data.setInt32(at + ${i}, ${view.getInt32(i, true)}, true);`);
  if (i + 2 <= length) text.push(`data.setUint16(at + ${i}, ${view.getUint16(i, true)}, true);`);
  if (length % 2 === 1) text.push(`data.setUint8(at + ${length - 1}, ${bytes[length - 1]});`);
  return text.join(" ");
}

/** Behind what may have taken any room; how much is needed is known when the line is. */
const roomAgain = "/* room */";
