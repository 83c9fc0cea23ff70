import assert from "node:assert/strict";
import { test } from "node:test";
import type { IrMap } from "../compiler/ir/ir.ts";
import { bucketHead, bucketTable, control, type BucketTable } from "../compiler/layouts/bucket-table.ts";
import { u64 } from "../language/types.ts";
import { BucketTableMap } from "./bucket-table-map.ts";
import { HostMap } from "./host-map.ts";
import type { SharedMemory } from "./maps.ts";
import { hashOf } from "./shared-table-map.ts";

const multiplier = 0x51ed_270b_9f3a_c6d5n;
const keyOf = (key: bigint): Uint8Array => new Uint8Array(new BigUint64Array([key]).buffer);
const wordOf = (bytes: Uint8Array): bigint => new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);

class Made {
  readonly table: BucketTable;
  readonly memory: SharedMemory;
  readonly others: HostMap;
  readonly live: BucketTableMap;

  constructor(entries: number, stays: boolean) {
    this.table = bucketTable(8, 8, entries, stays);
    const buffer = new ArrayBuffer(this.table.bytes);
    this.memory = { words: new BigUint64Array(buffer), bytes: new Uint8Array(buffer), view: new DataView(buffer) };
    this.memory.words[bucketHead.multiplier / 8] = multiplier;
    const map: IrMap = { name: "m", shown: "@m", keys: [u64], value: u64, entries: 1000 };
    this.others = new HostMap(map);
    this.live = new BucketTableMap(map, this.table, this.memory, this.others);
  }

  /** The value of each key; every key is there once. */
  values(): Map<bigint, bigint> {
    const all = this.live.entries().map(([key, value]): [bigint, bigint] => [wordOf(key), wordOf(value)]);
    const values = new Map(all);
    assert.equal(values.size, all.length);
    return values;
  }
}

/** A small generator of numbers that tests can repeat. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed + 1; ;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    yield state >>> 8;
  }
}

for (const stays of [false, true]) {
  test(`a table ${stays ? "of words" : "of entries that move"} does what a map does, also with more keys than it has room for`, () => {
    for (const [entries, keys] of [
      [8, 200],
      [256, 100],
    ]) {
      const made = new Made(entries, stays);
      const random = numbers(entries);
      const next = (below: number): number => random.next().value % below;
      const expected = new Map<bigint, bigint>();
      for (let i = 0; i < 5000; i++) {
        const key = BigInt(next(keys));
        const value = BigInt(next(1000));
        const old = expected.get(key);
        switch (next(stays ? 3 : 4)) {
          case 0:
            made.live.store(keyOf(key), keyOf(value));
            expected.set(key, value);
            break;
          case 1:
            assert.equal(made.live.add(keyOf(key), value), (old ?? 0n) + value);
            expected.set(key, (old ?? 0n) + value);
            break;
          case 2: {
            const there = made.live.lookup(keyOf(key));
            assert.equal(there && wordOf(there), old);
            break;
          }
          case 3:
            assert.equal(made.live.delete(keyOf(key)), expected.delete(key));
        }
        assert.equal(made.live.length(), expected.size);
      }
      const sorted = (values: Map<bigint, bigint>): [bigint, bigint][] => [...values].sort(([a], [b]) => Number(a - b));
      assert.deepEqual(sorted(made.values()), sorted(expected));
      assert.equal(made.others.length() > 0, entries === 8);
      made.live.zero();
      assert.deepEqual(sorted(made.values()), sorted(new Map([...expected.keys()].map((key) => [key, 0n]))));
      made.live.clear();
      assert.equal(made.live.length(), 0);
      assert.deepEqual([...made.values()], []);
    }
  });
}

/** What a handler does to a value: undefined for none. */
type Change = (old: bigint | undefined) => bigint | undefined;

/**
 * What a handler does (compiler/bpf/bucket-tables.ts), an access of memory a step: stores, adds and deletes. An operation on
 * the kernel's table is one step.
 */
function* handler({ table, memory: { words }, others }: Made, key: bigint, change: Change): Generator<void, void> {
  const hash = hashOf(keyOf(key), multiplier);
  const bucket = bucketHead.buckets + Number(hash >> BigInt(64 - table.bucketBits)) * table.bucketBytes;
  const home = Number((hash >> BigInt(60 - table.bucketBits)) & 15n);
  const slotAt = (slot: number): number => (bucket + slot * table.stride) / 8;
  const bitOf = (slot: number): bigint => 1n << BigInt(slot);
  const exchange = (expected: bigint, next: bigint): boolean => {
    const same = words[bucket / 8] === expected;
    if (same) words[bucket / 8] = next;
    return same;
  };
  for (;;) {
    const word = words[bucket / 8];
    yield;
    let found = 0;
    for (let slot = home, i = 0; i < 16 && found === 0; i++, slot = (slot + 1) % 16) {
      if ((word & control.counts & bitOf(slot)) === 0n) continue;
      if (words[slotAt(slot)] === key) found = slot;
      yield;
    }
    if (found === 0 && (word & control.wasFull) !== 0n) {
      if (!table.stays && words[bucket / 8] !== word) continue;
      yield;
      const there = others.lookup(keyOf(key));
      const value = change(there && wordOf(there));
      if (value === undefined) others.delete(keyOf(key));
      else others.store(keyOf(key), keyOf(value));
      return;
    }
    const value = change(found === 0 ? undefined : words[slotAt(found) + 1]);
    yield;
    if (found !== 0 && table.stays) {
      // An atomic addition, or a store.
      words[slotAt(found) + 1] = change(words[slotAt(found) + 1]) ?? assert.fail();
      return;
    }
    const old = found === 0 ? 0n : bitOf(found);
    if (value === undefined) {
      if (found === 0 ? words[bucket / 8] === word : exchange(word, word - old - control.entry + control.change))
        return;
      continue;
    }
    if (found === 0 && ((word >> control.entriesAt) & 15n) >= control.mostEntries) {
      exchange(word, (word | control.wasFull) + control.change);
      yield;
      continue;
    }
    const used = (word | (word >> 16n) | 1n) & 0xffffn;
    if (used === 0xffffn) continue;
    let free = home;
    while ((used & bitOf(free)) !== 0n) free = (free + 1) % 16;
    const writing = bitOf(free) << 16n;
    const claimed = (word | writing) + control.change;
    if (!exchange(word, claimed)) continue;
    yield;
    words[slotAt(free)] = key;
    yield;
    words[slotAt(free) + 1] = value;
    yield;
    const more = control.change + (found === 0 ? control.entry : 0n);
    if (exchange(claimed, (claimed ^ writing ^ bitOf(free) ^ old) + more)) return;
    yield;
    words[bucket / 8] -= writing;
    yield;
  }
}

/** Runs handlers in some order of their steps: sometimes the newest alone, as what interrupts another. */
function interleave(seed: number, count: number, start: (i: number) => Generator<void, void>): void {
  const random = numbers(seed);
  const next = (below: number): number => random.next().value % below;
  const running: Generator<void, void>[] = [];
  for (let started = 0; started < count || running.length > 0;) {
    if (started < count && (running.length === 0 || next(10) === 0)) running.push(start(started++));
    const at = next(3) === 0 ? running.length - 1 : next(running.length);
    if (running[at].next().done) running.splice(at, 1);
  }
}

for (const stays of [false, true]) {
  test(`handlers in any order of their steps add every value once${stays ? ", in place" : ""}`, () => {
    for (let seed = 0; seed < 150; seed++) {
      const made = new Made(8, stays);
      const random = numbers(seed + 1000);
      const keys = 1 + (seed % 40);
      const expected = new Map<bigint, bigint>();
      interleave(seed, 200, () => {
        const key = BigInt(random.next().value % keys);
        expected.set(key, (expected.get(key) ?? 0n) + 1n);
        return handler(made, key, (old) => (old ?? 0n) + 1n);
      });
      const sorted = (values: Map<bigint, bigint>): [bigint, bigint][] => [...values].sort(([a], [b]) => Number(a - b));
      assert.deepEqual(sorted(made.values()), sorted(expected), `seed ${seed}`);
    }
  });
}

test("what one thread stores and deletes stays its own, whatever others do in the bucket", () => {
  for (let seed = 0; seed < 150; seed++) {
    const made = new Made(8, false);
    const random = numbers(seed + 2000);
    const threads = 1 + (seed % 40);
    const turns = Array.from({ length: threads }, () => 0);
    /** Stores, looks whether it is there, and deletes, as pairs of probes do. */
    function* pair(thread: number): Generator<void, void> {
      const key = BigInt(thread);
      const turn = BigInt(turns[thread]++);
      yield* handler(made, key, (old) => {
        assert.equal(old, undefined, `seed ${seed}`);
        return turn;
      });
      const deletes = random.next().value % 8 !== 0;
      yield* handler(made, key, (old) => {
        assert.equal(old, turn, `seed ${seed}`);
        return deletes ? undefined : old;
      });
      if (deletes) return;
      yield* handler(made, key, () => undefined);
    }
    // A thread does one thing after the other.
    const last: (Generator<void, void> | undefined)[] = [];
    interleave(seed, 150, () => {
      const thread = random.next().value % threads;
      const before = last[thread];
      function* after(): Generator<void, void> {
        if (before !== undefined) for (const _ of before) yield;
        yield* pair(thread);
      }
      return (last[thread] = after());
    });
    assert.deepEqual([...made.values()], [], `seed ${seed}`);
    assert.deepEqual(made.memory.words[bucketHead.buckets / 8] & (control.counts << control.writing), 0n);
  }
});
