// Variables that are watched in the processes that have their file mapped, those that map it later included: each has
// it elsewhere. The kernel tells of mappings some time after them (linux/side-band.ts).
import { realpathSync, statSync } from "node:fs";
import { basename } from "node:path";
import { LinuxError } from "../../linux/error.ts";
import { closeFd } from "../../linux/ffi.ts";
import { disablePerfEvent, PERF_TYPE_BREAKPOINT } from "../../linux/perf/perf.ts";
import type { PerfRecord } from "../../linux/perf/perf-records.ts";
import { CLOCK_MONOTONIC, clockNs, processIds, processMaps, withoutDeleted } from "../../linux/processes/procfs.ts";
import { SideBand } from "../../linux/perf/side-band.ts";
import { attachEverywhere } from "./perf-sampling.ts";
import { sessions } from "../../messages/sessions.ts";

/** A variable of a file: plain data. */
export interface VariableSite {
  readonly path: string;
  /** Where the file's code begins, in the file and as an address: what tells where it was loaded. */
  readonly code: { readonly offset: bigint; readonly address: bigint };
  readonly address: bigint;
  readonly length: number;
  readonly mode: number;
}

export interface WatchedOptions {
  readonly program: number;
  readonly name: string;
  readonly site: VariableSite;
  /** The only process; undefined: all, and the children of those that are watched from their first instruction on. */
  readonly pid?: number;
  /** What a person should know of it, a line. */
  readonly report: (text: string) => void;
}

/** Records that are too young to be told with the others are asked for again, in so many milliseconds. */
const again = 2;

export class WatchedProcesses implements Disposable {
  readonly #options: WatchedOptions;
  readonly #records: SideBand | undefined;
  /** By process. `since`: children that are younger are watched by the kernel's own doing. */
  readonly #watched = new Map<
    number,
    { readonly at: bigint; readonly since: bigint; readonly events: readonly number[] }
  >();
  readonly #refused = new Set<string>();
  readonly #file: { readonly path: string; readonly inode: bigint | undefined };
  #timer: NodeJS.Timeout | undefined;
  #open = true;
  /** Watched since some time after they had mapped the file: how many, and the longest time in nanoseconds. */
  #late = { count: 0, longest: 0n };
  /** That had ended, or executed something else, before they could be watched. */
  #missed = 0;

  /** Of processes that run: what they refuse is thrown where there is one only. @throws LinuxError */
  constructor(options: WatchedOptions) {
    this.#options = options;
    const {
      pid,
      report,
      name,
      site: { path },
    } = options;
    const file = statSync(path, { throwIfNoEntry: false, bigint: true });
    this.#file = { path: file === undefined ? path : realpathSync(path), inode: file?.ino };
    try {
      this.#records = new SideBand({ promptly: true });
      this.#records.onFilling(() => this.#read());
    } catch (error) {
      if (!(error instanceof LinuxError)) throw error;
      report(`WARNING: ${name}: only processes that run now are watched: ${error.message}`);
    }
    try {
      if (pid !== undefined) this.#watch(pid);
      else for (const one of processIds()) if (one !== process.pid) this.#tryTo(one);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** A process that stands still. */
  executed(pid: number): void {
    this.#tryTo(pid);
  }

  /** The variable is watched no more in processes that have it there. */
  unwatch(address: bigint): void {
    for (const { at, events } of this.#watched.values())
      if (at === address) for (const event of events) disablePerfEvent(event);
  }

  #tryTo(pid: number): boolean {
    try {
      return this.#watch(pid);
    } catch (error) {
      if (!(error instanceof LinuxError)) throw error;
      if (error.errno !== "ESRCH" && !this.#refused.has(error.errno)) {
        this.#refused.add(error.errno);
        this.#options.report(`WARNING: ${this.#options.name} is not watched in process ${pid}: ${error.message}`);
      }
      return false;
    }
  }

  /** Whether the process is watched from now on, which has to have the file. */
  #watch(pid: number): boolean {
    if (this.#watched.has(pid)) return false;
    const address = this.#addressIn(pid);
    if (address === undefined) return false;
    const {
      program,
      site: { length, mode },
      pid: only,
    } = this.#options;
    const since = clockNs(CLOCK_MONOTONIC);
    const event = {
      type: PERF_TYPE_BREAKPOINT,
      config: 0,
      config1: address,
      config2: length,
      bpType: mode,
      samplePeriod: 1,
      removeOnExec: true,
    } as const;
    const events = attachEverywhere(program, event, 0n, pid, only === undefined ? true : "threads");
    this.#watched.set(pid, { at: address, since, events });
    return true;
  }

  /** Where the process has the variable; undefined when it has not the file. */
  #addressIn(pid: number): bigint | undefined {
    const { code, address } = this.#options.site;
    for (const { start, end, permissions, offset, inode, path } of processMaps(pid)) {
      if (
        permissions[2] !== "x" ||
        offset > code.offset ||
        code.offset >= offset + (end - start) ||
        !this.#isOurs(withoutDeleted(path), inode)
      )
        continue;
      return BigInt.asUintN(64, start + (code.offset - offset) - code.address + address);
    }
    return undefined;
  }

  /**
   * Some file systems tell other numbers of a mapping: there the path decides, as long as it leads to the same file.
   */
  #isOurs(path: string, inode: bigint | undefined): boolean {
    const { path: real, inode: own } = this.#file;
    if (inode === own && basename(path) === basename(real)) return true;
    return path === real && statSync(real, { throwIfNoEntry: false, bigint: true })?.ino === own;
  }

  #read(): void {
    if (!this.#open || this.#records === undefined) return;
    for (const record of this.#records.read()) this.#take(record);
    // Once more: what came during this call.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#open) for (const record of this.#records?.read() ?? []) this.#take(record);
    }, again).unref();
  }

  #take(record: PerfRecord): void {
    const { pid: only, name, report } = this.#options;
    switch (record.kind) {
      case "mmap": {
        if ((only !== undefined && record.pid !== only) || record.pid === process.pid || !record.path.startsWith("/"))
          return;
        // Every program maps a few files.
        if (this.#watched.has(record.pid) || basename(record.path) !== basename(this.#file.path)) return;
        if (!this.#tryTo(record.pid)) {
          if (this.#isOurs(record.path, "inode" in record.file ? record.file.inode : undefined)) this.#missed++;
          return;
        }
        const late = clockNs(CLOCK_MONOTONIC) - record.time;
        this.#late = { count: this.#late.count + 1, longest: late > this.#late.longest ? late : this.#late.longest };
        return;
      }
      case "fork": {
        // A child of a time before its parent was watched has the file where the parent has it.
        const since = this.#watched.get(record.parent)?.since;
        if (only === undefined && since !== undefined && record.time < since) this.#tryTo(record.pid);
        return;
      }
      case "exec":
      case "exit": {
        const since = this.#watched.get(record.pid)?.since;
        if (since !== undefined && record.time >= since) this.#forget(record.pid);
        return;
      }
      case "lost":
        report(`WARNING: ${sessions.beginningsLost(name, record.count).message}`);
    }
  }

  #forget(pid: number): void {
    for (const event of this.#watched.get(pid)?.events ?? []) closeFd(event);
    this.#watched.delete(pid);
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    // What came and went since the last time.
    for (const record of this.#records?.read() ?? []) this.#take(record);
    this.#open = false;
    clearTimeout(this.#timer);
    this.#records?.[Symbol.dispose]();
    for (const pid of this.#watched.keys()) this.#forget(pid);
    const { name, report } = this.#options;
    const { count, longest } = this.#late;
    if (count > 0) {
      const milliseconds = Number(longest / 10_000n) / 100;
      report(`WARNING: ${sessions.processesWatchedLate(name, count, milliseconds).message}`);
    }
    if (this.#missed > 0) report(`WARNING: ${sessions.processesNotWatched(name, this.#missed).message}`);
  }
}
