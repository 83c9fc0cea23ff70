// The tracing file system: tracepoints and their formats, and the PMU types of probes.
import { accessSync, closeSync, constants, openSync, readFileSync, statSync } from "node:fs";
import { EACCES, ENOENT, LinuxError } from "../error.ts";
import { cString, syscall, SYS } from "../ffi.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";

/** What belongs to a process of strobe's, by name: an instance, or a group of events. */
export const ownName = /^strobe[-_](\d+)(?:[-_]\w+)?$/;

let root: string | undefined;

/** Where tracefs is mounted; mounted here when it is not and we may. @throws LinuxError */
export function tracefsRoot(): string {
  if (root !== undefined) return root;
  for (const place of ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"]) {
    if (isThere(`${place}/available_events`)) return (root = place);
  }
  const place = "/sys/kernel/tracing";
  const result = syscall(SYS.mount, cString("tracefs"), cString(place), cString("tracefs"), 0, 0);
  if (result < 0) {
    throw new LinuxError({
      call: "mount",
      code: -result,
      doing: attempts().findTracefs(),
      hint:
        process.geteuid?.() !== 0
          ? refusalHints().tracepointsNeedRoot()
          : result === -ENOENT
            ? refusalHints().noSysfs()
            : result === -19
              ? refusalHints().noFtrace()
              : refusalHints().mountTracefs(place),
    });
  }
  return (root = place);
}

/**
 * By what the kernel says of opening: access(2), which Node's existsSync asks, leaves out the capabilities of anyone
 * but root.
 */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") return false;
    throw new LinuxError({
      call: "stat",
      code: EACCES,
      doing: attempts().lookIntoTracefs(),
      hint: refusalHints().tracepointsNeedRead(),
    });
  }
}

/** Whether we may make instances of it. @throws LinuxError where there is no tracefs */
export function isWritable(): boolean {
  try {
    accessSync(`${tracefsRoot()}/instances`, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof LinuxError) throw error;
    return false;
  }
}

/** Lines of the kernel's, an event each, and the groups that these are in. */
export interface DynamicEvents {
  readonly lines: string;
  readonly groups: readonly string[];
}

/**
 * What others have added to the tracepoints of the kernel and its modules: kprobes, uprobes, synthetic and user events.
 * Undefined where it cannot be read.
 */
export function dynamicEvents(): DynamicEvents | undefined {
  try {
    return dynamicEventsIn(readFileSync(`${tracefsRoot()}/dynamic_events`, "latin1"));
  } catch {
    return undefined;
  }
}

/** Of tracefs' dynamic_events, but those that running strobes have defined for themselves. */
export function dynamicEventsIn(text: string): DynamicEvents {
  const groups = new Set<string>();
  const lines = text.split("\n").filter((line) => {
    // `p:group/name place …`, `s:name fields`, `u:name fields`
    const [, kind = "", group] = /^(\w)[^:]*:(?:([^\s/]+)\/)?/.exec(line) ?? [];
    if (line === "" || (group !== undefined && ownName.test(group))) return false;
    groups.add(group ?? (kind === "u" ? "user_events" : "synthetic"));
    return true;
  });
  return { lines: lines.join("\n"), groups: [...groups] };
}

/** The text of a tracepoint's `format` file; undefined when there is no such tracepoint. */
export function readFormat(category: string, name: string): string | undefined {
  return readText(`${tracefsRoot()}/events/${category}/${name}/format`);
}

/** Every tracepoint, as tracefs lists them, but those that running strobes have defined for themselves. */
export function listEvents(): { category: string; name: string }[] {
  const events: { category: string; name: string }[] = [];
  for (const line of readFileSync(`${tracefsRoot()}/available_events`, "latin1").split("\n")) {
    const colon = line.indexOf(":");
    const category = line.slice(0, colon);
    if (colon > 0 && !ownName.test(category)) events.push({ category, name: line.slice(colon + 1) });
  }
  return events;
}

/** Whether this kernel has user events. */
export function hasUserEvents(): boolean {
  return isThere(`${tracefsRoot()}/user_events_data`);
}

/** Synthetic events (Linux 4.17), and histograms that tell of them. */
export function hasSyntheticEvents(): boolean {
  return hasHistograms() && isThere(`${tracefsRoot()}/synthetic_events`);
}

/** Whether this kernel counts events by itself (CONFIG_HIST_TRIGGERS), as far as it lets us know. */
export function hasHistograms(): boolean {
  return readText(`${tracefsRoot()}/README`)?.includes("hist trigger") ?? false;
}

/** Whether the kernel tells this user which functions ftrace can trace: reading them all takes much longer. */
export function listsFunctions(): boolean {
  try {
    closeSync(openSync(`${tracefsRoot()}/available_filter_functions`, "r"));
    return true;
  } catch {
    return false;
  }
}

/** Functions that ftrace can trace, of the kernel and its modules. None where the kernel keeps them to itself. */
export function traceableFunctions(): ReadonlySet<string> {
  let text: string;
  try {
    text = readFileSync(`${tracefsRoot()}/available_filter_functions`, "latin1");
  } catch {
    return new Set();
  }
  // `name`, or `name [module]`
  const names = new Set<string>();
  for (const line of text.split("\n")) {
    const space = line.indexOf(" ");
    const name = space < 0 ? line : line.slice(0, space);
    // Places that the kernel lost the function of have names that begin like this.
    if (name !== "" && !name.startsWith("__ftrace_invalid_address__")) names.add(name);
  }
  return names;
}

/** The perf type number of a PMU (`uprobe`, `kprobe`); undefined where the kernel has none. */
export function pmuType(name: string): number | undefined {
  const text = readText(`/sys/bus/event_source/devices/${name}/type`);
  return text === undefined ? undefined : Number(text);
}

/** Bit of `config` that makes a PMU probe a return probe (`config:0` in its format file). */
export function pmuReturnBit(name: string): number {
  const text = readText(`/sys/bus/event_source/devices/${name}/format/retprobe`);
  return Number(/config:(\d+)/.exec(text ?? "")?.[1] ?? 0);
}

const noSuchFile: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "EINVAL", "ENAMETOOLONG"]);

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error && noSuchFile.has(error.code)) return undefined;
    throw error;
  }
}
