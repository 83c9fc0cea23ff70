// Numbers to names, for whoever formats events: kernel and user addresses, captured stacks, users, cgroups, system calls.
import { readFileSync } from "node:fs";
import type { IrMap } from "../compiler/ir.ts";
import type { Plan } from "../compiler/plan.ts";
import { cgroupPath } from "../linux/cgroups.ts";
import { demangle } from "../linux/demangle.ts";
import { Kallsyms } from "../linux/kallsyms.ts";
import { SideBand } from "../linux/side-band.ts";
import { systemCallNames } from "../providers/syscall-numbers.ts";
import { ElfFiles } from "./elf-files.ts";
import type { Frame, SymbolResolver } from "./events.ts";
import { liveProcessFiles, UserSymbols } from "./user-symbols.ts";

/** The kernel's stack trace maps, by the plan's index of the script-level map. */
export interface StackTable {
  readonly map: IrMap;
  readonly keySize: number;
  lookup(key: Uint8Array): Uint8Array | undefined;
}

/** struct bpf_stack_build_id: s32 status, 20 bytes of build id, u64 offset (or address). */
const buildIdFrameBytes = 32;
const buildIdValid = 1;

const framesKept = 1 << 16;
/** How long a frame's name holds without asking whether the process has become another program. */
const trustMilliseconds = 1;

export class LiveSymbols implements SymbolResolver, Disposable {
  readonly #stacks: ReadonlyMap<number, StackTable>;
  readonly #files: ElfFiles;
  readonly #users: UserSymbols;
  readonly #kernelFrames = new Map<bigint, Frame>();
  #sideBand: SideBand | undefined;
  #readAt = 0;
  #kallsyms: Kallsyms | undefined;
  #userNames: ReadonlyMap<number, string> | undefined;
  #systemCalls: ReadonlyMap<number, string> | undefined;

  constructor(stacks: ReadonlyMap<number, StackTable>, plan: Plan) {
    this.#stacks = stacks;
    this.#files = new ElfFiles(tracedBinaries(plan));
    const files = liveProcessFiles((identity, paths) => this.#files.symbols(identity, paths));
    this.#users = new UserSymbols(plan.config.cppDemangle ? { ...files, sourceName: demangle } : files);
  }

  /** Lets the kernel tell of all processes' code from now on. False when it is not allowed: then /proc must do. */
  watch(): boolean {
    try {
      this.#sideBand = new SideBand();
    } catch {
      return false;
    }
    this.#sideBand.onFilling(() => this.read());
    return true;
  }

  /** Takes in what the kernel told. */
  read(): void {
    if (this.#sideBand) this.#users.apply(this.#sideBand.read());
  }

  notice(pid: number): void {
    this.#users.notice(pid);
  }

  refresh(pid: number): void {
    this.#users.refresh(pid);
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

  buildIdStack(id: bigint, map: number): readonly { readonly buildId: string; readonly offset: bigint }[] | undefined {
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
    this.#sideBand?.[Symbol.dispose]();
    this.#sideBand = undefined;
    this.#files[Symbol.dispose]();
  }
}

/** Paths of the binaries that probes are in: a process may have run them under another path, in a root of its own. */
function tracedBinaries(plan: Plan): readonly string[] {
  const paths = plan.programs.flatMap(({ sites }) => sites.map(({ data }) => (data as { readonly path?: unknown } | null)?.path));
  return [...new Set(paths.filter((path) => typeof path === "string"))];
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
