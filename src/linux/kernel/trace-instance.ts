// An instance of tracefs of strobe's own: events are enabled in it and read from it, and nobody else's buffer is
// touched. It outlives its process, so its name has the process's number in it: what a killed strobe left is removed by
// the next. (Documentation/trace/ftrace.rst, "Instances")
import { closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync, writeSync } from "node:fs";
import { InternalError } from "../../base/internal-error.ts";
import type { AnyReadable } from "../any-readable.ts";
import { EAGAIN, EBUSY, ENODEV, ENOENT, LinuxError, type Doing } from "../error.ts";
import { pageSize, syscall, SYS } from "../ffi.ts";
import { ownName, tracefsRoot } from "./tracefs.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";

export interface InstanceOptions {
  /** Of the buffers of all CPUs together. */
  readonly bytes: number;
  /** Options of the instance (its `options` folder) that are on or off. */
  readonly options: Readonly<Record<string, boolean>>;
}

export class TraceInstance implements Disposable {
  readonly name: string;
  readonly #folder: string;
  /** With what each is read by, from the first reading on. */
  readonly #cpus: readonly { readonly cpu: number; descriptor?: number | undefined; watched?: boolean }[];
  /** Becomes readable with its events. */
  #watcher: AnyReadable | undefined;
  /** Of a page of events. */
  readonly pageBytes = pageSize();
  /** The last is the first. */
  readonly #linked: { readonly category: string; readonly event: string; readonly trigger: string }[] = [];
  #disposed = false;

  /**
   * With tracing off, in the boot clock. `made`: one that was made at boot, which is left as it is, `running`: also while
   * more is written; without a name, the top-level buffer. @throws LinuxError with nothing left behind
   */
  constructor(name: string, made: InstanceOptions | "made" | "running") {
    const own = typeof made === "object";
    if (own && !ownName.test(name)) throw new InternalError(`an instance is named ${name}`);
    this.name = name;
    this.#folder = name === "" ? tracefsRoot() : `${tracefsRoot()}/instances/${name}`;
    if (own)
      attempt(
        "mkdir",
        () => attempts().makeInstance(name),
        () => mkdirSync(this.#folder, 0o700),
      );
    try {
      if (made !== "running") this.write("tracing_on", "0");
      const cpus = readdirSync(`${this.#folder}/per_cpu`).map((entry) => Number(entry.slice("cpu".length)));
      if (own) this.#set(made, cpus.length);
      this.#cpus = cpus.sort((a, b) => a - b).map((cpu) => ({ cpu }));
    } catch (error) {
      if (own) rmdirSync(this.#folder);
      throw error;
    }
  }

  #set({ bytes, options }: InstanceOptions, cpus: number): void {
    this.write("trace_clock", "boot");
    for (const [option, on] of Object.entries(options)) this.write(`options/${option}`, on ? "1" : "0");
    this.write("buffer_size_kb", String(Math.max(64, Math.ceil(bytes / cpus / 1024))));
  }

  get cpus(): readonly number[] {
    return this.#cpus.map(({ cpu }) => cpu);
  }

  /** @throws LinuxError */
  write(file: string, text: string): void {
    writeFile(`${this.#folder}/${file}`, text, () => attempts().writeInstanceFile(text, file));
  }

  /** Of an event, only what fulfils this is written. @throws LinuxError with the event unfiltered */
  filter(category: string, event: string, filter: string): void {
    this.write(`events/${category}/${event}/filter`, filter);
  }

  /**
   * Events of these threads alone are written, or calls of functions, and of those that they start. Asked again until
   * none has begun in between. @throws LinuxError with all chosen
   */
  chooseThreads(threads: () => readonly number[], of: "event" | "ftrace" = "event"): void {
    this.write(`options/${of === "event" ? "event" : "function"}-fork`, "1");
    const chosen = new Set<number>();
    for (;;) {
      const more = threads().filter((thread) => !chosen.has(thread));
      if (more.length === 0) break;
      // Opened without truncation, the file adds to those that it has.
      this.write(`set_${of}_pid`, more.join(" "));
      for (const thread of more) chosen.add(thread);
    }
  }

  /** Its event is written into this instance's buffers, as far as its filter lets it. @throws LinuxError */
  enable(category: string, event: string): void {
    this.write(`events/${category}/${event}/enable`, "1");
  }

  /** No records of an event any more, where there is one. */
  disableAny(category: string, event: string): void {
    try {
      // By the list of events, which has each: an event of a kernel's command line may have no folder.
      this.write("set_event", `!${category}:${event}`);
    } catch (error) {
      if (!(error instanceof LinuxError)) throw error;
    }
  }

  /** What the kernel does by itself at an event (Documentation/trace/events.rst, "Event triggers"). @throws LinuxError */
  trigger(category: string, event: string, trigger: string): void {
    this.write(`events/${category}/${event}/trigger`, trigger);
  }

  /** A trigger that looks at others' or is looked at: it is removed before those that were there earlier. @throws LinuxError */
  link(category: string, event: string, trigger: string): void {
    this.trigger(category, event, trigger);
    this.#linked.unshift({ category, event, trigger });
  }

  /** What writes into it beside events: `nop`, `osnoise`. The kernel changes that while nobody reads. @throws LinuxError */
  tracer(name: string): void {
    this.#closeAll();
    this.write("current_tracer", name);
  }

  /** @throws LinuxError */
  readFile(file: string): string {
    return attempt(
      "read",
      () => attempts().readInstanceFile(file),
      () => readFileSync(`${this.#folder}/${file}`, "latin1"),
    );
  }

  /** @throws LinuxError */
  tracing(on: boolean): void {
    this.write("tracing_on", on ? "1" : "0");
  }

  #descriptor(index: number): number {
    const one = this.#cpus[index];
    return (one.descriptor ??= attempt(
      "open",
      () => attempts().readEventsOfCpu(one.cpu),
      () => openSync(`${this.#folder}/per_cpu/cpu${one.cpu}/trace_pipe_raw`, constants.O_RDONLY | constants.O_NONBLOCK),
    ));
  }

  #closeAll(): void {
    for (const one of this.#cpus) {
      if (one.descriptor !== undefined) closeSync(one.descriptor);
      one.descriptor = undefined;
      one.watched = false;
    }
  }

  /** No events are there any more. */
  clear(): void {
    attempt(
      "open",
      () => attempts().emptyInstance(),
      () => closeSync(openSync(`${this.#folder}/trace`, constants.O_WRONLY | constants.O_TRUNC)),
    );
  }

  /** Takes the next events of a CPU (by its place among them), a page at most; false when there are none now. */
  read(index: number, page: Uint8Array): boolean {
    const descriptor = this.#descriptor(index);
    // Not by Node, which makes an error with a stack of each time that there are none.
    const result = syscall(SYS.read, descriptor, page, page.length);
    if (result >= 0) return result > 0;
    // A processor that was never online has no buffer (ring_buffer_alloc_read_page, kernel/trace/ring_buffer.c).
    if (result === -ENODEV) return false;
    if (result !== -EAGAIN) throw new LinuxError({ call: "read", code: -result, doing: attempts().readEvents() });
    this.#watch(index, descriptor);
    return false;
  }

  /**
   * Reading is due when a buffer is so full, in per cent; 0: when there is anything. @returns whether the kernel says so
   * by then. @throws LinuxError
   */
  wakeAt(percent: number): boolean {
    try {
      this.write("buffer_percent", String(percent));
    } catch (error) {
      if (error instanceof LinuxError && error.code === ENOENT) return false;
      throw error;
    }
    // Some kernels make 1 of 0.
    return this.readFile("buffer_percent").trim() === String(percent);
  }

  /** `readable` is from now on, also while reading is due: of those CPUs that were found empty. */
  watch(readable: AnyReadable): void {
    this.#watcher = readable;
  }

  /** A processor without a buffer would always be readable, with an error. */
  #watch(index: number, descriptor: number): void {
    const one = this.#cpus[index];
    if (this.#watcher === undefined || one.watched === true) return;
    this.#watcher.add(descriptor);
    one.watched = true;
  }

  /** Events that there was no room for since the beginning, on all CPUs. */
  lost(): number {
    let lost = 0;
    for (const { cpu } of this.#cpus) {
      const text = readFileSync(`${this.#folder}/per_cpu/cpu${cpu}/stats`, "latin1");
      for (const [, count] of text.matchAll(/^(?:overrun|commit overrun|dropped events): (\d+)$/gm))
        lost += Number(count);
    }
    return lost;
  }

  /** Nothing of it is read any more; the instance stays as it is. */
  close(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#closeAll();
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.close();
    for (const { category, event, trigger } of this.#linked) this.trigger(category, event, `!${trigger}`);
    if (this.name !== "") return removeInstance(this.#folder);
    // The top-level buffer stays, empty and as a kernel has it that nobody told anything.
    this.clear();
    this.write("options/overwrite", "1");
    this.write("options/stacktrace", "0");
    this.write("trace_clock", "local");
    this.tracing(true);
  }
}

/** Events of an instance that goes are disabled by the kernel (event_trace_del_tracer). */
function removeInstance(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const { code, errno } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    const hint = errno === -EBUSY ? { hint: refusalHints().readByOther() } : {};
    throw new LinuxError({ call: "rmdir", code: -(errno ?? 0), doing: attempts().removeInstance(folder), ...hint });
  }
}

/** @throws LinuxError */
function writeFile(path: string, text: string, doing: Doing): void {
  attempt("write", doing, () => {
    const descriptor = openSync(path, constants.O_WRONLY);
    try {
      writeSync(descriptor, `${text}\n`);
    } finally {
      closeSync(descriptor);
    }
  });
}

function attempt<T>(call: string, doing: Doing, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException;
    if (errno === undefined) throw error;
    throw new LinuxError({ call, code: -errno, doing: doing() });
  }
}
