// Maps: scalar ones lie in an array the program addresses directly; keyed ones are kernel hash maps.
import { Alu, Jump } from "../../bpf/instruction.ts";
import { UpdateFlag } from "../../bpf/kinds.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import { kernelAtLeast } from "../../base/kernel-features.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Instruction, Place, Value } from "../ir/ir.ts";
import { deleteInBuckets, findInBuckets, inBuckets, putInBuckets } from "./bucket-tables.ts";
import { countFailed, countRefusal, full, justMade } from "./trouble-counters.ts";
import { addressOf, at, behind, constant, kernelMap } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import { copy, fill, inPlace, zero } from "./memory.ts";
import { storeValue } from "./scalars.ts";
import type { FunctionScope } from "./scope.ts";

type Of<Op extends Instruction["op"]> = Extract<Instruction, { op: Op }>;

/** A scalar map's memory: u64 set flag, then the value. Per-CPU ones: this CPU's. */
function slotMemory(scope: FunctionScope, map: number): Memory | undefined {
  const storage = scope.storageOf(map);
  if (storage.kind === "slot") return behind(scope.emitter.mapValue(scope.globals, storage.offset));
  if (storage.kind === "percpu-slot") return behind(scope.stripeAddress(true), storage.offset);
  return undefined;
}

/** The key of a keyed map; scalar maps in a kernel hash map have a zero key. */
export function keyMemory(scope: FunctionScope, map: number, key: Place | undefined): Memory {
  if (key !== undefined) return scope.place(key);
  const memory = scope.emitter.temporary(scope.kernelMapOf(map).map.keySize);
  zero(scope, memory, scope.kernelMapOf(map).map.keySize);
  return memory;
}

/** Looks an entry up: its address, or 0. */
export function lookup(scope: FunctionScope, map: number, key: Memory): Register {
  return scope.emitter.callFor("map_lookup_elem", kernelMap(scope.kernelMapOf(map).index), addressOf(key));
}

export function mapLookup(scope: FunctionScope, instruction: Of<"map-lookup">): void {
  const result = scope.resultRegister(instruction.result);
  const key = scope.place(instruction.key);
  const inKernel = (there: Memory): Register => lookup(scope, instruction.map, there);
  if (inBuckets(scope, instruction.map)) findInBuckets(scope, instruction.map, key, result, inKernel);
  else scope.emitter.move(result, inKernel(key));
}

export function entryLoad(scope: FunctionScope, instruction: Of<"entry-load">): void {
  const { emitter } = scope;
  const entry = scope.use(instruction.entry);
  const result = scope.resultRegister(instruction.result);
  if (scope.isThere(instruction.entry)) {
    scope.loadExtended(result, behind(entry), instruction.size, instruction.signed);
    return;
  }
  countFailed(scope, instruction.watch, entry, true);
  const missing = emitter.label();
  // An address that is 0 is the number that is wanted then.
  emitter.move(result, entry);
  emitter.branchConstant(Jump.JEQ, result, 0n, missing);
  scope.loadExtended(result, behind(result), instruction.size, instruction.signed);
  emitter.bind(missing);
}

export function entryCopy(scope: FunctionScope, instruction: Of<"entry-copy">): void {
  const { emitter } = scope;
  const to = scope.place(instruction.to);
  const entry = scope.use(instruction.entry);
  if (scope.isThere(instruction.entry)) {
    copy(scope, to, behind(entry), instruction.size);
    return;
  }
  countFailed(scope, instruction.watch, entry, true);
  const missing = emitter.label();
  const done = emitter.label();
  emitter.branchConstant(Jump.JEQ, entry, 0n, missing);
  copy(scope, to, behind(entry), instruction.size);
  emitter.jump(done);
  emitter.bind(missing);
  zero(scope, to, instruction.size);
  emitter.bind(done);
}

/** The memory of a map without keys. */
function scalarMemory(scope: FunctionScope, map: number): Memory {
  const memory = slotMemory(scope, map);
  if (memory === undefined) throw new InternalError(`@${scope.irMap(map).name} has keys`);
  return memory;
}

export function mapLoad(scope: FunctionScope, instruction: Of<"map-load">): void {
  scope.loadExtended(
    scope.resultRegister(instruction.result),
    at(scalarMemory(scope, instruction.map), 8),
    instruction.size,
    instruction.signed,
  );
}

export function mapCopy(scope: FunctionScope, instruction: Of<"map-copy">): void {
  copy(scope, scope.place(instruction.to), at(scalarMemory(scope, instruction.map), 8), instruction.size);
}

/** The flag is 0 or 1. */
export function mapHas(scope: FunctionScope, instruction: Of<"map-has">): void {
  scope.emitter.load(scope.resultRegister(instruction.result), scalarMemory(scope, instruction.map), 8);
}

export function mapStore(scope: FunctionScope, instruction: Of<"map-store">): void {
  const { emitter } = scope;
  const { source } = instruction;
  const slot = slotMemory(scope, instruction.map);
  if (slot !== undefined) {
    fill(scope, at(slot, 8), source, false);
    emitter.storeConstant(slot, 8, 1n);
    return;
  }
  const { index, map } = scope.kernelMapOf(instruction.map);
  const key = keyMemory(scope, instruction.map, instruction.key);
  const update = (at: Memory, from?: Memory): void => {
    const value = from ?? inPlace(scope, source, map.valueSize) ?? temporaryValue(scope, source, map.valueSize);
    emitter.call("map_update_elem", kernelMap(index), addressOf(at), addressOf(value), constant(UpdateFlag.ANY));
    ifRefused(scope, instruction.map);
  };
  if (inBuckets(scope, instruction.map)) {
    if (source.kind === "value" && source.width === map.valueSize) {
      // Computed before the ways part.
      if (scope.constantOf(source.value) === undefined) scope.use(source.value);
      const write = (to: Memory): void => storeValue(scope, to, source.width, source.value);
      putInBuckets(scope, instruction.map, key, { inPlace: write, write, inKernel: update });
      return;
    }
    const value = inPlace(scope, source, map.valueSize) ?? temporaryValue(scope, source, map.valueSize);
    const write = (to: Memory): void => copy(scope, to, value, map.valueSize);
    putInBuckets(scope, instruction.map, key, { inPlace: write, write, inKernel: (at) => update(at, value) });
    return;
  }
  if (source.kind !== "value" || source.width !== map.valueSize || scope.emptied.has(instruction.map)) {
    update(key);
    return;
  }
  // A word is stored whole, and an update of an entry that is there makes a new one in its place, at several times the
  // cost.
  const [entry, missing, done] = [lookup(scope, instruction.map, key), emitter.label(), emitter.label()];
  emitter.branchConstant(Jump.JEQ, entry, 0n, missing);
  storeValue(scope, behind(entry), source.width, source.value);
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(missing);
    update(key);
    emitter.jump(done);
  });
}

/** Makes an entry of zeros where there is none. */
export function mapMake(scope: FunctionScope, { map, key: at, result }: Of<"map-make">): void {
  const { emitter } = scope;
  const { index, map: kernel } = scope.kernelMapOf(map);
  const key = scope.place(at);
  const entry = lookup(scope, map, key);
  const refused = scope.resultRegister(result);
  const [missing, done] = [emitter.label(), emitter.label()];
  emitter.set(refused, 0n);
  emitter.branchConstant(Jump.JEQ, entry, 0n, missing);
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(missing);
    emitter.call(
      "map_update_elem",
      kernelMap(index),
      addressOf(key),
      addressOf(zeroValue(scope, map, kernel.valueSize)),
      constant(UpdateFlag.NOEXIST),
    );
    const why = resultOfMap(scope);
    emitter.branchConstant(Jump.JEQ, why, 0n, done);
    emitter.branchConstant(Jump.JEQ, why, justMade, done);
    emitter.set(refused, 1n);
    // That it is full is told to whoever asked.
    emitter.branchConstant(Jump.JEQ, why, full, done);
    countRefusal(scope, map, why);
    emitter.jump(done);
  });
}

function zeroValue(scope: FunctionScope, map: number, size: number): Memory {
  if (scope.irMap(map).value.kind === "aggregate") return scope.zeroes(size);
  const value = scope.temporary(size);
  zero(scope, value, size);
  return value;
}

function temporaryValue(scope: FunctionScope, source: Of<"map-store">["source"], size: number): Memory {
  const value = scope.temporary(size);
  const covered =
    source.kind === "value"
      ? source.width
      : "size" in source
        ? source.size
        : source.kind === "buffer"
          ? 4 + source.capacity
          : 16;
  if (covered < size) zero(scope, value, size);
  fill(scope, value, source, false);
  return value;
}

/**
 * What the update or deletion said that was just called: 0, or a negative errno. Before Linux 6.4 (d7ba4cc900bf) functions
 * of maps give an int, and JIT compilers leave the register's upper half as it is.
 */
export function resultOfMap(scope: FunctionScope): Register {
  const { emitter } = scope;
  const result = emitter.copy(0);
  if (!kernelAtLeast(scope.options.capabilities.kernel, 6, 4)) {
    emitter.aluConstant(Alu.LSH, result, 32n);
    emitter.aluConstant(Alu.ARSH, result, 32n);
  }
  return result;
}

/** After an update, its result in r0. */
function ifRefused(scope: FunctionScope, map: number): void {
  const { emitter } = scope;
  if (scope.kernelMapOf(map).map.failureOffset === undefined) return;
  const refused = emitter.label();
  const done = emitter.label();
  const result = emitter.copy(0);
  emitter.branchConstant(Jump.JNE, result, 0n, refused);
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(refused);
    countRefusal(scope, map, result);
    emitter.jump(done);
  });
}

export function mapDelete(scope: FunctionScope, instruction: Of<"map-delete">): void {
  const { emitter } = scope;
  const slot = slotMemory(scope, instruction.map);
  const result = emitter.register();
  if (slot !== undefined) {
    emitter.load(result, slot, 8);
    emitter.storeConstant(slot, 8, 0n);
    zero(scope, at(slot, 8), slotBytes(scope, instruction.map));
  } else {
    const key = keyMemory(scope, instruction.map, instruction.key);
    const wanted = instruction.result !== undefined && scope.useCounts[instruction.result] > 0;
    const inKernel = (at: Memory): void => {
      emitter.call("map_delete_elem", kernelMap(scope.kernelMapOf(instruction.map).index), addressOf(at));
      if (!wanted) return;
      // 0, or a negative error: its sign is what is left to turn round.
      emitter.move(result, resultOfMap(scope));
      emitter.aluConstant(Alu.RSH, result, 63n);
      emitter.aluConstant(Alu.XOR, result, 1n);
    };
    if (inBuckets(scope, instruction.map)) deleteInBuckets(scope, instruction.map, key, result, inKernel);
    else inKernel(key);
    if (!wanted) return;
  }
  if (instruction.result !== undefined) emitter.move(scope.resultRegister(instruction.result), result);
}

function slotBytes(scope: FunctionScope, map: number): number {
  return Math.max(8, Math.ceil(sizeOf(scope.irMap(map).value) / 8) * 8);
}

/** Adds and gives the new or the old value: never loses a count, whoever else adds or makes the entry meanwhile. */
export function mapAdd(scope: FunctionScope, instruction: Of<"map-add">): void {
  const { emitter } = scope;
  const slot = slotMemory(scope, instruction.map);
  const result =
    instruction.result === undefined || scope.useCounts[instruction.result] === 0
      ? undefined
      : scope.resultRegister(instruction.result);
  if (slot !== undefined) {
    const old = addTo(scope, at(slot, 8), instruction.value, result !== undefined);
    emitter.storeConstant(slot, 8, 1n);
    if (result !== undefined) giveSum(scope, result, old, instruction);
    return;
  }
  const key = keyMemory(scope, instruction.map, instruction.key);
  const old = emitter.register();
  if (inBuckets(scope, instruction.map)) {
    if (scope.constantOf(instruction.value) === undefined) scope.use(instruction.value);
    const delta = (): Register => {
      const known = scope.constantOf(instruction.value);
      return known === undefined ? emitter.copy(scope.useScalar(instruction.value)) : emitter.constant(known);
    };
    putInBuckets(scope, instruction.map, key, {
      inPlace: (value) => emitter.move(old, addTo(scope, value, instruction.value, result !== undefined)),
      replacing: (value) => emitter.load(old, value, 8),
      making: () => emitter.set(old, 0n),
      write: (value) => {
        const sum = delta();
        emitter.alu(Alu.ADD, sum, old);
        emitter.store(value, 8, sum);
      },
      inKernel: (at) => addInKernel(scope, instruction, at, old, result !== undefined),
    });
  } else addInKernel(scope, instruction, key, old, result !== undefined);
  if (result !== undefined) giveSum(scope, result, old, instruction);
}

/** `old` becomes what was there before. */
function addInKernel(
  scope: FunctionScope,
  instruction: Of<"map-add">,
  key: Memory,
  old: Register,
  fetch: boolean,
): void {
  const { emitter } = scope;
  const { index, map } = scope.kernelMapOf(instruction.map);
  const entry = lookup(scope, instruction.map, key);
  const missing = emitter.label();
  const found = emitter.label();
  const made = emitter.label();
  emitter.branchConstant(Jump.JEQ, entry, 0n, missing);
  emitter.bind(found);
  emitter.move(old, addTo(scope, behind(entry), instruction.value, fetch));
  emitter.bind(made);
  emitter.cold(() => {
    emitter.bind(missing);
    const value = scope.temporary(map.valueSize);
    if (map.valueSize > 8) zero(scope, at(value, 8), map.valueSize - 8);
    emitter.store(value, 8, scope.use(instruction.value));
    emitter.call("map_update_elem", kernelMap(index), addressOf(key), addressOf(value), constant(UpdateFlag.NOEXIST));
    const refused = resultOfMap(scope);
    emitter.set(old, 0n);
    emitter.branchConstant(Jump.JEQ, refused, 0n, made);
    const again = emitter.label();
    emitter.branchConstant(Jump.JEQ, refused, justMade, again);
    countRefusal(scope, instruction.map, refused);
    emitter.jump(made);
    emitter.bind(again);
    emitter.move(entry, lookup(scope, instruction.map, key));
    emitter.branchConstant(Jump.JNE, entry, 0n, found);
    emitter.jump(made);
  });
}

/** Adds atomically; the old value when it is wanted. */
function addTo(scope: FunctionScope, to: Memory, value: Value, fetch: boolean): Register {
  const { emitter } = scope;
  const known = scope.constantOf(value);
  const operand = known === undefined ? emitter.copy(scope.useScalar(value)) : emitter.constant(known);
  emitter.atomicAdd(to, operand, fetch);
  return operand;
}

function giveSum(scope: FunctionScope, result: Register, old: Register, instruction: Of<"map-add">): void {
  const { emitter } = scope;
  emitter.move(result, old);
  if (instruction.old === true) return;
  const known = scope.constantOf(instruction.value);
  if (known === undefined) emitter.alu(Alu.ADD, result, scope.useScalar(instruction.value));
  else emitter.add(result, known);
}

/** The callback index of the subprogram that does nothing: for_each then counts. */
export const COUNTING = -1;

export function mapLength(scope: FunctionScope, instruction: Of<"map-length">): void {
  const { emitter } = scope;
  const map = scope.kernelMapOf(instruction.map).index;
  const visited = emitter.callFor(
    "for_each_map_elem",
    kernelMap(map),
    { kind: "callback", callback: COUNTING },
    constant(0),
    constant(0),
  );
  emitter.move(scope.resultRegister(instruction.result), visited);
}

export function forEachEntry(scope: FunctionScope, instruction: Of<"for-each">): void {
  const { emitter } = scope;
  const captured =
    instruction.captures === undefined ? undefined : sharedWith(scope, instruction.captures, instruction.callback);
  const map = scope.kernelMapOf(instruction.map).index;
  const inLoop = forgetsCallers(scope.options.capabilities) ? emitter.label() : undefined;
  if (inLoop !== undefined) emitter.bind(inLoop);
  emitter.call(
    "for_each_map_elem",
    kernelMap(map),
    { kind: "callback", callback: instruction.callback },
    captured === undefined ? constant(0) : addressOf(captured),
    constant(0),
  );
  // Never goes back, which the verifier sees when it comes here, but not yet when it looks for loops.
  if (inLoop !== undefined) emitter.branchConstant(Jump.JNE, emitter.constant(0n), 0n, inLoop);
}

/** What the callback is handed: what it shares with its caller on the stack, or a pointer to what it shares elsewhere. */
function sharedWith(scope: FunctionScope, slot: number, callback: number): Memory {
  const shared = scope.slot(slot);
  if (!scope.options.sharingByPointer?.has(callback)) return shared;
  const pointer = scope.emitter.temporary(8);
  scope.emitter.store(pointer, 8, scope.emitter.addressRegister(shared));
  return pointer;
}

/**
 * Whether the verifier uses states that it has freed where a function that a helper calls has a loop with may_goto, and
 * oopses. From Linux 6.17 (c9e31900b54c) it keeps those on the way from a loop's head back to it, but a helper's rounds
 * are no loop to it until 7.0 and 6.19.4 (f597664454bd): of a round within a round it frees what is outside of the
 * loop. A call that is in a loop itself is right.
 */
function forgetsCallers({ kernel }: Pick<Capabilities, "kernel">): boolean {
  return kernelAtLeast(kernel, 6, 17) && !kernelAtLeast(kernel, 7, 0);
}
