// A handler's histogram in the words of the kernel's `hist:` triggers, and what the kernel shows of it
// (Documentation/trace/histogram.rst).
import type { TracepointField } from "../../machine/system.ts";
import { fieldName, filterWords } from "./event-filter.ts";
import type { HistogramKey, TracefsProgram } from "./tracefs-plan.ts";

export interface HistogramWords {
  /** What a line of its entries has, in this order. */
  readonly keys: readonly string[];
  readonly sums: readonly string[];
  readonly filter: string | undefined;
  /** What is written to the event's `trigger` file. */
  readonly trigger: string;
}

/** @returns undefined where an event has no field of what is counted by, or not as the handler reads it */
export function histogramWords(
  { keys, sums, entries, filter }: NonNullable<TracefsProgram["histogram"]>,
  fields: readonly TracepointField[],
  childPid: bigint,
): HistogramWords | undefined {
  const named = keys.map((key) => keyWords(key, fields));
  const summed = sums.map((sum) => {
    // The kernel sums a field as its type has it.
    const field = fields.find(({ name }) => name === fieldName(sum, fields));
    return field !== undefined && (sum.size === 8 || field.signed === sum.signed) ? field.name : undefined;
  });
  if (!isWhole(named) || !isWhole(summed)) return undefined;
  const words = filterWords(filter, fields, childPid);
  return {
    keys: named,
    sums: summed,
    filter: words,
    trigger: `hist:keys=${named.join(",")}:vals=${["hitcount", ...summed].join(",")}:size=${entries}${words === undefined ? "" : ` if ${words}`}`,
  };
}

function isWhole(words: readonly (string | undefined)[]): words is readonly string[] {
  return words.every((word) => word !== undefined);
}

export function keyWords(key: HistogramKey, fields: readonly TracepointField[]): string | undefined {
  switch (key) {
    case "thread":
      return "common_pid";
    case "cpu":
      return "common_cpu";
    default: {
      const name = fieldName(key, fields);
      return name === undefined || key.powers === undefined ? name : `${name}.log2`;
    }
  }
}

/** What the kernel has counted so far. */
export interface HistogramCounts {
  readonly entries: readonly HistogramEntry[];
  /** Events that there was no room for. */
  readonly dropped: number;
}

/** As unsigned numbers of 64 bits. */
export interface HistogramEntry {
  readonly keys: readonly bigint[];
  readonly count: bigint;
  readonly sums: readonly bigint[];
}

/** Of an event's `hist` file, which has all histograms of the event; undefined where this one is not there. */
export function readHistogram(text: string, { keys, sums, filter }: HistogramWords): HistogramCounts | undefined {
  // Linux 7 tells of the CPU's number as `common_cpucommon_cpu` here.
  const told = keys.map((name) => (name === "common_cpu" ? "common_cpu(?:common_cpu)?" : name));
  const head = new RegExp(`^# trigger info: hist:keys=${told.join(",")}:`);
  const end = filter === undefined ? /:size=\d+ \[/ : ` if ${filter} [`;
  const part = text
    .split("# event histogram\n")
    .find((one) =>
      one
        .split("\n")
        .some((line) => head.test(line) && (typeof end === "string" ? line.includes(end) : end.test(line))),
    );
  if (part === undefined) return undefined;
  const entry = new RegExp(
    `^\\{ ${keys.map((name) => (name.endsWith(".log2") ? `${name.slice(0, -5)}: ~ 2\\^(\\d+)` : `${name}: +(\\d+)`)).join(", ")} \\} hitcount: +(\\d+)${sums.map((name) => ` +${name}: +(\\d+)`).join("")} *$`,
    "gm",
  );
  const entries = [...part.matchAll(entry)].map(([, ...numbers]): HistogramEntry => {
    const all = numbers.map(BigInt);
    return { keys: all.slice(0, keys.length), count: all[keys.length], sums: all.slice(keys.length + 1) };
  });
  const shown = Number(/^ +Entries: (\d+)$/m.exec(part)?.[1]);
  // What is not read is lost; equal keys that two CPUs entered at once are shown as one.
  if (entries.length > shown || part.split("\n{").length - 1 !== entries.length) return undefined;
  return { entries, dropped: Number(/^ +Dropped: (\d+)$/m.exec(part)?.[1] ?? 0) };
}
