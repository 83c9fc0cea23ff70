// Walks the stack of the current process by unwinding tables (debuginfo/unwind-table.ts), as a function of its own
// behind the handler. The session keeps maps for it: of each process, where what is mapped; of each file, where what
// code is in it; and the nodes of search trees over the rules of each binary, two levels of them. Of processes that the
// session has not met yet, the kernel is asked which file an address is mapped from. Searching is free of branches, so
// that the verifier walks each round once: a round is the body of a loop (Linux 6.9), or a callback of bpf_loop (5.17);
// before, the verifier walks every round.
import type { Assembler, Label } from "../../bpf/assembler.ts";
import { Alu, FRAME, Jump } from "../../bpf/instruction.ts";
import type { Capabilities, PidNamespace } from "../../linux/kernel/capabilities.ts";
import { kernelFeatures, kernelHas } from "../../base/kernel-features.ts";
import type { KernelMap } from "./bpf-plan.ts";
import type { ReturnInstances } from "../kernel-structures/return-instances.ts";
import { cutStack } from "../layouts/unwound-stack.ts";
import type { RelocationNote } from "./machine.ts";
import type { GenerateOptions } from "./scope.ts";
import {
  ADDRESS,
  area,
  COUNT,
  goesOn,
  last,
  MAPPINGS,
  MEMORY,
  noteAddress,
  slot,
  UnwinderCode,
} from "./unwinder-code.ts";
import { followRule } from "./unwinder-frames.ts";
import { beginInterpreted, meetInterpreter, tellInterpreted } from "./unwinder-interpreters.ts";
import { findRule, writeMappedFile } from "./unwinder-places.ts";
import { meetJavascript } from "./unwinder-v8.ts";
import { unwoundAddresses } from "../layouts/unwind-layout.ts";

/** Offsets in x86-64's struct pt_regs. */
const ptRegs = { bp: 32, ip: 128, cs: 136, sp: 152 } as const;
/**
 * What a callback is given: the limit, the memory for the result and the process's mappings, in the frame from here on.
 */
const given = { at: -32, limit: 0, memory: 8, mappings: 16 } as const;

interface Subprogram {
  readonly name: string;
  readonly label: Label;
}

/**
 * Writes the unwinder, and the functions that it calls on this kernel. Of the unwinder itself: r1: memory of
 * `unwoundBytes`, r2: frames at most. Gives a number that stands for the stack, never 0; or 0 for what has no user
 * stack.
 */
export function writeUnwinder(
  assembler: Assembler<RelocationNote>,
  unwinder: Label,
  options: GenerateOptions,
): Subprogram[] {
  const find = (kind: KernelMap["role"]["kind"]): number =>
    options.kernelMaps.findIndex(({ role }) => role.kind === kind);
  const maps = {
    processes: find("unwind-processes"),
    nodes: find("unwind-nodes"),
    wanted: find("unwind-wanted"),
    files: find("unwind-files"),
    functions: find("unwind-functions"),
  };
  const { returnInstances, mappedFiles, capabilities } = options;
  const code = new UnwinderCode(assembler, maps, capabilities.mayGoto);
  const mappedFile = mappedFiles && assembler.label();
  const round = callsRounds(capabilities) ? assembler.label() : undefined;
  const written: Subprogram[] = [{ name: "unwind", label: unwinder }];
  assembler.bind(unwinder);
  writeWalk(code, capabilities.pidNamespace, returnInstances, mappedFile, round, options.threadPointer);
  if (round !== undefined) written.push({ name: "unwind_frame", label: round });
  if (mappedFiles && mappedFile !== undefined) {
    written.push({ name: "mapped_file", label: mappedFile });
    assembler.bind(mappedFile);
    writeMappedFile(assembler, mappedFiles);
  }
  return written;
}

/** Whether rounds are called: bpf_loop came with Linux 5.17. */
function callsRounds({ kernel, mayGoto }: Capabilities): boolean {
  return !mayGoto && kernelHas(kernel, kernelFeatures.calledLoops);
}

/**
 * `mappedFile`: undefined where the kernel cannot be asked. `called`: a round is a function of its own, there, that
 * bpf_loop calls.
 */
function writeWalk(
  code: UnwinderCode,
  pidNamespace: PidNamespace | undefined,
  instances: ReturnInstances | undefined,
  mappedFile: Label | undefined,
  called: Label | undefined,
  threadPointer: number | undefined,
): void {
  const a = code.assembler;
  const none = a.label();
  // Of what is kept in memory the verifier knows nothing, so that a round looks like the one before.
  const counted = code.mayGoto || called !== undefined;
  // Where the verifier walks every round, what a round does has to be little.
  const steps =
    counted && threadPointer !== undefined
      ? { threadPointer, follow: a.label(), functions: code.maps.functions }
      : undefined;
  begin(code, instances, mappedFile !== undefined, pidNamespace, none);
  if (called !== undefined) {
    code.store(goesOn, ADDRESS);
    code.store(given.at + given.memory, MEMORY);
    code.store(given.at + given.mappings, MAPPINGS);
    code.load(1, slot.limit);
    a.functionAddress(2, called);
    code.addressOf(3, given.at);
    code.set(4, 0);
    code.call("loop");
    finish(code, counted, none);
    a.bind(called);
    a.load(8, false, 1, 2, given.limit);
    code.store(slot.limit, 1);
    a.load(8, false, MEMORY, 2, given.memory);
    a.load(8, false, MAPPINGS, 2, given.mappings);
    code.load(ADDRESS, goesOn);
  }
  const round = called === undefined ? a.here() : undefined;
  if (code.mayGoto) a.mayGoto(code.done);
  if (counted) {
    loadCount(code);
    code.load(1, slot.limit);
    a.jumpIf(Jump.JGE, true, COUNT, 1, code.done);
  }
  if (steps) tellInterpreted(code, steps);
  noteAddress(code, ADDRESS);
  code.add(COUNT, 1);
  if (counted) a.store(4, MEMORY, 0, COUNT);
  if (steps) {
    meetInterpreter(code, steps);
    a.bind(steps.follow);
  }
  code.load(1, slot.limit);
  a.jumpIf(Jump.JGE, true, COUNT, 1, code.done);
  findRule(code, mappedFile);
  followRule(code, instances, () => {
    if (steps) meetJavascript(code);
  });

  a.bind(code.next);
  if (counted) forget(code);
  if (round !== undefined) {
    a.jumpIfImmediate(Jump.JNE, true, ADDRESS, 0, round);
    a.jump(code.done);
  } else {
    a.jumpIfImmediate(Jump.JEQ, true, ADDRESS, 0, code.done);
    code.store(goesOn, ADDRESS);
    code.set(0, 0);
    a.exit();
  }

  a.bind(code.broken);
  a.load(4, false, 1, MEMORY, 4);
  a.jumpIfImmediate(Jump.JNE, true, 1, 0, code.done);
  a.storeImmediate(4, MEMORY, 4, cutStack.broken);
  a.bind(code.done);
  if (called === undefined) finish(code, counted, none);
  else {
    code.set(0, 1);
    a.exit();
  }
}

/** What a round leaves behind that the next does not use: so that the verifier sees that one begins like another. */
function forget(code: UnwinderCode): void {
  for (const register of [0, 1, 2, 3, 4, 5, COUNT]) code.set(register, 0);
  for (const at of [slot.key, slot.words, slot.words + 8]) code.assembler.storeImmediate(8, FRAME, at, 0);
}

/** The current process, as strobe numbers it: into r0. */
function loadProcess(code: UnwinderCode, namespace: PidNamespace | undefined): void {
  const a = code.assembler;
  if (namespace === undefined) {
    code.call("get_current_pid_tgid");
    a.aluImmediate(Alu.RSH, true, 0, 32);
    return;
  }
  // Both are numbers of 32 bits, which a move of 32 bits does not extend with a sign.
  for (const [register, number] of [
    [1, namespace.device],
    [2, namespace.inode],
  ] as const) {
    a.aluImmediate(Alu.MOV, false, register, Number(BigInt.asIntN(32, number)));
  }
  code.addressOf(3, slot.words);
  code.set(4, 8);
  code.call("get_ns_current_pid_tgid");
  a.load(4, false, 0, FRAME, slot.words + 4);
}

/**
 * The registers that the process goes on with, and what else the first round wants. Leaves to `none` without a user
 * stack.
 */
function begin(
  code: UnwinderCode,
  instances: ReturnInstances | undefined,
  asksForFiles: boolean,
  pidNamespace: PidNamespace | undefined,
  none: Label,
): void {
  const a = code.assembler;
  code.move(MEMORY, 1);
  code.store(slot.limit, 2);
  a.storeImmediate(8, MEMORY, 0, 0);
  loadProcess(code, pidNamespace);
  a.store(4, FRAME, slot.key, 0);
  code.lookup(code.maps.processes);
  code.move(MAPPINGS, 0);
  // What the process would go on with: also when a probe in the kernel is asked.
  code.call("get_current_task_btf");
  code.move(COUNT, 0);
  code.move(1, 0);
  code.call("task_pt_regs");
  a.load(8, false, 1, 0, ptRegs.cs);
  a.aluImmediate(Alu.AND, true, 1, 3);
  a.jumpIfImmediate(Jump.JNE, true, 1, 3, none);
  a.load(8, false, ADDRESS, 0, ptRegs.ip);
  for (const register of ["sp", "bp"] as const) {
    a.load(8, false, 1, 0, ptRegs[register]);
    code.store(slot[register], 1);
  }
  a.storeImmediate(8, MEMORY, slot.hash, 0);
  code.store(slot.call, ADDRESS);
  beginInterpreted(code);
  // The key is still the process's, for whom it may concern.
  if (instances) {
    a.load(8, false, 1, COUNT, instances.utask);
    code.add(1, instances.first);
    code.move(3, 1);
    code.readKernel(slot.instance);
  }
  code.set(COUNT, 0);
  if (asksForFiles) for (const at of [area.start, area.end]) a.storeImmediate(8, MEMORY, at, 0);
  const known = a.label();
  a.jumpIfImmediate(Jump.JNE, true, MAPPINGS, 0, known);
  if (!asksForFiles) a.storeImmediate(4, MEMORY, 4, cutStack.unknownProcess);
  code.map(code.maps.wanted);
  code.addressOf(2, slot.key);
  code.addressOf(3, slot.key);
  code.set(4, 0);
  code.call("map_update_elem");
  a.bind(known);

  if (code.mayGoto) {
    a.storeImmediate(8, MEMORY, last.size, 0);
    a.storeImmediate(8, FRAME, slot.root, 0);
  }
}

/** Gives the stack's number, or 0 at `none`. `counted`: how many frames there are is in memory. */
function finish(code: UnwinderCode, counted: boolean, none: Label): void {
  const a = code.assembler;
  if (counted) {
    loadCount(code);
    code.load(1, slot.limit);
    a.jumpIf(Jump.JGT, true, COUNT, 1, none);
  }
  a.store(4, MEMORY, 0, COUNT);
  code.move(1, COUNT);
  a.aluImmediate(Alu.LSH, true, 1, 3);
  code.move(2, MEMORY);
  a.alu(Alu.ADD, true, 2, 1);
  a.storeImmediate(8, 2, unwoundAddresses, 0);
  // Positive, as the numbers of stacks are that the kernel captured.
  code.load(0, slot.hash);
  a.aluImmediate(Alu.RSH, true, 0, 1);
  const fine = a.label();
  a.jumpIfImmediate(Jump.JNE, true, 0, 0, fine);
  code.set(0, 1);
  a.bind(fine);
  a.exit();
  a.bind(none);
  code.set(0, 0);
  a.exit();
}

function loadCount({ assembler }: UnwinderCode): void {
  assembler.load(4, false, COUNT, MEMORY, 0);
}
