import assert from "node:assert/strict";
import { test } from "node:test";
import type { IrMap } from "../compiler/ir/ir.ts";
import { entryHead, halfHead, type SharedTable, sharedTable, tableHead } from "../compiler/layouts/shared-table.ts";
import { u64, type AggregateType } from "../language/types.ts";
import type { SharedMemory } from "./maps.ts";
import { hashOf, SharedTableMap } from "./shared-table-map.ts";

const count: AggregateType = { kind: "aggregate", aggregate: "count", signed: false };
const multiplier = 0x51ed_270b_9f3a_c6d5n;

class Made {
  readonly table: SharedTable;
  readonly memory: SharedMemory;
  readonly live: SharedTableMap;
  refused = 0;

  constructor(entries: number, pause: () => void = () => assert.fail("nobody is to be waited for")) {
    this.table = sharedTable(8, entries, { copies: 2, stride: 8 }, 2);
    const buffer = new ArrayBuffer(this.table.bytes);
    this.memory = { words: new BigUint64Array(buffer), bytes: new Uint8Array(buffer), view: new DataView(buffer) };
    this.memory.words[tableHead.multiplier / 8] = multiplier;
    const map: IrMap = { name: "m", shown: "@m", keys: [u64], value: count, entries };
    this.live = new SharedTableMap(map, this.table, this.memory, () => this.refused++, pause);
  }

  /** What is counted of each key. */
  counts(): Map<bigint, bigint> {
    return new Map(this.live.entries().map(([key, value]) => [wordOf(key), wordOf(value)]));
  }
}

const keyOf = (key: bigint): Uint8Array => new Uint8Array(new BigUint64Array([key]).buffer);
const wordOf = (bytes: Uint8Array): bigint => new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);

test("entries are made, read, zeroed, deleted, and made again", () => {
  const { live, ...made } = new Made(4);
  assert.equal(live.lookup(keyOf(7n)), undefined);
  for (const key of [0n, 7n, 7n, 1n << 63n]) live.aggregate(keyOf(key), 1n);
  assert.equal(wordOf(live.lookup(keyOf(7n)) ?? assert.fail()), 2n);
  assert.equal(live.length(), 3);
  assert.equal(live.delete(keyOf(7n)), true);
  assert.equal(live.delete(keyOf(7n)), false);
  assert.equal(live.lookup(keyOf(7n)), undefined);
  assert.equal(live.length(), 2);
  live.aggregate(keyOf(7n), 1n);
  assert.equal(wordOf(live.lookup(keyOf(7n)) ?? assert.fail()), 1n);
  live.store(keyOf(0n), keyOf(100n));
  live.aggregate(keyOf(0n), 1n);
  assert.equal(wordOf(live.lookup(keyOf(0n)) ?? assert.fail()), 101n);
  live.zero();
  assert.deepEqual(
    live.entries().map(([, value]) => wordOf(value)),
    [0n, 0n, 0n],
  );
  live.clear();
  assert.deepEqual(live.entries(), []);
  assert.equal(made.refused, 0);
});

test("it has room for as many keys as were asked for, again after it was cleared", () => {
  const made = new Made(100);
  for (let round = 0; round < 3; round++) {
    for (let key = 0n; key < 103n; key++) made.live.aggregate(keyOf(key), 1n);
    assert.equal(made.live.length(), 100);
    assert.equal(made.refused, 3 * (round + 1));
    made.live.clear();
  }
});

test("a table is not cleared into a half where somebody still makes an entry", () => {
  let waits = 0;
  const made = new Made(8, () => waits++);
  made.memory.words[(tableHead.halves + made.table.half + halfHead.makers) / 8] = 1n;
  made.live.aggregate(keyOf(1n), 1n);
  made.live.clear();
  assert.equal(waits, 100);
  assert.equal(made.memory.words[tableHead.current / 8], 0n);
  assert.deepEqual(made.live.entries(), []);
});

test("keys of all sizes are hashed whole", () => {
  for (const size of [1, 2, 3, 4, 7, 8, 12, 16, 31, 64]) {
    const seen = new Set<bigint>();
    for (let at = 0; at < size; at++) {
      for (const value of [1, 128]) {
        const key = new Uint8Array(size);
        key[at] = value;
        seen.add(hashOf(key, multiplier));
      }
    }
    assert.equal(seen.size, size * 2);
  }
});

/**
 * What a handler does (compiler/bpf/shared-tables.ts), an access of memory a step. `state`: what it did, for the model.
 */
function* handler({ table, memory: { words } }: Made, key: bigint, state: { refused: number }): Generator<void, void> {
  const hash = hashOf(keyOf(key), multiplier);
  const tag = hash >> 32n;
  const mask = 2 ** table.slotBits - 1;
  const first = Number(hash >> BigInt(64 - table.slotBits));
  const entryAt = (half: number, number: bigint): number =>
    half + table.entriesAt + (Number(number) - 1) * table.entryBytes;
  const reach = (): number => tableHead.halves + Number(words[tableHead.current / 8]) * table.half;
  const add = (entry: number): void => void words[(entry + table.valueAt) / 8]++;
  let half = reach();
  yield;
  for (let index = first; ; index = (index + 1) & mask) {
    const word = words[(half + halfHead.slots) / 8 + index];
    yield;
    if (word === 0n) break;
    if (word >> 32n !== tag) continue;
    const entry = entryAt(half, word & 0xffff_ffffn);
    if (words[(entry + entryHead.key) / 8] !== key) continue;
    yield;
    if (words[(entry + entryHead.live) / 8] === 0n) break;
    yield;
    return add(entry);
  }
  half = reach();
  const current = words[tableHead.current / 8];
  yield;
  words[(half + halfHead.makers) / 8]++;
  yield;
  const leave = (): void => void words[(half + halfHead.makers) / 8]--;
  if (words[tableHead.current / 8] !== current) return leave();
  yield;
  for (let index = first; ;) {
    const slot = (half + halfHead.slots) / 8 + index;
    const word = words[slot];
    yield;
    if (word !== 0n) {
      const entry = entryAt(half, word & 0xffff_ffffn);
      if (word >> 32n === tag && words[(entry + entryHead.key) / 8] === key) {
        yield;
        words[(entry + entryHead.live) / 8] = 1n;
        yield;
        leave();
        yield;
        return add(entry);
      }
      index = (index + 1) & mask;
      continue;
    }
    if (words[(half + halfHead.count) / 8] >= BigInt(table.entries)) {
      yield;
      if (words[slot] !== 0n) continue;
      state.refused++;
      return leave();
    }
    yield;
    let number = words[(half + halfHead.spare) / 8];
    words[(half + halfHead.spare) / 8] = 0n;
    yield;
    if (number === 0n) number = ++words[(half + halfHead.taken) / 8];
    yield;
    assert.ok(number <= BigInt(table.room));
    const entry = entryAt(half, number);
    words[(entry + entryHead.key) / 8] = key;
    yield;
    words[(entry + entryHead.live) / 8] = 1n;
    yield;
    if (words[slot] === 0n) {
      words[slot] = (tag << 32n) | number;
      yield;
      words[(half + halfHead.count) / 8]++;
      yield;
      leave();
      yield;
      return add(entry);
    }
    yield;
    words[(half + halfHead.spare) / 8] = number;
    yield;
  }
}

/** A small generator of numbers that tests can repeat. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed + 1; ;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state >>> 8;
  }
}

test("handlers in any order of their steps count every value once", () => {
  for (let seed = 0; seed < 150; seed++) {
    const random = numbers(seed);
    const next = (below: number): number => random.next().value % below;
    const made = new Made(24);
    const keys = 1 + next(24);
    const expected = new Map<bigint, bigint>();
    const state = { refused: 0 };
    const running: Generator<void, void>[] = [];
    for (let started = 0; started < 200 || running.length > 0;) {
      if (started < 200 && (running.length === 0 || next(10) === 0)) {
        const key = BigInt(next(keys));
        expected.set(key, (expected.get(key) ?? 0n) + 1n);
        running.push(handler(made, key, state));
        started++;
        continue;
      }
      // Sometimes the newest alone, as what interrupts another.
      const at = next(3) === 0 ? running.length - 1 : next(running.length);
      if (running[at].next().done) running.splice(at, 1);
    }
    assert.deepEqual(made.counts(), expected, `seed ${seed}`);
    assert.equal(state.refused, 0);
    assert.equal(made.live.length(), expected.size);
  }
});

test("while the table is cleared, too, every key has what was counted of it since, or less", () => {
  for (let seed = 0; seed < 150; seed++) {
    const random = numbers(seed);
    const next = (below: number): number => random.next().value % below;
    const made = new Made(24, () => {});
    const state = { refused: 0 };
    const running: { key: bigint; steps: Generator<void, void> }[] = [];
    const advance = (at: number): void => void (running[at].steps.next().done && running.splice(at, 1));
    for (let clears = 0; clears < 6; clears++) {
      for (let started = 0; started < 60;) {
        if (running.length === 0 || next(10) === 0) {
          const key = BigInt(next(24));
          running.push({ key, steps: handler(made, key, state) });
          started++;
        } else advance(next(running.length));
      }
      const before = running.length;
      made.live.clear();
      // Those that were under way may have been in time, or come later.
      assert.ok(made.live.length() <= before);
    }
    while (running.length > 0) advance(next(running.length));
    made.live.clear();
    const expected = new Map<bigint, bigint>();
    for (let i = 0; i < 100; i++) {
      const key = BigInt(next(24));
      expected.set(key, (expected.get(key) ?? 0n) + 1n);
      for (const _ of handler(made, key, state));
    }
    assert.deepEqual(made.counts(), expected, `seed ${seed}`);
    assert.equal(state.refused, 0);
  }
});
