// Walks the stack of the current process by unwinding tables (debuginfo/unwind-table.ts), as a function of its own behind the
// handler. The session keeps maps for it: of each process, where what is mapped; of each file, where what code is in it; and the
// nodes of search trees over the rules of each binary, two levels of them. Of processes that the session has not met yet, the
// kernel is asked which file an address is mapped from. Searching is free of branches, so that the verifier walks each round once:
// a round is the body of a loop (Linux 6.9), or a callback of bpf_loop (5.17); before, the verifier walks every round.
import type { Assembler, Label } from "../../bpf/assembler.ts";
import { helpers, type HelperName } from "../../bpf/helpers.ts";
import { Alu, FRAME, Jump, Pseudo } from "../../bpf/instruction.ts";
import type { Capabilities } from "../../language/check/checked.ts";
import { kernelAtLeast } from "../../language/kernel-version.ts";
import { SavedRbp, UnwindKind } from "../../debuginfo/unwind-table.ts";
import { cutStack, fileRows, mappingBytes, mappingEnd, mappingsKept, mappingShift, mappingTree, nodeKeys, nodeRowBytes } from "../unwind-layout.ts";
import type { MappedFiles } from "../mapped-files.ts";
import type { ReturnInstances } from "../return-instances.ts";
import type { RelocationNote } from "./machine.ts";
import { unwoundAddresses } from "./unwinding.ts";

/** Offsets in x86-64's struct pt_regs. */
const ptRegs = { bp: 32, ip: 128, cs: 136, sp: 152 } as const;
/** Offsets of what the kernel pushed for a signal handler, from the stack pointer at its return. */
const signalFrame = { bp: 120, sp: 160 } as const;

/** What is kept between rounds: negative, in the frame (`words`: two of them); else in the capture's memory. */
const slot = { key: -8, words: -24, limit: -32, root: -40, sp: 8, bp: 16, hash: 24, call: 32, place: 40, rbpRule: 48, instance: 56 } as const;
/** Likewise: the memory area that was found last, what to add to an address for the place in its file, and that file's key. */
const area = { start: 64, end: 72, toFile: 80, inode: 88, device: 96 } as const;
/** Likewise, in a loop: where the code that the last call was in begins, how long it is, and what to add for its tree's keys. */
const last = { start: 104, size: 112, shift: 120 } as const;
/** Likewise, in a callback: the address to go on with. */
const goesOn = 104;
/** What a callback is given: the limit, the memory for the result and the process's mappings, in the frame from here on. */
const given = { at: -32, limit: 0, memory: 8, mappings: 16 } as const;
/** Return instances that one frame may pass: several probes in a function that was jumped to share one. */
const instancesPassed = 4;
const hashFactor = 0x9e3779b97f4a7c15n;

/** Kept over calls: the memory for the result, the process's mappings, frames so far, the address. */
const MEMORY = 6, MAPPINGS = 7, COUNT = 8, ADDRESS = 9;

export interface UnwinderOptions {
  readonly instances: ReturnInstances | undefined;
  /** Where `writeMappedFile` is; undefined where the kernel cannot be asked. */
  readonly mappedFile: Label | undefined;
  /** The verifier knows loops that it need not walk to their end. */
  readonly mayGoto: boolean;
  /** A round is a function of its own, there, that bpf_loop calls. */
  readonly round: Label | undefined;
}

/** Whether rounds are called: bpf_loop came with Linux 5.17. */
export function callsRounds({ kernel, mayGoto }: Capabilities): boolean {
  return !mayGoto && kernelAtLeast(kernel, 5, 17);
}

/**
 * r1: memory of `unwoundBytes`, r2: frames at most. Gives a number that stands for the stack, never 0; or 0 for what has no
 * user stack.
 */
export function writeUnwinder(
  assembler: Assembler<RelocationNote>, maps: { readonly processes: number; readonly nodes: number; readonly wanted: number; readonly files: number },
  { instances, mappedFile, mayGoto, round: called }: UnwinderOptions,
): void {
  const a = assembler;
  const call = (name: HelperName): void => a.call(helpers[name].id);
  const set = (register: number, value: number): void => a.aluImmediate(Alu.MOV, true, register, value);
  const move = (to: number, from: number): void => a.alu(Alu.MOV, true, to, from);
  const baseOf = (at: number): number => (at < 0 ? FRAME : MEMORY);
  const load = (to: number, at: number): void => a.load(8, false, to, baseOf(at), at);
  const store = (at: number, from: number): void => a.store(8, baseOf(at), at, from);
  const addressOf = (register: number, at: number): void => {
    move(register, baseOf(at));
    a.aluImmediate(Alu.ADD, true, register, at);
  };
  const lookup = (map: number): void => {
    a.patched(1, Pseudo.MAP_FD, 0, { kind: "map", map, offset: 0 });
    addressOf(2, slot.key);
    call("map_lookup_elem");
  };
  /** Reads user memory at r3. */
  const readUser = (at: number, bytes: number, failed: Label): void => {
    addressOf(1, at);
    set(2, bytes);
    call("probe_read_user");
    a.jumpIfImmediate(Jump.JNE, true, 0, 0, failed);
  };
  /** Reads 8 bytes of kernel memory at r3; 0 when that fails. */
  const readKernel = (at: number): void => {
    addressOf(1, at);
    set(2, 8);
    call("probe_read_kernel");
  };
  /** r2: rows in order of their first word, as many as a power of four. Leaves it at the last that is not above r3, or at the first. */
  const search = (rows: number, rowBytes: number, keyBytes: 4 | 8): void => {
    move(1, 3);
    a.aluImmediate(Alu.ADD, true, 1, 1);
    // Three keys at a time: they are fetched side by side, where halving would wait for one after the other.
    for (let quarter = rows / 4; quarter >= 1; quarter /= 4) {
      const keys = [0, 4, 5] as const;
      keys.forEach((key, i) => a.load(keyBytes, false, key, 2, (i + 1) * quarter * rowBytes));
      // By logical shifts: what is one of two signed numbers, newer verifiers follow both ways.
      for (const key of keys) {
        a.alu(Alu.SUB, true, key, 1);
        a.aluImmediate(Alu.RSH, true, key, 63);
      }
      a.alu(Alu.ADD, true, 0, 4);
      a.alu(Alu.ADD, true, 0, 5);
      a.aluImmediate(Alu.MUL, true, 0, quarter * rowBytes);
      a.alu(Alu.ADD, true, 2, 0);
    }
  };
  // Of what is kept in memory the verifier knows nothing, so that a round looks like the one before.
  const counted = mayGoto || called !== undefined;
  /** The address is a return address: the call is before it. */
  const isReturn = (): void => {
    move(1, ADDRESS);
    a.aluImmediate(Alu.ADD, true, 1, -1);
    store(slot.call, 1);
  };
  /** Where a uretprobe replaced the return address, takes the right one: instances are in the order of the stack. */
  const replaced = (layout: ReturnInstances): void => {
    const passed = a.label();
    for (let i = 0; i < instancesPassed; i++) {
      load(3, slot.instance);
      a.jumpIfImmediate(Jump.JEQ, true, 3, 0, passed);
      a.aluImmediate(Alu.ADD, true, 3, layout.stack);
      readKernel(slot.key);
      load(1, slot.key);
      load(2, slot.sp);
      a.aluImmediate(Alu.ADD, true, 2, -8);
      a.jumpIf(Jump.JGT, true, 1, 2, passed);
      const other = a.label();
      a.jumpIf(Jump.JNE, true, 1, 2, other);
      load(3, slot.instance);
      a.aluImmediate(Alu.ADD, true, 3, layout.address);
      readKernel(slot.key);
      load(ADDRESS, slot.key);
      a.bind(other);
      load(3, slot.instance);
      a.aluImmediate(Alu.ADD, true, 3, layout.next);
      readKernel(slot.instance);
    }
    a.bind(passed);
  };
  const [next, pointer, frame, broken, done, none] = [a.label(), a.label(), a.label(), a.label(), a.label(), a.label()];
  const countedFrames = (): void => a.load(4, false, COUNT, MEMORY, 0);
  /** In rows at r2, that of r3: what to look for in which tree, which r1 gets. */
  const place = (rows: number, outside: Label): void => {
    search(rows, mappingBytes, 8);
    a.load(8, false, 4, 2, 0);
    a.jumpIf(Jump.JLT, true, 3, 4, outside);
    a.load(8, false, 5, 2, mappingEnd);
    a.jumpIf(Jump.JGE, true, 3, 5, outside);
    a.alu(Alu.SUB, true, 3, 4);
    if (mayGoto) {
      a.alu(Alu.SUB, true, 5, 4);
      store(last.size, 5);
      load(1, slot.call);
      a.alu(Alu.SUB, true, 1, 3);
      store(last.start, 1);
    }
    a.load(4, false, 4, 2, mappingShift);
    if (mayGoto) store(last.shift, 4);
    a.alu(Alu.ADD, true, 3, 4);
    store(slot.place, 3);
    a.load(4, false, 1, 2, mappingTree);
  };
  /** The node of number r1, into r0. */
  const node = (): void => {
    a.store(4, FRAME, slot.key, 1);
    lookup(maps.nodes);
    a.jumpIfImmediate(Jump.JEQ, true, 0, 0, pointer);
  };
  /** The rows of the file that the call is in, into r2, and its place in the file, into r3. */
  const findFile = (mappedFile: Label): void => {
    const [find, found, nothing, strange] = [a.label(), a.label(), a.label(), a.label()];
    load(2, slot.call);
    load(1, area.start);
    a.jumpIf(Jump.JLT, true, 2, 1, find);
    load(1, area.end);
    a.jumpIf(Jump.JLT, true, 2, 1, found);
    a.bind(find);
    for (const at of [area.start, area.end, area.inode]) a.storeImmediate(8, MEMORY, at, 0);
    call("get_current_task_btf");
    move(1, 0);
    load(2, slot.call);
    a.functionAddress(3, mappedFile);
    // It is told where to write: what it writes to the stack, the verifier would follow.
    store(slot.words, MEMORY);
    addressOf(4, slot.words);
    set(5, 0);
    call("find_vma");
    a.bind(found);
    load(1, area.inode);
    a.jumpIfImmediate(Jump.JEQ, true, 1, 0, nothing);
    a.patched(1, Pseudo.MAP_FD, 0, { kind: "map", map: maps.files, offset: 0 });
    addressOf(2, area.inode);
    call("map_lookup_elem");
    a.jumpIfImmediate(Jump.JEQ, true, 0, 0, strange);
    move(2, 0);
    load(3, slot.call);
    load(1, area.toFile);
    a.alu(Alu.ADD, true, 3, 1);
    const rows = a.label();
    a.jump(rows);
    // No file's, as what a just-in-time compiler writes; or nothing was found out, since someone changes the mappings, or (with
    // interrupts off) more than one question at a time was asked.
    a.bind(nothing);
    load(1, area.end);
    a.jumpIfImmediate(Jump.JNE, true, 1, 0, pointer);
    a.jumpIfImmediate(Jump.JNE, true, MAPPINGS, 0, pointer);
    a.bind(strange);
    a.storeImmediate(4, MEMORY, 4, cutStack.unknownProcess);
    a.jump(pointer);
    a.bind(rows);
  };

  move(MEMORY, 1);
  store(slot.limit, 2);
  a.storeImmediate(8, MEMORY, 0, 0);
  call("get_current_pid_tgid");
  a.aluImmediate(Alu.RSH, true, 0, 32);
  a.store(4, FRAME, slot.key, 0);
  lookup(maps.processes);
  move(MAPPINGS, 0);
  // What the process would go on with: also when a probe in the kernel is asked.
  call("get_current_task_btf");
  move(COUNT, 0);
  move(1, 0);
  call("task_pt_regs");
  a.load(8, false, 1, 0, ptRegs.cs);
  a.aluImmediate(Alu.AND, true, 1, 3);
  a.jumpIfImmediate(Jump.JNE, true, 1, 3, none);
  a.load(8, false, ADDRESS, 0, ptRegs.ip);
  for (const register of ["sp", "bp"] as const) {
    a.load(8, false, 1, 0, ptRegs[register]);
    store(slot[register], 1);
  }
  a.storeImmediate(8, MEMORY, slot.hash, 0);
  store(slot.call, ADDRESS);
  // The key is still the process's, for whom it may concern.
  if (instances) {
    a.load(8, false, 1, COUNT, instances.utask);
    a.aluImmediate(Alu.ADD, true, 1, instances.first);
    move(3, 1);
    readKernel(slot.instance);
  }
  set(COUNT, 0);
  if (mappedFile !== undefined) for (const at of [area.start, area.end]) a.storeImmediate(8, MEMORY, at, 0);
  const known = a.label();
  a.jumpIfImmediate(Jump.JNE, true, MAPPINGS, 0, known);
  if (mappedFile === undefined) a.storeImmediate(4, MEMORY, 4, cutStack.unknownProcess);
  a.patched(1, Pseudo.MAP_FD, 0, { kind: "map", map: maps.wanted, offset: 0 });
  addressOf(2, slot.key);
  addressOf(3, slot.key);
  set(4, 0);
  call("map_update_elem");
  a.bind(known);

  if (mayGoto) {
    a.storeImmediate(8, MEMORY, last.size, 0);
    a.storeImmediate(8, FRAME, slot.root, 0);
  }
  const finish = (): void => {
    if (counted) {
      countedFrames();
      load(1, slot.limit);
      a.jumpIf(Jump.JGT, true, COUNT, 1, none);
    }
    a.store(4, MEMORY, 0, COUNT);
    move(1, COUNT);
    a.aluImmediate(Alu.LSH, true, 1, 3);
    move(2, MEMORY);
    a.alu(Alu.ADD, true, 2, 1);
    a.storeImmediate(8, 2, unwoundAddresses, 0);
    // Positive, as the numbers of stacks are that the kernel captured.
    load(0, slot.hash);
    a.aluImmediate(Alu.RSH, true, 0, 1);
    const fine = a.label();
    a.jumpIfImmediate(Jump.JNE, true, 0, 0, fine);
    set(0, 1);
    a.bind(fine);
    a.exit();
    a.bind(none);
    set(0, 0);
    a.exit();
  };
  if (called !== undefined) {
    store(goesOn, ADDRESS);
    store(given.at + given.memory, MEMORY);
    store(given.at + given.mappings, MAPPINGS);
    load(1, slot.limit);
    a.functionAddress(2, called);
    addressOf(3, given.at);
    set(4, 0);
    call("loop");
    finish();
    a.bind(called);
    a.load(8, false, 1, 2, given.limit);
    store(slot.limit, 1);
    a.load(8, false, MEMORY, 2, given.memory);
    a.load(8, false, MAPPINGS, 2, given.mappings);
    load(ADDRESS, goesOn);
  }
  const round = called === undefined ? a.here() : undefined;
  if (mayGoto) a.mayGoto(done);
  if (counted) {
    countedFrames();
    load(1, slot.limit);
    a.jumpIf(Jump.JGE, true, COUNT, 1, done);
  }
  move(1, COUNT);
  a.aluImmediate(Alu.LSH, true, 1, 3);
  move(2, MEMORY);
  a.alu(Alu.ADD, true, 2, 1);
  a.store(8, 2, unwoundAddresses, ADDRESS);
  load(1, slot.hash);
  a.alu(Alu.XOR, true, 1, ADDRESS);
  a.constant64(2, hashFactor);
  a.alu(Alu.MUL, true, 1, 2);
  move(2, 1);
  a.aluImmediate(Alu.RSH, true, 2, 32);
  a.alu(Alu.XOR, true, 1, 2);
  store(slot.hash, 1);
  a.aluImmediate(Alu.ADD, true, COUNT, 1);
  if (counted) a.store(4, MEMORY, 0, COUNT);
  load(1, slot.limit);
  a.jumpIf(Jump.JGE, true, COUNT, 1, done);

  // The rule: of the call, where the address is the one behind it.
  const [byFile, ruled, rooted] = [mappedFile === undefined ? pointer : a.label(), a.label(), a.label()];
  if (mayGoto) {
    // Most callers are in the same code.
    const elsewhere = a.label();
    load(3, slot.call);
    load(1, last.start);
    a.alu(Alu.SUB, true, 3, 1);
    load(1, last.size);
    a.jumpIf(Jump.JGE, true, 3, 1, elsewhere);
    load(0, slot.root);
    a.jumpIfImmediate(Jump.JEQ, true, 0, 0, elsewhere);
    load(1, last.shift);
    a.alu(Alu.ADD, true, 3, 1);
    store(slot.place, 3);
    a.jump(rooted);
    a.bind(elsewhere);
  }
  a.jumpIfImmediate(Jump.JEQ, true, MAPPINGS, 0, byFile);
  load(3, slot.call);
  move(2, MAPPINGS);
  place(mappingsKept, byFile);
  if (mappedFile !== undefined) {
    a.jump(ruled);
    a.bind(byFile);
    findFile(mappedFile);
    place(fileRows, pointer);
    a.bind(ruled);
  }
  node();
  if (mayGoto) store(slot.root, 0);
  a.bind(rooted);
  for (let level = 0; level < 2; level++) {
    if (level > 0) node();
    move(2, 0);
    load(3, slot.place);
    search(nodeKeys, nodeRowBytes, 4);
    a.load(4, false, 1, 2, 4);
  }
  move(2, 1);
  a.aluImmediate(Alu.LSH, true, 2, 32);
  a.aluImmediate(Alu.ARSH, true, 2, 41);
  move(3, 1);
  a.aluImmediate(Alu.RSH, true, 3, 3);
  a.aluImmediate(Alu.AND, true, 3, 63);
  store(slot.rbpRule, 3);
  a.aluImmediate(Alu.AND, true, 1, 7);
  const kinds = [UnwindKind.rsp, UnwindKind.rbp, UnwindKind.linkage, UnwindKind.signal, UnwindKind.atRbp, UnwindKind.atRsp] as const;
  const places = new Map(kinds.map((kind) => [kind, a.label()]));
  const begin = (kind: (typeof kinds)[number]): void => a.bind(places.get(kind)!);
  for (const [kind, place] of places) a.jumpIfImmediate(Jump.JEQ, true, 1, kind, place);
  a.jumpIfImmediate(Jump.JEQ, true, 1, UnwindKind.end, done);
  a.jump(pointer);

  // The caller's frame, into r4.
  begin(UnwindKind.rbp);
  load(4, slot.bp);
  a.alu(Alu.ADD, true, 4, 2);
  a.jump(frame);
  begin(UnwindKind.linkage);
  load(4, slot.sp);
  a.aluImmediate(Alu.ADD, true, 4, 8);
  move(3, ADDRESS);
  a.aluImmediate(Alu.AND, true, 3, 15);
  a.jumpIf(Jump.JLT, true, 3, 2, frame);
  a.aluImmediate(Alu.ADD, true, 4, 8);
  a.jump(frame);
  for (const kind of [UnwindKind.atRbp, UnwindKind.atRsp] as const) {
    begin(kind);
    load(3, kind === UnwindKind.atRbp ? slot.bp : slot.sp);
    a.alu(Alu.ADD, true, 3, 2);
    readUser(slot.words, 8, broken);
    load(4, slot.words);
    if (kind === UnwindKind.atRsp) a.aluImmediate(Alu.ADD, true, 4, 8);
    a.jump(frame);
  }
  begin(UnwindKind.signal);
  load(3, slot.sp);
  a.aluImmediate(Alu.ADD, true, 3, signalFrame.bp);
  readUser(slot.bp, 8, broken);
  load(3, slot.sp);
  a.aluImmediate(Alu.ADD, true, 3, signalFrame.sp);
  readUser(slot.words, 16, broken);
  load(1, slot.words);
  store(slot.sp, 1);
  load(ADDRESS, slot.words + 8);
  store(slot.call, ADDRESS);
  a.jump(next);
  begin(UnwindKind.rsp);
  load(4, slot.sp);
  a.alu(Alu.ADD, true, 4, 2);

  // The return address lies right below the caller's frame, and often rbp below that: one read for both.
  a.bind(frame);
  load(1, slot.sp);
  a.jumpIf(Jump.JLE, true, 4, 1, broken);
  store(slot.sp, 4);
  move(3, 4);
  a.aluImmediate(Alu.ADD, true, 3, -16);
  readUser(slot.words, 16, broken);
  load(ADDRESS, slot.words + 8);
  if (instances) replaced(instances);
  isReturn();
  load(1, slot.rbpRule);
  a.jumpIfImmediate(Jump.JEQ, true, 1, SavedRbp.same, next);
  const [elsewhere, below, lost] = [a.label(), a.label(), a.label()];
  a.jumpIfImmediate(Jump.JNE, true, 1, 2, elsewhere);
  load(2, slot.words);
  store(slot.bp, 2);
  a.jump(next);
  a.bind(elsewhere);
  a.jumpIfImmediate(Jump.JEQ, true, 1, SavedRbp.lost, lost);
  load(3, slot.bp);
  a.jumpIfImmediate(Jump.JEQ, true, 1, SavedRbp.atRbp, below);
  load(3, slot.sp);
  a.aluImmediate(Alu.LSH, true, 1, 3);
  a.alu(Alu.SUB, true, 3, 1);
  a.bind(below);
  readUser(slot.bp, 8, lost);
  a.jump(next);
  a.bind(lost);
  a.storeImmediate(8, MEMORY, slot.bp, 0);
  a.jump(next);

  // Code without a table: of a just-in-time compiler, or not known yet.
  a.bind(pointer);
  load(3, slot.bp);
  a.jumpIfImmediate(Jump.JEQ, true, 3, 0, done);
  load(1, slot.sp);
  a.jumpIf(Jump.JLT, true, 3, 1, broken);
  readUser(slot.words, 16, broken);
  load(1, slot.bp);
  a.aluImmediate(Alu.ADD, true, 1, 16);
  store(slot.sp, 1);
  load(1, slot.words);
  store(slot.bp, 1);
  load(ADDRESS, slot.words + 8);
  isReturn();

  a.bind(next);
  if (round !== undefined) {
    a.jumpIfImmediate(Jump.JNE, true, ADDRESS, 0, round);
    a.jump(done);
  } else {
    a.jumpIfImmediate(Jump.JEQ, true, ADDRESS, 0, done);
    store(goesOn, ADDRESS);
    set(0, 0);
    a.exit();
  }

  a.bind(broken);
  a.load(4, false, 1, MEMORY, 4);
  a.jumpIfImmediate(Jump.JNE, true, 1, 0, done);
  a.storeImmediate(4, MEMORY, 4, cutStack.broken);
  a.bind(done);
  if (called === undefined) finish();
  else {
    set(0, 1);
    a.exit();
  }
}

/** A callback of bpf_find_vma: r2 is the memory area, r3 leads to the memory that gets its `area`. */
export function writeMappedFile(a: Assembler<RelocationNote>, files: MappedFiles): void {
  const anonymous = a.label();
  a.load(8, false, 4, 3, 0);
  a.load(8, false, 1, 2, files.area.start);
  a.store(8, 4, area.start, 1);
  a.load(8, false, 5, 2, files.area.end);
  a.store(8, 4, area.end, 5);
  a.load(8, false, 5, 2, files.area.page);
  a.aluImmediate(Alu.LSH, true, 5, pageShift);
  a.alu(Alu.SUB, true, 5, 1);
  a.store(8, 4, area.toFile, 5);
  a.load(8, false, 2, 2, files.area.file);
  a.jumpIfImmediate(Jump.JEQ, true, 2, 0, anonymous);
  a.load(8, false, 2, 2, files.inode);
  a.load(8, false, 1, 2, files.number);
  a.store(8, 4, area.inode, 1);
  a.load(8, false, 2, 2, files.superBlock);
  a.load(4, false, 1, 2, files.device);
  a.store(8, 4, area.device, 1);
  a.bind(anonymous);
  a.aluImmediate(Alu.MOV, true, 0, 0);
  a.exit();
}
/** vm_pgoff counts pages. */
const pageShift = 12;
