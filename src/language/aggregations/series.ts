// The cells of series, shared by both executors and by the printers. A cell is three words: the number of the interval
// (time since the epoch, divided by the interval's length; 0: never used), the value, and what joining needs: the number
// of values (avg), or when the value was seen (last). An interval's cell is its number modulo the number of cells, on
// each CPU's copy.

/** What is kept of the values of one interval. */
export type SeriesKind = "last" | "avg" | "max" | "min" | "sum";

export interface Series {
  /** Nanoseconds. */
  readonly interval: bigint;
  /** How many are kept. */
  readonly intervals: number;
  readonly kind: SeriesKind;
}

export const seriesCellWords = 3;

export interface SeriesPoint {
  /** Nanoseconds since the epoch. */
  readonly start: bigint;
  /** Absent: nothing was recorded in this interval. */
  readonly value?: bigint;
}

/** All intervals from the first to the last that is kept, those between without values included. */
export function seriesPoints(
  { interval, intervals, kind }: Series,
  signed: boolean,
  words: readonly bigint[],
): SeriesPoint[] {
  const cells = Array.from({ length: intervals }, (_, cell) =>
    words.slice(cell * seriesCellWords, (cell + 1) * seriesCellWords),
  );
  const last = cells.reduce((latest, [number]) => (number > latest ? number : latest), 0n);
  const kept = new Map(
    cells
      .filter(([number]) => number > 0n && number > last - BigInt(intervals))
      .map((cell) => [cell[0], cell] as const),
  );
  if (kept.size === 0) return [];
  const first = [...kept.keys()].reduce((least, number) => (number < least ? number : least), last);
  const points: SeriesPoint[] = [];
  for (let number = first; number <= last; number++) {
    const cell = kept.get(number);
    if (cell === undefined) {
      points.push({ start: number * interval });
      continue;
    }
    const value = signed ? BigInt.asIntN(64, cell[1]) : BigInt.asUintN(64, cell[1]);
    points.push({ start: number * interval, value: kind === "avg" ? value / (cell[2] || 1n) : value });
  }
  return points;
}

/** Joins a cell into another of the same interval: the words it then has. */
export function joinCells(
  kind: SeriesKind,
  signed: boolean,
  a: readonly [bigint, bigint],
  b: readonly [bigint, bigint],
): readonly [bigint, bigint] {
  const order = (word: bigint): bigint => (signed ? BigInt.asIntN(64, word) : BigInt.asUintN(64, word));
  switch (kind) {
    case "last":
      return b[1] >= a[1] ? b : a;
    case "avg":
      return [a[0] + b[0], a[1] + b[1]];
    case "sum":
      return [a[0] + b[0], 0n];
    case "min":
      return order(b[0]) < order(a[0]) ? b : a;
    case "max":
      return order(b[0]) > order(a[0]) ? b : a;
  }
}

/** What a lone value is to a cell. */
export function cellOf(kind: SeriesKind, value: bigint, time: bigint): readonly [bigint, bigint] {
  switch (kind) {
    case "last":
      return [value, time];
    case "avg":
      return [value, 1n];
    case "sum":
    case "min":
    case "max":
      return [value, 0n];
  }
}
