// Code of processes: which addresses are which functions, for the user stacks and symbols of events, and the tables
// with which the kernel unwinds stacks. Scripts without either never load this.
import { basename } from "node:path";
import type { Plan } from "../../../compiler/plan.ts";
import { demangle } from "../../../linux/demangle.ts";
import { cpuTicks, processIds, processMaps, withoutDeleted } from "../../../linux/processes/procfs.ts";
import { SideBand } from "../../../linux/perf/side-band.ts";
import { rootOf } from "../../../machine/binaries/live-binary.ts";
import type { SearchPaths } from "../../../machine/search-paths.ts";
import { filesOfCommand } from "./command-files.ts";
import { ElfFiles } from "./elf-files.ts";
import type { FileMapping, Frame } from "../../events.ts";
import { InterpretedFunctions } from "./interpreted-functions.ts";
import { ScriptLines } from "./script-lines.ts";
import type { ProcessMemory } from "./stack-owners.ts";
import { mayInterpret } from "../unwinding/interpreters.ts";
import { UnwindCache } from "../unwinding/unwind-cache.ts";
import { UnwindTables, type UnwindMaps } from "../unwinding/unwind-tables.ts";
import { liveProcessFiles, UserSymbols, type CodeMapping } from "./user-symbols.ts";

/**
 * What attaching may wait for tables, in milliseconds: of the process or command that was named (a second for the
 * largest browser), of the binaries that probes are in, and of processes that may be met.
 */
const prepareNamed = 20_000;
const prepareTraced = 1000;
const prepareLikely = 50;
/** How often the unwinder is asked whom it did not know. */
const wantedMilliseconds = 10;
/** How long a frame's name holds without asking whether the process has become another program. */
const trustMilliseconds = 1;

/** `pid`: the only process whose stacks are asked for. */
export interface UnwindingOptions {
  readonly maps: UnwindMaps;
  readonly pid?: number | undefined;
  readonly trouble: (text: string) => void;
}

export class ProcessSymbols implements ProcessMemory, Disposable {
  /** Paths of binaries that probes are in. */
  readonly #traced: readonly string[];
  readonly #files: ElfFiles;
  readonly #paths: SearchPaths;
  readonly #users: UserSymbols;
  readonly #unwinding: UnwindTables | undefined;
  #functions: InterpretedFunctions | undefined;
  #takeWanted: (() => readonly number[]) | undefined;
  #wantedTimer: NodeJS.Timeout | undefined;
  /** All probes are in binaries, and not in what every process has. */
  readonly #namesOnly: boolean;
  /** Processes of which something was learnt that the unwinder does not know yet. */
  readonly #changed = new Map<number, readonly CodeMapping[] | undefined>();
  #sideBand: SideBand | undefined;
  #readAt = 0;

  /** `unwinding`: where the unwinder in the kernel looks for tables. */
  constructor(plan: Plan, paths: SearchPaths, unwinding?: UnwindingOptions) {
    this.#paths = paths;
    const traced = everyTraced(plan);
    this.#traced = [...traced].filter((path) => path !== undefined);
    this.#files = new ElfFiles(this.#traced, paths);
    const files = liveProcessFiles((identity, paths) => this.#files.symbols(identity, paths));
    this.#users = new UserSymbols(
      plan.config.cppDemangle ? { ...files, sourceName: demangle } : files,
      undefined,
      unwinding && ((pid, mappings) => this.#changed.set(pid, mappings)),
    );
    // Probes in binaries are met by processes that have mapped them; in a container, the path may be another.
    const names = new Set([...traced].map((path) => path && basename(path)));
    // All processes have the C library: that alone makes none of them likely.
    this.#namesOnly = !names.has(undefined) && !commonLibraries().some((path) => names.has(basename(path)));
    if (!unwinding) return;
    const scripts = new ScriptLines();
    this.#functions = new InterpretedFunctions((key) => unwinding.maps.functions.lookup(key), scripts);
    this.#unwinding = new UnwindTables({
      ...unwinding,
      binaryOf: (mapping, pid) => this.#users.binary(mapping, pid),
      cache: new UnwindCache(),
      interpreting: (pid) => scripts.notice(pid),
      wanted: (pid, mappings) =>
        unwinding.pid === undefined
          ? this.#namesOnly && (mappings.length === 0 || mappings.some(({ path }) => names.has(basename(path))))
          : pid === unwinding.pid,
    });
    this.#takeWanted = () => unwinding.maps.takeWanted();
  }

  /** Lets the kernel tell of all processes' code from now on. False when it is not allowed: then /proc must do. */
  watch(): boolean {
    try {
      // The unwinder has use for what happened just now.
      this.#sideBand = new SideBand({ promptly: this.#unwinding !== undefined });
    } catch {
      return false;
    }
    this.#sideBand.onFilling(() => this.read());
    return true;
  }

  /**
   * Before anything is attached: lets the unwinder know of the target and what it will run, else of processes that run
   * what is probed, or of all, those that used the CPU most first, as far as that takes no longer than it may; the
   * others follow when it meets them.
   */
  prepareUnwinding({
    pid,
    command,
  }: {
    readonly pid?: number | undefined;
    readonly command?: string | undefined;
  }): void {
    if (!this.#unwinding) return;
    const end = performance.now() + (pid === undefined && command === undefined ? prepareTraced : prepareNamed);
    // What any program that is started will need.
    for (const path of pid !== undefined
      ? []
      : command !== undefined
        ? [...filesOfCommand(command, this.#paths), ...this.#traced]
        : [...this.#traced, ...commonLibraries()]) {
      const binary = this.#files.symbols(`path:${path}`, [path]);
      if (binary) this.#unwinding.prepare(binary);
    }
    this.#wantedTimer = setInterval(() => this.#tellWanted(), wantedMilliseconds);
    this.#wantedTimer.unref();
    const everyone = pid === undefined && !this.#namesOnly;
    if (everyone) this.#unwinding.finish(end - performance.now());
    const likely = Math.min(end, performance.now() + prepareLikely);
    for (const one of pid !== undefined ? [pid] : everyone ? busiestProcesses() : processIds().reverse()) {
      this.notice(one);
      if (everyone) this.#unwinding.ask(one, this.#users.mapped(one));
      if (performance.now() > likely) break;
    }
    this.#unwinding.finish((everyone ? likely : end) - performance.now());
  }

  /** Processes whose stacks were asked for and could not be unwound. */
  #tellWanted(): void {
    for (const pid of this.#takeWanted?.() ?? []) {
      this.notice(pid);
      this.#unwinding?.askLate(pid, this.#users.mapped(pid));
    }
  }

  /**
   * Whether a command is an interpreter, as far as its file tells: then it must be known before it runs, or its first
   * stacks have no interpreted frames. A script may be for one.
   */
  interprets(command: string): boolean {
    const files = filesOfCommand(command, this.#paths);
    return files.length === 0 || files.some(mayInterpret);
  }

  /** A process has become a program that did not run yet, and whose stacks will be asked for. */
  begun(pid: number): void {
    this.read();
    this.notice(pid);
    this.#unwinding?.ask(pid, this.#users.mapped(pid));
    this.#unwinding?.finish(prepareTraced);
  }

  /** Takes in what the kernel told. */
  read(): void {
    if (this.#sideBand) this.#users.apply(this.#sideBand.read());
    this.#tellUnwinder();
  }

  notice(pid: number): void {
    this.#users.notice(pid);
    this.#tellUnwinder();
  }

  hold(pid: number): void {
    const elsewhere = rootOf(pid) !== "";
    for (const [i, mapping] of this.#users.mapped(pid).entries()) {
      // The program itself comes first: it may be replaced by a newer one meanwhile.
      if (mapping.path.startsWith("/") && (i === 0 || elsewhere || withoutDeleted(mapping.path) !== mapping.path))
        this.#users.binary(mapping, pid);
    }
  }

  refresh(pid: number): void {
    this.#users.refresh(pid);
    this.#tellUnwinder();
  }

  #tellUnwinder(): void {
    for (const [pid, mappings] of this.#changed) {
      if (mappings === undefined) this.#unwinding?.remove(pid);
      else this.#unwinding?.set(pid, mappings);
    }
    this.#changed.clear();
  }

  user(address: bigint, pid: number): Frame {
    const now = performance.now();
    const known = now - this.#readAt < trustMilliseconds ? this.#users.known(address, pid) : undefined;
    if (known) return known;
    this.#readAt = now;
    this.read();
    return this.#users.frame(address, pid);
  }

  interpreted(address: bigint, pid: number): Frame | undefined {
    return this.#functions?.frame(address, pid);
  }

  signalReturn(address: bigint, pid: number): Frame | undefined {
    const now = performance.now();
    const known = now - this.#readAt < trustMilliseconds ? this.#users.knownSignalReturn(address, pid) : undefined;
    if (known !== undefined) return known || undefined;
    this.#readAt = now;
    this.read();
    return this.#users.signalReturn(address, pid);
  }

  inlined(address: bigint, pid: number): readonly Frame[] {
    this.read();
    return this.#users.inlined(address, pid);
  }

  /** How many processes had addresses that could not be named, since nothing is known of their code. */
  get nameless(): number {
    return this.#users.nameless.size;
  }

  get namelessFunctions(): number {
    return this.#functions?.nameless.size ?? 0;
  }

  code(address: bigint, pid: number): FileMapping | undefined {
    const now = performance.now();
    if (now - this.#readAt >= trustMilliseconds) {
      this.#readAt = now;
      this.read();
    }
    return this.#users.code(address, pid);
  }

  codeOf(pid: number): readonly CodeMapping[] {
    return this.#users.mapped(pid);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#wantedTimer);
    this.#unwinding?.[Symbol.dispose]();
    this.#sideBand?.[Symbol.dispose]();
    this.#sideBand = undefined;
    this.#files[Symbol.dispose]();
  }
}

/**
 * Paths of the binaries that probes are in: a process may have run them under another path, in a root of its own. With
 * undefined, when some probes are in no binary.
 */
function everyTraced(plan: Plan): ReadonlySet<string | undefined> {
  const paths = new Set<string | undefined>();
  for (const { sites } of plan.bpf.programs) {
    for (const { data } of sites) {
      const path = (data as { readonly path?: unknown } | null)?.path;
      paths.add(typeof path === "string" ? path : undefined);
    }
  }
  return paths;
}

/** The C library and the dynamic loader, as this process has them. */
function commonLibraries(): readonly string[] {
  return [
    ...new Set(
      processMaps(process.pid)
        .map(({ path }) => path)
        .filter((path) => /\/(?:libc|ld-linux-x86-64)\.so\.\d+$/.test(path)),
    ),
  ];
}

/** Processes that run now, those that used the CPU for longest first. */
function busiestProcesses(): readonly number[] {
  return processIds()
    .map((pid) => ({ pid, used: cpuTicks(pid) }))
    .sort((a, b) => b.used - a.used)
    .map(({ pid }) => pid);
}
