// Numbers of stacks, made of their addresses.
import type { Assembler } from "../../bpf/assembler.ts";
import { Alu, Jump } from "../../bpf/instruction.ts";
import { displacedStack } from "../layouts/stack-numbers.ts";
import type { RelocationNote } from "./machine.ts";

/** Mixes a register into `hash`; `spare` is overwritten. */
export function mixIn(assembler: Assembler<RelocationNote>, hash: number, register: number, spare: number): void {
  assembler.alu(Alu.XOR, true, hash, register);
  assembler.constant64(spare, hashFactor);
  assembler.alu(Alu.MUL, true, hash, spare);
  assembler.alu(Alu.MOV, true, spare, hash);
  assembler.aluImmediate(Alu.RSH, true, spare, 32);
  assembler.alu(Alu.XOR, true, hash, spare);
}
/** 2^64 divided by the golden ratio, odd. */
const hashFactor = 0x9e3779b97f4a7c15n;

/** The function that gives the number of a displaced stack. r1: its addresses, r2: how many bytes, a multiple of 8. */
export function writeStackHash(assembler: Assembler<RelocationNote>): void {
  const [result, address, left, word, spare] = [0, 1, 2, 3, 4];
  assembler.aluImmediate(Alu.MOV, true, result, 0);
  const next = assembler.here();
  assembler.load(8, false, word, address, 0);
  assembler.aluImmediate(Alu.ADD, true, address, 8);
  mixIn(assembler, result, word, spare);
  assembler.aluImmediate(Alu.SUB, true, left, 8);
  assembler.jumpIfImmediate(Jump.JNE, true, left, 0, next);
  assembler.aluImmediate(Alu.RSH, true, result, 2);
  assembler.constant64(spare, displacedStack);
  assembler.alu(Alu.OR, true, result, spare);
  assembler.exit();
}
