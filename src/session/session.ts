// A trace over a plan, on a source: begin, take records, act, print, end. It knows nothing of where events come from.
import type { Failure } from "../base/failure.ts";
import { library, sessions, runReasons } from "../messages/on-demand.ts";
import { Speculations } from "./speculations.ts";
import { WrittenMemory } from "./written-memory.ts";
import type { Plan } from "../compiler/plan.ts";
import { printableMaps, type ActionTargets, type TextFormatter } from "./actions.ts";
import { Commands } from "./commands.ts";
import { encode, encodeKey } from "./encode.ts";
import type { Consumer, ConsumerServices, MapSnapshot, Trouble } from "./events.ts";
import { HostPrograms } from "./host-programs.ts";
import { SessionRuntime } from "./host-runtime.ts";
import { snapshotOf } from "./maps.ts";
import { Records } from "./records.ts";
import type { MapSize, Source, SourceUser } from "./source.ts";
import type { SessionStats } from "./stats.ts";
import { RunError } from "../base/run-error.ts";
import type { Type } from "../language/types.ts";

export interface SessionOptions {
  readonly consumer: Consumer;
  /** Formats what system() and cat() are given. */
  readonly formatter: TextFormatter;
  /** A value as print() shows it: the output room's. */
  readonly shown: (type: Type, bytes: Uint8Array, services: ConsumerServices) => string;
  /** Allows system(). */
  readonly unsafe?: boolean | undefined;
  /** The consumer is told at the end what the handlers have cost. */
  readonly stats?: boolean | undefined;
  /** Of maps that are printed without another limit: so many of the largest values; all of them unless given. */
  readonly top?: number | undefined;
  /** Attaches, and that is all: neither begin and end nor the command run. */
  readonly dryRun?: boolean | undefined;
  /** Asked now and then while a loop of a host program keeps the thread busy: whether that program is to end. */
  readonly interrupted?: (() => boolean) | undefined;
  /**
   * Called once the maps are there, with nothing attached yet: to store in them what handlers find from the first event
   * on.
   */
  readonly loaded?: ((session: Session) => void) | undefined;
}

export interface SessionEnd {
  /** What exit() was given, else 0. */
  readonly exitCode: number;
  /** exit(), stop(), or the end of the -p process, the -c command or whatever else the source is of. */
  readonly reason: "exit" | "stop" | "target";
}

export interface Session extends AsyncDisposable {
  /** Attached probes, several places of one as one, and those that run here. */
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
  /** What the handlers have cost so far, at the end: in all. Undefined unless the source measures it. */
  stats(): SessionStats | undefined;
  /**
   * Takes over a plan that has grown: this one's maps, programs and events, and more programs and events behind them.
   * They are loaded and attached; how many probes came is told. Nothing after the end. A Failure: there is no room for it,
   * and everything is as it was. @throws LinuxError, AttachError
   */
  extend(plan: Plan): number | Failure;
}

/**
 * Starts a session: when this resolves, everything is attached and events flow. The source is the session's from here
 * on. @throws with nothing left behind
 */
export async function openSession(plan: Plan, source: Source, options: SessionOptions): Promise<Session> {
  const session = new SourceSession(plan, source, options);
  await session.open();
  return session;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

class SourceSession implements Session, SourceUser {
  readonly services: Writable<ConsumerServices>;
  ended: Promise<SessionEnd> = new Promise(() => {});
  #plan: Plan;
  readonly #source: Source;
  readonly #options: SessionOptions;
  readonly #consumer: Consumer;
  readonly #speculations: Speculations;
  readonly #runtime: SessionRuntime;
  readonly #hosts: HostPrograms;
  readonly #commands: Commands;
  readonly #records: Records;
  #finalStats: SessionStats | undefined;
  #over = false;
  #end: SessionEnd = { exitCode: 0, reason: "stop" };
  /** `end` handlers run. */
  #ending = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(plan: Plan, source: Source, options: SessionOptions) {
    this.#plan = plan;
    this.#source = source;
    this.#options = options;
    this.#consumer = options.consumer;
    this.services = {
      plan,
      symbols: source.symbols,
      bootToWall: source.bootToWall,
    };
    this.#commands = new Commands(this.#consumer, (error) => {
      if (error !== undefined) this.failed(error);
      // What programs here have said meanwhile.
      else
        void this.#records
          .settle()
          .then(() => this.#consumer.flush())
          .catch((failure: unknown) => this.failed(failure));
    });
    const emit = (schema: number, record: Uint8Array): void => this.#records.emit(schema, record);
    this.#speculations = source.speculations ?? new Speculations();
    this.#runtime = new SessionRuntime({
      speculations: this.#speculations,
      maps: source.maps,
      surroundings: source.surroundings,
      written: source.written ?? new WrittenMemory(),
      emit,
      failed: (watch) => source.failed(watch),
      shown: (type, bytes) => this.shown(type, bytes),
      rest: () => {
        this.#consumer.flush();
        return options.interrupted?.() ?? false;
      },
    });
    this.#records = new Records(plan.schemas, source.records, this.#targets(), this.#commands);
    this.#hosts = new HostPrograms(plan.hosts, this.#runtime, source.timeline);
  }

  #targets(): ActionTargets {
    return {
      consumer: this.#consumer,
      services: this.services,
      formatter: this.#options.formatter,
      top: this.#options.top ?? 0,
      liveMaps: this.#source.maps,
      runtime: this.#runtime,
      run: (command) => this.#commands.run(command),
      watch: (asked) => this.#source.watch(asked),
      unwatch: (address, pid) => this.#source.unwatch(address, pid),
      exit: (code) => {
        // `end` handlers all run, whichever of them says the status.
        this.#records.deaf = !this.#ending;
        if (this.#over) {
          this.#end = { ...this.#end, exitCode: code };
          // A source whose handlers run here may be at the last events: those behind this one are none of theirs.
          this.#source.stop();
        } else this.#finish({ exitCode: code, reason: "exit" });
      },
    };
  }

  get attached(): number {
    return this.#source.attached + this.#hosts.sites;
  }

  get childPid(): number | undefined {
    return this.#source.childPid;
  }

  async open(): Promise<void> {
    const { dryRun, unsafe, loaded } = this.#options;
    try {
      if (!unsafe && this.#plan.schemas.some(({ action }) => action.kind === "system" && action.trusted !== true))
        throw new RunError(runReasons().systemUnsafe());
      if (!unsafe && this.#plan.schemas.some(({ action }) => action.kind === "reopen"))
        throw new RunError(runReasons().freopenUnsafe());
      await this.#source.prepare(this);
      loaded?.(this);
      this.#runOnce("begin");
      await this.#takeAll();
      if (!this.#over) {
        this.#source.attach();
        this.#startHosts();
      }
      this.#consumer.attached(this.attached);
      this.#tellWarnings();
      this.#consumer.flush();
      if (!dryRun) this.#runIterators();
      if (!this.#over && !dryRun) this.#source.go();
    } catch (error) {
      await this.#release();
      throw error;
    }
    this.ended = this.#live();
    // Whoever never asks how it ended is not to be killed by an unhandled rejection.
    this.ended.catch(() => {});
  }

  shown(type: Type, bytes: Uint8Array): string {
    return this.#options.shown(type, bytes, this.services);
  }

  stop(): void {
    this.#commands.hurry();
    this.#finish({ exitCode: this.#end.exitCode, reason: "stop" });
  }

  snapshot(map: number): MapSnapshot {
    const live = this.#source.maps.get(map);
    if (!live) throw new RangeError(library().mapsGone().message);
    return snapshotOf(live, map);
  }

  largestMaps(): readonly MapSize[] | undefined {
    return this.#over ? undefined : this.#source.largestMaps();
  }

  clear(map: number): void {
    this.#source.maps.get(map)?.clear();
  }

  store(map: number, key: readonly unknown[], value: unknown): void {
    const live = this.#source.maps.get(map);
    live?.store(encodeKey(live.map.keys, key), encode(live.map.value, value));
  }

  remove(map: number, key: readonly unknown[]): boolean {
    const live = this.#source.maps.get(map);
    return live?.delete(encodeKey(live.map.keys, key)) ?? false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.ended.catch(() => {});
  }

  stats(): SessionStats | undefined {
    return this.#finalStats ?? this.#source.stats();
  }

  extend(plan: Plan): number | Failure {
    if (this.#over) return 0;
    const noRoom = this.#source.noRoomFor(plan);
    if (noRoom !== undefined) return noRoom;
    // Before a program can send what only the longer plan describes.
    this.#records.add(plan.schemas.slice(this.#plan.schemas.length));
    this.#plan = plan;
    this.services.plan = plan;
    const before = this.attached;
    this.#source.extend(plan);
    return this.attached - before;
  }

  #finish(end: SessionEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#end = end;
    this.#source.stop();
  }

  // ── for the source ──

  take(): number {
    return this.#records.drain();
  }

  get busy(): boolean {
    return this.#records.busy;
  }

  settle(): Promise<void> {
    return this.#records.settle();
  }

  flush(): void {
    this.#consumer.flush();
  }

  look(): void {
    if (this.#tell(this.#losses())) this.#consumer.flush();
  }

  untilNeeded(): number {
    return this.#hosts.untilNext();
  }

  get ownsThread(): boolean {
    return this.#consumer.ownsThread === true;
  }

  get patience(): number | undefined {
    return this.#consumer.patience;
  }

  trouble(trouble: Trouble): void {
    this.#consumer.trouble(trouble);
  }

  sourceEnded(): void {
    this.#finish({ exitCode: this.#end.exitCode, reason: "target" });
  }

  failed(error: unknown): void {
    this.#failure ??= { error };
    this.#finish(this.#end);
  }

  #tell(troubles: readonly Trouble[]): boolean {
    for (const trouble of troubles) this.#consumer.trouble(trouble);
    return troubles.length > 0;
  }

  #losses(): readonly Trouble[] {
    const full = [...this.#source.maps.values()].flatMap((live): Trouble[] => {
      const count = live.refused?.() ?? 0;
      const { shown: map, larger } = live.map;
      return count > 0 ? [{ kind: "map-full", map, larger, why: "full", count }] : [];
    });
    const speculations = this.#speculations.losses().map((text): Trouble => ({ kind: "message", text }));
    return [...this.#source.losses(), ...full, ...speculations];
  }

  #tellWarnings(): void {
    for (const text of this.#source.warnings()) this.#consumer.trouble({ kind: "message", text: `WARNING: ${text}` });
  }

  // ── what runs in this process, or once ──

  #runOnce(when: "begin" | "end"): void {
    if (this.#options.dryRun) return;
    const hosts = this.#hosts.once(when);
    const others = this.#source.once(when);
    for (const { run } of [...hosts, ...others].sort((one, other) => one.order - other.order)) {
      run();
      // What handlers of the kernel say comes before what those behind them do.
      if (others.length > 0) this.#records.drainAll();
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
          this.failed(error);
        }
      },
      () => !this.#records.busy,
    );
  }

  /** What there is at this moment, and the ends of the commands that it starts. */
  async #takeAll(): Promise<void> {
    this.#records.drainAll();
    while (this.#records.busy) {
      await this.#records.settle();
      this.#records.drainAll();
    }
  }

  /** What does not fire by itself runs now; when there is nothing else, the session is over. */
  #runIterators(): void {
    const { runs } = this.#source;
    for (const run of runs) {
      if (this.#over) return;
      const measured = run();
      if (measured) this.#consumer.measured?.(measured);
      this.#records.drainAll();
    }
    if (runs.length > 0) this.#consumer.flush();
    if (this.#source.firing || this.#hosts.waiting) return;
    // After `begin` and what runs once there is nothing to wait for.
    if (runs.length > 0 || !this.#source.ends) this.#finish({ exitCode: this.#end.exitCode, reason: "exit" });
  }

  // ── the life of it ──

  async #live(): Promise<SessionEnd> {
    try {
      await this.#source.run();
      await this.#conclude();
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      await this.#release();
    }
    if (this.#failure) throw this.#failure.error;
    return this.#end;
  }

  /** The last events, `end`, the maps. */
  async #conclude(): Promise<void> {
    const consumer = this.#consumer;
    const missedTicks = this.#hosts.missed;
    this.#hosts[Symbol.dispose]();
    if (this.#failure) return;
    await this.#source.detach();
    // After exit() these are only thrown away: they happened later.
    await this.#records.drainRest(() => consumer.flush());
    this.#records.deaf = false;
    const left = this.#commands.resume();
    if (left > 0)
      consumer.trouble({
        kind: "message",
        text: `WARNING: ${sessions().commandsLeft(left).message}`,
      });
    this.#ending = true;
    this.#runOnce("end");
    await this.#takeAll();
    this.#tell(this.#losses());
    if (missedTicks) consumer.trouble({ kind: "missed", ...missedTicks });
    consumer.endOfEvents?.(this.#plan.config.blankBeforeMaps);
    if (this.#plan.config.printMapsOnExit) {
      for (const snapshot of printableMaps(this.#source.maps))
        consumer.map(snapshot, { top: this.#options.top ?? 0, divisor: 1, services: this.services });
    }
    this.#tellWarnings();
    consumer.flush();
    this.#finalStats = this.stats();
    if (this.#options.stats && this.#finalStats) consumer.stats?.(this.#finalStats);
  }

  /** Lets go of everything; can be called in any state. */
  async #release(): Promise<void> {
    this.#over = true;
    this.#hosts[Symbol.dispose]();
    try {
      await this.#source.detach();
    } finally {
      this.#source[Symbol.dispose]();
    }
  }
}
