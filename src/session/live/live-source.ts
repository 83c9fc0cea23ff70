// The running kernel as a session's source: maps and programs of the plan in it, probes attached, records from its ring.
import { Failure } from "../../base/failure.ts";
import { sessions } from "../../messages/on-demand.ts";
import type { Plan } from "../../compiler/plan.ts";
import { InternalError } from "../../base/internal-error.ts";
import { testRun } from "../../linux/bpf/bpf.ts";
import { takeRefusals } from "../../linux/refused-files.ts";
import type { Attacher } from "../../providers/provider.ts";
import type { Trouble } from "../events.ts";
import type { LiveMap } from "../maps.ts";
import type { MapSize, Once, RecordStream, Source, SourceUser } from "../source.ts";
import type { Measurement, SessionStats } from "../stats.ts";
import { Attachments } from "./attachments.ts";
import { readClock, steadyTime, type SessionClock } from "./clock.ts";
import { TroubleCounters } from "./counters.ts";
import { DrainLoop } from "./drain-loop.ts";
import type { Governor } from "./governor.ts";
import { KernelObjects } from "./kernel-objects.ts";
import type { MapSizes } from "./map-sizes.ts";
import type { OverheadMeter } from "./overhead.ts";
import type { Packets } from "./packets.ts";
import { LiveSurroundings } from "./surroundings.ts";
import { StackOwners } from "./symbols/stack-owners.ts";
import { LiveSymbols } from "./symbols/symbols.ts";
import { commandTarget, processTarget, type Target } from "./target.ts";
import { lazy } from "../../base/lazy.ts";
import type { SearchPaths } from "../../machine/search-paths.ts";

// Loaded when a plan grows.
const extendedPlan = lazy<typeof import("./extended-plan.ts")>(() => require("./extended-plan.ts"));
// Loaded when children are followed of a process that runs.
const existing = lazy<typeof import("./existing-children.ts")>(() => require("./existing-children.ts"));
// Loaded when costs are measured.
const overhead = lazy<typeof import("./overhead.ts")>(() => require("./overhead.ts"));
// Loaded when somebody looks at what maps hold.
const mapSizes = lazy<typeof import("./map-sizes.ts")>(() => require("./map-sizes.ts"));
const packets = lazy<typeof import("./packets.ts")>(() => require("./packets.ts"));
const governor = lazy<typeof import("./governor.ts")>(() => require("./governor.ts"));

export interface LiveOptions {
  /** providers/registry.ts's, or fakes. */
  readonly findAttacher: (name: string) => Attacher | undefined;
  /** `-p`: trace this process, until it ends. */
  readonly pid?: number | undefined;
  /** `-p` with several: until all of them have ended. */
  readonly pids?: readonly number[] | undefined;
  /** `-c`: run this command once probes are attached, until it ends. */
  readonly command?: string | undefined;
  /** Children are traced as well: handlers know whose event it is, so probes are for all processes. */
  readonly follow?: boolean | undefined;
  /** What the handlers may take of the machine's CPU time (0.02: 2 %). The plan must have been compiled `governed`. */
  readonly maxOverhead?: number | undefined;
  /** Measures what the handlers cost. */
  readonly stats?: boolean | undefined;
  /** Attaches, and that is all: neither begin and end nor the command run. */
  readonly dryRun?: boolean | undefined;
  /** Logs what the verifier says of every program. */
  readonly verifierLog?: boolean | undefined;
  /** Where debug files are, for lines of stacks. */
  readonly searchPaths?: SearchPaths | undefined;
  /** What was done, a line a step (`-v`). */
  readonly log?: ((line: string) => void) | undefined;
}

export class LiveSource implements Source {
  readonly timeline = steadyTime;
  readonly symbols: LiveSymbols;
  readonly surroundings: LiveSurroundings;
  #plan: Plan;
  readonly #options: LiveOptions;
  readonly #clock: SessionClock = readClock();
  readonly #kernel: KernelObjects;
  readonly #owners: StackOwners;
  readonly #counters: TroubleCounters;
  readonly #attachments: Attachments;
  #user: SourceUser | undefined;
  readonly #target: Target | undefined;
  #loop: DrainLoop | undefined;
  #meter: OverheadMeter | undefined;
  #governor: Governor | undefined;
  #sizes: MapSizes | undefined;
  #packets: Packets | undefined;
  #stopped = false;
  #attached = false;
  #detached = false;
  /** Known at the end: what programs and probes missed and the governor left out. */
  #atEnd: readonly Trouble[] = [];

  /** Creates the plan's maps. @throws LinuxError, or when there is no such process, with nothing left behind */
  constructor(plan: Plan, options: LiveOptions) {
    this.#plan = plan;
    this.#options = options;
    if (options.command !== undefined) this.#target = commandTarget(options.command, options.searchPaths?.programs);
    else if (options.pid !== undefined) this.#target = processTarget([options.pid]);
    else if (options.pids !== undefined) this.#target = processTarget(options.pids);
    try {
      this.#kernel = new KernelObjects(plan, options.verifierLog, options.log);
    } catch (error) {
      this.#target?.[Symbol.dispose]();
      throw error;
    }
    const { unwinding } = this.#kernel;
    const trouble = (text: string): void => this.#warn(text);
    this.symbols = new LiveSymbols(
      this.#kernel.stacks,
      plan,
      options.searchPaths ?? {},
      trouble,
      unwinding && { maps: unwinding, pid: options.pid, trouble },
    );
    this.surroundings = new LiveSurroundings(this.#clock.start, this.childPid ?? 0);
    const fieldTypes = [...plan.schemas.flatMap(({ fields }) => fields.map(({ type }) => type)), ...plan.shown];
    this.#owners = new StackOwners(this.#kernel.liveMaps.values(), fieldTypes, () => this.symbols.processes);
    this.#counters = new TroubleCounters(plan, this.#kernel.percpu);
    this.#attachments = new Attachments({
      findAttacher: options.findAttacher,
      missingProbes: plan.config.missingProbes,
      log: this.#log,
      pidFor: ({ followsCommand }) =>
        options.follow ? undefined : (options.pid ?? (followsCommand ? this.childPid : undefined)),
      trouble: (one) => this.#user?.trouble(one),
    });
  }

  readonly #log = (line: string): void => this.#options.log?.(line);

  #warn(text: string): void {
    this.#user?.trouble({ kind: "message", text: `WARNING: ${text}` });
  }

  get maps(): ReadonlyMap<number, LiveMap> {
    return this.#kernel.liveMaps;
  }

  get records(): RecordStream | undefined {
    return this.#kernel.ring;
  }

  get bootToWall(): bigint {
    return this.#clock.bootToWall;
  }

  get childPid(): number | undefined {
    return this.#options.command === undefined ? undefined : this.#target?.pid;
  }

  get attached(): number {
    // begin and end count even where begin was the end of it.
    const edges = this.#plan.bpf.programs.reduce(
      (sum, { once, sites }) => (once === undefined ? sum : sum + sites.length),
      0,
    );
    return this.#attachments.probes + edges;
  }

  /** What only this run knows of the programs' code. */
  get #constants(): Parameters<KernelObjects["load"]>[0] {
    const { start, bootToWall, bootToTai } = this.#clock;
    return { childPid: this.childPid ?? 0, start, bootToWall, bootToTai };
  }

  // ── the beginning ──

  async prepare(user: SourceUser): Promise<void> {
    this.#user = user;
    this.#kernel.load(this.#constants, this.#log);
    this.#owners.watch();
    if (this.#kernel.unwinding) this.symbols.processes.prepareUnwinding(this.#options);
    await this.#target?.ready;
  }

  once(when: "begin" | "end"): Once[] {
    return this.#kernel.programs
      .filter(({ program }) => program.once === when)
      .map(({ program: { order = 0 }, descriptor }) => ({
        order,
        run: () => void testRun(descriptor, { ctxIn: new Uint8Array(64) }),
      }));
  }

  attach(): void {
    this.#measure();
    this.#capture();
    this.#attachments.attach(this.#kernel.programs);
    const { follow, pid } = this.#options;
    if (follow === true && pid !== undefined) existing().followExisting(this.maps.values(), pid);
    this.#attached = true;
    // Before anybody hears that it is time to go on.
    this.#owners.start(this.#target?.pid);
  }

  get ends(): boolean {
    return this.#target !== undefined;
  }

  go(): void {
    const target = this.#target;
    if (target === undefined) return;
    void target.ended.then(async () => {
      const why = await target.failure?.();
      if (why !== undefined) this.#user?.trouble({ kind: "message", text: `ERROR: ${why}` });
      this.#user?.sourceEnded();
    });
    const { atExec } = this.#attachments;
    const { command } = this.#options;
    const processes =
      this.#kernel.unwinding && command !== undefined && this.symbols.processes.interprets(command)
        ? this.symbols.processes
        : undefined;
    if (atExec === undefined && processes === undefined) return void target.go();
    const free = target.go((pid) => {
      atExec?.(pid);
      processes?.begun(pid);
    });
    if (free !== undefined && atExec !== undefined) this.#warn(sessions().watchedLate(free.message).message);
  }

  get runs(): readonly (() => Measurement | void)[] {
    return this.#attachments.runs;
  }

  get firing(): boolean {
    const { bpf, hosts } = this.#plan;
    return this.#attachments.firing || bpf.programs.length + hosts.length === 0;
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
      lost: (count) => this.#user?.trouble({ kind: "lost", probe: "skboutput()", count }),
      failed: (text) => this.#user?.trouble({ kind: "message", text }),
    });
  }

  // ── while it runs ──

  async run(): Promise<void> {
    if (this.#stopped || this.#user === undefined) return;
    this.#loop = new DrainLoop({
      ring: this.#kernel.ring,
      user: this.#user,
      movesAlone: this.#plan.bpf.maps.some(
        ({ role, failureOffset }) => failureOffset !== undefined || role.kind === "unwind-processes",
      ),
      mayThreadSleep: this.#mayThreadSleep,
    });
    await this.#loop.run();
  }

  stop(): void {
    this.#stopped = true;
    this.#loop?.stop();
  }

  /** Whether nobody else needs this thread's event loop. */
  get #mayThreadSleep(): boolean {
    if (!this.#user?.ownsThread) return false;
    // Processes that come and go are looked at as they do.
    return !this.#owners.needed && !this.#kernel.unwinding && !this.#packets && !this.#options.follow;
  }

  failed(watch: number): void {
    this.#kernel.count(this.#plan.bpf.counters.watches[watch]);
  }

  watch(asked: Parameters<Source["watch"]>[0]): void {
    this.#attachments.watch(asked);
  }

  unwatch(address: bigint, pid: number): void {
    this.#attachments.unwatch(address, pid);
  }

  largestMaps(): readonly MapSize[] {
    this.#sizes ??= new (mapSizes().MapSizes)(this.#kernel.keyedTables, this.#kernel.liveMaps.values());
    return this.#sizes.largest();
  }

  noRoomFor(plan: Plan): Failure | undefined {
    const { noRoom, extendsPlan } = extendedPlan();
    const reason = noRoom(this.#plan, plan);
    if (reason !== undefined) return new Failure(reason);
    if (!extendsPlan(this.#plan, plan)) throw new InternalError("the plan that has grown does not fit this session");
    return undefined;
  }

  extend(plan: Plan): void {
    const { programs } = this.#plan.bpf;
    this.#plan = plan;
    this.#counters.watch(plan);
    const { grown } = this.#kernel;
    const from = grown.length;
    this.#kernel.grow(plan);
    this.#kernel.load(this.#constants, this.#log, plan.bpf.programs.slice(programs.length), grown);
    const more = grown.slice(from);
    this.#meter?.add(more);
    this.#governor?.grow();
    this.#attachments.attach(more);
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
      if (this.#plan.bpf.programs.length > 0) throw new InternalError("the plan has no gates for its handlers");
      return;
    }
    this.#governor = new (governor().Governor)({
      meter,
      gates,
      limit: maxOverhead,
      report: (trouble) => {
        this.#user?.trouble(trouble);
        this.#user?.flush();
      },
      detach: (program) => this.#attachments.detach(meter.programs[program], (error) => this.#user?.failed(error)),
    });
  }

  stats(): SessionStats | undefined {
    const stats = this.#meter?.stats((program) => this.#governor?.held(program) ?? { skipped: 0, state: "running" });
    // begin and end run once: they are not what tracing costs.
    return (
      stats && { ...stats, handlers: stats.handlers.filter((_, i) => this.#plan.bpf.programs[i].once === undefined) }
    );
  }

  // ── the end ──

  async detach(): Promise<void> {
    this.#detached = true;
    this.#governor?.[Symbol.dispose]();
    this.#owners[Symbol.dispose]();
    const attached = this.#attached;
    this.#attached = false;
    try {
      if (attached) {
        this.#owners.scan();
        this.#atEnd = this.#attachments.missed([...this.#kernel.programs, ...this.#kernel.grown]);
      }
    } finally {
      this.#kernel.endHandlers();
      await this.#attachments.detachAll();
    }
    if (!attached) return;
    this.#packets?.write(true);
    this.#atEnd = [...this.#atEnd, ...(this.#governor?.skipped() ?? [])];
  }

  losses(): readonly Trouble[] {
    const known = this.#atEnd;
    this.#atEnd = [];
    return [...this.#counters.take(), ...known];
  }

  warnings(): readonly string[] {
    const { nameless, namelessFunctions } = this.symbols;
    const gone = this.#detached ? [] : (this.#target?.gone ?? []);
    return [
      ...(gone.length === 0 ? [] : [sessions().processesGone(gone).message]),
      // What was asked to be named is known at the end.
      ...(this.#detached && namelessFunctions > 0 ? [sessions().namelessFunctions(namelessFunctions).message] : []),
      ...(this.#detached && nameless > 0 ? [sessions().namelessProcesses(nameless).message] : []),
      // Files that names and places were looked for in, and that other people have made what they are.
      ...takeRefusals(),
    ];
  }

  [Symbol.dispose](): void {
    this.#governor?.[Symbol.dispose]();
    this.#owners[Symbol.dispose]();
    this.#target?.[Symbol.dispose]();
    this.#packets?.[Symbol.dispose]();
    this.#packets = undefined;
    this.#meter?.[Symbol.dispose]();
    this.#meter = undefined;
    this.#sizes?.[Symbol.dispose]();
    this.#sizes = undefined;
    this.symbols[Symbol.dispose]();
    this.#kernel[Symbol.dispose]();
  }
}
