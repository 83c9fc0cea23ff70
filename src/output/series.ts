// tseries() as a plot that runs down the page, a line an interval, the way bpftrace draws it.
import { seriesPoints, type Series, type SeriesPoint } from "../language/aggregations/series.ts";

/** Columns of the plot, its two edges included. */
const plotWidth = 53;
const units = [
  { every: 1_000_000_000n, header: "hh:mm:ss", digits: 0 },
  { every: 1_000_000n, header: "hh:mm:ss.ms", digits: 3 },
  { every: 1000n, header: "hh:mm:ss.μs", digits: 6 },
  { every: 1n, header: "hh:mm:ss.ns", digits: 9 },
] as const;
const extremes = {
  signed: { least: -(1n << 63n), most: (1n << 63n) - 1n },
  unsigned: { least: 0n, most: (1n << 64n) - 1n },
};

/** `signed`: whether the values are; `divisor` scales them. */
export function seriesText(series: Series, signed: boolean, words: readonly bigint[], divisor: bigint): string {
  const points = seriesPoints(series, signed, words).map((point) => ({
    ...point,
    ...(point.value === undefined ? {} : { value: point.value / divisor }),
  }));
  if (points.length === 0) return "<no data>\n";
  const { interval } = series;
  // A lone interval could be of any length.
  const unit = points.length === 1 ? units[3] : (units.find(({ every }) => interval % every === 0n) ?? units[3]);
  const times = points.map(({ start }) => timeText(start, unit.digits));
  const margin = times[0].length + 1;
  const values = points.flatMap(({ value }) => (value === undefined ? [] : [value]));
  let least = values.reduce((a, b) => (b < a ? b : a));
  let most = values.reduce((a, b) => (b > a ? b : a));
  if (least === most) {
    const bounds = signed ? extremes.signed : extremes.unsigned;
    if (least > bounds.least) least--;
    if (most < bounds.most) most++;
  }
  const scale = `${" ".repeat(margin)}${least}${String(most).padStart(plotWidth - String(least).length)}\n`;
  // bpftrace pads the header by its bytes, of which μ has two.
  const header = unit.header + " ".repeat(margin - Buffer.byteLength(unit.header));
  const edge = (mark: string): string => `${mark}${"_".repeat(plotWidth - 2)}${mark}\n`;
  const column = (value: bigint): number => Number(((value - least) * BigInt(plotWidth - 1)) / (most - least));
  const zero = least < 0n && most > 0n ? column(0n) : undefined;
  const rows = points.map(({ value }, i) => {
    const row = ["|", ...Array.from({ length: plotWidth - 2 }, () => " "), "|"];
    if (zero !== undefined) row[zero] = ".";
    if (value !== undefined) row[column(value)] = "*";
    return `${times[i]} ${row.join("")} ${value ?? "-"}\n`;
  });
  return `${scale}${header}${edge("|")}${rows.join("")}${" ".repeat(margin)}${edge("v")}${scale}`;
}

export function seriesJson(
  series: Series,
  signed: boolean,
  words: readonly bigint[],
  divisor: bigint,
  number: (value: bigint) => string,
): string {
  const points = seriesPoints(series, signed, words).filter(
    (point): point is Required<SeriesPoint> => point.value !== undefined,
  );
  return `[${points.map(({ start, value }) => `{"interval_start":"${dateText(start)} ${timeText(start, 9)}","value":${number(value / divisor)}}`).join(",")}]`;
}

/** Time of day here, with so many digits of the second's fraction. `start`: nanoseconds since the epoch. */
function timeText(start: bigint, digits: number): string {
  const date = new Date(Number(start / 1_000_000n));
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
  return digits === 0
    ? clock
    : `${clock}.${String(start % 1_000_000_000n)
        .padStart(9, "0")
        .slice(0, digits)}`;
}

function dateText(start: bigint): string {
  const date = new Date(Number(start / 1_000_000n));
  return [
    String(date.getFullYear()).padStart(4, "0"),
    ...[date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")),
  ].join("-");
}
