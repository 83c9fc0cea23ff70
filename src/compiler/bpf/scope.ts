// What is known while one function is being generated: where its values and slots are, which kernel map serves what.
import { interruptedMaps } from "./interrupted-maps.ts";
import { Alu, FRAME, Jump } from "../../bpf/instruction.ts";
import { InternalError } from "../../base/internal-error.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import type { ProgramType } from "../../language/context.ts";
import type { Counters, KernelMap, MapStorage, ScratchEntry } from "./bpf-plan.ts";
import {
  stackBytes,
  type Instruction,
  type IrFunction,
  type IrMap,
  type IrModule,
  type Place,
  type Source,
  type Value,
} from "../ir/ir.ts";
import type { EventSchema } from "../plan.ts";
import type { MappedFiles } from "../kernel-structures/mapped-files.ts";
import type { ReturnInstances } from "../kernel-structures/return-instances.ts";
import type { TaskPath, WayToTask } from "../kernel-structures/task.ts";
import { readTaskOfCpu } from "./current-task.ts";
import { at, behind, Emitter } from "./emitter.ts";
import { lateValues } from "./deferred-values.ts";
import type { Memory, Register } from "./machine.ts";
import { factsOf, fusedComparisons, seenEntries } from "./function-facts.ts";
import type { MachinePass } from "./passes.ts";
import { dominators, endsOfLoops, predecessorsOf } from "../optimize/graph.ts";
import { uncountedBlocks } from "./uncounted.ts";
import { unwoundBytes } from "../layouts/unwind-layout.ts";

export interface GenerateOptions {
  readonly schemas: readonly EventSchema[];
  readonly kernelMaps: readonly KernelMap[];
  readonly capabilities: Capabilities;
  /** Pointers of BTF-typed programs may be loaded through directly. */
  readonly directLoads: boolean;
  /** Where a task_struct has its comm, when the kernel keeps what follows the name zero: it is loaded from there. */
  readonly taskComm?: (() => number | undefined) | undefined;
  /** Where a task_struct has the numbers of its thread and process. */
  readonly taskIds?: (() => { readonly pid: number; readonly tgid: number } | undefined) | undefined;
  /** Where its user and group are, and its cgroup's id. */
  readonly taskUser?: (() => { readonly uid: TaskPath; readonly gid: TaskPath } | undefined) | undefined;
  readonly taskCgroup?: (() => TaskPath | undefined) | undefined;
  /** How the current task is got at; absent: by a call. */
  readonly wayToTask?: (() => WayToTask) | undefined;
  /** In the stripe: the address of this CPU's variable with the current task, once a handler has asked for it. */
  readonly taskAt?: number;
  /** Of the scratch map (a PERCPU_ARRAY): programs never share scratch memory. */
  readonly scratch?: ScratchEntry;
  /** Where the kernel keeps what uretprobes replaced, for the unwinder. */
  readonly returnInstances?: ReturnInstances | undefined;
  /** Where the kernel keeps which file is mapped, for the unwinder; undefined where it cannot ask. */
  readonly mappedFiles?: MappedFiles | undefined;
  /** Where the kernel keeps the current thread's pointer, in struct task_struct, for the unwinder. */
  readonly threadPointer?: number | undefined;
  /** Where each of the module's maps is. */
  readonly storage: readonly MapStorage[];
  /** Without watched places or loops, nobody asks how often they fail or are cut short. */
  readonly counters: Pick<Counters, "lost"> & Partial<Counters>;
  /** How many probes `lostOf` of the counters is for. */
  readonly countedProbes?: number;
  /** Passes to leave out (passes.ts). */
  readonly without?: readonly string[] | undefined;
  /** This program's gate, when a session may hold it back (gate.ts). */
  readonly gate?: number;
  /** The verifier gave up on the program as it usually is: it is written to be easy to walk through, and slower. */
  readonly easyToVerify?: boolean | undefined;
  /** Map callbacks that are handed a pointer to what they share with their caller, not that itself (generate.ts). */
  readonly sharingByPointer?: ReadonlySet<number>;
  /** This function is one of them. */
  readonly sharesByPointer?: boolean;
}

export interface Stripe {
  readonly map: number;
  readonly stripe: number;
  readonly count: number;
  readonly bytes: number;
}

/** Of a function, beyond which two instructions more a branch are worth what they save the verifier. */
const MANY_BRANCHES = 200;
/**
 * How many ways the verifier keeps to walk later (BPF_COMPLEXITY_LIMIT_JMP_SEQ). A program with more branches is only
 * taken when it can tell many of them by what it knows of the numbers.
 */
const WAYS_BEHIND = 8192;

export class FunctionScope {
  readonly emitter = new Emitter();
  readonly fn: IrFunction;
  readonly module: IrModule;
  readonly options: GenerateOptions;
  readonly programType: ProgramType;
  /** Bytes of scratch memory that functions before this one use. */
  readonly scratchStart: number;
  /** IR slots that live in scratch memory. */
  readonly scratchSlots: ReadonlySet<number>;
  readonly useCounts: readonly number[];
  readonly constants: ReadonlyMap<Value, bigint>;
  readonly definitions: ReadonlyMap<Value, Instruction>;
  /** Values that the verifier may take for a pointer: only additions and loads go with those. */
  readonly pointers: ReadonlySet<Value>;
  /** Slots whose address the handler takes. */
  readonly addressed: ReadonlySet<number>;
  readonly blockLabels: readonly number[];
  /** Comparisons that their branch does itself. */
  readonly fused: ReadonlySet<Value>;
  /** What is computed only when an event's field is written (late.ts). */
  readonly late: Map<Value, Instruction>;
  /** Writes an instruction that was left for later. */
  writeLate: (instruction: Instruction) => void = () => {};
  context: Register = -1;
  key: Register = -1;
  value: Register = -1;
  captures: Register = -1;
  /** A round's. */
  frame: Register = -1;
  /** Of loops whose rounds are counted (rounds.ts): to be cleared before the first. */
  readonly roundCounters: Memory[] = [];
  #scratch: Register = -1;
  #slotsStart: number;
  readonly #registers = new Map<Value, Register>();
  readonly #slots: (Memory | undefined)[];
  #emptied: ReadonlySet<number> | undefined;
  #stripe: { readonly block: number; readonly register: Register } | undefined;
  /** The current task, in the blocks that have asked for it. */
  readonly #tasks = new Map<number, Register>();
  #block = 0;
  #shared: Memory | undefined;
  #untracked: Memory | undefined;
  #small: Memory | undefined;
  readonly #seen: ReadonlyMap<Value, readonly number[]>;
  #predecessors: readonly (readonly number[])[] | undefined;
  #dominators: (number | undefined)[] | undefined;
  readonly #uncounted: ReadonlySet<number>;
  readonly #frames: ReadonlySet<number>;
  #endsOfLoops: ReadonlySet<number> | undefined;
  #hasManyBranches: boolean | undefined;

  constructor(
    fn: IrFunction,
    module: IrModule,
    options: GenerateOptions,
    programType: ProgramType,
    scratchSlots: ReadonlySet<number>,
    scratchStart: number,
  ) {
    this.fn = fn;
    this.module = module;
    this.options = options;
    this.programType = programType;
    this.scratchSlots = scratchSlots;
    this.#uncounted = uncountedBlocks(fn);
    this.scratchStart = scratchStart;
    this.#slotsStart = scratchStart;
    this.#slots = fn.slots.map(() => undefined);
    this.blockLabels = fn.blocks.map(() => this.emitter.label());
    const facts = factsOf(fn, programType);
    this.useCounts = facts.useCounts;
    this.constants = facts.constants;
    this.definitions = facts.definitions;
    this.pointers = facts.pointers;
    this.addressed = facts.addressed;
    this.#frames = facts.frames;
    this.late = this.does("late-fields") ? lateValues(fn, facts.useCounts) : new Map();
    this.fused = fusedComparisons(fn, facts);
    this.#seen = seenEntries(fn, facts, this.predecessors);
  }

  does(pass: MachinePass): boolean {
    return !(this.options.without ?? []).includes(pass);
  }

  // ── values ──

  /** From which blocks control comes into each. */
  get predecessors(): readonly (readonly number[])[] {
    return (this.#predecessors ??= predecessorsOf(this.fn.blocks));
  }

  /** The register that holds a value's result. */
  resultRegister(value: Value): Register {
    let register = this.#registers.get(value);
    if (register === undefined) {
      register = this.emitter.register();
      this.#registers.set(value, register);
    }
    return register;
  }
  /** A register with the value; constants are put into a fresh one. */
  use(value: Value): Register {
    const late = this.late.get(value);
    if (late !== undefined) {
      this.late.delete(value);
      this.writeLate(late);
    }
    const known = this.constants.get(value);
    return known === undefined ? this.resultRegister(value) : this.emitter.constant(known);
  }
  /** A register with the value as a number. */
  useScalar(value: Value): Register {
    if (!this.pointers.has(value)) return this.use(value);
    const register = this.emitter.copy(this.use(value));
    this.forgetPointer(register);
    return register;
  }
  /** Two negations make the verifier forget that it was a pointer. */
  forgetPointer(register: Register): void {
    this.emitter.emit({ kind: "negate", dst: register });
    this.emitter.emit({ kind: "negate", dst: register });
  }
  constantOf(value: Value): bigint | undefined {
    return this.constants.get(value);
  }

  /** Moves the low 32 bits. */
  moveNarrow(dst: Register, src: Register): void {
    this.emitter.emit({ kind: "move", dst, src, narrow: true });
  }
  signExtend(dst: Register, src: Register, bits: 8 | 16 | 32): void {
    if (this.options.capabilities.cpuV4) {
      this.emitter.emit({ kind: "sign-extend", dst, src, bits });
      return;
    }
    this.emitter.move(dst, src);
    this.emitter.aluConstant(Alu.LSH, dst, BigInt(64 - bits));
    this.emitter.aluConstant(Alu.ARSH, dst, BigInt(64 - bits));
  }
  /**
   * A load that extends by its sign, however this kernel can. `plain`: the place takes only plain loads (a context).
   */
  loadExtended(dst: Register, from: Memory, size: 1 | 2 | 4 | 8, signed: boolean, plain = false): void {
    const direct = !signed || size === 8 || (!plain && this.options.capabilities.cpuV4);
    this.emitter.load(dst, from, size, direct && signed);
    if (!direct) this.signExtend(dst, dst, (size * 8) as 8 | 16 | 32);
  }

  // ── memory ──

  place(place: Place): Memory {
    if (place.kind === "slot") return at(this.slot(place.slot), place.offset);
    const base = { key: this.key, value: this.value, captures: this.captures, frame: this.frame, record: -1 }[place.of];
    if (base < 0) throw new InternalError(`a callback's ${place.of} outside of a callback`);
    return behind(base, place.offset);
  }
  slot(index: number): Memory {
    let memory = this.#slots[index];
    if (memory !== undefined) return memory;
    const { size, shared } = this.fn.slots[index] ?? { size: 0 };
    if (shared !== undefined) memory = behind(this.#scratchBase(), shared);
    else if (this.scratchSlots.has(index)) memory = this.emitter.inScratch(this.#scratchBase(), size);
    else memory = this.emitter.temporary(size);
    this.#slots[index] = memory;
    return memory;
  }
  /** Scratch memory of this function, kept until it ends, and before what its slots share. */
  #kept(size: number): Memory {
    const memory = behind(this.#scratchBase(), this.#slotsStart);
    this.#slotsStart += Math.ceil(size / 8) * 8;
    return memory;
  }
  #scratchBase(): Register {
    if (this.#scratch < 0) this.#scratch = this.emitter.register();
    return this.#scratch;
  }
  /**
   * A word of which the verifier does not know what was stored last: where slots of loops are in scratch memory anyway,
   * or rounds are called.
   */
  get untracked(): Memory | undefined {
    if (
      this.#untracked === undefined &&
      (this.#frames.size > 0 || (this.scratchSlots.size > 0 && this.#uncounted.size > 0))
    )
      this.#untracked = this.#kept(8);
    return this.#untracked;
  }
  get scratchRegister(): Register {
    return this.#scratch;
  }
  /** Has the register of scratch memory from here on, also where nothing is there: the way out releases it. */
  needScratch(): Register {
    return this.#scratchBase();
  }
  /** Where scratch memory is free for slots. */
  get slotsStart(): number {
    return this.#slotsStart;
  }
  /**
   * A temporary that is used up at once: large ones share one piece of scratch memory, small ones those of crowded
   * loops.
   */
  temporary(size: number): Memory {
    if (size <= SMALL_TEMPORARY) {
      if (this.untracked === undefined) return this.emitter.temporary(size);
      this.#small ??= this.#kept(SMALL_TEMPORARY);
      return this.#small;
    }
    this.#shared ??= this.#kept(temporaryBytes(this.fn, this.module));
    return this.#shared;
  }
  /** Memory that nothing ever writes, before the globals' last word (maps.ts): an aggregation's first value. */
  zeroes(bytes: number): Memory {
    return behind(this.emitter.mapValue(this.globals, this.options.kernelMaps[this.globals].valueSize - 8 - bytes));
  }
  /** Memory on the stack needs aligned accesses, and slots are only as aligned as their offsets. */
  alignment(memory: Memory): 1 | 2 | 4 | 8 {
    const offset = memory.base === FRAME || memory.base === this.#scratch || memory.offset !== 0 ? memory.offset : 0;
    return (offset & 7) === 0 ? 8 : (offset & 3) === 0 ? 4 : (offset & 1) === 0 ? 2 : 1;
  }

  // ── kernel maps ──

  irMap(map: number): IrMap {
    const found = this.module.maps[map];
    if (found === undefined) throw new InternalError(`there is no map ${map}`);
    return found;
  }
  storageOf(map: number): MapStorage {
    const found = this.options.storage[map];
    if (found === undefined) throw new InternalError(`it is not known where map ${map} is`);
    return found;
  }
  /** Maps of which the script deletes entries: what it stores there is new more often than not. */
  get emptied(): ReadonlySet<number> {
    return (this.#emptied ??= new Set(
      this.module.functions.flatMap(({ blocks }) =>
        blocks.flatMap(({ instructions }) => instructions.flatMap((one) => (one.op === "map-delete" ? [one.map] : []))),
      ),
    ));
  }
  kernelMapOf(map: number): { readonly index: number; readonly map: KernelMap } {
    return this.#find((role) => role.kind === "map" && role.map === map, `the map @${this.irMap(map).name}`);
  }
  /** The array of a table of buckets (bucket-tables.ts). */
  bucketsOf(map: number): number {
    return this.#find((role) => role.kind === "buckets" && role.map === map, `the buckets of @${this.irMap(map).name}`)
      .index;
  }
  /** Where stacks are kept that have no bucket. */
  displacedOf(map: number): number {
    return this.#find((role) => role.kind === "displaced-stacks" && role.map === map, "displaced stacks").index;
  }
  get globals(): number {
    return this.#find((role) => role.kind === "globals", "scalar maps").index;
  }
  get events(): number {
    return this.#find((role) => role.kind === "events", "events").index;
  }
  get packets(): number {
    return this.#find((role) => role.kind === "packets", "packets").index;
  }
  get scratchMap(): number {
    return this.#find((role) => role.kind === "scratch", "scratch memory").index;
  }
  /** In the stripe: counts of unwound stacks that ended early. */
  get cutOffset(): number {
    const { role } = this.#find(({ kind }) => kind === "unwind-processes", "unwinding tables").map;
    return role.kind === "unwind-processes" ? role.cutOffset : 0;
  }
  get stripe(): Stripe {
    const { index, map } = this.#find((role) => role.kind === "percpu", "per-CPU counters");
    const stripe = map.role.kind === "percpu" ? map.role.stripe : 0;
    return { map: index, stripe, count: Math.floor(map.valueSize / stripe), bytes: map.valueSize };
  }
  #find(is: (role: KernelMap["role"]) => boolean, what: string): { readonly index: number; readonly map: KernelMap } {
    const index = this.options.kernelMaps.findIndex((map) => is(map.role));
    const map = this.options.kernelMaps[index];
    if (map === undefined) throw new InternalError(`no kernel map holds ${what}`);
    return { index, map };
  }

  /** Whether what is written now is in a loop whose rounds the verifier cannot count. */
  get inUncounted(): boolean {
    return this.#uncounted.has(this.#block);
  }
  /**
   * Whether the verifier is to learn nothing of numbers by the branch that is written now: each arm is a way of its own
   * for as long as it knows by it what the number was, so that thousands of branches on one number cost it their square.
   */
  get forgetsCompared(): boolean {
    if (this.#hasManyBranches === undefined) {
      const branches = this.fn.blocks.filter(({ terminator }) => terminator.op === "branch").length;
      this.#hasManyBranches = branches > MANY_BRANCHES && branches < WAYS_BEHIND;
    }
    return (this.options.easyToVerify === true || this.#hasManyBranches) && !this.endsLoop;
  }
  /** Whether the block that is written now may leave a loop that it is in. */
  get endsLoop(): boolean {
    return (this.#endsOfLoops ??= endsOfLoops(this.fn.blocks)).has(this.#block);
  }
  /** A block begins: nothing is remembered from the one before. */
  enterBlock(block: number): void {
    this.#block = block;
    this.#stripe = undefined;
  }
  /**
   * The current task, for code that runs whenever the rest of the block does, or of what `within` writes: asked for once, since
   * a call costs more than all that is read of it.
   */
  currentTask(): Register {
    let task = this.#knownTask;
    if (task === undefined) this.#tasks.set(this.#block, (task = this.#askForTask()));
    return task;
  }
  #askForTask(): Register {
    const way = this.options.wayToTask?.() ?? "call";
    const { taskAt } = this.options;
    return typeof way === "string" || taskAt === undefined
      ? this.emitter.callFor("get_current_task_btf")
      : readTaskOfCpu(this.emitter, way, behind(this.stripeAddress(true), taskAt));
  }
  /** As a block that control has come through on any way has asked for it. */
  get #knownTask(): Register | undefined {
    if (this.#tasks.size === 0) return undefined;
    const above = (this.#dominators ??= dominators(this.fn.blocks));
    for (let block = this.#block; ; block = above[block] ?? 0) {
      const task = this.#tasks.get(block);
      if (task !== undefined || block === 0) return task;
    }
  }
  /** Writes what does not run whenever the rest of the block does: a task that is asked for in there is not kept beyond. */
  within(write: () => void): void {
    const known = this.#tasks.has(this.#block);
    const stripe = this.#stripe;
    write();
    if (!known) this.#tasks.delete(this.#block);
    this.#stripe = stripe;
  }
  /** Whether the current task costs no call here: it is known, this block asks for it in any case, or it is read. */
  get asksForTask(): boolean {
    return (
      (this.options.wayToTask?.() ?? "call") !== "call" ||
      this.#knownTask !== undefined ||
      this.fn.blocks[this.#block].instructions.some(
        (one) =>
          (one.op === "builtin" && one.name === "task") ||
          (one.op === "fill" && one.source.kind === "comm") ||
          (one.op === "emit" && one.fields.some(({ kind }) => kind === "comm")),
      )
    );
  }
  /**
   * This CPU's stripe. `straight`: the code here runs whenever the rest of the block does, so that the address is kept.
   */
  stripeAddress(straight: boolean): Register {
    // Cold code is written last but runs in the middle: it may not use what is only computed further on.
    if (straight && this.#stripe?.block === this.#block) return this.#stripe.register;
    const { map, stripe, count } = this.stripe;
    const cpu = this.emitter.callFor("get_smp_processor_id");
    const base = this.addStripes(map, cpu, stripe, count);
    if (straight) this.#stripe = { block: this.#block, register: base };
    return base;
  }
  /** The stripe of a CPU number (in a register that this changes), bounded for the verifier. */
  addStripes(map: number, cpu: Register, stripe: number, count: number): Register {
    this.scaleStripes(cpu, stripe, count);
    const base = this.emitter.mapValue(map, 0);
    this.emitter.alu(Alu.ADD, base, cpu);
    return base;
  }
  /**
   * A CPU's number becomes the distance to its stripe. Where there are fewer than CPUs, a power of two, they share
   * them.
   */
  scaleStripes(cpu: Register, stripe: number, count: number): void {
    const { emitter } = this;
    if ((count & (count - 1)) === 0) emitter.aluConstant(Alu.AND, cpu, BigInt(count - 1));
    else {
      const fine = emitter.label();
      emitter.branchConstant(Jump.JLT, cpu, BigInt(count), fine);
      emitter.set(cpu, 0n);
      emitter.bind(fine);
    }
    if ((stripe & (stripe - 1)) === 0) emitter.aluConstant(Alu.LSH, cpu, BigInt(31 - Math.clz32(stripe)));
    else emitter.aluConstant(Alu.MUL, cpu, BigInt(stripe));
  }
  /** Handlers that another run of the same handler on this CPU may interrupt must add atomically. */
  get preemptible(): boolean {
    return this.programType === "kprobe";
  }
  /** The same of additions to a map of aggregations: other handlers may interrupt as well. */
  addsAtomically(map: number): boolean {
    return this.preemptible || interruptedMaps(this.module).has(map);
  }

  /** Whether a branch before this block has found that there is such an entry. */
  isThere(entry: Value): boolean {
    const seen = this.#seen.get(entry);
    if (seen === undefined) return false;
    this.#dominators ??= dominators(this.fn.blocks);
    for (let block = this.#block; ; block = this.#dominators[block] ?? 0) {
      if (seen.includes(block)) return true;
      if (block === 0) return false;
    }
  }
}

/** Larger temporaries go to scratch memory. */
const SMALL_TEMPORARY = 128;

/** Slots with pointers that are to be loaded through: only on the stack the verifier still knows them. */
export function slotsOfPointers({ fn, pointers }: FunctionScope): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { instructions } of fn.blocks) {
    for (const i of instructions)
      if (i.op === "store" && i.to.kind === "slot" && pointers.has(i.value)) found.add(i.to.slot);
  }
  return found;
}

/** What crowded loops need of scratch memory beside their slots: a word that is not tracked, and small temporaries. */
export const CROWDED_BYTES = 8 + SMALL_TEMPORARY;

/** Bytes of the scratch memory that a function's operations share; 0 when they need none. */
export function temporaryBytes(fn: IrFunction, module: IrModule): number {
  let temporary = 0;
  let stack = 8;
  let measured = false;
  for (const { instructions } of fn.blocks) {
    for (const instruction of instructions) {
      if (instruction.op === "map-store" || instruction.op === "map-make") {
        const map = module.maps[instruction.map];
        if (map === undefined || map.value.kind === "aggregate" || map.keys.length === 0) continue;
        const size = Math.ceil(sizeOf(map.value) / 8) * 8;
        if (size > SMALL_TEMPORARY) temporary = Math.max(temporary, size);
      } else if (instruction.op === "fill" && instruction.source.kind === "stack")
        stack = Math.max(stack, instruction.source.limit * 8);
      else if (instruction.op === "stack-length") measured = true;
    }
  }
  for (const { map } of stacksOf(fn)) {
    const { stacks } = module.maps[map];
    if (stacks?.unwind === false) temporary = Math.max(temporary, stackBytes(stacks));
  }
  const frames = unwinds(fn);
  return Math.max(temporary, measured ? stack : 0, frames > 0 ? unwoundBytes(frames) : 0);
}

/** Frames of the longest stack that a function unwinds; 0 when it unwinds none. */
export function unwinds(fn: IrFunction): number {
  return stacksOf(fn).reduce((frames, { unwind, limit }) => (unwind ? Math.max(frames, limit) : frames), 0);
}

/** The stacks that a function captures. */
export function stacksOf(fn: IrFunction): readonly Extract<Source, { kind: "stack" }>[] {
  const found: Extract<Source, { kind: "stack" }>[] = [];
  const look = (source: Source): void => {
    if (source.kind === "stack") found.push(source);
  };
  for (const { instructions } of fn.blocks) {
    for (const instruction of instructions) {
      if (instruction.op === "fill" || instruction.op === "map-store") look(instruction.source);
      else if (instruction.op === "emit") instruction.fields.forEach(look);
    }
  }
  return found;
}
