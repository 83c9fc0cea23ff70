// What keeps a probe from an instruction
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only of programs and kernels with such an instruction, of probes on instructions and lines. */
export const instructionReasons = {
  abortsTransaction: (): Reason => reason("a step aborts the transaction"),
  noInstructions: (): Reason => reason("from there on the bytes are no instructions"),
  callsKernel: (): Reason => reason("it calls the kernel, which would return to the wrong place in children"),
  breakpoint: (): Reason => reason("it is a breakpoint itself"),
  invalid: (): Reason => reason("it is invalid in 64-bit code"),
  privileged: (): Reason => reason("it is privileged"),
  warns: (): Reason => reason("it is where a warning or a bug of the kernel traps"),
  traps: (): Reason => reason("it traps, and the program would be told of the wrong place"),
  repeats: (): Reason => reason("it would fire once for every repetition"),
  iretNotImitated: (): Reason => reason("the kernel cannot imitate iret"),
  forbidden: (): Reason => reason("the kernel must not be probed there"),
  avx512: (): Reason => reason("the kernel refuses AVX-512 (EVEX)"),
  xop: (): Reason => reason("the kernel refuses XOP"),
  narrowBranch: (): Reason => reason("the kernel refuses branches with a size prefix"),
  iret: (): Reason => reason("the kernel refuses iret"),
  lock: (): Reason => reason("the kernel refuses the prefix `lock`"),
  holdsBackTraps: (): Reason => reason("the kernel refuses what holds back traps"),
  trapFlag: (): Reason => reason("the program would see the processor's trap flag"),
  throughMemory: (what: string): Reason => reason(`the kernel cannot imitate ${what} through memory`),
  placesRefused: (refused: number, all: number, places: string, more: string): Reason =>
    reason(
      `the kernel refuses ${refused} of its ${all} places (${places}${more}): code that it patches at run time or must not probe`,
    ),
  prefix: (prefix: string): Reason => reason(`the kernel refuses the prefix \`${prefix}\``),
};
