// Machine code before registers are assigned: eBPF instructions over virtual registers (16 and up; 0 to 10 are the
// machine's own, used only around calls), and memory in objects, in the frame and in scratch memory, whose offsets are
// not known yet.
import type { AccessWidth, AluCode, Condition } from "../../bpf/instruction.ts";
import type { Relocation } from "./bpf-plan.ts";

export type Register = number;
export const FIRST_VIRTUAL = 16;

/** An IR slot, a temporary, or a spilled register. */
export type MemoryObject = number;
export const NO_OBJECT: MemoryObject = -1;

/**
 * `base` + `offset`; with an object, the base is where its memory begins, the frame or scratch memory, and the offset
 * is into the object.
 */
export interface Memory {
  readonly base: Register;
  readonly object: MemoryObject;
  readonly offset: number;
}

export type RelocationNote = Omit<Relocation, "instruction">;

/** Registers are mutable: the allocator replaces them. */
export type MachineInstruction =
  /** dst = dst op src. `signed`: DIV and MOD of cpu v4. */
  | {
      readonly kind: "alu";
      readonly operation: AluCode;
      readonly wide: boolean;
      readonly signed: boolean;
      dst: Register;
      src: Register;
    }
  | {
      readonly kind: "alu-immediate";
      readonly operation: AluCode;
      readonly wide: boolean;
      readonly signed: boolean;
      dst: Register;
      readonly immediate: number;
    }
  | { readonly kind: "negate"; dst: Register }
  | { readonly kind: "swap"; dst: Register; readonly bits: 16 | 32 | 64 }
  /** `narrow`: the low 32 bits, zero-extended. */
  | { readonly kind: "move"; dst: Register; src: Register; readonly narrow: boolean }
  /** cpu v4. */
  | { readonly kind: "sign-extend"; dst: Register; src: Register; readonly bits: 8 | 16 | 32 }
  | { readonly kind: "constant"; dst: Register; readonly value: bigint }
  | { readonly kind: "patched"; dst: Register; readonly pseudo: number; readonly note: RelocationNote }
  /** The address of a map callback of this program. */
  | { readonly kind: "function"; dst: Register; readonly callback: number }
  | {
      readonly kind: "object-address";
      dst: Register;
      base: Register;
      readonly object: MemoryObject;
      readonly offset: number;
    }
  | {
      readonly kind: "load";
      readonly width: AccessWidth;
      readonly signed: boolean;
      dst: Register;
      base: Register;
      readonly object: MemoryObject;
      readonly offset: number;
    }
  | {
      readonly kind: "store";
      readonly width: AccessWidth;
      base: Register;
      readonly object: MemoryObject;
      readonly offset: number;
      src: Register;
    }
  | {
      readonly kind: "store-immediate";
      readonly width: AccessWidth;
      base: Register;
      readonly object: MemoryObject;
      readonly offset: number;
      readonly immediate: number;
    }
  /** `fetch`: src becomes the old value. */
  | {
      readonly kind: "atomic";
      readonly operation: number;
      readonly fetch: boolean;
      base: Register;
      readonly object: MemoryObject;
      readonly offset: number;
      src: Register;
    }
  /** Stores src where r0 is what is there, atomically; r0 becomes what was there. */
  | {
      readonly kind: "compare-exchange";
      base: Register;
      readonly object: MemoryObject;
      readonly offset: number;
      src: Register;
    }
  | { readonly kind: "jump"; readonly to: number }
  | {
      readonly kind: "branch";
      readonly condition: Condition;
      readonly wide: boolean;
      left: Register;
      right: Register;
      readonly to: number;
    }
  | {
      readonly kind: "branch-immediate";
      readonly condition: Condition;
      readonly wide: boolean;
      left: Register;
      readonly immediate: number;
      readonly to: number;
    }
  | { readonly kind: "may-goto"; readonly to: number }
  /** `ofKernel`: of a function of the kernel's, by its BTF id. */
  | { readonly kind: "call"; readonly helper: number; readonly parameters: number; readonly ofKernel?: true }
  /** Of a function of this program, by its callback's number. */
  | { readonly kind: "call-function"; readonly callback: number; readonly parameters: number }
  | { readonly kind: "exit" }
  | { readonly kind: "label"; readonly label: number }
  /** The function's parameters arrive in r1 and up. */
  | { readonly kind: "enter"; readonly parameters: number }
  /** Nothing: says that an object is still in use here, through a pointer. */
  | { readonly kind: "touch"; readonly object: MemoryObject };

/** The register that the instruction writes, or -1. Calls write r0 to r5, and `enter` r1 and up, besides. */
export function written(instruction: MachineInstruction): Register {
  switch (instruction.kind) {
    case "alu":
    case "alu-immediate":
    case "negate":
    case "swap":
    case "move":
    case "sign-extend":
    case "constant":
    case "patched":
    case "function":
    case "object-address":
    case "load":
      return instruction.dst;
    case "atomic":
      return instruction.fetch ? instruction.src : -1;
    case "compare-exchange":
      return 0;
    default:
      return -1;
  }
}

/** Whether the instruction reads the register. */
export function reads(instruction: MachineInstruction, register: Register): boolean {
  switch (instruction.kind) {
    case "alu":
      return instruction.dst === register || instruction.src === register;
    case "alu-immediate":
    case "negate":
    case "swap":
      return instruction.dst === register;
    case "move":
    case "sign-extend":
      return instruction.src === register;
    case "load":
    case "object-address":
    case "store-immediate":
      return instruction.base === register;
    case "store":
    case "atomic":
      return instruction.base === register || instruction.src === register;
    case "compare-exchange":
      return register === 0 || instruction.base === register || instruction.src === register;
    case "branch":
      return instruction.left === register || instruction.right === register;
    case "branch-immediate":
      return instruction.left === register;
    case "call":
    case "call-function":
      return register >= 1 && register <= instruction.parameters;
    case "exit":
      return register === 0;
    case "constant":
    case "patched":
    case "function":
    case "jump":
    case "may-goto":
    case "label":
    case "enter":
    case "touch":
      return false;
  }
}

/** Replaces one register by another wherever the instruction names it. */
export function replaceRegister(instruction: MachineInstruction, from: Register, to: Register): void {
  if ("dst" in instruction && instruction.dst === from) instruction.dst = to;
  if ("src" in instruction && instruction.src === from) instruction.src = to;
  if ("base" in instruction && instruction.base === from) instruction.base = to;
  if ("left" in instruction && instruction.left === from) instruction.left = to;
  if ("right" in instruction && instruction.right === from) instruction.right = to;
}

/** Ends straight-line code for good. */
export function endsBlock(instruction: MachineInstruction): boolean {
  return instruction.kind === "jump" || instruction.kind === "exit";
}

export function jumpTarget(instruction: MachineInstruction): number {
  switch (instruction.kind) {
    case "jump":
    case "branch":
    case "branch-immediate":
    case "may-goto":
      return instruction.to;
    default:
      return -1;
  }
}
