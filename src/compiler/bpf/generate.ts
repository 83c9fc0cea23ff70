// One handler (with the map callbacks it calls) to eBPF.
import { Assembler, type Label } from "../../bpf/assembler.ts";
import { Alu } from "../../bpf/instruction.ts";
import { InternalError } from "../../base/internal-error.ts";
import { kernelFeatures, kernelHas } from "../../base/kernel-features.ts";
import type { IrFunction, IrModule } from "../ir/ir.ts";
import type { Relocation } from "./bpf-plan.ts";
import { allocateRegisters, mostScratchBytes, TooLarge, TooMuchMemory } from "./allocate.ts";
import { assemble, type Finished } from "./assemble.ts";
import type { CalledLoops } from "./called-loops.ts";
import { layOut } from "./frame.ts";
import type { RelocationNote } from "./machine.ts";
import { COUNTING } from "./map-operations.ts";
import {
  CROWDED_BYTES,
  FunctionScope,
  type GenerateOptions,
  slotsOfPointers,
  temporaryBytes,
  stacksOf,
  unwinds,
} from "./scope.ts";
import { isPooled, ownerBytes } from "./scratch.ts";
import { select } from "./select.ts";
import { crowdedSlots, uncountedBlocks, withoutNeedlessGuards } from "./uncounted.ts";
import { STACK_HASH } from "../layouts/stack-numbers.ts";
import { writeStackHash } from "./stack-hash.ts";
import { UNWINDER, UNWINDER_STACK } from "../layouts/unwind-layout.ts";
import { lazy } from "../../base/lazy.ts";
import { limitReasons } from "../../messages/on-demand.ts";

const callingLoops = lazy<typeof import("./called-loops.ts")>(() => require("./called-loops.ts"));
const unwinderCode = lazy<typeof import("./unwinder.ts")>(() => require("./unwinder.ts"));

export interface GeneratedProgram {
  readonly code: Uint8Array;
  readonly relocations: readonly Relocation[];
  readonly subprograms: readonly { readonly name: string; readonly start: number }[];
  readonly frame: number;
  /** Bytes of scratch memory that it uses. */
  readonly scratch: number;
}

/** The kernel's limit for a program and the functions it calls together; each part is rounded up to 32. */
const STACK_BYTES = 512;
/** may_goto keeps its count (and, on newer kernels, its deadline) below our frame. */
const MAY_GOTO_BYTES = 16;
/** A callback's frame at most, so that its caller can have the rest. */
const CALLBACK_BYTES = 192;
/** Slots larger than this go to scratch memory. */
const LARGE_SLOT = 256;
/** What a map callback shares with its caller is on the stack up to this, where it is reached without a load. */
const SHARED_ON_STACK = 128;

/** Generates a handler and, behind it, the callbacks it needs. Throws when the program is beyond what eBPF can hold. */
export function generateProgram(fn: IrFunction, module: IrModule, options: GenerateOptions): GeneratedProgram {
  const called = calledLoops(fn, module, options);
  if (called !== undefined) {
    try {
      return writeProgram(called.fn, called.module, options, called.shared);
    } catch (error) {
      // Rounds that are called need more of the stack.
      if (!(error instanceof TooLarge)) throw error;
    }
  }
  return writeProgram(fn, module, options, 0);
}

/** With loops whose rounds are called, where the verifier gave up on those that it walks one by one. */
function calledLoops(fn: IrFunction, module: IrModule, options: GenerateOptions): CalledLoops | undefined {
  if (!callsLoops(options)) return undefined;
  const { withCalledLoops } = callingLoops();
  return withCalledLoops(fn, module, callbackLevels(fn, module).keys(), options);
}

function callsLoops({ easyToVerify, capabilities }: Partial<GenerateOptions>): boolean {
  return (
    easyToVerify === true &&
    capabilities?.mayGoto === false &&
    kernelHas(capabilities.kernel, kernelFeatures.calledLoops)
  );
}

function writeProgram(fn: IrFunction, module: IrModule, given: GenerateOptions, shared: number): GeneratedProgram {
  const programType = fn.context?.program.type ?? "raw_tracepoint";
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
  const options = { ...given, sharingByPointer: sharingByPointer(fn, called, module, given, programType) };
  let scratchEnd = shared;
  for (const index of called) {
    const callback = module.functions[index];
    if (callback === undefined) throw new InternalError(`there is no function ${index}`);
    const finished = generateFunction(
      callback,
      module,
      { ...options, sharesByPointer: options.sharingByPointer.has(index) },
      programType,
      callbackBytes(levels.get(index) ?? 1),
      scratchEnd,
    );
    scratchEnd = finished.scratchEnd;
    callbacks.set(index, finished);
  }
  const part = (frame: number): number => Math.max(32, Math.ceil(frame / 32) * 32);
  /** What it calls beside callbacks of its own: to unwind; and to count entries and hash stacks, by functions without a frame. */
  const below = (one: IrFunction | undefined): number =>
    Math.max(
      one !== undefined && unwinds(one) > 0 ? UNWINDER_STACK : 0,
      one?.blocks.some(({ instructions }) => instructions.some(({ op }) => op === "map-length")) ? part(0) : 0,
      one !== undefined && stacksOf(one).some(({ unwind }) => !unwind) ? part(0) : 0,
    );
  // What stands on the stack at most while a function's callbacks run, loops within loops included.
  const under = (one: IrFunction | undefined): number =>
    Math.max(
      below(one),
      ...calledBy(one).map((index) => part(callbacks.get(index)?.frame ?? 0) + under(module.functions[index])),
    );
  const main = generateFunction(fn, module, options, programType, STACK_BYTES - under(fn), scratchEnd);
  const available = scratchSize(options);
  if (main.scratchEnd > available)
    throw new InternalError(`${fn.name} needs ${main.scratchEnd} bytes of scratch memory, and has ${available}`);

  const entry = assembler.here();
  assemble(main, assembler, labelOf);
  const subprograms: { name: string; label: Label }[] = [{ name: fn.name, label: entry }];
  // Only what is called, which is known when its caller is written: the verifier refuses functions that no way leads
  // to.
  for (const [index, label] of callbackLabels) {
    const finished = callbacks.get(index);
    if (finished === undefined) continue;
    assembler.bind(label);
    subprograms.push({ name: module.functions[index]?.name ?? "callback", label });
    assemble(finished, assembler, labelOf);
  }
  const counting = callbackLabels.get(COUNTING);
  if (counting !== undefined) {
    assembler.bind(counting);
    subprograms.push({ name: "count_entry", label: counting });
    assembler.aluImmediate(Alu.MOV, true, 0, 0);
    assembler.exit();
  }
  const stackHash = callbackLabels.get(STACK_HASH);
  if (stackHash !== undefined) {
    assembler.bind(stackHash);
    subprograms.push({ name: "stack_hash", label: stackHash });
    writeStackHash(assembler);
  }
  const unwinder = callbackLabels.get(UNWINDER);
  if (unwinder !== undefined) {
    const { writeUnwinder } = unwinderCode();
    subprograms.push(...writeUnwinder(assembler, unwinder, options));
  }
  const { code, patches } = assembler.finish();
  return {
    code,
    relocations: patches.map(({ instruction, note }) => ({ ...note, instruction })),
    subprograms: subprograms.map(({ name, label }) => ({ name, start: assembler.position(label) })),
    frame: main.frame,
    scratch: main.scratchEnd,
  };
}

/**
 * The most scratch memory that a handler can need, if it needs any at all; how much it is, is known once it is written.
 * A PERCPU_ARRAY with one entry a program that needs any. 0 when everything fits the stack for sure.
 */
export function scratchBytes(fn: IrFunction, module: IrModule, options: Partial<GenerateOptions> = {}): number {
  const functions = [fn, ...[...callbackLevels(fn, module).keys()].flatMap((index) => module.functions[index] ?? [])];
  let total = 0;
  for (const one of functions) {
    const slots = one.slots.reduce((sum, { size }) => sum + Math.ceil(size / 8) * 8, 0);
    const rounds = callsLoops(options) ? one.blocks.filter(({ terminator }) => terminator.op === "guard").length : 0;
    if (rounds > 0 || slots > SURE_BYTES || crowdedSlots(one, branchesOnStack(options)).size > 0) {
      total += slots + (uncountedBlocks(one).size > 0 ? (rounds + 1) * CROWDED_BYTES : 0);
    }
    total += (rounds + 1) * Math.ceil(temporaryBytes(one, module) / 8) * 8;
  }
  return Math.min(total, mostScratchBytes);
}

/** Slots up to this always fit, beside callbacks, temporaries and spilled registers. */
const SURE_BYTES = 128;

function scratchSize(options: GenerateOptions): number {
  const { valueSize = 0 } = options.kernelMaps.find((map) => map.role.kind === "scratch") ?? {};
  return isPooled(options) ? valueSize - ownerBytes : valueSize;
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

/**
 * Callbacks of loops over maps that share much with their callers: it is in scratch memory, and they are handed a
 * pointer to it. Not where it holds pointers: of those the verifier knows nothing any more once they are in a map.
 */
function sharingByPointer(
  fn: IrFunction,
  called: readonly number[],
  module: IrModule,
  options: GenerateOptions,
  programType: FunctionScope["programType"],
): ReadonlySet<number> {
  const found = new Set<number>();
  for (const one of [fn, ...called.map((index) => module.functions[index])]) {
    const loops = one.blocks.flatMap(({ instructions }) =>
      instructions.flatMap((i) =>
        i.op === "for-each" && i.captures !== undefined && one.slots[i.captures].size > SHARED_ON_STACK
          ? [{ callback: i.callback, slot: i.captures }]
          : [],
      ),
    );
    if (loops.length === 0) continue;
    const pointers = slotsOfPointers(new FunctionScope(one, module, options, programType, new Set(), 0));
    for (const { callback, slot } of loops) if (!pointers.has(slot)) found.add(callback);
  }
  return found;
}

/** All frames of a chain of calls share the stack. */
function callbackBytes(level: number): number {
  return level === 1 ? CALLBACK_BYTES : Math.max(64, CALLBACK_BYTES >> (level - 1));
}

function calledBy(fn: IrFunction | undefined): number[] {
  const found = new Set<number>();
  for (const { instructions } of fn?.blocks ?? []) {
    for (const instruction of instructions) {
      if (instruction.op === "for-each") found.add(instruction.callback);
      else if (instruction.op === "rounds") found.add(instruction.round);
    }
  }
  return [...found];
}

/** Tries with all small slots on the stack; while that is too much, the largest goes to scratch memory. */
function generateFunction(
  whole: IrFunction,
  module: IrModule,
  options: GenerateOptions,
  programType: FunctionScope["programType"],
  budget: number,
  scratchStart: number,
): Finished {
  const fn = withoutNeedlessGuards(whole, options.capabilities, options.easyToVerify ?? false);
  const pinned = new Set<number>();
  const far = new Set<number>();
  for (const { instructions } of fn.blocks) {
    for (const instruction of instructions) {
      if (instruction.op === "for-each" && instruction.captures !== undefined)
        (options.sharingByPointer?.has(instruction.callback) ? far : pinned).add(instruction.captures);
      else if (instruction.op === "rounds") pinned.add(instruction.frame);
    }
  }
  const crowded = crowdedSlots(fn, branchesOnStack(options));
  const pointers =
    crowded.size === 0
      ? crowded
      : slotsOfPointers(new FunctionScope(fn, module, options, programType, crowded, scratchStart));
  const moved = new Set(
    fn.slots.flatMap(({ size, shared }, slot) =>
      far.has(slot) ||
      (!pinned.has(slot) && (shared !== undefined || size > LARGE_SLOT || (crowded.has(slot) && !pointers.has(slot))))
        ? [slot]
        : [],
    ),
  );
  for (;;) {
    const scope = new FunctionScope(fn, module, options, programType, moved, scratchStart);
    const { emitter } = scope;
    select(scope);
    const limit = emitter.code.some(({ kind }) => kind === "may-goto") ? MAY_GOTO_BYTES : 0;
    const bytes = budget - limit;
    allocateRegisters(emitter, {
      name: fn.name,
      stackBytes: bytes,
      straightens: scope.does("short-ways"),
      joins: scope.does("join-copies"),
    });
    const {
      offsets,
      frame: size,
      scratchEnd,
    } = layOut(emitter.code, emitter.objects, emitter.scratchObjects, scope.slotsStart);
    if (scratchEnd > mostScratchBytes) throw new TooMuchMemory(scratchEnd);
    if (size <= bytes)
      return { code: emitter.code, labels: emitter.labelCount, offsets, frame: size + limit, scratchEnd };
    const candidates = fn.slots.flatMap((slot, index) =>
      moved.has(index) || pinned.has(index) ? [] : [{ index, size: slot.size }],
    );
    if (candidates.length === 0) throw new TooLarge(limitReasons().stack(fn.name, size, bytes));
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
function branchesOnStack({ easyToVerify }: Partial<GenerateOptions>): number {
  return easyToVerify ? 0 : BRANCHES_ON_STACK;
}
const BRANCHES_ON_STACK = 6;
