// Maps for flame graphs: a line an entry, `outermost;…;innermost COUNT`, as flamegraph.pl, speedscope and others read
// it. What is no stack comes first, whatever the order of the key: the command, then the program's frames, then the
// kernel's, which end in `_[k]`. Inlined copies end in `_[i]`.
import type { ConsumerServices, MapSnapshot } from "../session/events.ts";
import { markedName, stackSamples } from "./stack-samples.ts";

/** The lines of a map; undefined when its values are no numbers. */
export function foldedLines(
  snapshot: MapSnapshot,
  top: number,
  divisor: number,
  services: ConsumerServices,
): string[] | undefined {
  const sampled = stackSamples(snapshot, top, divisor, services);
  if (sampled === undefined) return undefined;
  const { map } = snapshot;
  const lines: string[] = [];
  // Stacks that differ in offsets only are one to a flame graph.
  const sums = new Map<string, bigint>();
  for (const { labels, frames, value } of sampled.samples) {
    const path = map.keys.length === 0 ? [map.shown] : [...labels, ...frames.map(markedName)];
    const line = path.map(plain).join(";");
    if (sampled.adds) sums.set(line, (sums.get(line) ?? 0n) + value);
    else lines.push(`${line} ${value}`);
  }
  for (const [line, sum] of sums) lines.push(`${line} ${sum}`);
  return lines;
}

/** What would end the frame or the line. */
function plain(text: string): string {
  return text.replaceAll(";", ":").replaceAll(/\s*\n\s*/g, " ");
}
