// Where registers are saved when a probe hits (struct pt_regs), and which of them carry arguments.
import type { Fetch } from "../../language/context.ts";
import type { PointerType, StructType } from "../../language/types.ts";
import { u64 } from "../../language/types.ts";
import { InternalError } from "../../base/internal-error.ts";

export type Machine = "x86-64" | "arm64";

/** One architecture's registers. Offsets are bytes into struct pt_regs; all are 8 bytes wide. */
export interface RegisterFile {
  readonly machine: Machine;
  /** By the names that reg() takes. */
  readonly offsets: ReadonlyMap<string, number>;
  /** C functions of user space and of the kernel. */
  readonly callArguments: readonly string[];
  /** System calls, from the pt_regs at the kernel's door. */
  readonly systemCallArguments: readonly string[];
  readonly result: string;
  readonly stackPointer: string;
  /** At a function's first instruction: bytes from the stack pointer to the first argument passed on the stack. */
  readonly stackArguments: number;
  /** Where sys_exit finds the number of its call: offset and bytes. */
  readonly systemCallNumber: { readonly offset: number; readonly size: 4 | 8 };
}

// arch/x86/include/asm/ptrace.h: r15 first, ss last, 168 bytes.
const x86Order = [
  "r15",
  "r14",
  "r13",
  "r12",
  "bp",
  "bx",
  "r11",
  "r10",
  "r9",
  "r8",
  "ax",
  "cx",
  "dx",
  "si",
  "di",
  "orig_ax",
  "ip",
  "cs",
  "flags",
  "sp",
  "ss",
];

const x86_64 = (): RegisterFile => ({
  machine: "x86-64",
  offsets: new Map([...x86Order.map((name, i) => [name, i * 8] as const), ["pc", x86Order.indexOf("ip") * 8]]),
  callArguments: ["di", "si", "dx", "cx", "r8", "r9"],
  systemCallArguments: ["di", "si", "dx", "r10", "r8", "r9"],
  result: "ax",
  stackPointer: "sp",
  // The return address is below them.
  stackArguments: 8,
  systemCallNumber: { offset: 120, size: 8 },
});

// arch/arm64/include/asm/ptrace.h: user_pt_regs (r0 to r30, sp, pc, pstate), orig_x0, syscallno.
const arm64Numbered = (): string[] => Array.from({ length: 31 }, (_, i) => `r${i}`);

const arm64 = (): RegisterFile => ({
  machine: "arm64",
  offsets: new Map([
    ...[...arm64Numbered(), "sp", "pc", "pstate", "orig_x0"].map((name, i) => [name, i * 8] as const),
    ["fp", 29 * 8],
    ["lr", 30 * 8],
  ]),
  callArguments: arm64Numbered().slice(0, 8),
  // x0 is overwritten by the result.
  systemCallArguments: ["orig_x0", ...arm64Numbered().slice(1, 6)],
  result: "r0",
  stackPointer: "sp",
  stackArguments: 0,
  systemCallNumber: { offset: 280, size: 4 },
});

const files: Partial<Record<Machine, RegisterFile>> = {};

export function registersOf(machine: Machine): RegisterFile {
  return (files[machine] ??= machine === "arm64" ? arm64() : x86_64());
}

/** The architecture that strobe runs on. */
export const hostMachine: Machine = process.arch === "arm64" ? "arm64" : "x86-64";

/** A register of a context that is a struct pt_regs (kprobe, uprobe) or begins with one (perf_event). */
export function fetchRegister(file: RegisterFile, name: string): Fetch {
  const offset = file.offsets.get(name);
  if (offset === undefined) throw new InternalError(`${file.machine} has no register ${name}`);
  return { kind: "context", offset, size: 8, signed: false };
}

/** reg() of such a context. */
export function fetchRegisters(file: RegisterFile): ReadonlyMap<string, Fetch> {
  return new Map([...file.offsets.keys()].map((name) => [name, fetchRegister(file, name)]));
}

/** arg0 to arg9 at a function's first instruction: registers, then the stack. */
export function fetchCallArguments(file: RegisterFile, space: "kernel" | "user"): Fetch[] {
  const inRegisters = file.callArguments.map((name) => fetchRegister(file, name));
  const base = fetchRegister(file, file.stackPointer);
  const onStack: Fetch[] = [];
  for (let i = 0; inRegisters.length + onStack.length < 10; i++) {
    onStack.push({ kind: "pointed", base, offset: file.stackArguments + i * 8, size: 8, signed: false, space });
  }
  return [...inRegisters, ...onStack];
}

/** `struct pt_regs *`, when no BTF describes it. */
export function registersType(file: RegisterFile): PointerType {
  const members = [...file.offsets].map(([name, offset]) => ({ name, offset, type: u64 }));
  const target: StructType = {
    kind: "struct",
    union: false,
    name: "pt_regs",
    size: file.machine === "arm64" ? 336 : 168,
    members,
  };
  return { kind: "pointer", space: "kernel", target };
}
