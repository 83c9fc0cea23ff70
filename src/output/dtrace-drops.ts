// What is lost of a script in D, in DTrace's words: by kind, and counted.
import type { Trouble } from "../session/events.ts";

/** Undefined of what DTrace has no words for. */
export function dtraceDrops(trouble: Trouble): string | undefined {
  const drops = (count: number, kind: string): string => `dtrace: ${count} ${kind}drop${count === 1 ? "" : "s"}`;
  switch (trouble.kind) {
    case "lost":
      return `${drops(trouble.count, "")} of ${trouble.probe}`;
    case "map-full":
      // Of aggregations the name is as it is written, without the sign; of variables it is strobe's own.
      return `${drops(trouble.count, trouble.map.startsWith("@") ? "aggregation " : "dynamic variable ")} (${trouble.map})`;
    default:
      return undefined;
  }
}
