/** The comparisons of `comparisons.mjs` whose rooms have not changed since all was compared. */
const unchanged = (process.env["STROBE_UNCHANGED"] ?? "").split(" ");

/**
 * The parts of a long comparison that this run takes: all where a room that it guards has changed, or where the test is
 * run by name; otherwise every fourth, the first one included.
 */
export function partOf<T>(comparison: Comparison, parts: readonly T[]): readonly T[] {
  return unchanged.includes(comparison) ? parts.filter((_, at) => at % 4 === 0) : parts;
}

export type Comparison = "values" | "executors" | "d" | "bundles" | "recordings";
