// Why the kernel refuses to put an entry into a hash table. Handlers count without a branch, which the verifier would
// have to walk both ways from each update: each map has a counter for each result modulo 32, a negative errno or 0.

/**
 * - `full`: it has as many entries as were asked for (E2BIG).
 * - `memory`: the kernel had no memory for an entry at that moment (ENOMEM).
 * - `busy`: this CPU, or another for too long, was changing the same part of the table: a handler was interrupted by another
 *   one (EBUSY, EDEADLK, ETIMEDOUT).
 */
export const refusals = ["full", "memory", "busy"] as const;
export type Refusal = (typeof refusals)[number];

/** Counters of a map. */
export const resultCounters = 32;

const [E2BIG, ENOMEM, EBUSY, EEXIST] = [7, 12, 16, 17];
const counterOf = (errno: number): number => -errno & (resultCounters - 1);
/** What is counted beside refusals: what was added, and has gone again, and what somebody else has just made. */
const unrefused = [0, counterOf(EEXIST)];

/**
 * In the stripe: where the counters of a reason are, behind a map's first; where one counts that knows the reason is
 * the first of them.
 */
export function refusalOffsets(first: number, why: Refusal): readonly number[] {
  const [full, memory] = [counterOf(E2BIG), counterOf(ENOMEM)];
  const others = Array.from({ length: resultCounters }, (_, i) => i).filter(
    (i) => i !== full && i !== memory && !unrefused.includes(i),
  );
  const of = {
    full: [full],
    memory: [memory],
    busy: [counterOf(EBUSY), ...others.filter((i) => i !== counterOf(EBUSY))],
  }[why];
  return of.map((counter) => first + counter * 8);
}

export function refusalOf(errno: number): Refusal {
  return errno === E2BIG ? "full" : errno === ENOMEM ? "memory" : "busy";
}
