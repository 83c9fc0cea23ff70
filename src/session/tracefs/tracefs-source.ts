// tracefs as a session's source: events are defined and enabled in an instance of strobe's own, read from its pages, and
// handed to the plan's handlers, which run in this process.
import { Speculations } from "../speculations.ts";
import { WrittenMemory } from "../written-memory.ts";
import type { Reason } from "../../base/failure.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { IrMap } from "../../compiler/ir/ir.ts";
import type { Plan } from "../../compiler/plan.ts";
import { keysOfPairs, lifeEvents, type LifeEvent, type TracefsPlan } from "../../compiler/tracefs/tracefs-plan.ts";
import { LinuxError } from "../../linux/error.ts";
import { missedByKprobes, removeAbandoned, type DynamicEvent } from "../../linux/kernel/dynamic-events.ts";
import { TraceInstance } from "../../linux/kernel/trace-instance.ts";
import { lazy } from "../../base/lazy.ts";
import { CLOCK_BOOTTIME, CLOCK_MONOTONIC, clockNs } from "../../linux/processes/procfs.ts";
import { pidNamespace } from "../../linux/processes/pid-namespace.ts";
import { takeRefusals } from "../../linux/refused-files.ts";
import type { SearchPaths } from "../../machine/search-paths.ts";
import type { RecordMemory, Trouble } from "../events.ts";
import { HandedRecords } from "../handed-records.ts";
import { EventRuntime, Interrupted, type HostServices } from "../host-runtime.ts";
import type { LiveMap } from "../maps.ts";
import { batchRecords } from "../records.ts";
import { memoryMaps } from "../host-map.ts";
import { readClock, steadyTime, type SessionClock } from "../live/clock.ts";
import { LiveSurroundings } from "../live/surroundings.ts";
import { LiveSymbols, type StackTable } from "../live/symbols/symbols.ts";
import { StackOwners } from "../live/symbols/stack-owners.ts";
import { whyMissed } from "../../providers/attaching/kprobe-attachment.ts";
import { commandTarget, processTarget, type Target } from "../live/target.ts";
import { TakenStacks } from "../taken-stacks.ts";
import type { MapSize, RecordStream, Source, SourceUser } from "../source.ts";
import { bootNameOf, disableAtTop, openBoot, type BootPlace } from "./boot-events.ts";
import { enableEvents, formatOf, type Enabled, type Wanted } from "./enabled-events.ts";
import { EventStreams, type Head } from "./event-streams.ts";
import type { KernelHistograms } from "./kernel-histograms.ts";
import { Lives, threadsOf } from "./lives.ts";
import { Rests } from "./rests.ts";
import { startTracer, type RunningTracer, type TracerOptions } from "./running-tracer.ts";
import { TracefsEvent } from "./tracefs-event.ts";
import { sessions } from "../../messages/sessions.ts";
import { RunError } from "../../base/run-error.ts";
import { lossReasons, runReasons } from "../../messages/on-demand.ts";

export interface TracefsOptions extends TracerOptions {
  /** See LiveOptions. */
  readonly pid?: number | undefined;
  readonly pids?: readonly number[] | undefined;
  readonly command?: string | undefined;
  readonly searchPaths?: SearchPaths | undefined;
  readonly log?: ((line: string) => void) | undefined;
  /** See SessionOptions. */
  readonly interrupted?: (() => boolean) | undefined;
  /** What the kernel has traced since it started, and where: in instances of its boot configuration, or in the top-level buffer. */
  readonly boot?: BootPlace | undefined;
  /** What comes from now on is handled as well, until the session is stopped. */
  readonly live?: boolean | undefined;
}

/** Events that the kernel's histograms had no room for. */
interface Dropped {
  readonly probe: string;
  readonly count: number;
  readonly help: Reason;
}

// Loaded for `--follow`.
const existing = lazy<typeof import("../live/existing-children.ts")>(() => require("../live/existing-children.ts"));

/** Of the instances: the script's events, and what tells of threads. */
const scripts = 0;
const lives = 1;
const livesBytes = 1 << 20;
/** Whole events need more room than what handlers say of them. */
const roomier = 4;
/** Nanoseconds of events handled before Node's event loop gets a turn. */
const turn = 5_000_000n;
const lookEvery = 1000;

export class TracefsSource implements Source, RecordStream {
  readonly timeline = steadyTime;
  readonly maps: Map<number, LiveMap>;
  readonly records = this;
  readonly bytes: number;
  readonly symbols: LiveSymbols;
  readonly surroundings: LiveSurroundings;
  readonly runs = [];
  attached = 0;
  readonly #plan: Plan;
  readonly written = new WrittenMemory();
  readonly speculations = new Speculations();
  readonly #events: TracefsPlan;
  readonly #options: TracefsOptions;
  readonly #clock: SessionClock;
  readonly #target: Target | undefined;
  readonly #owners: StackOwners;
  readonly #records: HandedRecords;
  readonly #event: TracefsEvent;
  readonly #runtime: EventRuntime;
  readonly #lives = new Lives();
  readonly #wanted = new Map<number, Wanted>();
  #histograms: KernelHistograms | undefined;
  #kprobes: Enabled["kprobes"] = new Map();
  #pairs: Enabled["pairs"] = [];
  readonly #missedBefore = new Map<string, number>();
  readonly #lifeEvents = new Map<number, { readonly name: LifeEvent; readonly at: (field: string) => number }>();
  #user: SourceUser | undefined;
  #instances: TraceInstance[] = [];
  #defined: DynamicEvent[] = [];
  #streams: EventStreams | undefined;
  #tracer: RunningTracer | undefined;
  #lostBefore = [0, 0];
  #rests: Rests | undefined;
  #stopped = false;
  /** A handler has ended the session: later events are none of its. */
  #cut = false;
  #handling = false;
  #running = false;
  #more = false;
  #detached = false;

  /** @throws when there is no such process */
  constructor(plan: Plan, options: TracefsOptions) {
    if (plan.tracefs === undefined) throw new InternalError("the plan is none for tracefs");
    this.#plan = plan;
    this.#events = plan.tracefs;
    this.#options = options;
    this.bytes = plan.config.ringBytes;
    this.maps = memoryMaps(plan.maps);
    this.#records = new HandedRecords(plan.schemas);
    const { searchPaths, command, pid, pids, boot } = options;
    this.#clock = boot === undefined ? readClock() : { ...readClock(), start: 0n };
    if (command !== undefined) this.#target = commandTarget(command, searchPaths?.programs);
    else if (pid !== undefined) this.#target = processTarget([pid]);
    else if (pids !== undefined) this.#target = processTarget(pids);
    const { start, bootToWall, bootToTai } = this.#clock;
    const stacks = new TakenStacks();
    const tables = plan.maps.flatMap((map, index): [number, StackTable][] =>
      map.stacks === undefined ? [] : [[index, stackTable(map, stacks)]],
    );
    this.symbols = new LiveSymbols(new Map(tables), plan, searchPaths ?? {}, (text) => this.#warn(text));
    this.surroundings = new LiveSurroundings(start, this.childPid ?? 0);
    const fieldTypes = [...plan.schemas.flatMap(({ fields }) => fields.map(({ type }) => type)), ...plan.shown];
    this.#owners = new StackOwners(this.maps.values(), fieldTypes, () => this.symbols.processes);
    this.#event = new TracefsEvent({
      childPid: BigInt(this.childPid ?? 0),
      start,
      bootToMonotonic: clockNs(CLOCK_MONOTONIC) - clockNs(CLOCK_BOOTTIME),
      bootToWall,
      bootToTai,
      stacks,
      functionAt: (address) => this.symbols.kernel(address).symbol,
    });
    this.#runtime = new EventRuntime(this.#event, this.#services);
  }

  get #services(): HostServices {
    return {
      maps: new Map(this.maps),
      surroundings: this.#event,
      written: this.written,
      speculations: this.speculations,
      emit: (_schema, record) => this.#records.put(record),
      failed: () => {},
      shown: (type, bytes) => this.#user?.shown(type, bytes) ?? "",
      rest: () => {
        this.#user?.flush();
        return this.#options.interrupted?.() ?? false;
      },
    };
  }

  #warn(text: string): void {
    this.#user?.trouble({ kind: "message", text: `WARNING: ${text}` });
  }

  get memory(): RecordMemory {
    return this.#records.memory;
  }

  get bootToWall(): bigint {
    return this.#clock.bootToWall;
  }

  get childPid(): number | undefined {
    return this.#options.command === undefined ? undefined : this.#target?.pid;
  }

  get ends(): boolean {
    const { boot, live } = this.#options;
    return this.#target !== undefined || (boot !== undefined && live !== true);
  }

  get firing(): boolean {
    return this.#events.events.length > 0 || this.#plan.hosts.length === 0;
  }

  // ── the beginning ──

  async prepare(user: SourceUser): Promise<void> {
    this.#user = user;
    if (pidNamespace() !== undefined) throw new RunError(runReasons().otherPidNamespace());
    const { boot, log } = this.#options;
    for (const { what, name } of removeAbandoned())
      log?.(`removed ${what} ${name} of tracefs, which a strobe left that was killed`);
    if (boot !== undefined) this.#takeOver(boot);
    else if (this.#events.events.length > 0) this.#prepareInstances();
    this.#owners.watch();
    await this.#target?.ready;
  }

  #prepareInstances(): void {
    const { ringBytes } = this.#plan.config;
    const { stacks } = this.#events;
    const takes = { stacktrace: stacks.includes("kernel"), userstacktrace: stacks.includes("user") };
    const make = (name: string, bytes: number, more = {}): TraceInstance => {
      const made = new TraceInstance(name, { bytes, options: { overwrite: false, ...more } });
      this.#instances.push(made);
      return made;
    };
    make(`strobe-${process.pid}`, ringBytes * roomier, takes);
    const told = make(`strobe-${process.pid}-lives`, livesBytes);
    this.#knowLives();
    for (const [category, name] of lifeEvents) told.enable(category, name);
    told.tracing(true);
    this.#lives.readAll();
    this.#stream();
  }

  /** What was made at boot is strobe's from now on: unless it goes on, nothing more is written into it; it goes with the rest. */
  #takeOver(boot: BootPlace): void {
    const { instances, defined } = openBoot(boot, this.#events.events, this.#options.live === true);
    this.#instances.push(...instances);
    this.#defined.push(...defined);
    this.#knowLives();
    this.#lives.atBoot();
  }

  #knowLives(): void {
    for (const [category, name] of lifeEvents) {
      const { id, fields } = formatOf({ category, name });
      const at = new Map(fields.map((field) => [field.name, field.offset]));
      this.#lifeEvents.set(id, { name, at: (field) => at.get(field) ?? missingField(name, field) });
    }
  }

  #stream(): void {
    const { stacks } = this.#events;
    const numberOf = (space: "kernel" | "user"): number | undefined =>
      stacks.includes(space) ? formatOf({ category: "ftrace", name: `${space}_stack` }).id : undefined;
    const numbers = stacks.length === 0 ? undefined : { kernel: numberOf("kernel"), user: numberOf("user") };
    this.#streams = new EventStreams(this.#instances, this.#clock.start, numbers);
  }

  once(): readonly [] {
    return [];
  }

  attach(): void {
    if (this.#events.events.length > 0) {
      const { boot } = this.#options;
      if (boot === undefined) this.#chooseProcesses();
      this.#enable();
      if (boot === undefined) {
        const { log } = this.#options;
        this.#tracer = startTracer(this.#events.events, this.#instances[scripts], this.#options);
        if (this.#tracer !== undefined) log?.(`started the tracer ${this.#tracer.name}`);
        this.#instances[scripts].tracing(true);
        const { pid } = this.#options;
        if (this.#events.follows === true && pid !== undefined) existing().followExisting(this.maps.values(), pid);
      }
      // There are events already, which nobody may take before the handlers are there.
      else this.#stream();
    }
    this.#owners.start(this.#target?.pid);
  }

  /** Of others the kernel need not write events. What was started by a process is one of its threads, or as good. */
  #chooseProcesses(): void {
    const { processes = [], follows } = this.#events;
    const numbers = processes.map((one) => (one === "child" ? this.childPid : Number(one)));
    const children = (): readonly number[] =>
      follows === true ? existing().descendants(new Set(numbers as readonly number[])) : [];
    if (numbers.length === 0 || !numbers.every((one) => one !== undefined && one > 0)) return;
    try {
      this.#instances[scripts].chooseThreads(() => [...numbers, ...children()].flatMap((pid) => threadsOf(pid!)));
      this.#options.log?.(`events of the processes ${numbers.join(", ")} and of what they start`);
    } catch (error) {
      if (!(error instanceof LinuxError)) throw error;
      this.#options.log?.(`events of all processes: ${error.message}`);
    }
  }

  #enable(): void {
    const { boot, log } = this.#options;
    const enabled = enableEvents({
      plan: this.#plan,
      events: this.#events,
      instance: this.#instances[scripts],
      maps: this.maps,
      childPid: BigInt(this.childPid ?? 0),
      boot,
      log,
      lives: this.#lives,
      event: this.#event,
      services: this.#services,
      defined: this.#defined,
    });
    this.#histograms = enabled.histograms;
    this.#kprobes = enabled.kprobes;
    this.#pairs = enabled.pairs;
    for (const [index, map] of enabled.counted) this.maps.set(index, map);
    for (const [id, wanted] of enabled.wanted) this.#wanted.set(id, wanted);
    this.attached += enabled.attached;
    for (const { probe, reason } of enabled.failed) this.#user?.trouble({ kind: "attach", probe, reason });
  }

  go(): void {
    const target = this.#target;
    const { boot, live } = this.#options;
    if (boot !== undefined && live !== true) this.#user?.sourceEnded();
    if (target === undefined) return;
    void target.ended.then(async () => {
      const why = await target.failure?.();
      if (why !== undefined) this.#user?.trouble({ kind: "message", text: `ERROR: ${why}` });
      this.#user?.sourceEnded();
    });
    target.go();
  }

  // ── while it runs ──

  async run(): Promise<void> {
    const user = this.#user;
    if (user === undefined) return;
    this.#running = true;
    const rests = (this.#rests = this.#makeRests());
    let looked = this.timeline.now();
    while (!this.#stopped) {
      this.#more = false;
      const before = this.#handled;
      const count = user.take();
      if (count > 0) user.flush();
      if (user.busy) await user.settle();
      const now = this.timeline.now();
      if (now - looked >= lookEvery) {
        looked = now;
        user.look();
      }
      if (this.#stopped) break;
      if (this.#more || count === batchRecords) await new Promise((resolve) => setImmediate(resolve));
      else {
        const events = this.#handled !== before;
        await rests.take({ events, held: this.#streams?.held === true, now, most: looked + lookEvery - now });
      }
    }
    this.#running = false;
  }

  /** The top-level buffer is not ours to tell when to wake whom. */
  #makeRests(): Rests {
    const { boot } = this.#options;
    return boot === "top-level" ? new Rests() : new Rests(this.#instances[scripts], this.#instances[lives]);
  }

  #handled = 0;

  stop(): void {
    this.#stopped = true;
    this.#cut ||= this.#handling;
    this.#rests?.cancel();
  }

  /** Those that happened before this moment. */
  drain(handle: (offset: number, length: number) => void, budget: number): number {
    const streams = this.#streams;
    if (streams === undefined) return 0;
    streams.refill();
    const now = clockNs(CLOCK_BOOTTIME);
    const until = this.#detached ? Infinity : Number(now - this.#clock.start);
    let events = 0;
    this.#handling = true;
    try {
      return this.#records.drain(handle, budget, () => {
        if (this.#cut) return false;
        // The event loop waits for its turn while the session runs; then it comes back for more.
        if (this.#running && (++events & 255) === 0 && clockNs(CLOCK_BOOTTIME) - now > turn) {
          this.#more = true;
          return false;
        }
        return this.#next(streams, until);
      });
    } finally {
      this.#handling = false;
    }
  }

  /** Handles the next event; false when there is none before a time. */
  #next(streams: EventStreams, until: number): boolean {
    const head = streams.peek(until);
    if (head === undefined || head.time > until) return false;
    this.#handled++;
    if (this.#options.boot !== undefined) this.#tellTies(head);
    // What the handlers look at stays where it is until the page is read anew.
    const { boot } = this.#options;
    if (head.of === lives || boot === "top-level") this.#takeLife(head);
    if (head.of === scripts) this.#handle(head);
    streams.take();
    return true;
  }

  /** The clock of a kernel that starts is coarse. */
  #tellTies({ of, time, cpu }: Head): void {
    if (of !== scripts) return;
    if (time === this.#before.time && cpu !== this.#before.cpu) this.#ties++;
    this.#before = { time, cpu };
  }

  #before = { time: -1, cpu: -1 };
  /** Events of the same time as the one before, of another processor. */
  #ties = 0;

  #takeLife({ page, view, offset, length, cpu }: Head): void {
    const one = this.#lifeEvents.get(view.getUint16(offset, true));
    if (one === undefined) return;
    const record = page.subarray(offset, offset + length);
    const own = new DataView(page.buffer, page.byteOffset + offset, length);
    this.#lives.take(one.name, record, own, one.at, view.getInt32(offset + 4, true), cpu);
  }

  #handle(head: Head): void {
    const { view, offset, cpu } = head;
    const wanted = this.#wanted.get(view.getUint16(offset, true));
    if (wanted === undefined) return;
    const thread = view.getInt32(offset + 4, true);
    this.#event.at(head, wanted.kind, thread, this.#lives.of(thread, cpu));
    for (const { run, cookie } of wanted.handlers) {
      if (this.#cut) return;
      this.#event.cookie = cookie;
      try {
        run(this.#runtime);
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
      }
    }
  }

  // ── the end ──

  async detach(): Promise<void> {
    if (this.#detached) return;
    this.#owners[Symbol.dispose]();
    this.#running = false;
    this.#dropped = [
      ...(this.#histograms?.end() ?? []).map((dropped) => ({ ...dropped, help: lossReasons().keysOfHistograms() })),
      ...this.#unpaired(),
    ];
    for (const instance of this.#instances) instance.tracing(false);
    this.#tracer?.end();
    this.#detached = true;
  }

  /** Events that the kernel's histograms had no room for, and so found no pair of. */
  #unpaired(): readonly Dropped[] {
    return this.#pairs.flatMap(({ probe, category, name }) => {
      const text = this.#instances[scripts].readFile(`events/${category}/${name}/hist`);
      const [, dropped] = /^ +Dropped: ([1-9]\d*)$/m.exec(text) ?? [];
      return dropped === undefined
        ? []
        : [{ probe, count: Number(dropped), help: lossReasons().keysOfPairs(keysOfPairs) }];
    });
  }

  #dropped: readonly Dropped[] = [];

  losses(): readonly Trouble[] {
    const troubles: Trouble[] = this.#dropped.map((dropped) => ({ kind: "lost", ...dropped }));
    this.#dropped = [];
    this.#instances.forEach((instance, i) => {
      const lost = instance.lost();
      const count = lost - this.#lostBefore[i];
      this.#lostBefore[i] = lost;
      if (count === 0) return;
      const probe = i === scripts ? this.#eventNames : "threads that begin and end";
      troubles.push({ kind: "lost", probe, count });
    });
    return [...troubles, ...this.#missed()];
  }

  /** Events that kprobes missed since it was asked last. */
  #missed(): readonly Trouble[] {
    if (this.#kprobes.size === 0) return [];
    const missed = missedByKprobes();
    return [...this.#kprobes].flatMap(([event, { probe, returns }]): Trouble[] => {
      const all = missed.get(event) ?? 0;
      const count = all - (this.#missedBefore.get(event) ?? 0);
      this.#missedBefore.set(event, all);
      return count > 0 ? [{ kind: "missed", probe, count, help: whyMissed(probe, returns) }] : [];
    });
  }

  /** Losses are known of the buffer, not of an event. */
  get #eventNames(): string {
    const [first, ...more] = this.#events.events.map(({ site }) => site.name);
    return more.length === 0 ? first : `${first} and ${more.length} more`;
  }

  warnings(): readonly string[] {
    const { unknown } = this.#lives;
    const gone = this.#target?.gone ?? [];
    if (!this.#detached)
      return [...(gone.length === 0 ? [] : [sessions.processesGone(gone).message]), ...takeRefusals()];
    this.#lives.unknown = 0;
    const { reused } = this.#lives;
    const { unread = 0 } = this.#histograms ?? {};
    const ties = this.#ties;
    this.#ties = 0;
    const said = [
      ...(unknown === 0 ? [] : [sessions.threadsUnknown(unknown)]),
      ...(reused.size === 0 ? [] : [sessions.threadsReused(reused.size)]),
      ...(unread === 0 ? [] : [sessions.histogramsUnread(unread)]),
      ...(ties === 0 ? [] : [sessions.bootTies(ties)]),
    ];
    return [...said.map(({ message }) => message), ...takeRefusals()];
  }

  failed(): void {}
  watch(): void {}
  unwatch(): void {}

  noRoomFor(): undefined {
    return undefined;
  }

  extend(): void {
    throw new InternalError("a plan for tracefs does not grow");
  }

  stats(): undefined {
    return undefined;
  }

  largestMaps(): readonly MapSize[] {
    return [];
  }

  [Symbol.dispose](): void {
    this.#owners[Symbol.dispose]();
    this.#target?.[Symbol.dispose]();
    this.#rests?.[Symbol.dispose]();
    this.symbols[Symbol.dispose]();
    this.maps.clear();
    if (this.#options.boot !== undefined) this.#disableAll();
    // Events go when no instance has them enabled.
    const tracer = this.#tracer?.parts() ?? [];
    this.#tracer = undefined;
    for (const one of [...this.#instances.splice(0), ...tracer, ...this.#defined.splice(0)]) {
      try {
        one[Symbol.dispose]();
      } catch (error) {
        if (!(error instanceof LinuxError)) throw error;
        this.#warn(error.message);
      }
    }
    this.#streams = undefined;
  }

  /** What was enabled at boot. */
  #disableAll(): void {
    const own = this.#events.events.flatMap((event, number) => bootNameOf(event, number) ?? []);
    for (const { category, name } of [...own, ...lifeEvents.map(([category, event]) => ({ category, name: event }))])
      for (const instance of this.#instances) instance.disableAny(category, name);
    for (const defined of this.#defined) disableAtTop(defined);
  }
}

function stackTable(map: IrMap, stacks: TakenStacks): StackTable {
  return {
    map,
    lookup(id) {
      const stack = stacks.stack(id);
      return stack && new Uint8Array(stack.buffer, stack.byteOffset, stack.byteLength);
    },
  };
}

function missingField(event: string, field: string): never {
  throw new InternalError(`${event} has no field ${field}`);
}
