// A handler at the entry of functions and one at their returns, as one program: the kernel then follows each function
// once, and there is one link to attach and to detach instead of two. Which of the two a run is for, the kernel tells.
import { Alu, type BpfInstruction, Class, encode, Jump, Pseudo, SOURCE_REGISTER } from "../../bpf/instruction.ts";
import type { KernelProgram, Relocation } from "../bpf/bpf-plan.ts";

/** Since Linux 6.10; of newer ones it takes the context, which is where a program's first argument is anyway. */
const IS_RETURN = "bpf_session_is_return";
/** What the kernel gives all functions of a program together, and what it takes for one that needs none. */
const STACK_BYTES = 512;
const LEAST_FRAME = 32;
/** The verifier walks both handlers: those that are long may be too much for it together. */
const MOST_INSTRUCTIONS = 4096;
/** Instructions before the handlers. */
const HEAD = 9;

const call: BpfInstruction = { code: Class.JMP | Jump.CALL, dst: 0, src: 0, offset: 0, imm: 0 };
const copy = (dst: number, src: number): BpfInstruction => ({
  code: Class.ALU64 | Alu.MOV | SOURCE_REGISTER,
  dst,
  src,
  offset: 0,
  imm: 0,
});

/** Replaces an entry's program and the return's of the same functions by one, wherever their contexts allow it. */
export function pairReturns(programs: readonly KernelProgram[]): readonly KernelProgram[] {
  const paired = new Map<KernelProgram, KernelProgram>();
  const taken = new Set<KernelProgram>();
  for (const entry of programs) {
    if (entry.binding.session?.part !== "entry" || !isShort(entry)) continue;
    const returns = programs.find(
      (one) => one.binding.session?.part === "return" && !taken.has(one) && isShort(one) && sameFunctions(entry, one),
    );
    if (returns === undefined) continue;
    taken.add(returns);
    paired.set(entry, together(entry, returns, entry.binding.session.attachType));
  }
  return programs.flatMap((one) => (taken.has(one) ? [] : [paired.get(one) ?? one]));
}

/** Functions of their own would be called at one depth more than they were made for. */
function isShort({ code, subprograms, frame }: KernelProgram): boolean {
  return subprograms.length <= 1 && frame <= STACK_BYTES - LEAST_FRAME && code.length / 8 <= MOST_INSTRUCTIONS;
}

function sameFunctions(a: KernelProgram, b: KernelProgram): boolean {
  return (
    a.sites.length === b.sites.length && a.sites.every(({ func }, i) => func !== undefined && func === b.sites[i].func)
  );
}

/**
 * The entry's sites come first, then the return's in the same order. Both handlers stay whole: functions of a program
 * that calls one of them, and gives 0, so that the return is followed.
 */
function together(entry: KernelProgram, returns: KernelProgram, attachType: number): KernelProgram {
  const start = HEAD;
  const returnStart = start + entry.code.length / 8;
  const head = encode([
    copy(6, 1),
    { ...call, src: Pseudo.KERNEL_FUNCTION },
    copy(1, 6),
    { code: Class.JMP | Jump.JNE, dst: 0, src: 0, offset: 2, imm: 0 },
    { ...call, src: Pseudo.CALL, imm: start - 5 },
    { code: Class.JMP | Jump.JA, dst: 0, src: 0, offset: 1, imm: 0 },
    { ...call, src: Pseudo.CALL, imm: returnStart - 7 },
    { code: Class.ALU64 | Alu.MOV, dst: 0, src: 0, offset: 0, imm: 0 },
    { code: Class.JMP | Jump.EXIT, dst: 0, src: 0, offset: 0, imm: 0 },
  ]);
  const code = new Uint8Array(head.length + entry.code.length + returns.code.length);
  code.set(head);
  code.set(entry.code, start * 8);
  code.set(returns.code, returnStart * 8);
  const moved = (relocations: readonly Relocation[], by: number): Relocation[] =>
    relocations.map((relocation) => ({ ...relocation, instruction: relocation.instruction + by }));
  return {
    ...entry,
    binding: { ...entry.binding, load: { attachType, btfId: 0 } },
    sites: [...entry.sites, ...returns.sites],
    cookies: [...entry.cookies, ...returns.cookies],
    code,
    frame: LEAST_FRAME + Math.max(entry.frame, returns.frame),
    relocations: [
      { instruction: 1, kind: "kernel-function", symbol: IS_RETURN, map: -1, offset: 0 },
      ...moved(entry.relocations, start),
      ...moved(returns.relocations, returnStart),
    ],
    subprograms: [
      { name: "session", start: 0 },
      { name: entry.name, start: start },
      { name: returns.name, start: returnStart },
    ],
  };
}
