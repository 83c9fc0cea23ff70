import { aggregations } from "../../messages/on-demand.ts";
import { numbers, type Aggregation } from "./aggregation.ts";
import type { SeriesKind } from "./series.ts";

const choices = ["avg", "max", "min", "sum"] as const satisfies readonly SeriesKind[];
/** With a key: what a per-CPU value of the kernel holds (PCPU_MIN_UNIT_SIZE, 32 KiB). Without: 2.4 MB for each CPU. */
const mostIntervals = { keyed: 1365n, keyless: 100_000n } as const;

export const tseries: Aggregation = {
  name: "tseries",
  doc: "A value over time: of each interval (in nanoseconds) the last, or what an aggregation makes of them.",
  takes: "integers",
  parameters: [{ name: "interval" }, { name: "intervals" }, { name: "kind", choices, default: "last" }],
  refuse: (constants, keyed) => {
    const [interval, intervals] = numbers(constants);
    if (interval < 1n || interval > 1n << 62n) return aggregations().tseriesInterval();
    if (intervals < 1n) return aggregations().tseriesNone();
    const most = keyed ? mostIntervals.keyed : mostIntervals.keyless;
    if (intervals > most)
      return aggregations().tseriesMost(
        most,
        keyed,
        keyed && intervals <= mostIntervals.keyless
          ? `take longer intervals, or a map without keys: it keeps up to ${mostIntervals.keyless}`
          : "take longer intervals",
      );
    if (constants[2] === "") return { ...aggregations().tseriesKind(choices), parameter: 2 };
    return undefined;
  },
  parts: ({ parameters = [] }) => {
    const [interval, intervals] = numbers(parameters);
    return [{ kind: "series", of: { interval, intervals: Number(intervals), kind: parameters[2] as SeriesKind } }];
  },
  results: () => ({}),
  shape: "series",
};
