// One field of many rows, out of columns.
//
//   integer: low halves, and of 8 bytes high halves
//   text, bytes: column of which of the texts each row has
//   stack: column of which each row has, 0 for none, counted from 1
// Texts: u32 different ones; column of lengths; their bytes.
import type { ByteReader } from "./byte-buffer.ts";
import { readColumn, skipColumn, type EarlierColumns } from "./columns.ts";
import { RecordingError } from "./damaged-recording.ts";
import type { RowField } from "./layout.ts";
import { damagedRecording } from "../messages/on-demand.ts";

/** Rows that lie one behind the other. */
export interface RowBytes {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly count: number;
  /** Bytes of a row. */
  readonly size: number;
}

/** Of a block: more than any writer has, and little enough for whoever reads a damaged file. */
const mostTexts = 1 << 21;

export type TextField = Extract<RowField, { kind: "text" | "bytes" }>;

export function isText(field: RowField): field is TextField {
  return field.kind === "text" || field.kind === "bytes";
}

/** @throws RecordingError */
export function readField(
  from: ByteReader,
  field: RowField,
  { bytes, view, count, size }: RowBytes,
  stacks: number,
  earlier?: EarlierColumns,
  texts: readonly Uint8Array[] = [],
): void {
  const { offset } = field;
  switch (field.kind) {
    case "integer": {
      const values = readColumn(from, count, earlier);
      switch (field.size) {
        case 1:
          for (let i = 0, at = offset; i < count; i++, at += size) bytes[at] = values[i];
          return;
        case 2:
          for (let i = 0, at = offset; i < count; i++, at += size) view.setUint16(at, values[i], true);
          return;
        default:
          for (let i = 0, at = offset; i < count; i++, at += size) view.setUint32(at, values[i], true);
      }
      if (field.size < 8) return;
      const high = readColumn(from, count, earlier);
      for (let i = 0, at = offset + 4; i < count; i++, at += size) view.setUint32(at, high[i], true);
      return;
    }
    case "stack": {
      const values = readColumn(from, count, earlier);
      for (let i = 0, at = offset; i < count; i++, at += size) {
        if (values[i] > stacks) throw new RecordingError(damagedRecording().unknownStack());
        view.setInt32(at, values[i] - 1, true);
        view.setInt32(at + 4, values[i] === 0 ? -1 : 0, true);
      }
      return;
    }
    case "text":
    case "bytes": {
      const numbers = readColumn(from, count, earlier);
      for (let i = 0, at = offset; i < count; i++, at += size) {
        const text = texts[numbers[i]];
        if (text === undefined) throw new RecordingError(damagedRecording().unknownText());
        if (text.length > field.size) throw new RecordingError(damagedRecording().textTooLong());
        // Short ones take longer to hand over than to copy.
        if (text.length > 32) bytes.set(text, at);
        else for (let byte = 0; byte < text.length; byte++) bytes[at + byte] = text[byte];
      }
    }
  }
}

/** @throws RecordingError */
export function readTexts(from: ByteReader): readonly Uint8Array[] {
  const known = from.u32();
  if (known > mostTexts) throw new RecordingError(damagedRecording().textsOfBlock(known));
  return Array.from(readColumn(from, known), (length) => from.take(length));
}

/** Goes past a field that nobody reads. @throws RecordingError */
export function skipField(from: ByteReader, field: RowField, count: number, earlier: EarlierColumns): void {
  switch (field.kind) {
    case "integer":
      skipColumn(from, count, earlier);
      if (field.size === 8) skipColumn(from, count, earlier);
      return;
    default:
      skipColumn(from, count, earlier);
  }
}
