// Numbers to names, for whoever formats events: kernel and user addresses, captured stacks, users, cgroups, system
// calls.
import { readFileSync } from "node:fs";
import { userNames } from "../../../linux/processes/user-names.ts";
import type { IrMap } from "../../../compiler/ir/ir.ts";
import type { Plan } from "../../../compiler/plan.ts";
import { cgroupPath } from "../../../linux/kernel/cgroups.ts";
import type { Kallsyms } from "../../../linux/kernel/kallsyms.ts";
import { systemCallNames } from "../../../machine/kernel/syscall-numbers.ts";
import type { BuildIdFrame, CodeRange, FileMapping, Frame, SymbolResolver } from "../../events.ts";
import type { SearchPaths } from "../../../machine/search-paths.ts";
import type { ProcessSymbols, UnwindingOptions } from "./process-symbols.ts";
import { lazy } from "../../../base/lazy.ts";
import { sessions } from "../../../messages/on-demand.ts";

// Loaded when there is something to name.
const kernelSymbols = lazy<typeof import("../../../linux/kernel/kallsyms.ts")>(() =>
  require("../../../linux/kernel/kallsyms.ts"),
);
const processSymbols = lazy<typeof import("./process-symbols.ts")>(() => require("./process-symbols.ts"));

/** The kernel's stack trace maps, by the plan's index of the script-level map. */
export interface StackTable {
  readonly map: IrMap;
  lookup(id: bigint): Uint8Array | undefined;
}

/** struct bpf_stack_build_id: s32 status, 20 bytes of build id, u64 offset (or address). */
const buildIdFrameBytes = 32;
const buildIdValid = 1;

const framesKept = 1 << 16;

export class LiveSymbols implements SymbolResolver, Disposable {
  readonly #stacks: ReadonlyMap<number, StackTable>;
  readonly #kernelFrames = new Map<bigint, Frame>();
  readonly #plan: Plan;
  readonly #paths: SearchPaths;
  readonly #unwinding: UnwindingOptions | undefined;
  #processes: ProcessSymbols | undefined;
  #kallsyms: Kallsyms | undefined;
  #userNames: ReadonlyMap<number, string> | undefined;
  #systemCalls: ReadonlyMap<number, string> | undefined;

  readonly #trouble: (text: string) => void;

  /** `trouble`: told of what cannot be named, once. `unwinding`: where the unwinder in the kernel looks for tables. */
  constructor(
    stacks: ReadonlyMap<number, StackTable>,
    plan: Plan,
    paths: SearchPaths,
    trouble: (text: string) => void,
    unwinding?: UnwindingOptions,
  ) {
    this.#stacks = stacks;
    this.#trouble = trouble;
    this.#plan = plan;
    this.#paths = paths;
    this.#unwinding = unwinding;
  }

  /** Made when first asked for. */
  get processes(): ProcessSymbols {
    return (this.#processes ??= new (processSymbols().ProcessSymbols)(this.#plan, this.#paths, this.#unwinding));
  }

  /** How many processes had addresses that could not be named. */
  get nameless(): number {
    return this.#processes?.nameless ?? 0;
  }

  /** How many interpreted functions could not be named. */
  get namelessFunctions(): number {
    return this.#processes?.namelessFunctions ?? 0;
  }

  kernel(address: bigint): Frame {
    const known = this.#kernelFrames.get(address);
    if (known) return known;
    this.#kallsyms ??= this.#readKallsyms();
    const found = this.#kallsyms.lookup(address);
    const frame: Frame = found ? { address, ...found } : { address };
    if (this.#kernelFrames.size >= framesKept) this.#kernelFrames.clear();
    this.#kernelFrames.set(address, frame);
    return frame;
  }

  #readKallsyms(): Kallsyms {
    const { Kallsyms: symbols } = kernelSymbols();
    let read: Kallsyms;
    try {
      read = symbols.read();
    } catch {
      read = symbols.parse(Buffer.alloc(0)); // without /proc, or not allowed: addresses stay numbers
    }
    if (read.hidden !== undefined) this.#trouble(sessions().kernelWithoutNames(read.hidden).message);
    return read;
  }

  user(address: bigint, pid: number): Frame {
    return this.processes.user(address, pid);
  }

  interpreted(address: bigint, pid: number): Frame | undefined {
    return this.processes.interpreted(address, pid);
  }

  signalReturn(address: bigint, pid: number): Frame | undefined {
    return this.processes.signalReturn(address, pid);
  }

  inlined(address: bigint, pid: number): readonly Frame[] {
    return this.processes.inlined(address, pid);
  }

  code(address: bigint, pid: number): FileMapping | undefined {
    return this.processes.code(address, pid);
  }

  codeOf(pid: number): readonly CodeRange[] {
    return this.processes.codeOf(pid);
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
    return table.lookup(id);
  }

  processName(pid: number): string {
    try {
      return readFileSync(`/proc/${pid}/comm`, "utf8").trimEnd();
    } catch {
      return "";
    }
  }

  userName(uid: number): string {
    this.#userNames ??= userNames();
    return this.#userNames.get(uid) ?? String(uid);
  }

  cgroupPath(id: bigint): string {
    // Version 2 has one hierarchy, which bpftrace calls so wherever it is mounted.
    const path = cgroupPath(id);
    return path === undefined ? "" : `unified:${path}`;
  }

  systemCallName(number: number): string {
    this.#systemCalls ??= systemCallNames(process.arch === "arm64" ? "arm64" : "x86-64");
    return this.#systemCalls.get(number) ?? "Unknown syscall";
  }

  [Symbol.dispose](): void {
    this.#processes?.[Symbol.dispose]();
  }
}
