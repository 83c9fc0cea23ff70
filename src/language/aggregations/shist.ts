import type { Aggregation } from "./aggregation.ts";

export const shist: Aggregation = {
  name: "shist",
  spelling: { d: ["quantize"] },
  doc: "A histogram by powers of two, of negative values too.",
  takes: "integers",
  parameters: [],
  signed: true,
  parts: () => [{ kind: "buckets", of: { by: "mirrored" } }],
  results: () => ({}),
  shape: "buckets",
};
