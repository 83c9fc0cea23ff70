// Attaches to what the probes mean in files that traced processes open while a script runs. The kernel tells of every
// mapping of code (linux/side-band.ts).
import { Failure, saidBy, type Reason } from "../base/failure.ts";
import type { Following } from "../compiler/sites/later-files.ts";
import { ScriptError, type Source } from "../language/diagnostic.ts";
import type { PerfRecord } from "../linux/perf/perf-records.ts";
import { SideBand } from "../linux/perf/side-band.ts";
import { mappedBinaries } from "../machine/binaries/live-binary.ts";
import type { Session } from "../session/session.ts";
import { sessions } from "../messages/on-demand.ts";

/** Records that are too young to be told with the others are asked for again, in so many milliseconds. */
const again = 2;

export interface FollowerOptions {
  readonly following: Following;
  readonly source: Source;
  /** `-p` */
  readonly pid?: number | undefined;
  /** Children as well. */
  readonly follow?: boolean | undefined;
  /** Files that were met, and what could not be attached: a line. */
  readonly log: (line: string) => void;
  readonly trouble: (line: string) => void;
}

/** Made before the session, so that nothing is missed; `start` begins to act. */
export class Follower implements Disposable {
  readonly #options: FollowerOptions;
  readonly #records: SideBand;
  readonly #pids = new Set<number>();
  readonly #met = new Set<string>();
  #session: Session | undefined;
  #timer: NodeJS.Timeout | undefined;
  #open = true;

  /** @throws LinuxError when the kernel does not tell of other processes' mappings */
  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#records = new SideBand({ promptly: true });
  }

  start(session: Session): void {
    const { pid } = this.#options;
    const target = pid ?? session.childPid;
    if (target === undefined || !this.#open) return this[Symbol.dispose]();
    this.#session = session;
    this.#pids.add(target);
    this.#records.onFilling(() => this.#read());
    session.ended.then(
      () => this[Symbol.dispose](),
      () => this[Symbol.dispose](),
    );
    // What was opened since the script was compiled.
    this.#look(new Map([[target, mappedBinaries(target)]]));
    this.#read();
  }

  #read(): void {
    if (!this.#open) return;
    const opened = new Map<number, string[]>();
    for (const record of this.#records.read()) this.#take(record, opened);
    this.#look(opened);
    // Once more: what came during this call.
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#readRest();
    }, again).unref();
  }

  #readRest(): void {
    if (!this.#open) return;
    const opened = new Map<number, string[]>();
    for (const record of this.#records.read()) this.#take(record, opened);
    this.#look(opened);
  }

  #take(record: PerfRecord, opened: Map<number, string[]>): void {
    switch (record.kind) {
      case "fork":
        // With -c, probes are on files, whoever runs them: what a child opens counts as well.
        if ((this.#options.pid === undefined || this.#options.follow) && this.#pids.has(record.parent))
          this.#pids.add(record.pid);
        return;
      case "exit":
        this.#pids.delete(record.pid);
        return;
      case "mmap": {
        const { pid, path } = record;
        if (!this.#pids.has(pid) || !path.startsWith("/")) return;
        const paths = opened.get(pid);
        if (paths === undefined) opened.set(pid, [path]);
        else if (!paths.includes(path)) paths.push(path);
        return;
      }
      case "exec":
      case "lost":
        return;
    }
  }

  #look(opened: ReadonlyMap<number, readonly string[]>): void {
    const { following, source, log, trouble } = this.#options;
    for (const [pid, paths] of opened) {
      const files = paths.filter((path) => following.concerns(path) && !this.#met.has(path));
      if (files.length === 0) continue;
      for (const file of files) this.#met.add(file);
      const notProbed = (why: Reason | undefined): void =>
        trouble(sessions().openedNotProbed(pid, files.join(", "), why ?? "").message);
      try {
        const grown = following.grow(files, pid);
        if (grown === undefined) continue;
        if (grown.plan === undefined) throw new ScriptError(source, grown.diagnostics);
        let count: number | Failure = 0;
        try {
          count = this.#session?.extend(grown.plan) ?? 0;
        } finally {
          // Also what could not be attached is a part of the session's plan.
          if (!(count instanceof Failure)) grown.taken();
        }
        if (count instanceof Failure) {
          notProbed(count.reason);
          continue;
        }
        log(`process ${pid} opened ${files.join(", ")}: attached ${count} more ${count === 1 ? "probe" : "probes"}`);
      } catch (error) {
        // What is traced goes on.
        notProbed(saidBy(error instanceof ScriptError ? error.diagnostics[0] : error));
      }
    }
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#timer);
    this.#records[Symbol.dispose]();
  }
}
