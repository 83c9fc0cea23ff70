// Machine instructions to the assembler's: labels and places in the frame are known now.
import type { Assembler, Label } from "../../bpf/assembler.ts";
import { Alu, Atomic } from "../../bpf/instruction.ts";
import { type MachineInstruction, NO_OBJECT, type RelocationNote } from "./machine.ts";

/** A function as it will stand in the program: registers are the machine's. */
export interface Finished {
  readonly code: readonly MachineInstruction[];
  /** How many labels the code has. */
  readonly labels: number;
  /** To each object from the frame's end, or from where scratch memory begins. */
  readonly offsets: readonly number[];
  /** Bytes of its frame. */
  readonly frame: number;
  /** Where scratch memory is free behind what it and those before it use. */
  readonly scratchEnd: number;
}

/** `callback`: where another function of the program is, by its index. */
export function assemble(
  { code, labels, offsets }: Finished,
  assembler: Assembler<RelocationNote>,
  callback: (index: number) => Label,
): void {
  const own = Array.from({ length: labels }, () => assembler.label());
  const label = (index: number): Label => own[index] ?? 0;
  const offsetOf = (object: number, offset: number): number =>
    object === NO_OBJECT ? offset : (offsets[object] ?? 0) + offset;
  for (const instruction of code) {
    switch (instruction.kind) {
      case "alu":
        assembler.alu(
          instruction.operation,
          instruction.wide,
          instruction.dst,
          instruction.src,
          instruction.signed ? 1 : 0,
        );
        break;
      case "alu-immediate":
        assembler.aluImmediate(
          instruction.operation,
          instruction.wide,
          instruction.dst,
          instruction.immediate,
          instruction.signed ? 1 : 0,
        );
        break;
      case "negate":
        assembler.negate(instruction.dst);
        break;
      case "swap":
        assembler.swap(instruction.dst, instruction.bits);
        break;
      case "move":
        assembler.alu(Alu.MOV, !instruction.narrow, instruction.dst, instruction.src);
        break;
      case "sign-extend":
        assembler.alu(Alu.MOV, true, instruction.dst, instruction.src, instruction.bits);
        break;
      case "constant":
        if (instruction.value === BigInt.asIntN(32, instruction.value))
          assembler.aluImmediate(Alu.MOV, true, instruction.dst, Number(instruction.value));
        else if (instruction.value === BigInt.asUintN(32, instruction.value))
          assembler.aluImmediate(Alu.MOV, false, instruction.dst, Number(instruction.value) | 0);
        else assembler.constant64(instruction.dst, instruction.value);
        break;
      case "patched":
        assembler.patched(
          instruction.dst,
          instruction.pseudo,
          instruction.note.kind === "map-value" ? instruction.note.offset : 0,
          instruction.note,
        );
        break;
      case "function":
        assembler.functionAddress(instruction.dst, callback(instruction.callback));
        break;
      case "object-address": {
        const offset = offsetOf(instruction.object, instruction.offset);
        if (instruction.dst !== instruction.base) assembler.alu(Alu.MOV, true, instruction.dst, instruction.base);
        if (offset !== 0) assembler.aluImmediate(Alu.ADD, true, instruction.dst, offset);
        break;
      }
      case "load":
        assembler.load(
          instruction.width,
          instruction.signed,
          instruction.dst,
          instruction.base,
          offsetOf(instruction.object, instruction.offset),
        );
        break;
      case "store":
        assembler.store(
          instruction.width,
          instruction.base,
          offsetOf(instruction.object, instruction.offset),
          instruction.src,
        );
        break;
      case "store-immediate":
        assembler.storeImmediate(
          instruction.width,
          instruction.base,
          offsetOf(instruction.object, instruction.offset),
          instruction.immediate,
        );
        break;
      case "atomic":
        assembler.atomic(
          instruction.operation,
          8,
          instruction.base,
          offsetOf(instruction.object, instruction.offset),
          instruction.src,
        );
        break;
      case "compare-exchange":
        assembler.atomic(
          Atomic.CMPXCHG,
          8,
          instruction.base,
          offsetOf(instruction.object, instruction.offset),
          instruction.src,
        );
        break;
      case "jump":
        assembler.jump(label(instruction.to));
        break;
      case "branch":
        assembler.jumpIf(
          instruction.condition,
          instruction.wide,
          instruction.left,
          instruction.right,
          label(instruction.to),
        );
        break;
      case "branch-immediate":
        assembler.jumpIfImmediate(
          instruction.condition,
          instruction.wide,
          instruction.left,
          instruction.immediate,
          label(instruction.to),
        );
        break;
      case "may-goto":
        assembler.mayGoto(label(instruction.to));
        break;
      case "call":
        if (instruction.ofKernel) assembler.callKernel(instruction.helper);
        else assembler.call(instruction.helper);
        break;
      case "call-function":
        assembler.callFunction(callback(instruction.callback));
        break;
      case "exit":
        assembler.exit();
        break;
      case "label":
        assembler.bind(label(instruction.label));
        break;
      case "enter":
      case "touch":
        break;
    }
  }
}
