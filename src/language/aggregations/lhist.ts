import { aggregations } from "../../messages/on-demand.ts";
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
    if (step <= 0n) return aggregations().lhistStep();
    if (min >= max) return aggregations().lhistOrder(min, max);
    if (step > max - min) return aggregations().lhistStepTooLarge(step, max - min);
    // And one at each end.
    if (bucketCount({ by: "step", min, max, step }) > mostBuckets + 2) return aggregations().lhistBuckets(mostBuckets);
    return undefined;
  },
  signed: true,
  parts: ({ parameters }) => [{ kind: "buckets", of: linear(parameters) }],
  results: () => ({}),
  shape: "buckets",
};
