import { aggregations } from "../../messages/on-demand.ts";
import { numbers, type Aggregation, type Constants } from "./aggregation.ts";
import { bucketCount, type Piece } from "./buckets.ts";

const mostBuckets = 1000;

/**
 * From factor^low on, each power of the factor in `steps`, but no narrower than one value; all is as D's llquantize. Of
 * fewer steps than the factor the first is shorter: 1 to 1, 2 to 3, 4 to 5 … of 5 steps to 10.
 */
function logLinear(constants: Constants | undefined) {
  const [factor, low, high, steps] = numbers(constants);
  const pieces: Piece[] = [];
  let from = factor ** low;
  let bucket = 1;
  for (let power = low; power <= high; power++) {
    const next = from * factor;
    const step = next > steps ? next / steps : 1n;
    if (step > from) {
      pieces.push({ from, bucket, step: step - from });
      bucket++;
      from = step;
    }
    if (from < next) pieces.push({ from, bucket, step });
    bucket += Number((next - from) / step);
    from = next;
  }
  pieces.push({ from, bucket, step: 1n });
  return { by: "pieces", pieces } as const;
}

/** The same on the other side of 0, with one bucket for what is nearer to it than factor^low. */
function mirrored(constants: Constants | undefined) {
  const { pieces: above } = logLinear(constants);
  const pieces: Piece[] = [];
  let bucket = 1;
  const add = (from: bigint, step: bigint, buckets: number): void => {
    pieces.push({ from, bucket, step });
    bucket += buckets;
  };
  for (let i = above.length - 1; i > 0; i--)
    add(1n - above[i].from, above[i - 1].step, above[i].bucket - above[i - 1].bucket);
  const [{ from }] = above;
  add(1n - from, 2n * from - 1n, 1);
  const shift = bucket - 1;
  for (const piece of above) pieces.push({ ...piece, bucket: piece.bucket + shift });
  return { by: "pieces", pieces } as const;
}

/** Whether a power of the factor is a multiple of the steps: then all further ones are, and no bucket has a fraction. */
function divides(steps: bigint, factor: bigint): boolean {
  let power = factor;
  while (power < steps) power *= factor;
  return power % steps === 0n;
}

export const llhist: Aggregation = {
  name: "llhist",
  doc: "A histogram by powers of a factor, from factor^low to factor^(high + 1), each in equal steps.",
  takes: "integers",
  parameters: [{ name: "factor" }, { name: "low" }, { name: "high" }, { name: "steps" }],
  refuse: (constants) => {
    const [factor, low, high, steps] = numbers(constants);
    if (factor < 2n) return aggregations().llhistFactor();
    if (low < 0n || low > high) return aggregations().llhistLow(low, high);
    if (high > 62n || factor ** (high + 1n) >= 1n << 63n) return aggregations().llhistHigh(factor, high);
    if (steps < factor ? factor % steps !== 0n : steps % factor !== 0n)
      return aggregations().llhistMultiple(steps, factor);
    if (steps > factor && !divides(steps, factor)) return aggregations().llhistDivides(steps, factor);
    if (bucketCount(logLinear(constants)) > mostBuckets + 2) return aggregations().llhistBuckets(mostBuckets);
    return undefined;
  },
  signed: true,
  parts: ({ parameters }) => [{ kind: "buckets", of: logLinear(parameters) }],
  results: () => ({}),
  shape: "buckets",
};

export const sllhist: Aggregation = {
  ...llhist,
  name: "sllhist",
  spelling: { d: ["llquantize"] },
  doc: "The same of negative values too, on both sides of 0.",
  parts: ({ parameters }) => [{ kind: "buckets", of: mirrored(parameters) }],
};
