// Which calls ftrace's function graph shows: the kernel has one such choice for all instances (set_graph_function,
// max_graph_depth; Documentation/trace/ftrace.rst). It is taken only where nobody else has it, and an instance of
// strobe's own says whose it is: what a killed strobe left is given back by the next.
import { closeSync, constants, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { EBUSY, EINVAL, LinuxError } from "../error.ts";
import { TraceInstance } from "./trace-instance.ts";
import { tracefsRoot } from "./tracefs.ts";
import { refusalHints, attempts, graphUsers } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

/**
 * The instance of a process that has the choice. Before Linux 6.11 the top-level buffer alone takes the tracer: then the
 * instance is there for its name.
 */
export type GraphPlace = "graph" | "graphtop";
const ownPlace = /^strobe-\d+-(graph(?:top)?)$/;

/** What is traced by name. */
export interface GraphChoice {
  /** Names and wildcards. */
  readonly functions: readonly string[];
  /** 0: all that they call. */
  readonly depth: number;
}

export const graphTracer = "function_graph";

/** Whether the kernel has the tracer, and where. @throws LinuxError without tracefs */
export function graphPlace(instance: string): GraphPlace | undefined {
  const has = (file: string): boolean => (readText(file) ?? "").split(/\s+/).includes(graphTracer);
  if (has(`instances/${instance}/available_tracers`)) return "graph";
  return has("available_tracers") ? "graphtop" : undefined;
}

/** Who uses the choice, or the top-level buffer where that is wanted too; `own`: an instance that does not count. */
export function graphUser(own: string, place: GraphPlace): Reason | undefined {
  const instances = readdirSync(`${tracefsRoot()}/instances`);
  const other = instances.find((name) => name !== own && ownPlace.test(name));
  if (other !== undefined) return graphUsers().otherStrobe(other);
  const tracing = instances.find(
    (name) => name !== own && readText(`instances/${name}/current_tracer`)?.trim() === graphTracer,
  );
  if (tracing !== undefined) return graphUsers().instance(tracing);
  const tracer = readText("current_tracer")?.trim();
  if (tracer === graphTracer) return graphUsers().topLevel();
  if (chosen("set_graph_function")) return graphUsers().chosen();
  if (place === "graph") return undefined;
  if (tracer !== "nop") return graphUsers().topLevelTracer(tracer);
  const busy =
    ["set_event", "set_ftrace_pid", "set_ftrace_filter", "set_ftrace_notrace"].some(chosen) ||
    readText("tracing_on")?.trim() !== "1" ||
    hasEvents();
  return busy ? graphUsers().topLevelUsed() : undefined;
}

function hasEvents(): boolean {
  const cpus = readdirSync(`${tracefsRoot()}/per_cpu`);
  return cpus.some((cpu) => !/^entries: 0$/m.test(readText(`per_cpu/${cpu}/stats`) ?? ""));
}

/** Whether a file names anything. */
function chosen(file: string): boolean {
  return (readText(file) ?? "").split("\n").some((line) => line !== "" && !line.startsWith("#") && line !== "no pid");
}

/**
 * Functions that were chosen, as the kernel names them: of several names of an address ftrace knows one. `others`: the
 * other names of a function. @throws LinuxError: EINVAL where there are none of a name
 */
export function chooseCalls(
  { functions, depth }: GraphChoice,
  others: (name: string) => readonly string[],
): readonly string[] {
  write("max_graph_depth", String(depth), constants.O_TRUNC);
  for (const [i, name] of functions.entries()) {
    const choose = (one: string): void => write("set_graph_function", one, i === 0 ? constants.O_TRUNC : 0);
    try {
      choose(name);
    } catch (error) {
      if (!(error instanceof LinuxError) || error.code !== EINVAL || !others(name).some((one) => taken(choose, one)))
        throw error;
    }
  }
  return (readText("set_graph_function") ?? "").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

function taken(choose: (name: string) => void, name: string): boolean {
  try {
    choose(name);
    return true;
  } catch (error) {
    if (error instanceof LinuxError) return false;
    throw error;
  }
}

/**
 * Kilobytes of the top-level buffer for each CPU. One that nobody has used yet is as small as can be: then those that it
 * has from its first use on ("7 (expanded: 1408)").
 */
export function topBufferKilobytes(): number {
  return Number(/(\d+)\)?\s*$/.exec(readText("buffer_size_kb") ?? "")?.[1] ?? 0);
}

/**
 * Everything as a kernel has it that nobody told anything. `top`: the top-level buffer, where calls were written there, and
 * the instance of as many kilobytes as it had before. @throws LinuxError
 */
export function giveBackCalls(top?: TraceInstance, instance = ""): void {
  if (top !== undefined) {
    const before = Number(readText(`instances/${instance}/buffer_size_kb`) ?? 0);
    if (before > 0) top.write("buffer_size_kb", String(before));
    top.tracer("nop");
    write("set_ftrace_pid", "", constants.O_TRUNC);
    write("set_ftrace_filter", "", constants.O_TRUNC);
    top.write("options/function-fork", "0");
    top[Symbol.dispose]();
  }
  write("set_graph_function", "", constants.O_TRUNC);
  write("max_graph_depth", "0", constants.O_TRUNC);
}

/** Of an instance that a strobe left. @throws LinuxError */
export function giveBackLeft(instance: string): void {
  const place = ownPlace.exec(instance)?.[1];
  if (place === undefined) return;
  if (place === "graph") write(`instances/${instance}/current_tracer`, "nop", 0);
  giveBackCalls(place === "graphtop" ? new TraceInstance("", "made") : undefined, instance);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(`${tracefsRoot()}/${file}`, "latin1");
  } catch {
    return undefined;
  }
}

function write(file: string, text: string, how: number): void {
  try {
    const descriptor = openSync(`${tracefsRoot()}/${file}`, constants.O_WRONLY | how);
    try {
      writeSync(descriptor, `${text}\n`);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { errno = 0 } = error as NodeJS.ErrnoException;
    const hint =
      -errno === EBUSY
        ? refusalHints().inUse()
        : -errno === EINVAL && file === "set_graph_function"
          ? refusalHints().noTraceableFunction()
          : undefined;
    throw new LinuxError({
      call: "write",
      code: -errno,
      doing: attempts().writeTextToTracefs(text, file),
      ...(hint === undefined ? {} : { hint }),
    });
  }
}
