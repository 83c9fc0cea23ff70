// What events are made of: rows of bytes, as the ring has them, and what each byte of a row means.

/**
 * - integer: a number
 * - text: characters up to a NUL; bytes: all of them
 * - stack: a number of 8 bytes, by which a block's stacks are asked for; all ones where it was lost
 */
export type RowField = (
  | { readonly kind: "integer"; readonly offset: number; readonly size: 1 | 2 | 4 | 8 }
  | { readonly kind: "text" | "bytes"; readonly offset: number; readonly size: number }
  | { readonly kind: "stack"; readonly offset: number }
) & { readonly role?: FieldRole };

/**
 * What events have in common that are alike in a field: they are at one probe's place, of one thread (or of its process
 * or user), on one CPU.
 */
export type FieldRole = "site" | "thread" | "cpu";

/** `time`: where a row has its time, a u64 of nanoseconds. What no field covers is zero. */
export interface RowLayout {
  /** Bytes of a row, a multiple of 8. */
  readonly size: number;
  readonly time: number;
  readonly fields: readonly RowField[];
}

/** Rows of a layout, one behind the other; several may be of one layout. */
export interface Rows {
  /** The layout's index in the recording. */
  readonly layout: number;
  readonly count: number;
  readonly bytes: Uint8Array;
  /** The value of the field that is alike at one probe's place, where all of them are at one. */
  readonly site?: bigint;
}

/** Events in their order: the rows of each layout in the order that they have. */
export interface EventBlock {
  readonly count: number;
  /** Of each event the index into `rows`. */
  readonly order: Uint8Array | Uint16Array;
  readonly rows: readonly Rows[];
  /** Addresses of the stacks that rows name, innermost first. */
  readonly stacks: readonly BigUint64Array[];
}

export function fieldBytes(field: RowField): number {
  return field.kind === "stack" ? 8 : field.size;
}

/** Whether a layout from a file can be one: everything lies within the row. */
export function isSound({ size, time, fields }: RowLayout): boolean {
  const within = (offset: number, bytes: number): boolean =>
    Number.isSafeInteger(offset) && Number.isSafeInteger(bytes) && offset >= 0 && bytes > 0 && offset + bytes <= size;
  return (
    Number.isSafeInteger(size) &&
    size % 8 === 0 &&
    size <= mostRowBytes &&
    within(time, 8) &&
    Array.isArray(fields) &&
    fields.every(
      (field) =>
        within(field.offset, fieldBytes(field)) &&
        (field.role === undefined || (roles.includes(field.role) && field.kind !== "stack")),
    )
  );
}

const roles: readonly FieldRole[] = ["site", "thread", "cpu"];
const mostRowBytes = 1 << 20;
