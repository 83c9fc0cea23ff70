// The kernel's side of tables that handlers and the session share (layouts/shared-table.ts): finding a key's entry, and
// making it.
import { Alu, Jump } from "../../bpf/instruction.ts";
import { InternalError } from "../../base/internal-error.ts";
import { keyLayout } from "../../language/layout.ts";
import { entryHead, golden, halfHead, type SharedTable, tableHead } from "../layouts/shared-table.ts";
import { copy } from "./memory.ts";
import { at, behind, pieces } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import type { FunctionScope } from "./scope.ts";
import { countBusy, countRefusal, full } from "./trouble-counters.ts";

/** A table as a function reaches it. */
interface Reached {
  readonly table: SharedTable;
  /** The address of its first byte. */
  readonly whole: Register;
  /** What was read of which half is in use; undefined where there is one. */
  readonly current: Register | undefined;
  /** The address of that half. */
  readonly half: Register;
}

function reach(scope: FunctionScope, map: number): Reached {
  const { emitter } = scope;
  const storage = scope.storageOf(map);
  if (storage.kind !== "shared") throw new InternalError(`@${scope.irMap(map).name} is in no table of strobe's own`);
  const whole = emitter.mapValue(scope.kernelMapOf(map).index, 0);
  if (storage.halves === 1) {
    const half = emitter.copy(whole);
    emitter.add(half, tableHead.halves);
    return { table: storage, whole, current: undefined, half };
  }
  const current = emitter.register();
  emitter.load(current, behind(whole, tableHead.current), 8);
  const half = emitter.copy(current);
  emitter.aluConstant(Alu.AND, half, 1n);
  emitter.aluConstant(Alu.MUL, half, BigInt(storage.half));
  emitter.alu(Alu.ADD, half, whole);
  emitter.add(half, tableHead.halves);
  return { table: storage, whole, current, half };
}

/** Where a key is aligned as words are: everybody hashes the same words of it. */
export function aligned(scope: FunctionScope, map: number, key: Memory): Memory {
  if (scope.alignment(key) === 8) return key;
  const { size: keySize } = keyLayout(scope.irMap(map).keys);
  const words = scope.temporary(keySize);
  copy(scope, words, key, keySize);
  return words;
}

/** Loads the key's parts, one after the other. */
export function* keyParts(
  scope: FunctionScope,
  key: Memory,
  size: number,
): Generator<{ part: Register; offset: number; width: 1 | 2 | 4 | 8 }> {
  for (const { offset, width } of pieces(scope.alignment(key), size)) {
    const part = scope.emitter.register();
    scope.emitter.load(part, at(key, offset), width);
    // A pointer that is in a key is one to the verifier, until it is a number: it adds nothing to those.
    if (width === 8 && scope.pointers.size > 0) scope.forgetPointer(part);
    yield { part, offset, width };
  }
}

/** All bits depend on all of the key. `multiplierAt`: where what it is multiplied by is. */
export function hashOf(scope: FunctionScope, multiplierAt: Memory, key: Memory, keySize: number): Register {
  const { emitter } = scope;
  const multiplier = emitter.register();
  emitter.load(multiplier, multiplierAt, 8);
  // Of a key that the verifier knows it may not know the hash: it would walk from slot to slot.
  const hash = emitter.copy(multiplier);
  for (const { part } of keyParts(scope, key, keySize)) {
    emitter.alu(Alu.ADD, hash, part);
    emitter.alu(Alu.MUL, hash, multiplier);
    const high = emitter.copy(hash);
    emitter.aluConstant(Alu.RSH, high, 32n);
    emitter.alu(Alu.XOR, hash, high);
  }
  emitter.alu(Alu.MUL, hash, emitter.constant(golden));
  return hash;
}

function tableHash(scope: FunctionScope, { table, whole }: Reached, key: Memory): Register {
  return hashOf(scope, behind(whole, tableHead.multiplier), key, table.keySize);
}

/** From slot to slot, until it is the key's (what follows is written for that) or free. */
interface Probed {
  /** The high half of the hash. */
  readonly tag: Register;
  /** The slot's address, without `halfHead.slots`. */
  readonly slot: Register;
  readonly entry: Register;
  /** Looks at the same slot again. */
  readonly again: number;
}

/** `lost`: where to go after more rounds than the kernel grants. */
function probe(
  scope: FunctionScope,
  { table, half }: Reached,
  key: Memory,
  hash: Register,
  free: number,
  lost: number,
): Probed {
  const { emitter } = scope;
  const [again, next] = [emitter.label(), emitter.label()];
  const [slot, word] = [emitter.register(), emitter.register()];
  const index = emitter.copy(hash);
  emitter.aluConstant(Alu.RSH, index, BigInt(64 - table.slotBits));
  const tag = emitter.copy(hash);
  emitter.aluConstant(Alu.RSH, tag, 32n);
  emitter.bind(again);
  emitter.move(slot, index);
  emitter.aluConstant(Alu.LSH, slot, 3n);
  emitter.alu(Alu.ADD, slot, half);
  emitter.load(word, behind(slot, halfHead.slots), 8);
  emitter.branchConstant(Jump.JEQ, word, 0n, free);
  const found = emitter.copy(word);
  emitter.aluConstant(Alu.RSH, found, 32n);
  emitter.branch(Jump.JNE, found, tag, next);
  scope.moveNarrow(word, word);
  const entry = entryAt(scope, table, half, word, next);
  for (const { part, offset, width } of keyParts(scope, key, table.keySize)) {
    const there = emitter.register();
    emitter.load(there, behind(entry, entryHead.key + offset), width);
    emitter.branch(Jump.JNE, there, part, next);
  }
  emitter.cold(() => {
    emitter.bind(next);
    emitter.add(index, 1);
    emitter.aluConstant(Alu.AND, index, BigInt(2 ** table.slotBits - 1));
    emitter.emit({ kind: "may-goto", to: lost });
    emitter.jump(again);
  });
  return { tag, slot, entry, again };
}

/** The address of an entry by its number; `none`: where to go with one that there cannot be. */
function entryAt(scope: FunctionScope, table: SharedTable, half: Register, number: Register, none: number): Register {
  const { emitter } = scope;
  const entry = emitter.bounded(number);
  emitter.branchConstant(Jump.JGT, entry, BigInt(table.room), none);
  emitter.aluConstant(Alu.MUL, entry, BigInt(table.entryBytes));
  emitter.alu(Alu.ADD, entry, half);
  emitter.add(entry, table.entriesAt - table.entryBytes);
  return entry;
}

/** The entry of a key; `missing`: where to go when there is none that counts. */
export function findEntry(scope: FunctionScope, map: number, given: Memory, missing: number): Register {
  const key = aligned(scope, map, given);
  const reached = reach(scope, map);
  const { entry } = probe(scope, reached, key, tableHash(scope, reached, key), missing, missing);
  const live = scope.emitter.register();
  scope.emitter.load(live, behind(entry, entryHead.live), 8);
  scope.emitter.branchConstant(Jump.JEQ, live, 0n, missing);
  return entry;
}

/**
 * Finds a key's entry, or makes it: jumps to `found` with its address in `entry`, or to `done` when the table is full,
 * which is counted, or was cleared meanwhile, which takes this value too.
 */
export function makeEntry(
  scope: FunctionScope,
  map: number,
  given: Memory,
  entry: Register,
  found: number,
  done: number,
): void {
  const { emitter } = scope;
  const key = aligned(scope, map, given);
  const reached = reach(scope, map);
  const { table, whole, current, half } = reached;
  const [leave, free, there, filled, refused, lost] = [
    emitter.label(),
    emitter.label(),
    emitter.label(),
    emitter.label(),
    emitter.label(),
    emitter.label(),
  ];
  const makers = (by: bigint): void => {
    if (current !== undefined) emitter.atomicAdd(behind(half, halfHead.makers), emitter.constant(by), true);
  };
  makers(1n);
  if (current !== undefined) {
    // Of a half that was left before that, nothing may be touched any more.
    const now = emitter.register();
    emitter.load(now, behind(whole, tableHead.current), 8);
    emitter.branch(Jump.JNE, now, current, leave);
  }
  const probed = probe(scope, reached, key, tableHash(scope, reached, key), free, lost);
  emitter.move(entry, probed.entry);
  emitter.storeConstant(behind(entry, entryHead.live), 8, 1n);
  emitter.bind(there);
  makers(-1n);
  emitter.jump(found);

  emitter.bind(free);
  const count = emitter.register();
  emitter.load(count, behind(half, halfHead.count), 8);
  emitter.branchConstant(Jump.JGE, count, BigInt(table.entries), filled);
  const number = emitter.constant(0n);
  emitter.exchange(behind(half, halfHead.spare), number);
  const taken = emitter.label();
  emitter.branchConstant(Jump.JNE, number, 0n, taken);
  emitter.set(number, 1n);
  emitter.atomicAdd(behind(half, halfHead.taken), number, true);
  emitter.add(number, 1);
  emitter.bind(taken);
  const fresh = entryAt(scope, table, half, number, refused);
  for (const { part, offset, width } of keyParts(scope, key, table.keySize))
    emitter.store(behind(fresh, entryHead.key + offset), width, part);
  emitter.storeConstant(behind(fresh, entryHead.live), 8, 1n);
  const word = emitter.copy(probed.tag);
  emitter.aluConstant(Alu.LSH, word, 32n);
  emitter.alu(Alu.OR, word, number);
  const before = emitter.compareExchange(behind(probed.slot, halfHead.slots), 0n, word);
  const overtaken = emitter.label();
  emitter.branchConstant(Jump.JNE, before, 0n, overtaken);
  emitter.atomicAdd(behind(half, halfHead.count), emitter.constant(1n), false);
  emitter.move(entry, fresh);
  emitter.jump(there);

  emitter.bind(overtaken);
  emitter.exchange(behind(half, halfHead.spare), number);
  emitter.emit({ kind: "may-goto", to: lost });
  emitter.jump(probed.again);

  // The last entry may have become this key's since the slot was looked at.
  emitter.bind(filled);
  const last = emitter.register();
  emitter.load(last, behind(probed.slot, halfHead.slots), 8);
  emitter.branchConstant(Jump.JEQ, last, 0n, refused);
  emitter.emit({ kind: "may-goto", to: lost });
  emitter.jump(probed.again);

  emitter.bind(refused);
  makers(-1n);
  countRefusal(scope, map, emitter.constant(full));
  emitter.jump(done);
  emitter.bind(lost);
  countBusy(scope, map);
  emitter.bind(leave);
  makers(-1n);
  emitter.jump(done);
}
