// One handler (with the map callbacks it calls) to eBPF.
import { Assembler, type Label } from "../../bpf/assembler.ts";
import { Alu, FRAME, Jump } from "../../bpf/instruction.ts";
import type { Instruction, IrBlock, IrFunction, IrModule, Value } from "../ir.ts";
import type { KernelMap, Relocation } from "../plan.ts";
import { aggregate, aggregateRead } from "./aggregations.ts";
import { allocateRegisters } from "./allocate.ts";
import { writeMatch } from "./dispatch.ts";
import { addressOf, at, behind, kernelMap } from "./emitter.ts";
import { layOutFrame } from "./frame.ts";
import { writeEnd, writeGate } from "./gate.ts";
import { type MachineInstruction, type Memory, NO_OBJECT, type Register, type RelocationNote } from "./machine.ts";
import {
  COUNTING, entryCopy, entryLoad, forEachEntry, mapAdd, mapCopy, mapDelete, mapHas, mapLength, mapLoad, mapLookup, mapStore,
} from "./map-operations.ts";
import { concatStrings, cutString, fill, zero } from "./memory.ts";
import { emitEvent, emitPacket, overrideReturn, printSequence, sendSignal, socketCookie, storeAddress, writeUser } from "./output.ts";
import {
  branchOnCompare, context, generateAddressOf, generateBinary, generateBuiltin, generateCompare, generateExtend, generatePercpuAddress, generateRead,
  generateSwapBytes, storeValue,
} from "./scalars.ts";
import { CROWDED_BYTES, FunctionScope, type GenerateOptions, temporaryBytes, unwinds } from "./scope.ts";
import { stackLength } from "./stacks.ts";
import { compareMemory, compareWithConstant, findString, stringLength } from "./strings.ts";
import { crowdedSlots, uncountedBlocks, withoutNeedlessGuards } from "./uncounted.ts";
import { UNWINDER, UNWINDER_STACK } from "./unwinding.ts";

export type { GenerateOptions } from "./scope.ts";

export interface GeneratedProgram {
  readonly code: Uint8Array;
  readonly relocations: readonly Relocation[];
  readonly subprograms: readonly { readonly name: string; readonly start: number }[];
  readonly frame: number;
}

/** The kernel's limit for a program and the functions it calls together; each part is rounded up to 32. */
const STACK_BYTES = 512;
/** may_goto keeps its count (and, on newer kernels, its deadline) below our frame. */
const MAY_GOTO_BYTES = 16;
/** A callback's frame at most, so that its caller can have the rest. */
const CALLBACK_BYTES = 192;
/** Slots larger than this go to scratch memory. */
const LARGE_SLOT = 256;

/** Generates a handler and, behind it, the callbacks it needs. Throws when the program is beyond what eBPF can hold. */
export function generateProgram(fn: IrFunction, module: IrModule, options: GenerateOptions): GeneratedProgram {
  const programType = fn.context?.programType ?? "raw_tracepoint";
  const assembler = new Assembler<RelocationNote>();
  const callbackLabels = new Map<number, Label>();
  const labelOf = (callback: number): Label => {
    let label = callbackLabels.get(callback);
    if (label === undefined) {
      label = assembler.label();
      callbackLabels.set(callback, label);
    }
    return label;
  };
  // Callbacks first: what stack they leave is the handler's.
  const callbacks = new Map<number, Finished>();
  const levels = callbackLevels(fn, module);
  const called = [...levels.keys()];
  let scratchEnd = 0;
  for (const index of called) {
    const callback = module.functions[index];
    if (callback === undefined) throw new Error(`there is no function ${index}`);
    const finished = generateFunction(callback, module, options, programType, callbackBytes(levels.get(index) ?? 1), scratchEnd);
    scratchEnd = finished.scratchEnd;
    callbacks.set(index, finished);
  }
  const counts = [fn, ...called.map((index) => module.functions[index])].some((one) => one?.blocks.some(({ instructions }) => instructions.some(({ op }) => op === "map-length")));
  const part = (frame: number): number => Math.max(32, Math.ceil(frame / 32) * 32);
  const below = (one: IrFunction | undefined): number => (one !== undefined && unwinds(one) > 0 ? UNWINDER_STACK : 0);
  // What stands on the stack at most while a function's callbacks run, loops within loops included.
  const under = (one: IrFunction | undefined): number => Math.max(below(one), ...calledBy(one).map((index) => (
    part(callbacks.get(index)?.frame ?? 0) + under(module.functions[index]))));
  const deepest = Math.max(counts ? 32 : 0, under(fn));
  const main = generateFunction(fn, module, options, programType, STACK_BYTES - deepest, scratchEnd);
  const available = scratchSize(options);
  if (main.scratchEnd > available) throw new Error(`${fn.name} needs ${main.scratchEnd} bytes of scratch memory, and has ${available}`);

  const entry = assembler.here();
  write(main, assembler, labelOf);
  const subprograms: { name: string; label: Label }[] = [{ name: fn.name, label: entry }];
  for (const [index, finished] of callbacks) {
    const label = labelOf(index);
    assembler.bind(label);
    subprograms.push({ name: module.functions[index]?.name ?? "callback", label });
    write(finished, assembler, labelOf);
  }
  const counting = callbackLabels.get(COUNTING);
  if (counting !== undefined) {
    assembler.bind(counting);
    subprograms.push({ name: "count_entry", label: counting });
    assembler.aluImmediate(Alu.MOV, true, 0, 0);
    assembler.exit();
  }
  const unwinder = callbackLabels.get(UNWINDER);
  if (unwinder !== undefined) {
    const { callsRounds, writeMappedFile, writeUnwinder } = require("./unwinder.ts") as typeof import("./unwinder.ts");
    assembler.bind(unwinder);
    subprograms.push({ name: "unwind", label: unwinder });
    const find = (kind: KernelMap["role"]["kind"]): number => options.kernelMaps.findIndex(({ role }) => role.kind === kind);
    const maps = { processes: find("unwind-processes"), nodes: find("unwind-nodes"), wanted: find("unwind-wanted"), files: find("unwind-files") };
    const { returnInstances: instances, mappedFiles: files, capabilities: { mayGoto } } = options;
    const mappedFile = files && assembler.label();
    const round = callsRounds(options.capabilities) ? assembler.label() : undefined;
    writeUnwinder(assembler, maps, { instances, mappedFile, mayGoto, round });
    if (round !== undefined) subprograms.push({ name: "unwind_frame", label: round });
    if (files && mappedFile !== undefined) {
      subprograms.push({ name: "mapped_file", label: mappedFile });
      assembler.bind(mappedFile);
      writeMappedFile(assembler, files);
    }
  }
  const { code, patches } = assembler.finish();
  return {
    code,
    relocations: patches.map(({ instruction, note }) => ({ ...note, instruction })),
    subprograms: subprograms.map(({ name, label }) => ({ name, start: assembler.position(label) })),
    frame: main.frame,
  };
}

/**
 * The most scratch memory that a handler can need, for the size of the scratch map's values: a PERCPU_ARRAY with one entry a
 * program that needs any. 0 when everything fits the stack for sure.
 */
export function scratchBytes(fn: IrFunction, module: IrModule, sparing = false): number {
  const functions = [fn, ...[...callbackLevels(fn, module).keys()].flatMap((index) => module.functions[index] ?? [])];
  let total = 0;
  for (const one of functions) {
    const slots = one.slots.reduce((sum, { size }) => sum + Math.ceil(size / 8) * 8, 0);
    if (slots > SURE_BYTES || crowdedSlots(one, sparing ? 0 : BRANCHES_ON_STACK).size > 0) total += slots + (uncountedBlocks(one).size > 0 ? CROWDED_BYTES : 0);
    total += Math.ceil(temporaryBytes(one, module) / 8) * 8;
  }
  return total;
}

/** Slots up to this always fit, beside callbacks, temporaries and spilled registers. */
const SURE_BYTES = 128;

function scratchSize(options: GenerateOptions): number {
  return options.kernelMaps.find((map) => map.role.kind === "scratch")?.valueSize ?? 0;
}

/** All callbacks that a handler comes to, and how deep: a loop's in a loop is at 2. */
function callbackLevels(fn: IrFunction, module: IrModule): ReadonlyMap<number, number> {
  const levels = new Map<number, number>();
  const visit = (one: IrFunction | undefined, level: number): void => {
    for (const index of calledBy(one)) {
      levels.set(index, Math.max(level, levels.get(index) ?? 0));
      visit(module.functions[index], level + 1);
    }
  };
  visit(fn, 1);
  return levels;
}

/** All frames of a chain of calls share the stack. */
function callbackBytes(level: number): number {
  return level === 1 ? CALLBACK_BYTES : Math.max(64, CALLBACK_BYTES >> (level - 1));
}

function calledBy(fn: IrFunction | undefined): number[] {
  const found = new Set<number>();
  for (const { instructions } of fn?.blocks ?? []) {
    for (const instruction of instructions) if (instruction.op === "for-each") found.add(instruction.callback);
  }
  return [...found];
}

interface Finished {
  readonly code: readonly MachineInstruction[];
  readonly labels: number;
  readonly offsets: readonly number[];
  readonly frame: number;
  readonly scratchEnd: number;
}

/** Tries with all small slots on the stack; while that is too much, the largest goes to scratch memory. */
function generateFunction(whole: IrFunction, module: IrModule, options: GenerateOptions, programType: FunctionScope["programType"], budget: number, scratchStart: number): Finished {
  const fn = withoutNeedlessGuards(whole, options.capabilities, options.sparing ?? false);
  const pinned = new Set<number>();
  for (const { instructions } of fn.blocks) {
    for (const instruction of instructions) if (instruction.op === "for-each" && instruction.captures !== undefined) pinned.add(instruction.captures);
  }
  const crowded = crowdedSlots(fn, branchesOnStack(options, fn));
  const pointers = crowded.size === 0 ? crowded : slotsOfPointers(new FunctionScope(fn, module, options, programType, crowded, scratchStart));
  const moved = new Set(fn.slots.flatMap(({ size }, slot) => (
    !pinned.has(slot) && (size > LARGE_SLOT || (crowded.has(slot) && !pointers.has(slot))) ? [slot] : [])));
  for (;;) {
    const scope = new FunctionScope(fn, module, options, programType, moved, scratchStart);
    const { emitter } = scope;
    select(scope);
    const limit = emitter.code.some(({ kind }) => kind === "may-goto") ? MAY_GOTO_BYTES : 0;
    const bytes = budget - limit;
    allocateRegisters(emitter, { straightens: scope.does("short-ways"), joins: scope.does("join-copies") });
    const { offsets, size } = layOutFrame(emitter.code, emitter.objects);
    if (size <= bytes) {
      return { code: emitter.code, labels: emitter.labelCount, offsets, frame: size + limit, scratchEnd: scope.scratchEnd };
    }
    const candidates = fn.slots.flatMap((slot, index) => (moved.has(index) || pinned.has(index) ? [] : [{ index, size: slot.size }]));
    if (candidates.length === 0) throw new Error(`${fn.name} needs ${size} bytes of stack, and has ${bytes}`);
    candidates.sort((a, b) => b.size - a.size);
    let over = size - bytes;
    for (const { index, size: slotSize } of candidates) {
      if (over <= 0) break;
      moved.add(index);
      over -= slotSize;
    }
  }
}

/** How many branches the loops of a function may have whose slots are on the stack (uncounted.ts). */
function branchesOnStack({ sparing }: GenerateOptions, { context }: IrFunction): number {
  if (sparing) return 0;
  // Another run of the handler may come between, and have the same scratch memory.
  return context?.programType === "kprobe" && context.defaultSpace === "user" ? Infinity : BRANCHES_ON_STACK;
}
const BRANCHES_ON_STACK = 6;

/** Slots with pointers that are to be loaded through: only on the stack the verifier still knows them. */
function slotsOfPointers({ fn, pointers }: FunctionScope): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { instructions } of fn.blocks) {
    for (const i of instructions) if (i.op === "store" && i.to.kind === "slot" && pointers.has(i.value)) found.add(i.to.slot);
  }
  return found;
}

/** Instruction selection: IR to machine instructions over virtual registers. */
function select(scope: FunctionScope): void {
  const { emitter, fn } = scope;
  const callback = fn.kind === "map-callback";
  const body = emitter.code;
  if (!callback) {
    scope.context = emitter.register();
    const { dispatch, leavesLate } = fn.context ?? {};
    const { gate } = scope.options;
    if (dispatch !== undefined || gate !== undefined || leavesLate) {
      const out = emitter.label();
      if (leavesLate) writeEnd(scope, out);
      if (dispatch !== undefined) writeMatch(scope, dispatch, fn.matches, out);
      if (gate !== undefined) writeGate(scope, gate, out);
      emitter.cold(() => {
        emitter.bind(out);
        leave(scope, undefined);
      });
    }
  } else {
    scope.key = emitter.register();
    scope.value = emitter.register();
    scope.captures = emitter.register();
  }
  scope.writeLate = (instruction) => generateInstruction(scope, instruction);
  const gate = body.length;
  fn.blocks.forEach((block, index) => {
    scope.enterBlock(index);
    emitter.bind(scope.blockLabels[index] ?? 0);
    if (scope.options.sparing || scope.untracked !== undefined) forgetChoices(scope, index);
    for (const instruction of block.instructions) if (!isLate(scope, instruction)) generateInstruction(scope, instruction);
    generateTerminator(scope, block);
  });
  emitter.flushCold();

  // What comes before everything: known only now.
  emitter.code = [];
  emitter.emit({ kind: "enter", parameters: callback ? 4 : 1 });
  if (callback) {
    emitter.move(scope.key, 2);
    emitter.move(scope.value, 3);
    emitter.move(scope.captures, 4);
  } else emitter.move(scope.context, 1);
  emitter.code.push(...body.slice(0, gate));
  for (const counter of guardCounters(scope)) emitter.storeConstant(counter, 8, 0n);
  if (scope.scratchRegister >= 0) {
    const key = emitter.temporary(8);
    emitter.storeConstant(key, 4, BigInt(scope.options.scratchIndex ?? 0));
    emitter.call("map_lookup_elem", kernelMap(scope.scratchMap), addressOf(key));
    emitter.move(scope.scratchRegister, 0);
    const found = emitter.label();
    emitter.branchConstant(Jump.JNE, scope.scratchRegister, 0n, found);
    leave(scope, undefined);
    emitter.bind(found);
  }
  for (const instruction of body.slice(gate)) emitter.code.push(instruction);
}

function isLate({ late }: FunctionScope, instruction: Instruction): boolean {
  return "result" in instruction && instruction.result !== undefined && late.get(instruction.result) === instruction;
}

function generateInstruction(scope: FunctionScope, instruction: Instruction): void {
  const { emitter } = scope;
  switch (instruction.op) {
    case "constant": return;
    case "binary": return generateBinary(scope, instruction);
    case "compare": return generateCompare(scope, instruction);
    case "extend": return generateExtend(scope, instruction);
    case "swap-bytes": return generateSwapBytes(scope, instruction);
    case "builtin": return generateBuiltin(scope, instruction);
    case "load-context":
      return scope.loadExtended(scope.resultRegister(instruction.result), behind(context(scope), instruction.offset), instruction.size, instruction.signed, true);
    case "load": return scope.loadExtended(scope.resultRegister(instruction.result), scope.place(instruction.from), instruction.size, instruction.signed);
    case "store": {
      const to = scope.place(instruction.to);
      const captured = instruction.to.kind === "callback" && instruction.to.of === "captures" && instruction.size === 8;
      if (captured && scope.constantOf(instruction.value) === undefined && !scope.pointers.has(instruction.value)) {
        return storeInHalves(scope, to, scope.use(instruction.value));
      }
      return storeValue(scope, to, instruction.size, instruction.value);
    }
    case "zero": return zero(scope, scope.place(instruction.at), instruction.size);
    case "read": return generateRead(scope, instruction);
    case "fill": {
      const length = fill(scope, scope.place(instruction.to), instruction.source, instruction.length !== undefined);
      if (instruction.length !== undefined) emitter.move(scope.resultRegister(instruction.length), length ?? emitter.constant(0n));
      return;
    }
    case "compare-strings": {
      const left = scope.place(instruction.left);
      const differs = instruction.right instanceof Uint8Array
        ? compareWithConstant(scope, left, instruction.right, instruction.length)
        : compareMemory(scope, left, scope.place(instruction.right), instruction.length);
      return emitter.move(scope.resultRegister(instruction.result), differs);
    }
    case "compare-bytes":
      return emitter.move(scope.resultRegister(instruction.result), compareMemory(scope, scope.place(instruction.left), scope.place(instruction.right), instruction.length));
    case "find-string":
      return emitter.move(scope.resultRegister(instruction.result), findString(scope, scope.place(instruction.text), instruction.capacity, instruction.needle, instruction.needleCapacity));
    case "concat-strings": {
      const { to, capacity, left, leftCapacity, right, rightCapacity } = instruction;
      return concatStrings(scope, { memory: scope.place(to), capacity }, { memory: scope.place(left), capacity: leftCapacity }, { memory: scope.place(right), capacity: rightCapacity });
    }
    case "cut-string":
      return cutString(scope, { memory: scope.place(instruction.to), capacity: instruction.capacity }, scope.place(instruction.text), scope.useScalar(instruction.length));
    case "string-length":
      return emitter.move(scope.resultRegister(instruction.result), stringLength(scope, scope.place(instruction.text), instruction.capacity));
    case "map-lookup": return mapLookup(scope, instruction);
    case "entry-load": return entryLoad(scope, instruction);
    case "entry-copy": return entryCopy(scope, instruction);
    case "map-load": return mapLoad(scope, instruction);
    case "map-copy": return mapCopy(scope, instruction);
    case "map-has": return mapHas(scope, instruction);
    case "map-store": return mapStore(scope, instruction);
    case "map-add": return mapAdd(scope, instruction);
    case "map-delete": return mapDelete(scope, instruction);
    case "map-length": return mapLength(scope, instruction);
    case "aggregate": return aggregate(scope, instruction);
    case "aggregate-read": return aggregateRead(scope, instruction);
    case "for-each": return forEachEntry(scope, instruction);
    case "emit": return emitEvent(scope, instruction);
    case "stack-length": return stackLength(scope, scope.resultRegister(instruction.result), instruction.stack);
    case "signal": return sendSignal(scope, instruction);
    case "override": return overrideReturn(scope, instruction);
    case "write-user": return writeUser(scope, instruction);
    case "percpu-address": return generatePercpuAddress(scope, instruction);
    case "address-of": return generateAddressOf(scope, instruction);
    case "socket-cookie": return socketCookie(scope, instruction);
    case "sequence-print": return printSequence(scope, instruction);
    case "packet": return emitPacket(scope, instruction);
    case "parse-address": return storeAddress(scope, instruction);
  }
}

function generateTerminator(scope: FunctionScope, block: IrBlock): void {
  const { emitter } = scope;
  const { terminator } = block;
  const label = (target: number): number => scope.blockLabels[target] ?? 0;
  switch (terminator.op) {
    case "jump":
      moveArguments(scope, scope.fn.blocks[terminator.to]?.parameters ?? [], terminator.args);
      return emitter.jump(label(terminator.to));
    case "branch": {
      const known = scope.constantOf(terminator.condition);
      if (known !== undefined) return emitter.jump(label(known !== 0n ? terminator.then : terminator.otherwise));
      const compare = scope.fused.has(terminator.condition) ? scope.definitions.get(terminator.condition) : undefined;
      // The branch not taken falls through when its block is written next (jumps to the next instruction are dropped).
      if (compare?.op === "compare") branchOnCompare(scope, compare, label(terminator.otherwise), true);
      else emitter.branchConstant(Jump.JEQ, scope.use(terminator.condition), 0n, label(terminator.otherwise));
      return emitter.jump(label(terminator.then));
    }
    case "guard":
      if (scope.options.capabilities.mayGoto) {
        emitter.emit({ kind: "may-goto", to: label(terminator.exit) });
        for (const parameter of block.parameters) if (!scope.pointers.has(parameter)) forget(scope, scope.resultRegister(parameter));
      } else countRound(scope, label(terminator.exit));
      return emitter.jump(label(terminator.body));
    case "return": return leave(scope, terminator.stop);
  }
}

/**
 * Makes the verifier forget what it knows about a number: through scratch memory when there is some anyway, else through the
 * stack in halves, which it does not follow either. A loop whose
 * variables it knows nothing about looks the same in every round, so that it walks through it once; else one branch on a
 * counter is enough to make it follow the counter to its end.
 */
function forget(scope: FunctionScope, register: Register): void {
  const { emitter, untracked } = scope;
  if (untracked !== undefined) {
    emitter.store(untracked, 8, register);
    emitter.load(register, untracked, 8);
    return;
  }
  const memory = emitter.temporary(8);
  const high = emitter.copy(register);
  emitter.aluConstant(Alu.RSH, high, 32n);
  emitter.store(memory, 4, register);
  emitter.store(at(memory, 4), 4, high);
  // Loaded as they were stored: one load of both would wait for the stores to leave the processor's store buffer.
  const again = emitter.register();
  emitter.load(register, memory, 4);
  emitter.load(again, at(memory, 4), 4);
  emitter.aluConstant(Alu.LSH, again, 32n);
  emitter.alu(Alu.OR, register, again);
}

/** Numbers that are one constant or another: the verifier would follow the rest of the program for each by itself. */
function forgetChoices(scope: FunctionScope, to: number): void {
  const { constants, pointers, options: { sparing }, fn: { blocks } } = scope;
  const ways = blocks.flatMap(({ terminator }, from) => (terminator.op === "jump" && terminator.to === to ? [{ from, args: terminator.args }] : []));
  // What changes from round to round is a guard's to forget, or what tells the verifier when the loop ends.
  if (ways.some(({ from }) => from >= to)) return;
  blocks[to]?.parameters.forEach((parameter, i) => {
    if (pointers.has(parameter)) return;
    if (sparing || ways.some(({ args }) => constants.has(args[i] ?? parameter))) forget(scope, scope.resultRegister(parameter));
  });
}

/**
 * A variable that a callback changes is the same to the verifier: a counter that is compared, kept as it is known, would be
 * followed through a round for each number.
 */
function storeInHalves(scope: FunctionScope, to: Memory, value: Register): void {
  const { emitter } = scope;
  const high = emitter.copy(value);
  emitter.aluConstant(Alu.RSH, high, 32n);
  emitter.store(to, 4, value);
  emitter.store(at(to, 4), 4, high);
}

/** All at once: a parameter may be another one's argument. */
function moveArguments(scope: FunctionScope, parameters: readonly Value[], args: readonly Value[]): void {
  const { emitter } = scope;
  let pending = parameters.flatMap((parameter, i) => {
    const argument = args[i];
    return argument === undefined || argument === parameter ? [] : [{ to: scope.resultRegister(parameter), argument }];
  });
  const sourceOf = (argument: Value): number => (scope.constantOf(argument) === undefined ? scope.resultRegister(argument) : -1);
  let moves = pending.map(({ to, argument }) => ({ to, from: sourceOf(argument), argument }));
  pending = [];
  while (moves.length > 0) {
    const ready = moves.find(({ to }) => !moves.some((other) => other.from === to && other.to !== to));
    if (ready === undefined) {
      // A ring: one of them steps aside.
      const first = moves[0];
      if (first === undefined) return;
      const aside = emitter.copy(first.from);
      moves = moves.map((move) => (move.from === first.from ? { ...move, from: aside } : move));
      continue;
    }
    const known = scope.constantOf(ready.argument);
    if (known === undefined) emitter.move(ready.to, ready.from);
    else emitter.set(ready.to, known);
    moves = moves.filter((move) => move !== ready);
  }
}

function leave(scope: FunctionScope, stop: boolean | undefined): void {
  // What has an address is in use to the end.
  for (const slot of scope.addressed) scope.emitter.touch(scope.slot(slot));
  const result = scope.fn.kind === "map-callback" ? (stop === true ? 1 : 0) : scope.fn.context?.result ?? 0;
  scope.emitter.set(0, BigInt(result));
  scope.emitter.emit({ kind: "exit" });
}

/** Rounds of a loop on kernels without may_goto: few, since the verifier walks through them all. */
const ROUNDS = 1024n;
const counters = new WeakMap<FunctionScope, ReturnType<FunctionScope["emitter"]["temporary"]>[]>();

function guardCounters(scope: FunctionScope): readonly ReturnType<FunctionScope["emitter"]["temporary"]>[] {
  return counters.get(scope) ?? [];
}
function countRound(scope: FunctionScope, exit: number): void {
  const { emitter } = scope;
  const counter = emitter.temporary(8);
  counters.set(scope, [...guardCounters(scope), counter]);
  const rounds = emitter.register();
  emitter.load(rounds, counter, 8);
  emitter.branchConstant(Jump.JGE, rounds, ROUNDS, exit);
  emitter.add(rounds, 1);
  emitter.store(counter, 8, rounds);
}

/** Machine instructions to the assembler's. */
function write({ code, labels, offsets }: Finished, assembler: Assembler<RelocationNote>, callback: (index: number) => Label): void {
  const own = Array.from({ length: labels }, () => assembler.label());
  const label = (index: number): Label => own[index] ?? 0;
  const offsetOf = (object: number, offset: number): number => (object === NO_OBJECT ? offset : (offsets[object] ?? 0) + offset);
  for (const instruction of code) {
    switch (instruction.kind) {
      case "alu":
        assembler.alu(instruction.operation, instruction.wide, instruction.dst, instruction.src, instruction.signed ? 1 : 0);
        break;
      case "alu-immediate":
        assembler.aluImmediate(instruction.operation, instruction.wide, instruction.dst, instruction.immediate, instruction.signed ? 1 : 0);
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
        if (instruction.value === BigInt.asIntN(32, instruction.value)) assembler.aluImmediate(Alu.MOV, true, instruction.dst, Number(instruction.value));
        else if (instruction.value === BigInt.asUintN(32, instruction.value)) assembler.aluImmediate(Alu.MOV, false, instruction.dst, Number(instruction.value) | 0);
        else assembler.constant64(instruction.dst, instruction.value);
        break;
      case "patched":
        assembler.patched(instruction.dst, instruction.pseudo, instruction.note.kind === "map-value" ? instruction.note.offset : 0, instruction.note);
        break;
      case "function":
        assembler.functionAddress(instruction.dst, callback(instruction.callback));
        break;
      case "frame-address":
        assembler.alu(Alu.MOV, true, instruction.dst, FRAME);
        assembler.aluImmediate(Alu.ADD, true, instruction.dst, offsetOf(instruction.object, instruction.offset));
        break;
      case "load":
        assembler.load(instruction.width, instruction.signed, instruction.dst, instruction.base, offsetOf(instruction.object, instruction.offset));
        break;
      case "store":
        assembler.store(instruction.width, instruction.base, offsetOf(instruction.object, instruction.offset), instruction.src);
        break;
      case "store-immediate":
        assembler.storeImmediate(instruction.width, instruction.base, offsetOf(instruction.object, instruction.offset), instruction.immediate);
        break;
      case "atomic":
        assembler.atomic(instruction.operation, 8, instruction.base, offsetOf(instruction.object, instruction.offset), instruction.src);
        break;
      case "jump":
        assembler.jump(label(instruction.to));
        break;
      case "branch":
        assembler.jumpIf(instruction.condition, instruction.wide, instruction.left, instruction.right, label(instruction.to));
        break;
      case "branch-immediate":
        assembler.jumpIfImmediate(instruction.condition, instruction.wide, instruction.left, instruction.immediate, label(instruction.to));
        break;
      case "may-goto":
        assembler.mayGoto(label(instruction.to));
        break;
      case "call":
        assembler.call(instruction.helper);
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
      case "touch": break;
    }
  }
}
