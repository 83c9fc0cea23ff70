// `trace()`: of a script's text, or of probes.
import { library } from "../messages/on-demand.ts";
import { ScriptError } from "../language/diagnostic.ts";
import { AttachError } from "../session/live/attachments.ts";
import { countCall } from "./dry-run.ts";
import { isProbe, type Probe } from "./probes.ts";
import type { ProbeOptions } from "./probe-trace.ts";
import { traceScript, type Trace, type TraceOptions } from "./trace.ts";

/**
 * Compiles and runs a bpftrace script on this machine.
 * @throws ScriptError for what is wrong in the script, LinuxError for what the kernel refused, AttachError for probes that
 * could not be attached
 */
export function trace(script: string, options?: TraceOptions): Promise<Trace>;
/**
 * Compiles handlers and attaches them: `trace(tracepoint(…, handler), interval(…, handler), { signal })`. The options come last.
 * @throws as for a script; ScriptError's spans are in the file of the handler
 */
export function trace(...probesAndOptions: readonly [Probe, ...(Probe | ProbeOptions)[]]): Promise<Trace>;
export async function trace(
  first: string | Probe,
  ...rest: readonly (Probe | TraceOptions | ProbeOptions | undefined)[]
): Promise<Trace> {
  try {
    return await start(first, rest);
  } catch (error) {
    // The place in strobe tells nothing; that of the call does.
    if (error instanceof ScriptError || error instanceof AttachError) Error.captureStackTrace(error, trace);
    throw error;
  }
}

async function start(
  first: string | Probe,
  rest: readonly (Probe | TraceOptions | ProbeOptions | undefined)[],
): Promise<Trace> {
  countCall();
  if (typeof first === "string") {
    const options = rest[0] as TraceOptions | undefined;
    checkOptions(options);
    return traceScript(first, options);
  }
  const last = rest.at(-1);
  const options = last === undefined || isProbe(last) ? {} : last;
  const probes = [first, ...(rest.length > 0 && !isProbe(last) ? rest.slice(0, -1) : rest)];
  if (!probes.every(isProbe)) throw new TypeError(library().traceTakes().message);
  checkOptions(options);
  // A program that traces scripts alone needs no reader of TypeScript.
  const { traceProbes } = await import("./probe-trace.ts");
  return traceProbes(probes, options);
}

/** setTimeout() takes no more. */
const longestTimer = 2 ** 31 - 1;

/** What JavaScript lets through. */
function checkOptions({
  pid,
  command,
  queueLimit,
  duration,
  maxOverhead,
}: Pick<TraceOptions, "pid" | "command" | "queueLimit" | "duration" | "maxOverhead"> = {}): void {
  const natural = (value: number): boolean => Number.isSafeInteger(value) && value > 0;
  if (pid !== undefined && !natural(pid)) throw new TypeError(library().takesPid(pid).message);
  if (pid !== undefined && command !== undefined) throw new TypeError(library().pidAndCommand().message);
  if (queueLimit !== undefined && !natural(queueLimit) && queueLimit !== Infinity)
    throw new TypeError(library().takesQueueLimit(queueLimit).message);
  if (duration !== undefined && !(duration > 0 && duration <= longestTimer))
    throw new TypeError(library().takesDuration(longestTimer, duration).message);
  if (maxOverhead !== undefined && !(typeof maxOverhead === "number" && maxOverhead > 0 && maxOverhead <= 1)) {
    throw new TypeError(library().takesOverhead(maxOverhead).message);
  }
}
