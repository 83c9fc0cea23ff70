// What the handlers cost, for a person and as JSON.
import type { HandlerCost, SessionStats } from "../session/stats.ts";

/** `0.42 %` */
export function percent(share: number): string {
  const value = share * 100;
  return `${value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(2)} %`;
}

/** `1,900,000` */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** A table, a line a handler: the most expensive first. */
export function statsText({ seconds, handlers, share, ownShare }: SessionStats): string {
  const head = `Handlers took ${percent(share)} of the CPUs in ${seconds.toFixed(1)} s, strobe itself ${percent(ownShare)}.\n`;
  if (handlers.length === 0) return head;
  const rows = [...handlers]
    .sort((a, b) => b.share - a.share)
    .map((handler) => [
      count(handler.runs),
      perRun(handler, handler.handlerNanoseconds),
      perRun(handler, handler.probeNanoseconds),
      percent(handler.share),
      probeText(handler),
    ]);
  const titles = ["runs", "ns a run", "to get there", "CPU", "probe"];
  const widths = titles.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padStart(widths[column]))).join("  ");
  return `${head}${[titles, ...rows].map((cells) => `${line(cells)}\n`).join("")}`;
}

function perRun({ runs }: HandlerCost, nanoseconds: number): string {
  return runs === 0 ? "-" : count(nanoseconds / runs);
}

function probeText({ probe, probes, skipped, state }: HandlerCost): string {
  const more = probes > 1 ? ` and ${probes - 1} more` : "";
  const held = skipped > 0 ? `, ${count(skipped)} left out` : "";
  return `${probe}${more}${held}${state === "running" ? "" : ` (${state})`}`;
}

/** One object; shares are fractions of the machine's CPU time. */
export function statsJson({ seconds, handlers, share, ownShare }: SessionStats): string {
  return JSON.stringify({
    seconds,
    share,
    own_share: ownShare,
    handlers: handlers.map((handler) => ({
      probe: handler.probe,
      probes: handler.probes,
      runs: handler.runs,
      skipped: handler.skipped,
      handler_ns: handler.handlerNanoseconds,
      probe_ns: handler.probeNanoseconds,
      share: handler.share,
      state: handler.state,
    })),
  });
}
