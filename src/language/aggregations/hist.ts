import { aggregations } from "../../messages/on-demand.ts";
import { numbers, type Aggregation } from "./aggregation.ts";

export const hist: Aggregation = {
  name: "hist",
  doc: "A histogram by powers of two, each in 2^bits parts.",
  takes: "integers",
  parameters: [{ name: "bits", default: 0n }],
  refuse: (constants) => {
    const [bits] = numbers(constants);
    return bits >= 0n && bits <= 5n ? undefined : aggregations().histBits();
  },
  signed: true,
  parts: ({ parameters }) => {
    const [bits = 0n] = numbers(parameters);
    return [{ kind: "buckets", of: { by: "power", bits: Number(bits) } }];
  },
  results: () => ({}),
  shape: "buckets",
};
