// Kprobes defined in tracefs, for what perf events cannot say: how many calls of a function may be under way at once
// before a kretprobe misses some. A definition costs nothing while nobody has its event open, but it outlives its
// process: the name has the process's number in it, so that what a killed one left is removed by the next.
// (Documentation/trace/kprobetrace.rst)
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { LinuxError, type Doing } from "../error.ts";
import { isProcess } from "../processes/procfs.ts";
import { tracefsRoot } from "./tracefs.ts";
import { attempts } from "../../messages/on-demand.ts";

const group = "strobe";
let made = 0;

export interface KprobeEvent extends Disposable {
  /** For a perf event of PERF_TYPE_TRACEPOINT. */
  readonly id: number;
}

/**
 * Defines a kretprobe with room for `maxactive` calls. Disposing removes it, once no descriptor of its event is open.
 * @throws LinuxError
 */
export function defineKretprobe(place: string, maxactive: number): KprobeEvent {
  removeAbandoned();
  const name = `kr_${process.pid}_${made++}`;
  command(`r${maxactive}:${group}/${name} ${place}`, () => attempts().defineKretprobe(place, maxactive));
  const remove = (): void => command(`-:${group}/${name}`, () => attempts().removeKretprobe(place));
  try {
    const id = Number(readFileSync(`${tracefsRoot()}/events/${group}/${name}/id`, "latin1"));
    return { id, [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function removeAbandoned(): void {
  for (const [, name = "", pid = ""] of readFileSync(file(), "latin1").matchAll(
    new RegExp(`^\\w+:${group}/(kr_(\\d+)_\\d+)\\b`, "gm"),
  )) {
    if (Number(pid) !== process.pid && !isProcess(Number(pid)))
      command(`-:${group}/${name}`, () => attempts().removeLeftKretprobe());
  }
}

function command(text: string, doing: Doing): void {
  // Without O_APPEND everyone's definitions were removed.
  const descriptor = openSync(file(), "a");
  try {
    writeSync(descriptor, `${text}\n`);
  } catch (error) {
    throw new LinuxError({ call: "write", code: -((error as NodeJS.ErrnoException).errno ?? 0), doing: doing() });
  } finally {
    closeSync(descriptor);
  }
}

function file(): string {
  return `${tracefsRoot()}/kprobe_events`;
}
