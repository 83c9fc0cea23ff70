/** The comparisons of `comparisons.mjs` whose rooms have not changed since all was compared. */
const unchanged = (process.env["STROBE_UNCHANGED"] ?? "").split(" ");

/**
 * The parts of a long comparison that this run takes: all where a room that it guards has changed, or where the test is
 * run by name; otherwise every fourth from `first` on.
 */
export function partOf<T>(comparison: Comparison, parts: readonly T[], first = 0): readonly T[] {
  return unchanged.includes(comparison) ? parts.filter((_, at) => at % 4 === first % 4) : parts;
}

export type Comparison = "values" | "executors" | "d" | "bundles" | "recordings" | "engines" | "verifiers";
