import { numbers, type Aggregation, type Constants } from "./aggregation.ts";
import { bucketCount } from "./buckets.ts";

const mostBuckets = 1000;
const linear = (constants: Constants | undefined) => {
  const [min, max, step] = numbers(constants);
  return { by: "step", min, max, step } as const;
};

export const lhist: Aggregation = {
  name: "lhist",
  spelling: { d: ["lquantize"] },
  doc: "A histogram with buckets of equal width.",
  takes: "integers",
  parameters: [{ name: "min" }, { name: "max" }, { name: "step" }],
  refuse: (constants) => {
    const { min, max, step } = linear(constants);
    if (step <= 0n) return { code: "limit", message: "lhist() needs a step of 1 or more" };
    if (min >= max)
      return { code: "limit", message: `lhist() min must be less than max, ${min} is not less than ${max}` };
    if (step > max - min)
      return { code: "limit", message: `lhist() step is too large: ${step} for a range of ${max - min}` };
    // And one at each end.
    if (bucketCount({ by: "step", min, max, step }) > mostBuckets + 2)
      return { code: "limit", message: `lhist() has at most ${mostBuckets} buckets`, help: "take a larger step" };
    return undefined;
  },
  signed: true,
  parts: ({ parameters }) => [{ kind: "buckets", of: linear(parameters) }],
  results: () => ({}),
  shape: "buckets",
};
