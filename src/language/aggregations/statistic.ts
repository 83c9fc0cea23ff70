// A statistic: several results of the same values, each of which would be an aggregation by itself. Their parts lie side
// by side, equal ones once, and only those of the results that the script asks for are there.
import type { AggregateType, AskedResult } from "../types.ts";
import type { Aggregation, Result } from "./aggregation.ts";
import { partWords, type Part } from "./parts.ts";

type Rows = (name: string) => Aggregation;

/** What is asked for as the aggregation that it would be by itself. */
function alone({ signed }: AggregateType, { aggregate, parameters }: AskedResult): AggregateType {
  return { kind: "aggregate", aggregate, signed, ...(parameters === undefined ? {} : { parameters }) };
}

/** One of the results. */
export interface Composed {
  readonly type: AggregateType;
  /** Among all parts: the place of each that it is made of by itself. What it does not need is not there. */
  readonly places: readonly (number | undefined)[];
}

interface Composition {
  readonly parts: readonly Part[];
  readonly results: readonly Composed[];
}

const compositions = new WeakMap<AggregateType, Composition>();

export function composition(type: AggregateType, row: Rows): Composition {
  let made = compositions.get(type);
  if (made === undefined) compositions.set(type, (made = compose(type, row)));
  return made;
}

/** What is shown of a statistic as a whole, and is there where nobody asks for anything. */
export const shownResults: readonly AskedResult[] = ["count", "sum", "min", "max", "avg"].map((aggregate) => ({
  aggregate,
}));

function compose(type: AggregateType, row: Rows): Composition {
  const parts: Part[] = [];
  const keys: string[] = [];
  const place = (part: Part): number => {
    const key = JSON.stringify(part, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    if (!keys.includes(key)) {
      keys.push(key);
      parts.push(part);
    }
    return keys.indexOf(key);
  };
  const results = (type.asked ?? shownResults).map((asked) => {
    const own = alone(type, asked);
    const { parts: partsOf, results: resultsOf, value } = row(asked.aggregate);
    const result = value === undefined ? undefined : resultsOf(own)[value];
    const needed = (i: number): boolean =>
      result === undefined ||
      "double" in result ||
      i === result.part ||
      (result.averaged === true && i === result.part + 1);
    return {
      own,
      averaged: result !== undefined && "part" in result && result.averaged === true,
      parts: partsOf(own),
      needed,
    };
  });
  // An average's count stands right behind its total.
  for (const { averaged, parts: own } of results) if (averaged) own.forEach(place);
  return {
    results: results.map(({ own, parts: all, needed }) => ({
      type: own,
      places: all.map((part, i) => (needed(i) ? place(part) : undefined)),
    })),
    parts,
  };
}

/** The words of one of the results, as it has them by itself. */
export function wordsOfResult(
  parts: readonly Part[],
  { type, places }: Composed,
  row: Rows,
  words: readonly bigint[],
): bigint[] {
  const starts = parts.map((_, i) => parts.slice(0, i).reduce((sum, part) => sum + partWords(part), 0));
  return row(type.aggregate)
    .parts(type)
    .flatMap((part, i) => {
      const at = places[i];
      return at === undefined
        ? Array.from({ length: partWords(part) }, () => 0n)
        : words.slice(starts[at], starts[at] + partWords(part));
    });
}

export function statistic(row: Rows): Aggregation {
  return {
    name: "statistic",
    spelling: { bpftrace: [], typescript: ["observe"], systemtap: [], d: [] },
    doc: "Whatever the script asks of the values: their count, sum, average, extremes, histograms.",
    takes: "integers",
    parts: (type) => composition(type, row).parts,
    results: (type) => {
      const { parts, results } = composition(type, row);
      return Object.fromEntries(
        results.flatMap((one): [string, Result][] => {
          const { name, shape, value, results: resultsOf } = row(one.type.aggregate);
          const result = shape === "number" && value !== undefined ? resultsOf(one.type)[value] : undefined;
          if (result === undefined) return [];
          if ("double" in result)
            return [
              [name, { double: (_type, words) => result.double(one.type, wordsOfResult(parts, one, row, words)) }],
            ];
          return [[name, { ...result, part: one.places[result.part] ?? 0 }]];
        }),
      );
    },
    shape: "record",
  };
}
