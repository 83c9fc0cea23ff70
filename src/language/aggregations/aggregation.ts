// What an aggregation is: a row of table.ts, and the file that describes it. Everything that depends on which one it is
// stands here; parts, shapes and results are few, and all that executors, sessions and printers know.
import type { Message } from "../../messages/message.ts";
import type { AggregateType } from "../types.ts";
import type { Part } from "./parts.ts";

/** A constant of the call behind the value. */
export type Parameter =
  | { readonly name: string; readonly default?: bigint }
  /** One of these texts, or none: then the parameter is `default`. */
  | { readonly name: string; readonly choices: readonly string[]; readonly default: string };

/** What the parameters are in a script, one for each. */
export type Constants = readonly (bigint | string)[];

/** Those that are numbers. */
export function numbers(constants: Constants = []): bigint[] {
  return constants.filter((constant) => typeof constant === "bigint");
}

/** Why parameters cannot be. */
export interface Refusal extends Message {
  /** The parameter that is wrong; else the whole call is. */
  readonly parameter?: number;
}

/**
 * A number that comes of the parts, all CPUs together: what a part holds; what it holds, divided by what the part right
 * behind it counts (0 where that is 0); or a double, which is computed on the host alone, from all words.
 */
export type Result =
  | { readonly part: number; readonly averaged?: true }
  | { readonly double: (type: AggregateType, words: readonly bigint[]) => number };

export interface Aggregation {
  readonly name: string;
  /** As builtins/signature.ts has it. */
  readonly spelling?: Readonly<Partial<Record<"bpftrace" | "systemtap" | "d" | "typescript", readonly string[]>>>;
  /** One line of documentation. */
  readonly doc: string;
  /** `count()` takes none; what counts where values lie takes no doubles. */
  readonly takes: "nothing" | "integers" | "numbers";
  readonly parameters?: readonly Parameter[];
  /** A choice that is none of its choices is "". */
  readonly refuse?: (constants: Constants, keyed: boolean) => Refusal | undefined;
  /** Values are read as signed integers whatever their type is. Else as their type is. */
  readonly signed?: true;
  /** What handlers keep under a key, in this order. Parts of `type.float` are those of doubles. */
  readonly parts: (type: AggregateType) => readonly Part[];
  /** The numbers that come of it, by name; of buckets and series none need be. */
  readonly results: (type: AggregateType) => Readonly<Record<string, Result>>;
  /** The name of the result that stands for all: entries are ordered by it. */
  readonly value?: string;
  /**
   * How it is drawn: that result as a number, which is what reading the map in a script gives as well; all results by
   * name; the first part that is `buckets`, or `series`.
   */
  readonly shape: "number" | "record" | "buckets" | "series";
  /** The `type` of a map in JSON where it is not that of the shape (bpftrace's: map, stats, hist, tseries). */
  readonly jsonType?: string;
}
