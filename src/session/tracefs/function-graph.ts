// Calls of chosen functions of the kernel and what they call, by ftrace's function graph: in an instance of strobe's
// own, or before Linux 6.11 in the top-level buffer while nobody else uses it. (Documentation/trace/ftrace.rst)
import { EINVAL, LinuxError } from "../../linux/error.ts";
import { removeAbandoned } from "../../linux/kernel/dynamic-events.ts";
import {
  chooseCalls,
  giveBackCalls,
  graphPlace,
  graphTracer,
  graphUser,
  topBufferKilobytes,
  type GraphChoice,
  type GraphPlace,
} from "../../linux/kernel/graph-settings.ts";
import { TraceInstance } from "../../linux/kernel/trace-instance.ts";
import { readFormat } from "../../linux/kernel/tracefs.ts";
import { CLOCK_BOOTTIME, clockNs } from "../../linux/processes/procfs.ts";
import { parseTracepointFormat } from "../../machine/kernel/tracepoint-format.ts";
import { CallTree } from "./call-tree.ts";
import { EventStreams, type Head } from "./event-streams.ts";
import { threadsOf } from "./lives.ts";
import { refusalHints, attempts, runReasons } from "../../messages/on-demand.ts";
import { RunError } from "../../base/run-error.ts";
import type { Reason } from "../../base/failure.ts";

export interface GraphOptions extends GraphChoice {
  /** Registers in which arguments are handed over, as they were at the entry. */
  readonly args: boolean;
  readonly retval: boolean;
  /** Undefined: everybody's calls. */
  readonly pid: number | undefined;
  /** Names of the same function. */
  readonly otherNames: (name: string) => readonly string[];
  /** Whether a function is one of those that were asked for, by its address. `names`: as the kernel has them. */
  readonly isRoot: (func: bigint, names: ReadonlySet<string>) => boolean;
  readonly log: (line: string) => void;
}

/** A function was entered, or has returned. */
export interface CallEvent {
  readonly thread: number;
  readonly func: bigint;
  /** Of how many calls that are shown it is within. */
  readonly within: number;
  /** At the entry, where they were asked for. */
  readonly registers?: BigUint64Array | undefined;
  /** At the return. */
  readonly nanoseconds?: number;
  readonly retval?: bigint | undefined;
}

/** The kernel looks through all functions for each name. */
const mostFiltered = 64;
/** TRACE_FLAG_IRQS_OFF, _HARDIRQ, _SOFTIRQ and _NMI of include/linux/trace_events.h. */
const interruptBits = 0x59;
/** Of the buffers of all CPUs together. */
const bufferBytes = 32 << 20;

/** Where the fields of an event of ftrace's are. */
type Offsets = ReadonlyMap<string, { readonly offset: number; readonly size: number }>;

export class FunctionGraph implements Disposable {
  readonly #tree: CallTree;
  readonly #place: GraphPlace;
  readonly #events = new Map<number, { readonly entry: boolean; readonly at: Offsets }>();
  readonly #start = clockNs(CLOCK_BOOTTIME);
  #own: TraceInstance | undefined;
  /** What the calls are read from. */
  #buffer: TraceInstance | undefined;
  #streams: EventStreams | undefined;
  #chose = false;
  #ended = false;
  /** What an option of the tracer was: instances share them before Linux 7. */
  #argsWere: string | undefined;

  /** Armed, and not tracing yet. @throws Error that says what the kernel lacks, or refused; nothing is left behind */
  constructor(options: GraphOptions) {
    const { functions, isRoot, log } = options;
    for (const { what, name } of removeAbandoned())
      log(`removed ${what} ${name} of tracefs, which a strobe left that was killed`);
    const doing = attempts().traceCalls(functions.join(", "));
    this.#readFormats(options, doing);
    this.#place = this.#makeInstance(doing);
    try {
      const names = this.#arm(options, doing);
      const known = new Map<bigint, boolean>();
      this.#tree = new CallTree((func) => {
        let is = known.get(func);
        if (is === undefined) known.set(func, (is = isRoot(func, names)));
        return is;
      });
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  #readFormats({ args, retval }: GraphOptions, doing: Reason): void {
    const read = (name: string): Offsets | undefined => {
      const format = parseTracepointFormat(readFormat("ftrace", name) ?? "");
      if (format === undefined) return undefined;
      const at = new Map(format.fields.map((field) => [field.name, field]));
      this.#events.set(format.id, { entry: name !== "funcgraph_exit", at });
      return at;
    };
    const entry = read("funcgraph_entry");
    read("funcgraph_retaddr_entry");
    const exit = read("funcgraph_exit");
    if (entry === undefined || exit === undefined) throw new RunError(runReasons().noGraph(doing));
    if (args && !entry.has("args")) throw new RunError(runReasons().noGraphArguments());
    if (retval && !exit.has("retval")) throw new RunError(runReasons().noGraphReturns());
  }

  /** Its name tells others whose the choice of functions is, and what to give back. */
  #makeInstance(doing: Reason): GraphPlace {
    const make = (place: GraphPlace, bytes: number): TraceInstance =>
      new TraceInstance(`strobe-${process.pid}-${place}`, { bytes, options: { overwrite: false } });
    // Before there is an instance: when one has its size set, old kernels forget how large the top-level buffer would become.
    const top = topBufferKilobytes();
    this.#own = make("graph", bufferBytes);
    try {
      const place = graphPlace(this.#own.name);
      if (place === undefined) throw new RunError(runReasons().noGraph(doing));
      if (place === "graphtop") {
        const cpus = this.#own.cpus.length;
        this.#own[Symbol.dispose]();
        // As large as the top-level buffer, which has its size back from it.
        this.#own = make(place, top * 1024 * cpus);
      }
      const user = graphUser(this.#own.name, place);
      if (user !== undefined) throw new RunError(runReasons().graphInUse(doing, user));
      return place;
    } catch (error) {
      this.#own[Symbol.dispose]();
      throw error;
    }
  }

  #arm({ functions, depth, args, pid, otherNames, log }: GraphOptions, doing: Reason): ReadonlySet<string> {
    this.#chose = true;
    if (this.#place === "graphtop") {
      log("before Linux 6.11 calls are traced in the top-level buffer alone: it is used, and given back");
      this.#buffer = new TraceInstance("", "made");
      this.#buffer.write("trace_clock", "boot");
      this.#buffer.write("options/overwrite", "0");
      this.#buffer.write("buffer_size_kb", String(Math.ceil(bufferBytes / this.#buffer.cpus.length / 1024)));
    } else this.#buffer = this.#own!;
    const names = chooseCalls({ functions, depth }, otherNames);
    if (names.length === 0)
      throw new LinuxError({ call: "write", code: EINVAL, doing, hint: refusalHints().noTraceableFunction() });
    if (pid !== undefined) this.#buffer.chooseThreads(() => threadsOf(pid), "ftrace");
    // Where nothing within them is wanted, other functions need not be slower.
    if (depth === 1 && names.length <= mostFiltered)
      for (const name of names) this.#buffer.write("set_ftrace_filter", name);
    this.#buffer.tracer(graphTracer);
    if (args) {
      this.#argsWere = this.#buffer.readFile("options/funcgraph-args").trim();
      this.#buffer.write("options/funcgraph-args", "1");
    }
    this.#streams = new EventStreams([this.#buffer], this.#start);
    return new Set(names);
  }

  go(): void {
    this.#buffer?.tracing(true);
  }

  /** What has come so far, in order; after end(), all. */
  drain(take: (event: CallEvent) => void): number {
    const streams = this.#streams;
    if (streams === undefined) return 0;
    streams.refill();
    const until = this.#ended ? Infinity : Number(clockNs(CLOCK_BOOTTIME) - this.#start);
    let count = 0;
    for (let head = streams.peek(until); head !== undefined && head.time <= until; head = streams.peek(until)) {
      const event = this.#eventOf(head);
      if (event !== undefined) take(event);
      streams.take();
      count++;
    }
    if (this.#ended) this.#tree.end();
    return count;
  }

  #eventOf({ view, offset, length, cpu, time }: Head): CallEvent | undefined {
    const kind = this.#events.get(view.getUint16(offset, true));
    if (kind === undefined) return undefined;
    const { entry, at } = kind;
    const number = (name: string): bigint => {
      const { offset: from, size } = at.get(name)!;
      return size === 4 ? BigInt(view.getInt32(offset + from, true)) : view.getBigUint64(offset + from, true);
    };
    const pid = view.getInt32(offset + 4, true);
    // Each CPU has an idle thread of its own.
    const thread = pid === 0 ? `0 ${cpu}` : String(pid);
    const [func, depth] = [number("func"), Number(number("depth"))];
    if (entry) {
      const within = this.#tree.enter(thread, depth, func, time, view.getUint8(offset + 2) & interruptBits);
      if (within === undefined) return undefined;
      const from = at.get("args")?.offset;
      const registers =
        this.#argsWere === undefined || from === undefined
          ? undefined
          : BigUint64Array.from({ length: Math.max(0, (length - from) >> 3) }, (_, i) =>
              view.getBigUint64(offset + from + 8 * i, true),
            );
      return { thread: pid, func, within, registers };
    }
    const returned = this.#tree.leave(thread, depth, func, time);
    if (returned === undefined) return undefined;
    return { thread: pid, func, ...returned, retval: at.has("retval") ? number("retval") : undefined };
  }

  /** No more calls are written. */
  end(): void {
    if (this.#ended) return;
    this.#buffer?.tracing(false);
    this.#ended = true;
  }

  /** Events that there was no room for. */
  get lost(): number {
    return this.#buffer?.lost() ?? 0;
  }

  get leftOut(): number {
    return this.#tree.leftOut;
  }

  get unfinished(): number {
    return this.#tree.unfinished;
  }

  /** @throws LinuxError */
  [Symbol.dispose](): void {
    this.#streams = undefined;
    const own = this.#own;
    this.#own = undefined;
    if (own === undefined) return;
    if (this.#argsWere === "0") this.#buffer?.write("options/funcgraph-args", "0");
    const top = this.#buffer === own ? undefined : this.#buffer;
    if (this.#place === "graph") own.tracer("nop");
    if (this.#chose) giveBackCalls(top, own.name);
    own[Symbol.dispose]();
  }
}
