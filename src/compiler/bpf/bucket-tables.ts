// The kernel's side of tables of buckets (layouts/bucket-table.ts): entries that are read, stored, added to and deleted.
import { Alu, Jump } from "../../bpf/instruction.ts";
import { InternalError } from "../../base/internal-error.ts";
import { type BucketTable, bucketHead, control, slotsOfBucket } from "../layouts/bucket-table.ts";
import { behind } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import type { FunctionScope } from "./scope.ts";
import { aligned, hashOf, keyParts } from "./shared-tables.ts";
import { countBusy } from "./trouble-counters.ts";

/** A bucket as a function reaches it. */
interface Reached {
  readonly table: BucketTable;
  readonly key: Memory;
  /** Its address, which is that of its control word. */
  readonly bucket: Register;
  /** The slot where the key is looked for first; scan() goes on from there. */
  readonly index: Register;
}

/** Whether a map is in such a table whose entries stay where they are. */
function isStill(scope: FunctionScope, map: number): boolean {
  const storage = scope.storageOf(map);
  return storage.kind === "buckets" && storage.stays;
}

/** Whether a map is in such a table. */
export function inBuckets(scope: FunctionScope, map: number): boolean {
  return scope.storageOf(map).kind === "buckets";
}

/** `key`: aligned as words are. Whoever begins anew comes back before this: it takes a few steps, and registers else. */
function reach(scope: FunctionScope, map: number, key: Memory): Reached {
  const { emitter } = scope;
  const table = scope.storageOf(map);
  if (table.kind !== "buckets") throw new InternalError(`@${scope.irMap(map).name} is in no table of buckets`);
  const whole = emitter.mapValue(scope.bucketsOf(map), 0);
  const hash = hashOf(scope, behind(whole, bucketHead.multiplier), key, table.keySize);
  const bucket = emitter.copy(hash);
  emitter.aluConstant(Alu.RSH, bucket, BigInt(64 - table.bucketBits));
  emitter.aluConstant(Alu.MUL, bucket, BigInt(table.bucketBytes));
  emitter.alu(Alu.ADD, bucket, whole);
  emitter.add(bucket, bucketHead.buckets);
  emitter.aluConstant(Alu.RSH, hash, BigInt(60 - table.bucketBits));
  emitter.aluConstant(Alu.AND, hash, BigInt(slotsOfBucket - 1));
  return { table, key, bucket, index: hash };
}

/** The address of a slot by its number. */
function slotAt({ emitter }: FunctionScope, { table, bucket }: Reached, index: Register): Register {
  const slot = emitter.copy(index);
  emitter.aluConstant(Alu.AND, slot, BigInt(slotsOfBucket - 1));
  emitter.aluConstant(Alu.MUL, slot, BigInt(table.stride));
  emitter.alu(Alu.ADD, slot, bucket);
  return slot;
}

function bitOf({ emitter }: FunctionScope, index: Register): Register {
  const bit = emitter.constant(1n);
  emitter.alu(Alu.LSH, bit, index);
  return bit;
}

/** The next slot, after the last the first. */
function advance({ emitter }: FunctionScope, index: Register): void {
  emitter.add(index, 1);
  emitter.aluConstant(Alu.AND, index, BigInt(slotsOfBucket - 1));
}

/** Jumps back, as often as the kernel grants; then to `lost`. */
function goBack({ emitter }: FunctionScope, to: number, lost: number): void {
  emitter.emit({ kind: "may-goto", to: lost });
  emitter.jump(to);
}

/** What follows is for the slot that has the key, by a control word; `missing`: where to go when none has. */
function scan(scope: FunctionScope, reached: Reached, word: Register, missing: number): Register {
  const { emitter } = scope;
  const { index } = reached;
  const [again, next] = [emitter.label(), emitter.label()];
  const rest = emitter.copy(word);
  emitter.aluConstant(Alu.AND, rest, control.counts);
  emitter.bind(again);
  emitter.branchConstant(Jump.JEQ, rest, 0n, missing);
  const counts = emitter.copy(rest);
  emitter.alu(Alu.RSH, counts, index);
  emitter.aluConstant(Alu.AND, counts, 1n);
  emitter.branchConstant(Jump.JEQ, counts, 0n, next);
  const slot = slotAt(scope, reached, index);
  for (const { part, offset, width } of keyParts(scope, reached.key, reached.table.keySize)) {
    const there = emitter.register();
    emitter.load(there, behind(slot, offset), width);
    emitter.branch(Jump.JNE, there, part, next);
  }
  emitter.cold(() => {
    emitter.bind(next);
    const others = bitOf(scope, index);
    emitter.aluConstant(Alu.XOR, others, -1n);
    emitter.alu(Alu.AND, rest, others);
    advance(scope, index);
    goBack(scope, again, missing);
  });
  return slot;
}

/** Where to go when the bucket has changed since its control word was loaded: what was looked for may have moved meanwhile. */
function ifChanged(scope: FunctionScope, reached: Reached, word: Register, to: number): void {
  if (!reached.table.stays) scope.emitter.branch(Jump.JNE, loadControl(scope, reached), word, to);
}

function loadControl({ emitter }: FunctionScope, { bucket }: Reached): Register {
  const word = emitter.register();
  emitter.load(word, behind(bucket), 8);
  return word;
}

/** Where to go when the bucket was ever full. */
function ifWasFull({ emitter }: FunctionScope, word: Register, to: number): void {
  const flag = emitter.copy(word);
  emitter.aluConstant(Alu.AND, flag, control.wasFull);
  emitter.branchConstant(Jump.JNE, flag, 0n, to);
}

/** The control word after a change, which also makes so many entries more. */
function changed({ emitter }: FunctionScope, word: Register, entries = 0n): void {
  emitter.alu(Alu.ADD, word, emitter.constant(control.change + entries * control.entry));
}

/** Gives `result` the address of a key's value, or 0. `inKernel` looks in the kernel's table. */
export function findInBuckets(
  scope: FunctionScope,
  map: number,
  given: Memory,
  result: Register,
  inKernel: (key: Memory) => Register,
): void {
  const { emitter } = scope;
  const key = aligned(scope, map, given);
  const [again, moved, absent, kernel, none, done] = [
    emitter.label(),
    emitter.label(),
    emitter.label(),
    emitter.label(),
    emitter.label(),
    emitter.label(),
  ];
  emitter.bind(again);
  const reached = reach(scope, map, key);
  const word = loadControl(scope, reached);
  const slot = scan(scope, reached, word, absent);
  // The slot may have been given up since, and another entry of this key be under way in there.
  ifChanged(scope, reached, word, moved);
  emitter.move(result, slot);
  emitter.add(result, reached.table.valueAt);
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(moved);
    goBack(scope, again, none);
    emitter.bind(absent);
    ifChanged(scope, reached, word, moved);
    ifWasFull(scope, word, kernel);
    emitter.bind(none);
    emitter.set(result, 0n);
    emitter.jump(done);
    emitter.bind(kernel);
    emitter.move(result, inKernel(key));
    emitter.jump(done);
  });
}

/** How an entry is stored or added to. */
interface Putting {
  /** Of maps whose entries stay where they are: changes the value there. */
  readonly inPlace: (value: Memory) => void;
  /** Before a value takes the place of another one, which is there. */
  readonly replacing?: (value: Memory) => void;
  /** Before a value is the first of its key, or is not stored after all. */
  readonly making?: () => void;
  /** Writes the value into a slot that nobody else writes, and nobody reads. */
  readonly write: (value: Memory) => void;
  /** Does it in the kernel's table. */
  readonly inKernel: (key: Memory) => void;
}

export function putInBuckets(scope: FunctionScope, map: number, given: Memory, put: Putting): void {
  const { emitter } = scope;
  const key = aligned(scope, map, given);
  const [again, retry, absent, place, next, further, beaten, full, kernel, lost, done] = Array.from(
    { length: 11 },
    () => emitter.label(),
  );
  /** The bit of the slot that counts until now; 0: none. */
  const old = isStill(scope, map) ? undefined : emitter.register();
  /** What is added to the control word in the end. */
  const more = emitter.register();
  emitter.bind(again);
  const reached = reach(scope, map, key);
  const { table, bucket, index } = reached;
  const word = loadControl(scope, reached);
  const slot = scan(scope, reached, word, absent);
  if (old === undefined) {
    put.inPlace(behind(slot, table.valueAt));
    emitter.jump(done);
  } else {
    emitter.move(old, bitOf(scope, index));
    emitter.set(more, control.change);
    put.replacing?.(behind(slot, table.valueAt));
    emitter.jump(place);
  }
  emitter.bind(absent);
  ifWasFull(scope, word, kernel);
  const entries = emitter.copy(word);
  emitter.aluConstant(Alu.RSH, entries, control.entriesAt);
  emitter.aluConstant(Alu.AND, entries, 15n);
  emitter.branchConstant(Jump.JGE, entries, control.mostEntries, full);
  if (old !== undefined) emitter.set(old, 0n);
  emitter.set(more, control.change + control.entry);
  put.making?.();

  emitter.bind(place);
  const used = emitter.copy(word);
  emitter.aluConstant(Alu.RSH, used, control.writing);
  emitter.alu(Alu.OR, used, word);
  emitter.aluConstant(Alu.OR, used, 1n);
  emitter.aluConstant(Alu.AND, used, 0xffffn);
  emitter.branchConstant(Jump.JEQ, used, 0xffffn, retry);
  emitter.bind(next);
  const taken = emitter.copy(used);
  emitter.alu(Alu.RSH, taken, index);
  emitter.aluConstant(Alu.AND, taken, 1n);
  emitter.branchConstant(Jump.JNE, taken, 0n, further);
  const writing = emitter.constant(1n << control.writing);
  emitter.alu(Alu.LSH, writing, index);
  const claimed = emitter.copy(word);
  emitter.alu(Alu.OR, claimed, writing);
  changed(scope, claimed);
  emitter.branch(Jump.JNE, emitter.compareExchange(behind(bucket), word, claimed), word, retry);
  const fresh = slotAt(scope, reached, index);
  for (const { part, offset, width } of keyParts(scope, key, table.keySize))
    emitter.store(behind(fresh, offset), width, part);
  put.write(behind(fresh, table.valueAt));
  const made = emitter.copy(claimed);
  emitter.alu(Alu.XOR, made, writing);
  const bit = emitter.copy(writing);
  emitter.aluConstant(Alu.RSH, bit, control.writing);
  emitter.alu(Alu.XOR, made, bit);
  if (old !== undefined) emitter.alu(Alu.XOR, made, old);
  emitter.alu(Alu.ADD, made, more);
  emitter.branch(Jump.JNE, emitter.compareExchange(behind(bucket), claimed, made), claimed, beaten);
  emitter.bind(done);

  emitter.cold(() => {
    emitter.bind(further);
    advance(scope, index);
    goBack(scope, next, lost);

    // Something in the bucket has changed: the slot is given back.
    emitter.bind(beaten);
    emitter.emit({ kind: "negate", dst: writing });
    emitter.atomicAdd(behind(bucket), writing, false);
    emitter.bind(retry);
    goBack(scope, again, lost);

    // From now on keys that are not in the bucket are in the kernel's table.
    emitter.bind(full);
    const marked = emitter.copy(word);
    emitter.aluConstant(Alu.OR, marked, control.wasFull);
    changed(scope, marked);
    emitter.compareExchange(behind(bucket), word, marked);
    goBack(scope, again, lost);

    emitter.bind(kernel);
    ifChanged(scope, reached, word, retry);
    put.inKernel(key);
    emitter.jump(done);

    emitter.bind(lost);
    countBusy(scope, map);
    put.making?.();
    emitter.jump(done);
  });
}

/** Deletes an entry; `result` is 1 when there was one. `inKernel` does so in the kernel's table. */
export function deleteInBuckets(
  scope: FunctionScope,
  map: number,
  given: Memory,
  result: Register,
  inKernel: (key: Memory) => void,
): void {
  const { emitter } = scope;
  const key = aligned(scope, map, given);
  const [again, beaten, absent, none, kernel, done] = Array.from({ length: 6 }, () => emitter.label());
  emitter.bind(again);
  const reached = reach(scope, map, key);
  const word = loadControl(scope, reached);
  scan(scope, reached, word, absent);
  const without = bitOf(scope, reached.index);
  emitter.alu(Alu.XOR, without, word);
  changed(scope, without, -1n);
  emitter.branch(Jump.JNE, emitter.compareExchange(behind(reached.bucket), word, without), word, beaten);
  emitter.set(result, 1n);
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(beaten);
    goBack(scope, again, none);
    emitter.bind(absent);
    ifChanged(scope, reached, word, beaten);
    ifWasFull(scope, word, kernel);
    emitter.bind(none);
    emitter.set(result, 0n);
    emitter.jump(done);
    emitter.bind(kernel);
    inKernel(key);
    emitter.jump(done);
  });
}
