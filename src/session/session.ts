// A live trace over a plan: create, load, attach, drain, act, detach. Nothing outlives it.
import type { Plan } from "../compiler/plan.ts";
import { InternalError } from "../faults/internal-error.ts";
import { testRun } from "../linux/bpf/bpf.ts";
import { takeRefusals } from "../linux/refused-files.ts";
import type { Attacher } from "../providers/provider.ts";
import { printableMaps, type ActionTargets, type TextFormatter } from "./actions.ts";
import { Attachments } from "./live/attachments.ts";
import { epochMilliseconds, readClock, type SessionClock } from "./live/clock.ts";
import { TroubleCounters } from "./live/counters.ts";
import { DrainLoop } from "./live/drain-loop.ts";
import { Commands } from "./commands.ts";
import type { Consumer, ConsumerServices, MapSnapshot } from "./events.ts";
import type { Governor } from "./live/governor.ts";
import { isGrown } from "./live/grown.ts";
import { HostPrograms } from "./host-programs.ts";
import { LiveHostRuntime } from "./host-runtime.ts";
import { KernelObjects } from "./live/kernel-objects.ts";
import { encode, encodeKey } from "./encode.ts";
import type { MapSize, MapSizes } from "./live/map-sizes.ts";
import { snapshotOf } from "./maps.ts";
import type { Packets } from "./live/packets.ts";
import type { OverheadMeter } from "./live/overhead.ts";
import type { SessionStats } from "./stats.ts";
import { StackOwners } from "./live/symbols/stack-owners.ts";
import { Records } from "./records.ts";
import { LiveSymbols } from "./live/symbols/symbols.ts";
import { commandTarget, processTarget, type Target } from "./live/target.ts";

// Loaded when costs are measured.
const overhead = () => require("./live/overhead.ts") as typeof import("./live/overhead.ts");
// Loaded when somebody looks at what maps hold.
const mapSizes = () => require("./live/map-sizes.ts") as typeof import("./live/map-sizes.ts");
const packets = () => require("./live/packets.ts") as typeof import("./live/packets.ts");
const governor = () => require("./live/governor.ts") as typeof import("./live/governor.ts");

export interface SessionOptions {
  readonly consumer: Consumer;
  /** providers/registry.ts's, or fakes. */
  readonly findAttacher: (name: string) => Attacher | undefined;
  /** Formats what system() and cat() are given. */
  readonly formatter: TextFormatter;
  /** `-p`: trace this process, until it ends. */
  readonly pid?: number;
  /** `-c`: run this command once probes are attached, until it ends. */
  readonly command?: string;
  /** Children are traced as well: handlers know whose event it is, so probes are for all processes. */
  readonly follow?: boolean;
  /** Allows system(). */
  readonly unsafe?: boolean;
  /** What the handlers may take of the machine's CPU time (0.02: 2 %). The plan must have been compiled `governed`. */
  readonly maxOverhead?: number;
  /** Measures what the handlers cost: `stats()`, and the consumer is told at the end. */
  readonly stats?: boolean;
  /** Attaches, and that is all: neither begin and end nor the command run. */
  readonly dryRun?: boolean;
  /** Logs what the verifier says of every program. */
  readonly verifierLog?: boolean;
  /** Asked now and then while a loop of a host program keeps the thread busy: whether that program is to end. */
  readonly interrupted?: () => boolean;
  /** What was done, a line a step (`-v`). */
  readonly log?: (line: string) => void;
  /**
   * Called once the maps are there, with nothing attached yet: to store in them what handlers find from the first event
   * on.
   */
  readonly loaded?: (session: Session) => void;
}

export interface SessionEnd {
  /** What exit() was given, else 0. */
  readonly exitCode: number;
  /** exit(), stop(), or the end of the -p process or the -c command. */
  readonly reason: "exit" | "stop" | "target";
}

export interface Session extends AsyncDisposable {
  /** Attached probes, several places of one as one, and host programs. */
  readonly attached: number;
  /** pid of the -c command. */
  readonly childPid: number | undefined;
  readonly services: ConsumerServices;
  /**
   * After everything was printed and let go of. Rejects with what a consumer or a host program threw; all is let go of
   * then, too.
   */
  readonly ended: Promise<SessionEnd>;
  /** Detaches, prints what is left and ends: Ctrl-C, SIGTERM. Can be called at any time, and again. */
  stop(): void;
  /** A map's entries now, by its index in the plan. */
  snapshot(map: number): MapSnapshot;
  /** What the fullest maps hold now, at a price that does not grow with them. Undefined once the session is to end. */
  largestMaps(): readonly MapSize[] | undefined;
  /** Removes all entries of a map, by its index in the plan. Nothing after the end. */
  clear(map: number): void;
  /**
   * Sets an entry of a map that holds plain values. Nothing after the end. @throws EncodeError when it is of another
   * type
   */
  store(map: number, key: readonly unknown[], value: unknown): void;
  /** Removes an entry of a map; whether there was one. @throws EncodeError */
  remove(map: number, key: readonly unknown[]): boolean;
  /** What the handlers have cost so far, at the end: in all. Undefined unless `stats` or `maxOverhead` was given. */
  stats(): SessionStats | undefined;
  /**
   * Takes over a plan that has grown: this one's maps, programs and events, and more programs and events behind them.
   * They are loaded and attached; how many probes came is told. Nothing after the end. @throws LinuxError, AttachError
   */
  extend(plan: Plan): number;
}

/** Starts a session: when this resolves, everything is attached and events flow. @throws with nothing left behind */
export async function openSession(plan: Plan, options: SessionOptions): Promise<Session> {
  if (!options.unsafe && plan.schemas.some(({ action }) => action.kind === "system")) {
    throw new Error("system() runs commands: it needs --unsafe");
  }
  const session = new LiveSession(plan, options);
  await session.open();
  return session;
}

function namelessText(processes: number): string {
  return `addresses of ${processes === 1 ? "1 process have" : `${processes} processes have`} no names: the code was not known any more, or not yet, when the process had ended`;
}

function namelessFunctionsText(functions: number): string {
  return `${functions === 1 ? "1 interpreted function has" : `${functions} interpreted functions have`} no name: the process's memory did not tell one`;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

class LiveSession implements Session {
  readonly services: Writable<ConsumerServices>;
  ended: Promise<SessionEnd> = new Promise(() => {});
  #plan: Plan;
  readonly #options: SessionOptions;
  readonly #consumer: Consumer;
  readonly #clock: SessionClock = readClock();
  readonly #kernel: KernelObjects;
  readonly #symbols: LiveSymbols;
  readonly #owners: StackOwners;
  readonly #counters: TroubleCounters;
  readonly #hosts: HostPrograms;
  readonly #attachments: Attachments;
  #meter: OverheadMeter | undefined;
  #governor: Governor | undefined;
  #finalStats: SessionStats | undefined;
  #sizes: MapSizes | undefined;
  readonly #commands: Commands;
  readonly #records: Records;
  readonly #loop: DrainLoop;
  #target: Target | undefined;
  #packets: Packets | undefined;
  #over = false;
  #end: SessionEnd = { exitCode: 0, reason: "stop" };

  constructor(plan: Plan, options: SessionOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#consumer = options.consumer;
    if (options.command !== undefined) this.#target = commandTarget(options.command);
    else if (options.pid !== undefined) this.#target = processTarget(options.pid);
    try {
      this.#kernel = new KernelObjects(plan, options.verifierLog, options.log);
    } catch (error) {
      this.#target?.[Symbol.dispose]();
      throw error;
    }
    const { unwinding } = this.#kernel;
    const trouble = (text: string): void => this.#consumer.trouble({ kind: "message", text: `WARNING: ${text}` });
    this.#symbols = new LiveSymbols(
      this.#kernel.stacks,
      plan,
      trouble,
      unwinding && { maps: unwinding, pid: options.pid, trouble },
    );
    const fieldTypes = plan.schemas.flatMap(({ fields }) => fields.map(({ type }) => type));
    this.#owners = new StackOwners(this.#kernel.liveMaps.values(), fieldTypes, () => this.#symbols.processes);
    this.#counters = new TroubleCounters(plan, this.#kernel.percpu);
    const clock = this.#clock;
    this.services = {
      plan,
      symbols: this.#symbols,
      bootToEpochMilliseconds: (nanoseconds) => epochMilliseconds(clock, nanoseconds),
    };
    this.#commands = new Commands(this.#consumer, (error) => {
      if (error !== undefined) this.#fail(error);
      // What programs here have said meanwhile.
      else
        void this.#records
          .settle()
          .then(() => this.#consumer.flush())
          .catch((failure: unknown) => this.#fail(failure));
    });
    this.#records = new Records(
      plan.schemas,
      this.#kernel.ring,
      this.#kernel.ringBytes,
      this.#targets(),
      this.#commands,
    );
    this.#hosts = new HostPrograms(
      plan.hosts,
      new LiveHostRuntime({
        maps: this.#kernel.liveMaps,
        start: clock.start,
        childPid: this.childPid ?? 0,
        emit: (schema, record) => this.#records.emit(schema, record),
        failed: (watch) => this.#kernel.count(this.#plan.watches[watch].offset),
        rest: () => {
          this.#consumer.flush();
          return options.interrupted?.() ?? false;
        },
      }),
    );
    this.#attachments = new Attachments({
      findAttacher: options.findAttacher,
      missingProbes: plan.config.missingProbes,
      log: this.#log,
      pidFor: ({ followsCommand }) =>
        options.follow ? undefined : (options.pid ?? (followsCommand ? this.childPid : undefined)),
      trouble: (trouble) => this.#consumer.trouble(trouble),
    });
    this.#loop = new DrainLoop({
      ring: this.#kernel.ring,
      ringBytes: this.#kernel.ringBytes,
      records: this.#records,
      taken: () => this.#consumer.flush(),
      look: () => this.#reportTrouble(),
      movesAlone: plan.kernelMaps.some(
        ({ role, failureOffset }) => failureOffset !== undefined || role.kind === "unwind-processes",
      ),
      mayThreadSleep: () => this.#mayThreadSleep,
      untilNeeded: () => this.#hosts.untilNext(),
      patience: options.consumer.patience,
    });
  }

  #targets(): ActionTargets {
    return {
      consumer: this.#consumer,
      services: this.services,
      formatter: this.#options.formatter,
      liveMaps: this.#kernel.liveMaps,
      run: (command) => this.#commands.run(command),
      watch: (asked) => this.#attachments.watch(asked),
      unwatch: (address, pid) => this.#attachments.unwatch(address, pid),
      exit: (code) => {
        this.#records.deaf = true;
        if (this.#over) this.#end = { ...this.#end, exitCode: code };
        else this.#finish({ exitCode: code, reason: "exit" });
      },
    };
  }

  get attached(): number {
    // begin and end count even where begin was the end of it.
    const edges = this.#plan.programs.reduce(
      (sum, { once, sites }) => (once === undefined ? sum : sum + sites.length),
      0,
    );
    return this.#attachments.probes + edges + this.#hosts.sites;
  }

  get childPid(): number | undefined {
    return this.#options.command === undefined ? undefined : this.#target?.pid;
  }

  /** What only this run knows of the programs' code. */
  get #constants(): Parameters<KernelObjects["load"]>[0] {
    const { start, bootToWall, bootToTai } = this.#clock;
    return { childPid: this.childPid ?? 0, start, bootToWall, bootToTai };
  }

  async open(): Promise<void> {
    try {
      this.#kernel.load(this.#constants, this.#log);
      this.#owners.watch();
      if (this.#kernel.unwinding) this.#symbols.processes.prepareUnwinding(this.#options);
      await this.#target?.ready;
      this.#options.loaded?.(this);
      this.#runOnce("begin");
      await this.#takeAll();
      if (!this.#over) {
        this.#measure();
        this.#capture();
        this.#attachments.attach(this.#kernel.programs);
        this.#startHosts();
        // Before anybody hears that it is time to go on.
        this.#owners.start(this.#target?.pid);
      }
      this.#consumer.attached(this.attached);
      this.#tellRefusals();
      this.#consumer.flush();
      if (!this.#options.dryRun) this.#runIterators();
      const target = this.#target;
      if (target && !this.#over && !this.#options.dryRun) {
        void target.ended.then(async () => {
          const why = await target.failure?.();
          if (why !== undefined) this.#consumer.trouble({ kind: "message", text: `ERROR: ${why}` });
          this.#finish({ exitCode: this.#end.exitCode, reason: "target" });
        });
        const free = target.go(this.#attachments.atExec);
        if (free !== undefined)
          this.#consumer.trouble({
            kind: "message",
            text: `WARNING: variables are watched some time after the command has begun: ${free.message}`,
          });
      }
    } catch (error) {
      await this.#release();
      throw error;
    }
    this.ended = this.#live();
    // Whoever never asks how it ended is not to be killed by an unhandled rejection.
    this.ended.catch(() => {});
  }

  stop(): void {
    this.#commands.hurry();
    this.#finish({ exitCode: this.#end.exitCode, reason: "stop" });
  }

  snapshot(map: number): MapSnapshot {
    const live = this.#kernel.liveMaps.get(map);
    if (!live) throw new RangeError("the trace has ended, and its maps with it");
    return snapshotOf(live, map);
  }

  largestMaps(): readonly MapSize[] | undefined {
    if (this.#over) return undefined;
    this.#sizes ??= new (mapSizes().MapSizes)(this.#kernel.keyedTables, this.#kernel.liveMaps.values());
    return this.#sizes.largest();
  }

  clear(map: number): void {
    this.#kernel.liveMaps.get(map)?.clear();
  }

  store(map: number, key: readonly unknown[], value: unknown): void {
    const live = this.#kernel.liveMaps.get(map);
    live?.store(encodeKey(live.map.keys, key), encode(live.map.value, value));
  }

  remove(map: number, key: readonly unknown[]): boolean {
    const live = this.#kernel.liveMaps.get(map);
    return live?.delete(encodeKey(live.map.keys, key)) ?? false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.ended.catch(() => {});
  }

  stats(): SessionStats | undefined {
    if (this.#finalStats) return this.#finalStats;
    const stats = this.#meter?.stats((program) => this.#governor?.held(program) ?? { skipped: 0, state: "running" });
    // begin and end run once: they are not what tracing costs.
    return stats && { ...stats, handlers: stats.handlers.filter((_, i) => this.#plan.programs[i].once === undefined) };
  }

  readonly #log = (line: string): void => this.#options.log?.(line);

  #finish(end: SessionEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#end = end;
    this.#loop.stop();
  }

  // ── what runs in this process, or once ──

  /** `begin` or `end`: on the host, or once in the kernel when they need it. */
  #runOnce(when: "begin" | "end"): void {
    if (this.#options.dryRun) return;
    this.#hosts.runOnce(when);
    for (const { program, descriptor } of this.#kernel.programs) {
      if (program.once === when) testRun(descriptor, { ctxIn: new Uint8Array(64) });
    }
  }

  #startHosts(): void {
    this.#hosts.start(
      (run) => {
        if (this.#over) return;
        try {
          // Events that happened before this moment come first.
          this.#records.drainAll();
          if (!this.#over) run();
          this.#consumer.flush();
        } catch (error) {
          this.#fail(error);
        }
      },
      () => !this.#records.busy,
    );
  }

  /** What is in the ring at this moment, and the ends of the commands that it starts. */
  async #takeAll(): Promise<void> {
    this.#records.drainAll();
    while (this.#records.busy) {
      await this.#records.settle();
      this.#records.drainAll();
    }
  }

  /** What does not fire by itself runs now; when there is nothing else, the session is over. */
  #runIterators(): void {
    const { runs } = this.#attachments;
    for (const run of runs) {
      if (this.#over) return;
      const measured = run();
      if (measured) this.#consumer.measured?.(measured);
      this.#records.drainAll();
    }
    if (runs.length > 0) this.#consumer.flush();
    if (this.#attachments.firing || this.#hosts.waiting) return;
    // After `begin` and what runs once there is nothing to wait for.
    const some = this.#plan.programs.length + this.#plan.hosts.length > 0;
    if (runs.length > 0 || (some && this.#target === undefined))
      this.#finish({ exitCode: this.#end.exitCode, reason: "exit" });
  }

  #failure: { readonly error: unknown } | undefined;
  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#finish(this.#end);
  }

  /** Opens the files that packets are written to. */
  #capture(): void {
    const map = this.#kernel.packets;
    if (map === undefined || this.#options.dryRun) return;
    this.#packets = new (packets().Packets)({
      paths: this.#plan.packetFiles,
      map,
      bytes: this.#plan.config.ringBytes,
      bootToWall: this.#clock.bootToWall,
      lost: (count) => this.#consumer.trouble({ kind: "lost", probe: "skboutput()", count }),
      failed: (text) => this.#consumer.trouble({ kind: "message", text }),
    });
  }

  // ── what it costs ──

  #measure(): void {
    const { maxOverhead, stats } = this.#options;
    if (!stats && maxOverhead === undefined) return;
    const meter = new (overhead().OverheadMeter)(this.#kernel.programs, this.#options.findAttacher);
    this.#meter = meter;
    if (maxOverhead === undefined) return;
    const { gates } = this.#kernel;
    if (!gates) {
      if (this.#plan.programs.length > 0) throw new InternalError("the plan has no gates for its handlers");
      return;
    }
    this.#governor = new (governor().Governor)({
      meter,
      gates,
      limit: maxOverhead,
      report: (trouble) => {
        this.#consumer.trouble(trouble);
        this.#consumer.flush();
      },
      detach: (program) => this.#attachments.detach(meter.programs[program], (error) => this.#fail(error)),
    });
  }

  // ── programs that come later ──

  extend(plan: Plan): number {
    if (this.#over) return 0;
    const { schemas, programs } = this.#plan;
    if (!isGrown(this.#plan, plan)) throw new InternalError("the plan that has grown does not fit this session");
    // Before a program can send what only the longer plan describes.
    this.#records.add(plan.schemas.slice(schemas.length));
    this.#plan = plan;
    this.services.plan = plan;
    this.#counters.watch(plan);
    const { grown } = this.#kernel;
    const from = grown.length;
    const before = this.attached;
    this.#kernel.load(this.#constants, this.#log, plan.programs.slice(programs.length), grown);
    const more = grown.slice(from);
    this.#meter?.add(more);
    this.#governor?.grow();
    this.#attachments.attach(more);
    return this.attached - before;
  }

  // ── the life of it ──

  async #live(): Promise<SessionEnd> {
    try {
      await this.#loop.run();
      await this.#conclude();
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      await this.#release();
    }
    if (this.#failure) throw this.#failure.error;
    return this.#end;
  }

  /** Whether nobody else needs this thread's event loop. */
  get #mayThreadSleep(): boolean {
    if (!this.#consumer.ownsThread) return false;
    // Processes that come and go are looked at as they do.
    return !this.#owners.needed && !this.#kernel.unwinding && !this.#packets && !this.#options.follow;
  }

  #reportTrouble(): void {
    const troubles = this.#counters.take();
    for (const trouble of troubles) this.#consumer.trouble(trouble);
    if (troubles.length > 0) this.#consumer.flush();
  }

  /** Files that names and places were looked for in, and that other people have made what they are. */
  #tellRefusals(): void {
    for (const text of takeRefusals()) this.#consumer.trouble({ kind: "message", text: `WARNING: ${text}` });
  }

  /** The last events, `end`, the maps. */
  async #conclude(): Promise<void> {
    this.#governor?.[Symbol.dispose]();
    const missedTicks = this.#hosts.missed;
    this.#stopHosts();
    if (this.#failure) return;
    this.#owners.scan();
    const missed = this.#attachments.missed([...this.#kernel.programs, ...this.#kernel.grown]);
    await this.#detach();
    this.#packets?.write(true);
    // After exit() these are only thrown away: they happened later.
    await this.#records.drainRest(() => this.#consumer.flush());
    this.#records.deaf = false;
    const left = this.#commands.resume();
    if (left > 0)
      this.#consumer.trouble({
        kind: "message",
        text: `WARNING: ${left} command${left === 1 ? "" : "s"} of system() not run: strobe was told to end`,
      });
    this.#runOnce("end");
    await this.#takeAll();
    this.#records.deaf = false;
    this.#reportTrouble();
    for (const trouble of missed) this.#consumer.trouble(trouble);
    for (const trouble of this.#governor?.skipped() ?? []) this.#consumer.trouble(trouble);
    if (missedTicks) this.#consumer.trouble({ kind: "missed", ...missedTicks });
    const consumer = this.#consumer;
    consumer.endOfEvents?.();
    if (this.#plan.config.printMapsOnExit) {
      for (const snapshot of printableMaps(this.#kernel.liveMaps))
        consumer.map(snapshot, { top: 0, divisor: 1, services: this.services });
    }
    // What was asked to be named is known now.
    const { nameless, namelessFunctions } = this.#symbols;
    if (namelessFunctions > 0)
      consumer.trouble({ kind: "message", text: `WARNING: ${namelessFunctionsText(namelessFunctions)}` });
    if (nameless > 0) consumer.trouble({ kind: "message", text: `WARNING: ${namelessText(nameless)}` });
    this.#tellRefusals();
    consumer.flush();
    this.#finalStats = this.stats();
    if (this.#options.stats && this.#finalStats) consumer.stats?.(this.#finalStats);
  }

  #stopHosts(): void {
    this.#hosts[Symbol.dispose]();
    this.#owners[Symbol.dispose]();
  }

  async #detach(): Promise<void> {
    this.#kernel.endHandlers();
    await this.#attachments.detachAll();
  }

  /** Lets go of everything; can be called in any state. */
  async #release(): Promise<void> {
    this.#over = true;
    this.#stopHosts();
    this.#governor?.[Symbol.dispose]();
    try {
      await this.#detach();
    } finally {
      this.#target?.[Symbol.dispose]();
      this.#packets?.[Symbol.dispose]();
      this.#packets = undefined;
      this.#meter?.[Symbol.dispose]();
      this.#meter = undefined;
      this.#sizes?.[Symbol.dispose]();
      this.#sizes = undefined;
      this.#symbols[Symbol.dispose]();
      this.#kernel[Symbol.dispose]();
    }
  }
}
