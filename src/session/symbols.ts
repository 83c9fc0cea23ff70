// Numbers to names, for whoever formats events: kernel and user addresses, captured stacks, users, cgroups, system calls.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { IrMap } from "../compiler/ir.ts";
import type { Plan } from "../compiler/plan.ts";
import { cgroupPath } from "../linux/cgroups.ts";
import { demangle } from "../linux/demangle.ts";
import { Kallsyms } from "../linux/kallsyms.ts";
import { cpuTicks, processIds, processMaps } from "../linux/procfs.ts";
import { SideBand } from "../linux/side-band.ts";
import { rootOf } from "../providers/live-binary.ts";
import { systemCallNames } from "../providers/syscall-numbers.ts";
import { filesOfCommand } from "./command-files.ts";
import { ElfFiles } from "./elf-files.ts";
import type { BuildIdFrame, Frame, SymbolResolver } from "./events.ts";
import { UnwindCache } from "./unwind-cache.ts";
import { UnwindTables, type UnwindMaps } from "./unwind-tables.ts";
import { liveProcessFiles, UserSymbols, type CodeMapping } from "./user-symbols.ts";

/** The kernel's stack trace maps, by the plan's index of the script-level map. */
export interface StackTable {
  readonly map: IrMap;
  readonly keySize: number;
  lookup(key: Uint8Array): Uint8Array | undefined;
}

/** struct bpf_stack_build_id: s32 status, 20 bytes of build id, u64 offset (or address). */
const buildIdFrameBytes = 32;
const buildIdValid = 1;

/**
 * What attaching may wait for tables, in milliseconds: of the process or command that was named (a second for the largest
 * browser), and of those that run what is traced.
 */
const prepareNamed = 20_000;
const prepareLikely = 1000;
/** How often the unwinder is asked whom it did not know. */
const wantedMilliseconds = 10;
const framesKept = 1 << 16;
/** How long a frame's name holds without asking whether the process has become another program. */
const trustMilliseconds = 1;

/** `pid`: the only process whose stacks are asked for. */
export interface UnwindingOptions { readonly maps: UnwindMaps; readonly pid?: number | undefined; readonly trouble: (text: string) => void }

export class LiveSymbols implements SymbolResolver, Disposable {
  readonly #stacks: ReadonlyMap<number, StackTable>;
  /** Paths of binaries that probes are in. */
  readonly #traced: readonly string[];
  readonly #files: ElfFiles;
  readonly #users: UserSymbols;
  readonly #unwinding: UnwindTables | undefined;
  #takeWanted: (() => readonly number[]) | undefined;
  #wantedTimer: NodeJS.Timeout | undefined;
  /** All probes are in binaries, and not in what every process has. */
  readonly #namesOnly: boolean;
  /** Processes of which something was learnt that the unwinder does not know yet. */
  readonly #changed = new Map<number, readonly CodeMapping[] | undefined>();
  readonly #kernelFrames = new Map<bigint, Frame>();
  #sideBand: SideBand | undefined;
  #readAt = 0;
  #kallsyms: Kallsyms | undefined;
  #userNames: ReadonlyMap<number, string> | undefined;
  #systemCalls: ReadonlyMap<number, string> | undefined;

  /** `unwinding`: where the unwinder in the kernel looks for tables. */
  constructor(stacks: ReadonlyMap<number, StackTable>, plan: Plan, unwinding?: UnwindingOptions) {
    this.#stacks = stacks;
    this.#traced = tracedBinaries(plan);
    this.#files = new ElfFiles(this.#traced);
    const files = liveProcessFiles((identity, paths) => this.#files.symbols(identity, paths));
    this.#users = new UserSymbols(
      plan.config.cppDemangle ? { ...files, sourceName: demangle } : files, undefined,
      unwinding && ((pid, mappings) => this.#changed.set(pid, mappings)),
    );
    // Probes in binaries are met by processes that have mapped them; in a container, the path may be another.
    const names = new Set([...everyTraced(plan)].map((path) => path && basename(path)));
    // All processes have the C library: that alone makes none of them likely.
    this.#namesOnly = !names.has(undefined) && !commonLibraries().some((path) => names.has(basename(path)));
    if (!unwinding) return;
    this.#unwinding = new UnwindTables({
      ...unwinding,
      binaryOf: (mapping, pid) => this.#users.binary(mapping, pid),
      cache: new UnwindCache(),
      wanted: (pid, mappings) => (unwinding.pid === undefined
        ? this.#namesOnly && (mappings.length === 0 || mappings.some(({ path }) => names.has(basename(path))))
        : pid === unwinding.pid),
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
   * Before anything is attached: lets the unwinder know of the target and what it will run, else of processes that run what is
   * probed, or of all, those that used the CPU most first, as far as that takes no longer than it may; the others follow when
   * it meets them.
   */
  prepareUnwinding({ pid, command }: { readonly pid?: number | undefined; readonly command?: string | undefined }): void {
    if (!this.#unwinding) return;
    const end = performance.now() + (pid === undefined && command === undefined ? prepareLikely : prepareNamed);
    // What any program that is started will need.
    for (const path of pid !== undefined ? [] : command !== undefined ? [...filesOfCommand(command), ...this.#traced] : [...this.#traced, ...commonLibraries()]) {
      const binary = this.#files.symbols(`path:${path}`, [path]);
      if (binary) this.#unwinding.prepare(binary);
    }
    this.#wantedTimer = setInterval(() => this.#tellWanted(), wantedMilliseconds);
    this.#wantedTimer.unref();
    const everyone = pid === undefined && !this.#namesOnly;
    const likely = Math.min(end, performance.now() + prepareLikely);
    for (const one of pid !== undefined ? [pid] : everyone ? busiestProcesses() : processIds().reverse()) {
      this.notice(one);
      if (everyone) this.#unwinding.ask(one, this.#users.code(one));
      if (performance.now() > likely) break;
    }
    this.#unwinding.finish((everyone ? likely : end) - performance.now());
  }

  /** Processes whose stacks were asked for and could not be unwound. */
  #tellWanted(): void {
    for (const pid of this.#takeWanted?.() ?? []) {
      this.notice(pid);
      this.#unwinding?.ask(pid, this.#users.code(pid));
    }
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
    if (rootOf(pid) === "") return;
    for (const mapping of this.#users.code(pid)) if (mapping.path.startsWith("/")) this.#users.binary(mapping, pid);
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

  kernel(address: bigint): Frame {
    const known = this.#kernelFrames.get(address);
    if (known) return known;
    this.#kallsyms ??= readKallsyms();
    const found = this.#kallsyms.lookup(address);
    const frame: Frame = found ? { address, ...found } : { address };
    if (this.#kernelFrames.size >= framesKept) this.#kernelFrames.clear();
    this.#kernelFrames.set(address, frame);
    return frame;
  }

  user(address: bigint, pid: number): Frame {
    const now = performance.now();
    const known = now - this.#readAt < trustMilliseconds ? this.#users.known(address, pid) : undefined;
    if (known) return known;
    this.#readAt = now;
    this.read();
    return this.#users.frame(address, pid);
  }

  inlined(address: bigint, pid: number): readonly Frame[] {
    this.read();
    return this.#users.inlined(address, pid);
  }

  stack(id: bigint, map: number): readonly bigint[] | undefined {
    const bytes = this.#stackBytes(id, map);
    if (!bytes) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const addresses: bigint[] = [];
    for (let at = 0; at + 8 <= bytes.length; at += 8) {
      const address = view.getBigUint64(at, true);
      if (address === 0n) break;
      addresses.push(address);
    }
    return addresses;
  }

  place(address: bigint, pid: number): BuildIdFrame | undefined {
    this.read();
    return this.#users.place(address, pid);
  }

  buildIdStack(id: bigint, map: number): readonly BuildIdFrame[] | undefined {
    const bytes = this.#stackBytes(id, map);
    if (!bytes) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const frames: { buildId: string; offset: bigint }[] = [];
    for (let at = 0; at + buildIdFrameBytes <= bytes.length; at += buildIdFrameBytes) {
      const status = view.getInt32(at, true);
      if (status === 0) break;
      frames.push({
        buildId: status === buildIdValid ? Buffer.from(bytes.subarray(at + 4, at + 24)).toString("hex") : "",
        offset: view.getBigUint64(at + 24, true),
      });
    }
    return frames;
  }

  #stackBytes(id: bigint, map: number): Uint8Array | undefined {
    const table = this.#stacks.get(map);
    if (!table || BigInt.asIntN(64, id) < 0n) return undefined;
    const key = new DataView(new ArrayBuffer(8));
    key.setBigUint64(0, id, true);
    return table.lookup(new Uint8Array(key.buffer, 0, table.keySize));
  }

  processName(pid: number): string {
    try {
      return readFileSync(`/proc/${pid}/comm`, "utf8").trimEnd();
    } catch {
      return "";
    }
  }

  userName(uid: number): string {
    this.#userNames ??= readUserNames();
    return this.#userNames.get(uid) ?? String(uid);
  }

  cgroupPath(id: bigint): string {
    // Version 2 has one hierarchy, which bpftrace calls so wherever it is mounted.
    const path = cgroupPath(id);
    return path === undefined ? "" : `unified:${path}`;
  }

  systemCallName(number: number): string {
    this.#systemCalls ??= systemCallNames(process.arch === "arm64" ? "arm64" : "x86-64");
    return this.#systemCalls.get(number) ?? String(number);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#wantedTimer);
    this.#unwinding?.[Symbol.dispose]();
    this.#sideBand?.[Symbol.dispose]();
    this.#sideBand = undefined;
    this.#files[Symbol.dispose]();
  }
}

/** Paths of the binaries that probes are in: a process may have run them under another path, in a root of its own. */
function tracedBinaries(plan: Plan): readonly string[] {
  return [...everyTraced(plan)].filter((path) => path !== undefined);
}

/** With undefined, when some probes are in no binary. */
function everyTraced(plan: Plan): ReadonlySet<string | undefined> {
  const paths = plan.programs.flatMap(({ sites }) => sites.map(({ data }) => (data as { readonly path?: unknown } | null)?.path));
  return new Set(paths.map((path) => (typeof path === "string" ? path : undefined)));
}

/** The C library and the dynamic loader, as this process has them. */
function commonLibraries(): readonly string[] {
  return [...new Set(processMaps(process.pid).map(({ path }) => path).filter((path) => /\/(?:libc|ld-linux-x86-64)\.so\.\d+$/.test(path)))];
}

/** Processes that run now, those that used the CPU for longest first. */
function busiestProcesses(): readonly number[] {
  return processIds().map((pid) => ({ pid, used: cpuTicks(pid) })).sort((a, b) => b.used - a.used).map(({ pid }) => pid);
}

function readKallsyms(): Kallsyms {
  try {
    return Kallsyms.read();
  } catch {
    return Kallsyms.parse(Buffer.alloc(0)); // not allowed: addresses stay numbers
  }
}

function readUserNames(): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  let text = "";
  try {
    text = readFileSync("/etc/passwd", "utf8");
  } catch {
    // no such file in a minimal container
  }
  for (const line of text.split("\n")) {
    const [name, , uid] = line.split(":");
    if (uid !== undefined && uid !== "" && !names.has(Number(uid))) names.set(Number(uid), name);
  }
  return names;
}
