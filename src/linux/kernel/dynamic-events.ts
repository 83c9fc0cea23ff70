// Events that strobe defines in tracefs: kprobes and uprobes with what they fetch. They outlive their process; their
// group has the process's number in it, so that what a killed strobe left is removed by the next.
// (Documentation/trace/kprobetrace.rst, uprobetracer.rst)
import { readdirSync, readFileSync, rmdirSync } from "node:fs";
import { dynamicEvents, writeDefinition } from "./event-files.ts";
import { giveBackLeft } from "./graph-settings.ts";
import { giveBackSettings } from "./latency-tracers.ts";
import { ownName, tracefsRoot } from "./tracefs.ts";
import { isProcess } from "../processes/procfs.ts";
import { attempts } from "../../messages/on-demand.ts";
import type { Doing } from "../error.ts";

export type DynamicKind = "eprobe" | "kprobe" | "kretprobe" | "uprobe" | "uretprobe" | "fprobe" | "fretprobe";

export interface DynamicEvent extends Disposable {
  readonly group: string;
  readonly name: string;
}

/** One group a process. */
export const ownGroup = `strobe_${process.pid}`;
let made = 0;

/**
 * Defines an event: `place` as the kernel spells it, then `name=words:type` an argument. `maxactive`: calls of which a
 * kretprobe sees the return at once; the kernel's choice where it is absent. Disposing removes it, once it is enabled
 * nowhere. @throws LinuxError
 */
export function defineEvent(
  kind: DynamicKind,
  place: string,
  args: readonly string[],
  doing: Doing,
  maxactive?: number,
): DynamicEvent {
  // `kprobe_profile` shows names without their groups.
  const name = `${kind}_${kind.startsWith("k") ? `${process.pid}_` : ""}${made++}`;
  // Events on functions as ftrace sees them, and on events.
  const general = kind.startsWith("f") || kind === "eprobe";
  const file = general ? "dynamic_events" : kind.startsWith("u") ? "uprobe_events" : "kprobe_events";
  const line = `${general ? kind[0] : kind.endsWith("retprobe") ? `r${maxactive ?? ""}` : "p"}:${ownGroup}/${name} ${[place, ...args].join(" ")}`;
  writeDefinition(file, line, doing);
  return {
    group: ownGroup,
    name,
    [Symbol.dispose]: () =>
      writeDefinition(file, `-:${ownGroup}/${name}`, () => attempts().removeEvent(`${ownGroup}/${name}`)),
  };
}

/** A name that no other event has: synthetic ones share a group. */
export function nextOwnName(): string {
  return `${ownGroup}_${made++}`;
}

/** Defines an event that histograms of others write: `name type field; …`. Disposing as with the others. @throws LinuxError */
export function defineSynthetic(name: string, definition: string, doing: Doing): DynamicEvent {
  writeDefinition("synthetic_events", definition, doing);
  return {
    group: "synthetic",
    name,
    [Symbol.dispose]: () => writeDefinition("synthetic_events", `!${name}`, () => attempts().removeEvent(name)),
  };
}

/** Of kprobe events, by their names: how often the kernel missed one. Before Linux 6.7 it does not tell of missed returns. */
export function missedByKprobes(): ReadonlyMap<string, number> {
  let text: string;
  try {
    text = readFileSync(`${tracefsRoot()}/kprobe_profile`, "latin1");
  } catch {
    // A kernel without kprobes.
    return new Map();
  }
  return new Map([...text.matchAll(/^ *(\S+) +\d+ +(\d+)$/gm)].map(([, name, count]) => [name, Number(count)]));
}

/**
 * Histograms of an instance that look for each other's times keep it from being removed, and those of a synthetic event the
 * event: before others go those that nobody looks at.
 */
function removeLinked(instance: string): void {
  const folder = `${tracefsRoot()}/instances/${instance}`;
  const set = new Set(readFileSync(`${folder}/set_event`, "latin1").split("\n"));
  const linked = [...set].flatMap((event) => {
    const file = `instances/${instance}/events/${event.replace(":", "/")}/trigger`;
    const lines = event === "" ? [] : readFileSync(`${tracefsRoot()}/${file}`, "latin1").split("\n");
    return lines.flatMap((text) => {
      // Linux 7 shows `keys=common_cpucommon_cpu` of what it takes as `keys=common_cpu` alone.
      const line = text.replace(/ \[.*/, "").replaceAll(/\b(common_[a-z]+)\1\b/g, "$1");
      if (event.startsWith("synthetic:") && line.startsWith("hist:")) return [{ file, line, rank: 0 }];
      return line.includes("common_timestamp") ? [{ file, line, rank: line.includes("onmatch(") ? 1 : 2 }] : [];
    });
  });
  for (const { file, line } of linked.sort((one, other) => one.rank - other.rank))
    writeDefinition(file, `!${line}`, () => attempts().removeInstance(folder));
}

/** What strobes left in tracefs that run no more. */
export interface Abandoned {
  readonly what: "instance" | "event";
  readonly name: string;
}

/** Removes it, and gives what was removed; what others use still is left. @throws LinuxError without tracefs */
export function removeAbandoned(): readonly Abandoned[] {
  const root = tracefsRoot();
  const removed: Abandoned[] = [];
  const isLeft = (name: string): boolean => {
    const pid = ownName.exec(name)?.[1];
    return pid !== undefined && Number(pid) !== process.pid && !isProcess(Number(pid));
  };
  const attempt = (what: Abandoned["what"], name: string, remove: () => void): void => {
    try {
      remove();
      removed.push({ what, name });
    } catch {
      // Somebody looks at it, or another strobe was faster.
    }
  };
  for (const name of readdirSync(`${root}/instances`))
    if (isLeft(name))
      attempt("instance", name, () => {
        giveBackLeft(name);
        giveBackSettings(name);
        removeLinked(name);
        rmdirSync(`${root}/instances/${name}`);
      });
  for (const { group, name, kind } of dynamicEvents())
    if (kind === "synthetic" && isLeft(name.replace(/_\d+$/, "")))
      attempt("event", name, () => writeDefinition("synthetic_events", `!${name}`, () => attempts().removeEvent(name)));
    else if (isLeft(group))
      attempt("event", `${group}/${name}`, () =>
        writeDefinition("dynamic_events", `-:${group}/${name}`, () => attempts().removeEvent(`${group}/${name}`)),
      );
  return removed;
}
