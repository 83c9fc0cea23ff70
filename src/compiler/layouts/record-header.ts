// What the records of events begin with when somebody wants it: when and where each event was, and whose.

/**
 * Each a u64. `time`: CLOCK_BOOTTIME in nanoseconds, when the record was made. `pid`, `tid`: of the process and the
 * thread that ran, as the builtins of these names give them. `probe`: an index into the plan's probe names.
 */
export const headerFields = ["time", "cpu", "pid", "tid", "probe"] as const;

export type HeaderField = (typeof headerFields)[number];

/** Every record starts with its schema's index and a zero, 4 bytes each. */
const indexBytes = 8;

/** Bytes before a record's first field. */
export function headerSize(header: readonly HeaderField[] = []): number {
  return indexBytes + header.length * 8;
}

/** Where a record has the header's field of this index. */
export function headerOffset(index: number): number {
  return indexBytes + index * 8;
}

/** Where the sources of an `emit` go: those of the header, then the fields. */
export function sourceOffset(
  {
    header = [],
    fields,
  }: { readonly header?: readonly HeaderField[]; readonly fields: readonly { readonly offset: number }[] },
  source: number,
): number {
  return source < header.length ? headerOffset(source) : fields[source - header.length].offset;
}
