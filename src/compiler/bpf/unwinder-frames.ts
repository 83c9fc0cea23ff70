// From a frame to its caller's: by the rule for the call, or by the frame pointer.
import { Alu, Jump } from "../../bpf/instruction.ts";
import type { Label } from "../../bpf/assembler.ts";
import { SavedRbp, UnwindKind } from "../../debuginfo/unwind-table.ts";
import type { ReturnInstances } from "../kernel-structures/return-instances.ts";
import { ADDRESS, MEMORY, slot, type UnwinderCode } from "./unwinder-code.ts";

/** Offsets of what the kernel pushed for a signal handler, from the stack pointer at its return. */
const signalFrame = { bp: 120, sp: 160 } as const;
/** Return instances that one frame may pass: several probes in a function that was jumped to share one. */
const instancesPassed = 4;

/**
 * r1: the rule. All ends at `code.next`, which is to stand behind. `atPointer`: writes what is done before a frame
 * pointer is followed.
 */
export function followRule(code: UnwinderCode, instances: ReturnInstances | undefined, atPointer: () => void): void {
  const a = code.assembler;
  const frame = a.label();
  findFrame(code, frame);
  a.bind(frame);
  takeReturnAddress(code, instances);
  a.bind(code.pointer);
  atPointer();
  followPointer(code);
}

/** The caller's frame, into r4. Ends where the code for `frame` begins. */
function findFrame(code: UnwinderCode, frame: Label): void {
  const a = code.assembler;
  code.move(2, 1);
  a.aluImmediate(Alu.LSH, true, 2, 32);
  a.aluImmediate(Alu.ARSH, true, 2, 41);
  code.move(3, 1);
  a.aluImmediate(Alu.RSH, true, 3, 3);
  a.aluImmediate(Alu.AND, true, 3, 63);
  code.store(slot.rbpRule, 3);
  a.aluImmediate(Alu.AND, true, 1, 7);
  const kinds = [
    UnwindKind.rsp,
    UnwindKind.rbp,
    UnwindKind.linkage,
    UnwindKind.signal,
    UnwindKind.atRbp,
    UnwindKind.atRsp,
  ] as const;
  const places = new Map(kinds.map((kind) => [kind, a.label()]));
  const begin = (kind: (typeof kinds)[number]): void => a.bind(places.get(kind)!);
  for (const [kind, place] of places) a.jumpIfImmediate(Jump.JEQ, true, 1, kind, place);
  a.jumpIfImmediate(Jump.JEQ, true, 1, UnwindKind.end, code.done);
  a.jump(code.pointer);

  begin(UnwindKind.rbp);
  code.load(4, slot.bp);
  a.alu(Alu.ADD, true, 4, 2);
  a.jump(frame);
  begin(UnwindKind.linkage);
  code.load(4, slot.sp);
  code.add(4, 8);
  code.move(3, ADDRESS);
  a.aluImmediate(Alu.AND, true, 3, 15);
  a.jumpIf(Jump.JLT, true, 3, 2, frame);
  code.add(4, 8);
  a.jump(frame);
  for (const kind of [UnwindKind.atRbp, UnwindKind.atRsp] as const) {
    begin(kind);
    code.load(3, kind === UnwindKind.atRbp ? slot.bp : slot.sp);
    a.alu(Alu.ADD, true, 3, 2);
    code.readUser(slot.words, 8, code.broken);
    code.load(4, slot.words);
    if (kind === UnwindKind.atRsp) code.add(4, 8);
    a.jump(frame);
  }
  begin(UnwindKind.signal);
  code.load(3, slot.sp);
  code.add(3, signalFrame.bp);
  code.readUser(slot.bp, 8, code.broken);
  code.load(3, slot.sp);
  code.add(3, signalFrame.sp);
  code.readUser(slot.words, 16, code.broken);
  code.load(1, slot.words);
  code.store(slot.sp, 1);
  code.load(ADDRESS, slot.words + 8);
  code.store(slot.call, ADDRESS);
  a.jump(code.next);
  begin(UnwindKind.rsp);
  code.load(4, slot.sp);
  a.alu(Alu.ADD, true, 4, 2);
}

/** r4: the caller's frame. The return address lies right below it, and often rbp below that: one read for both. */
function takeReturnAddress(code: UnwinderCode, instances: ReturnInstances | undefined): void {
  const a = code.assembler;
  code.load(1, slot.sp);
  a.jumpIf(Jump.JLE, true, 4, 1, code.broken);
  code.store(slot.sp, 4);
  code.move(3, 4);
  code.add(3, -16);
  code.readUser(slot.words, 16, code.broken);
  code.load(ADDRESS, slot.words + 8);
  if (instances) takeReplaced(code, instances);
  callBefore(code);
  code.load(1, slot.rbpRule);
  a.jumpIfImmediate(Jump.JEQ, true, 1, SavedRbp.same, code.next);
  const [elsewhere, below, lost] = [a.label(), a.label(), a.label()];
  a.jumpIfImmediate(Jump.JNE, true, 1, 2, elsewhere);
  code.load(2, slot.words);
  code.store(slot.bp, 2);
  a.jump(code.next);
  a.bind(elsewhere);
  a.jumpIfImmediate(Jump.JEQ, true, 1, SavedRbp.lost, lost);
  code.load(3, slot.bp);
  a.jumpIfImmediate(Jump.JEQ, true, 1, SavedRbp.atRbp, below);
  code.load(3, slot.sp);
  a.aluImmediate(Alu.LSH, true, 1, 3);
  a.alu(Alu.SUB, true, 3, 1);
  a.bind(below);
  code.readUser(slot.bp, 8, lost);
  a.jump(code.next);
  a.bind(lost);
  a.storeImmediate(8, MEMORY, slot.bp, 0);
  a.jump(code.next);
}

/** Code without a table: of a just-in-time compiler, or not known yet. */
function followPointer(code: UnwinderCode): void {
  const a = code.assembler;
  code.load(3, slot.bp);
  a.jumpIfImmediate(Jump.JEQ, true, 3, 0, code.done);
  code.load(1, slot.sp);
  a.jumpIf(Jump.JLT, true, 3, 1, code.broken);
  code.readUser(slot.words, 16, code.broken);
  code.load(1, slot.bp);
  code.add(1, 16);
  code.store(slot.sp, 1);
  code.load(1, slot.words);
  code.store(slot.bp, 1);
  code.load(ADDRESS, slot.words + 8);
  callBefore(code);
}

/** The address is a return address: the call is before it. */
function callBefore(code: UnwinderCode): void {
  code.move(1, ADDRESS);
  code.add(1, -1);
  code.store(slot.call, 1);
}

/** Where a uretprobe replaced the return address, takes the right one: instances are in the order of the stack. */
function takeReplaced(code: UnwinderCode, layout: ReturnInstances): void {
  const a = code.assembler;
  const passed = a.label();
  for (let i = 0; i < instancesPassed; i++) {
    code.load(3, slot.instance);
    a.jumpIfImmediate(Jump.JEQ, true, 3, 0, passed);
    code.add(3, layout.stack);
    code.readKernel(slot.key);
    code.load(1, slot.key);
    code.load(2, slot.sp);
    code.add(2, -8);
    a.jumpIf(Jump.JGT, true, 1, 2, passed);
    const other = a.label();
    a.jumpIf(Jump.JNE, true, 1, 2, other);
    code.load(3, slot.instance);
    code.add(3, layout.address);
    code.readKernel(slot.key);
    code.load(ADDRESS, slot.key);
    a.bind(other);
    code.load(3, slot.instance);
    code.add(3, layout.next);
    code.readKernel(slot.instance);
  }
  a.bind(passed);
}
