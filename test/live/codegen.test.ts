// Every operation of the IR, generated, accepted by this kernel's verifier, run once, and its results compared exactly.
import { strict as assert } from "node:assert";
import { describe, test } from "node:test";
import { bucketOf } from "../../src/language/aggregations/buckets.ts";
import { aggregateWords, valueOf } from "../../src/language/aggregations/table.ts";
import { addToCopy } from "../../src/language/aggregations/value.ts";
import { type AggregateType, i64, u64 } from "../../src/language/types.ts";
import { copiesOf } from "../../src/compiler/layouts/copies.ts";
import type { BinaryOp, CompareOp, IrFunction } from "../../src/compiler/ir/ir.ts";
import { contextOf, IrBuilder, irMap, slotMap, type PlacedMap } from "../support/ir-builder.ts";
import { capabilities, KernelModule } from "./codegen-kernel.ts";

const raw = contextOf("raw_tracepoint");
const slots = (count: number): PlacedMap[] => Array.from({ length: count }, (_, i) => slotMap(i));
const live = { skip: process.getuid?.() === 0 ? false : "needs root" };

/** Builds, runs once with the arguments, gives the first `count` results. */
function execute(
  count: number,
  build: (f: IrBuilder) => void,
  args: bigint[] = [],
  maps: readonly PlacedMap[] = [],
  more: ConstructorParameters<typeof KernelModule>[2] = {},
): bigint[] {
  const f = new IrBuilder();
  build(f);
  using module = new KernelModule(f.finish(raw), [...slots(count), ...maps], more);
  module.run(...args);
  return module.results(count);
}

const words = [
  0n,
  1n,
  -1n,
  2n,
  7n,
  -7n,
  100n,
  0x7fff_ffff_ffff_ffffn,
  -0x8000_0000_0000_0000n,
  0x1234_5678_9abc_def0n,
  0xffff_ffffn,
  -0x8000_0000n,
];
const s64 = (value: bigint): bigint => BigInt.asIntN(64, value);
const un = (value: bigint): bigint => BigInt.asUintN(64, value);

const binaryMeaning: Record<BinaryOp, (a: bigint, b: bigint) => bigint> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  udiv: (a, b) => (b === 0n ? 0n : un(a) / un(b)),
  sdiv: (a, b) => (b === 0n ? 0n : a / b),
  umod: (a, b) => (b === 0n ? a : un(a) % un(b)),
  smod: (a, b) => (b === 0n ? a : a % b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b) => a << (b & 63n),
  lshr: (a, b) => un(a) >> (b & 63n),
  ashr: (a, b) => a >> (b & 63n),
};
const compareMeaning: Record<CompareOp, (a: bigint, b: bigint) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  ult: (a, b) => un(a) < un(b),
  ule: (a, b) => un(a) <= un(b),
  ugt: (a, b) => un(a) > un(b),
  uge: (a, b) => un(a) >= un(b),
  slt: (a, b) => a < b,
  sle: (a, b) => a <= b,
  sgt: (a, b) => a > b,
  sge: (a, b) => a >= b,
};

describe("generated code on this kernel", live, () => {
  for (const cpuV4 of [true, false]) {
    test(`arithmetic, ${cpuV4 ? "cpu v4" : "older instructions"}`, () => {
      const kinds = Object.keys(binaryMeaning) as BinaryOp[];
      for (const right of words) {
        const f = new IrBuilder();
        const a = f.argument(0);
        const b = f.argument(1);
        const known = f.constant(right);
        const all = kinds.flatMap((kind) => [f.binary(kind, a, b), f.binary(kind, a, known), f.binary(kind, known, a)]);
        all.forEach((value, i) => f.result(i, value));
        using module = new KernelModule(f.finish(raw), slots(all.length), {
          capabilities: { cpuV4: cpuV4 && capabilities.cpuV4 },
        });
        for (const left of words) {
          module.run(un(left), un(right));
          const expected = kinds
            .flatMap((kind) => [
              binaryMeaning[kind](left, right),
              binaryMeaning[kind](left, right),
              binaryMeaning[kind](right, left),
            ])
            .map(s64);
          assert.deepEqual(module.results(all.length), expected, `${left} with ${right}`);
        }
      }
    });
  }

  test("comparisons as values and in branches", () => {
    const kinds = Object.keys(compareMeaning) as CompareOp[];
    for (const right of words) {
      const f = new IrBuilder();
      const a = f.argument(0);
      const b = f.argument(1);
      const known = f.constant(right);
      kinds.forEach((kind, i) => {
        f.result(i * 4, f.compare(kind, a, b));
        f.result(i * 4 + 1, f.compare(kind, known, a));
        for (const [offset, condition] of [
          [2, f.compare(kind, a, known)],
          [3, f.compare(kind, known, b)],
        ] as const) {
          const [yes, no, join] = [f.block(), f.block(), f.block(1)];
          f.branch(condition, yes, no);
          f.at(yes);
          f.jump(join, f.constant(1));
          f.at(no);
          f.jump(join, f.constant(0));
          f.at(join);
          f.result(i * 4 + offset, f.parameter(join));
        }
      });
      using module = new KernelModule(f.finish(raw), slots(kinds.length * 4));
      for (const left of words) {
        module.run(un(left), un(right));
        const bit = (value: boolean): bigint => (value ? 1n : 0n);
        const expected = kinds.flatMap((kind) =>
          [
            compareMeaning[kind](left, right),
            compareMeaning[kind](right, left),
            compareMeaning[kind](left, right),
            compareMeaning[kind](right, right),
          ].map(bit),
        );
        assert.deepEqual(module.results(kinds.length * 4), expected, `${left} with ${right}`);
      }
    }
  });

  test("extends and swaps", () => {
    const results = execute(
      9,
      (f) => {
        const a = f.argument(0);
        let i = 0;
        for (const bits of [8, 16, 32] as const) {
          for (const signed of [false, true]) {
            const result = f.fresh();
            f.add({ op: "extend", result, value: a, bits, signed });
            f.result(i++, result);
          }
        }
        for (const bits of [16, 32, 64] as const) {
          const result = f.fresh();
          f.add({ op: "swap-bytes", result, value: a, bits });
          f.result(i++, result);
        }
      },
      [0x0123_4567_89ab_cdefn],
    );
    assert.deepEqual(results, [
      0xefn,
      -0x11n,
      0xcdefn,
      -0x3211n,
      0x89ab_cdefn,
      s64(0xffff_ffff_89ab_cdefn),
      0xefcdn,
      0xefcd_ab89n,
      s64(0xefcd_ab89_6745_2301n),
    ]);
  });

  test("a loop with a guard swaps its parameters", () => {
    for (const mayGoto of [true, false]) {
      const results = execute(
        2,
        (f) => {
          const count = f.argument(0);
          const [head, body, step, exit] = [f.block(3), f.block(), f.block(), f.block()];
          f.jump(head, f.constant(0), f.constant(1), f.constant(2));
          f.at(head);
          f.end({ op: "guard", body, exit });
          f.at(body);
          const [i, a, b] = [f.parameter(head), f.parameter(head, 1), f.parameter(head, 2)];
          f.branch(f.compare("slt", i, count), step, exit);
          f.at(step);
          f.jump(head, f.binary("add", i, f.constant(1)), b, a);
          f.at(exit);
          f.result(0, a);
          f.result(1, b);
        },
        [7n],
        [],
        { capabilities: { mayGoto: mayGoto && capabilities.mayGoto } },
      );
      assert.deepEqual(results, [2n, 1n]);
    }
  });

  test("a loop whose counter chooses a bucket is verified in one round", () => {
    const type = { kind: "aggregate", aggregate: "hist", signed: true, parameters: [0n] } as const;
    const f = new IrBuilder();
    const [head, body, step, exit] = [f.block(1), f.block(), f.block(), f.block()];
    f.jump(head, f.constant(0));
    f.at(head);
    f.end({ op: "guard", body, exit });
    f.at(body);
    const i = f.parameter(head);
    f.branch(f.compare("ult", i, f.binary("umod", f.argument(0), f.constant(20))), step, exit);
    f.at(step);
    f.add({ op: "aggregate", map: 1, key: f.key(i), value: i });
    f.jump(head, f.binary("add", i, f.constant(1)));
    f.at(exit);
    f.result(0, i);
    using module = new KernelModule(
      f.finish(raw),
      [slotMap(0), irMap("h", [u64], type, { kind: "percpu-hash", ...copiesOf(type, 16, capabilities.cpus) })],
      {},
    );
    module.run(53n);
    assert.deepEqual(module.results(1), [13n]);
    assert.equal(module.entries(1).length, 13);
  });

  test("many values at once survive calls", () => {
    const results = execute(
      1,
      (f) => {
        const values = Array.from({ length: 20 }, (_, i) => f.binary("add", f.argument(i % 4), f.constant(i)));
        const random = f.builtin("random");
        const zero = f.binary("and", random, f.constant(0));
        const again = f.builtin("cpu");
        const none = f.binary("and", again, f.constant(0));
        f.result(
          0,
          values.reduce(
            (sum, value) => f.binary("add", f.binary("mul", sum, f.constant(3)), value),
            f.binary("add", zero, none),
          ),
        );
      },
      [10n, 20n, 30n, 40n],
    );
    let expected = 0n;
    for (let i = 0; i < 20; i++) expected = expected * 3n + BigInt((i % 4) * 10 + 10 + i);
    assert.deepEqual(results, [s64(expected)]);
  });

  test("builtin values", () => {
    const names = [
      "pid-and-tid",
      "gid-and-uid",
      "cpu",
      "cgroup",
      "helper:get_numa_node_id",
      "random",
      "nsecs-boot",
      "nsecs-monotonic",
      "nsecs-tai",
      "nsecs-wall",
      "nsecs-sw-tai",
      "jiffies",
      "elapsed",
      "child-pid",
    ] as const;
    const results = execute(names.length, (f) => names.forEach((name, i) => f.result(i, f.builtin(name))));
    const of = (name: (typeof names)[number]): bigint => results[names.indexOf(name)] ?? -1n;
    assert.equal(of("pid-and-tid"), (BigInt(process.pid) << 32n) | BigInt(process.pid));
    assert.equal(of("gid-and-uid"), (BigInt(process.getgid?.() ?? -1) << 32n) | BigInt(process.getuid?.() ?? -1));
    assert.equal(of("child-pid"), 4321n);
    assert.ok(of("cpu") < BigInt(capabilities.cpus));
    assert.ok(of("nsecs-wall") > of("nsecs-boot") && of("nsecs-wall") < of("nsecs-boot") + 10_000_000_000n);
    assert.ok(of("elapsed") >= of("nsecs-boot") - 1000n && of("elapsed") < of("nsecs-boot") + 10_000_000_000n);
    assert.ok(of("nsecs-monotonic") <= process.hrtime.bigint());
  });

  test("slots, copies, zeroes, constants and sizes that need scratch memory", () => {
    for (const size of [8, 24, 61, 200, 300, 1000]) {
      const results = execute(3, (f) => {
        const first = f.memory(size);
        const second = f.memory(size);
        const bytes = Uint8Array.from({ length: size }, (_, i) => i + 1);
        f.fill(first, { kind: "constant", bytes, size });
        f.fill(second, { kind: "copy", from: first, size });
        const different = f.fresh();
        f.add({ op: "compare-bytes", result: different, left: first, right: second, length: size });
        f.result(0, different);
        const last = f.fresh();
        f.add({ op: "load", result: last, from: { ...second, offset: size - 1 }, size: 1, signed: false });
        f.result(1, last);
        f.add({ op: "zero", at: first, size });
        const again = f.fresh();
        f.add({ op: "compare-bytes", result: again, left: first, right: second, length: size });
        f.result(2, again);
      });
      assert.deepEqual(results, [0n, BigInt(size & 255), 1n], `${size} bytes`);
    }
  });

  test("reads of this process's memory", () => {
    const results = execute(
      6,
      (f) => {
        const address = f.argument(0);
        const read = (offset: number, size: 1 | 2 | 4 | 8, signed: boolean): void => {
          const result = f.fresh();
          f.add({ op: "read", result, space: "user", address, offset, size, signed });
          f.result(offset, result);
        };
        read(0, 1, false);
        read(1, 1, true);
        read(2, 2, true);
        read(3, 4, false);
        read(4, 8, false);
        const failed = f.fresh();
        f.add({
          op: "read",
          result: failed,
          space: "kernel",
          address: f.constant(0),
          offset: 16,
          size: 8,
          signed: false,
        });
        f.result(5, failed);
      },
      [1n],
    );
    assert.deepEqual(results, [0n, 0n, 0n, 0n, 0n, 0n]);
  });

  test("strings: fill, compare, find, length", () => {
    const results = execute(10, (f) => {
      const text = f.memory(64);
      f.text(text, "the quick brown fox", 64);
      const same = f.memory(64);
      const copied = f.memory(64);
      const length = f.fresh();
      f.text(same, "the quick brown fox", 64);
      f.fill(copied, { kind: "copy", from: text, size: 64 });
      const compare = (index: number, right: Uint8Array | typeof text, count: number): void => {
        const result = f.fresh();
        f.add({ op: "compare-strings", result, left: text, right, length: count });
        f.result(index, result);
      };
      compare(0, same, 64);
      compare(1, Buffer.from("the quick brown fox\0"), 64);
      compare(2, Buffer.from("the quick brown fo\0"), 64);
      compare(3, Buffer.from("the quick clever\0"), 10);
      compare(4, Buffer.from("the quick clever\0"), 11);
      const find = (index: number, needle: Uint8Array | typeof text, capacity: number): void => {
        const result = f.fresh();
        f.add({ op: "find-string", result, text, capacity: 64, needle, needleCapacity: capacity });
        f.result(index, result);
      };
      find(5, Buffer.from("brown\0"), 6);
      find(6, Buffer.from("browns\0"), 7);
      const needle = f.memory(16);
      f.text(needle, "fox", 16);
      find(7, needle, 16);
      const short = f.memory(16);
      f.text(short, "foxes", 16);
      find(8, short, 16);
      f.add({ op: "string-length", result: length, text: copied, capacity: 64 });
      f.result(9, length);
    });
    assert.deepEqual(results, [0n, 0n, 1n, 0n, 1n, 10n, -1n, 16n, -1n, 19n]);
  });

  test("the order of strings is that of their bytes, whatever their length and place", () => {
    const texts = [
      "",
      "a",
      "ab",
      "b",
      "abcdefg",
      "abcdefgh",
      "abcdefgi",
      "abcdefgh\u007f",
      "abcdefgh\u0080",
      "äbc",
      "zzz",
      "abcdefghijklmno",
    ];
    for (const [size, shift] of [
      [16, 0],
      [32, 0],
      [20, 4],
      [17, 1],
    ] as const)
      for (const left of texts) {
        const wanted = texts.map((right) => BigInt(Buffer.compare(Buffer.from(left), Buffer.from(right))));
        const results = execute(2 * texts.length, (f) => {
          const first = f.memory(64);
          const [at, other] = [
            { ...first, offset: first.offset + shift },
            { ...first, offset: first.offset + 32 + shift },
          ];
          f.text(first, "", 64);
          f.text(at, left, size);
          texts.forEach((right, i) => {
            const [ofPlace, ofConstant] = [f.fresh(), f.fresh()];
            f.text(other, right, size);
            const what = { op: "compare-strings", ordered: true, left: at, length: size } as const;
            f.add({ ...what, result: ofPlace, right: other });
            f.add({ ...what, result: ofConstant, right: Buffer.from(`${right}\0`) });
            f.result(2 * i, ofPlace);
            f.result(2 * i + 1, ofConstant);
          });
        });
        assert.deepEqual(
          results,
          wanted.flatMap((order) => [order, order]),
          `${JSON.stringify(left)}, ${size} bytes at ${shift}`,
        );
      }
  });

  test("strings and buffers from a process, with limits", () => {
    const results = execute(
      5,
      (f) => {
        const [address, limit] = [f.argument(0), f.argument(1)];
        const text = f.memory(32);
        const length = f.fresh();
        f.add({
          op: "fill",
          to: text,
          source: { kind: "string", space: "user", address, limit, size: 32, padded: true },
          length,
        });
        f.result(0, length);
        const bytes = f.memory(36);
        const count = f.fresh();
        f.add({
          op: "fill",
          to: bytes,
          source: { kind: "buffer", space: "user", address, length: limit, capacity: 32, padded: true },
          length: count,
        });
        f.result(1, count);
        const stored = f.fresh();
        f.add({ op: "load", result: stored, from: bytes, size: 4, signed: false });
        f.result(2, stored);
        const block = f.memory(40);
        f.fill(block, { kind: "memory", space: "user", address, size: 40 });
        const comm = f.memory(16);
        f.fill(comm, { kind: "comm" });
        const commLength = f.fresh();
        f.add({ op: "string-length", result: commLength, text: comm, capacity: 16 });
        f.result(3, f.compare("ugt", commLength, f.constant(0)));
        const fixed = f.memory(32);
        const fixedLength = f.fresh();
        f.add({
          op: "fill",
          to: fixed,
          source: { kind: "string", space: "kernel", address, size: 32, padded: false },
          length: fixedLength,
        });
        f.result(4, fixedLength);
      },
      [8n, 1000n],
    );
    assert.deepEqual(results, [0n, 0n, 32n, 1n, 0n]);
  });

  test("keyed maps: store, load, add, has, delete, length", () => {
    for (const kind of ["hash", "lru-hash"] as const) {
      const results = execute(
        11,
        (f) => {
          const key = f.key(f.argument(0));
          const other = f.key(f.constant(99));
          const load = (index: number, place: typeof key): void => {
            const [entry, result] = [f.fresh(), f.fresh()];
            f.add({ op: "map-lookup", result: entry, map: 11, key: place });
            f.add({ op: "entry-load", result, map: 11, entry, size: 8, signed: true });
            f.result(index, result);
          };
          const add = (index: number, place: typeof key, by: number, old: boolean): void => {
            const result = f.fresh();
            f.add({ op: "map-add", map: 11, key: place, value: f.constant(by), result, old });
            f.result(index, result);
          };
          const has = (index: number, place: typeof key): void => {
            const [entry, result] = [f.fresh(), f.fresh()];
            f.add({ op: "map-lookup", result: entry, map: 11, key: place });
            f.add({ op: "compare", kind: "ne", result, left: entry, right: f.constant(0) });
            f.result(index, result);
          };
          load(0, key);
          f.add({ op: "map-store", map: 11, key, source: { kind: "value", value: f.constant(-5), width: 8 } });
          load(1, key);
          add(2, key, 12, false);
          add(3, key, 1, true);
          add(4, other, 3, false);
          add(5, other, -10, true);
          has(6, other);
          const length = f.fresh();
          f.add({ op: "map-length", result: length, map: 11 });
          f.result(7, length);
          const deleted = f.fresh();
          f.add({ op: "map-delete", result: deleted, map: 11, key: other });
          f.result(8, deleted);
          const again = f.fresh();
          f.add({ op: "map-delete", result: again, map: 11, key: other });
          f.result(9, again);
          has(10, other);
        },
        [5n],
        [irMap("m", [u64], i64, { kind })],
      );
      assert.deepEqual(results, [0n, -5n, 7n, 7n, 3n, 3n, 1n, 2n, 1n, 0n, 0n]);
    }
  });

  test("scalar maps: add, has, delete", () => {
    const results = execute(
      5,
      (f) => {
        const sum = f.fresh();
        f.add({ op: "map-add", map: 5, value: f.argument(0), result: sum });
        const old = f.fresh();
        f.add({ op: "map-add", map: 5, value: f.constant(1), result: old, old: true });
        f.add({ op: "map-add", map: 5, value: f.constant(1) });
        const now = f.fresh();
        f.add({ op: "map-load", result: now, map: 5, size: 8, signed: true });
        const has = f.fresh();
        f.add({ op: "map-delete", result: has, map: 5 });
        const gone = f.fresh();
        f.add({ op: "map-has", result: gone, map: 5 });
        [sum, old, now, has, gone].forEach((value, i) => f.result(i, value));
      },
      [40n],
      [irMap("n", [], i64, { kind: "slot", offset: 1024 })],
    );
    assert.deepEqual(results, [40n, 40n, 42n, 1n, 0n]);
  });

  test("a full map counts what it refuses", () => {
    const f = new IrBuilder();
    f.add({
      op: "map-store",
      map: 0,
      key: f.key(f.argument(0)),
      source: { kind: "value", value: f.constant(1), width: 8 },
    });
    f.add({ op: "map-add", map: 0, key: f.key(f.argument(0)), value: f.constant(1) });
    using module = new KernelModule(f.finish(raw), [irMap("small", [u64], u64, { kind: "hash" }, 2)]);
    for (let key = 0n; key < 6n; key++) module.run(key);
    assert.equal(module.entries(0).length, 2);
    assert.equal(module.full(0), 8n);
  });

  test("a refused update before a counter of the same block", () => {
    const f = new IrBuilder();
    f.add({
      op: "map-store",
      map: 0,
      key: f.key(f.argument(0)),
      source: { kind: "value", value: f.constant(1), width: 8 },
    });
    f.add({ op: "aggregate", map: 1 });
    f.add({ op: "aggregate", map: 2, value: f.argument(0) });
    const maps = [
      irMap("small", [u64], u64, { kind: "hash" }, 1),
      irMap("count", [], { kind: "aggregate", aggregate: "count", signed: false }, { kind: "percpu-slot", offset: 0 }),
      irMap("sum", [], { kind: "aggregate", aggregate: "sum", signed: false }, { kind: "percpu-slot", offset: 16 }),
    ];
    using module = new KernelModule(f.finish(raw), maps);
    for (let key = 1n; key <= 3n; key++) module.run(key);
    assert.deepEqual([module.full(0), module.perCpuWord(8), module.perCpuWord(24)], [2n, 3n, 6n]);
  });

  const aggregates: [AggregateType, (values: bigint[]) => [word: number, expected: bigint][]][] = [
    [{ kind: "aggregate", aggregate: "count", signed: false }, (v) => [[0, BigInt(v.length)]]],
    [{ kind: "aggregate", aggregate: "sum", signed: true }, (v) => [[0, v.reduce((a, b) => a + b)]]],
    [
      { kind: "aggregate", aggregate: "avg", signed: true },
      (v) => [
        [0, v.reduce((a, b) => a + b)],
        [1, BigInt(v.length)],
      ],
    ],
    [{ kind: "aggregate", aggregate: "stats", signed: true }, (v) => [[1, BigInt(v.length)]]],
    [{ kind: "aggregate", aggregate: "min", signed: true }, (v) => [[0, v.reduce((a, b) => (a < b ? a : b))]]],
    [{ kind: "aggregate", aggregate: "max", signed: true }, (v) => [[0, v.reduce((a, b) => (a > b ? a : b))]]],
    ...[0, 1, 3, 5].map((bits): [AggregateType, (values: bigint[]) => [number, bigint][]] => [
      { kind: "aggregate", aggregate: "hist", signed: true, parameters: [BigInt(bits)] },
      (v) => histogram(v.map((x) => bucketOf({ by: "power", bits }, x))),
    ]),
    ...[
      [0n, 100n, 10n],
      [-50n, 77n, 8n],
    ].map(([min = 0n, max = 0n, step = 1n]): [AggregateType, (values: bigint[]) => [number, bigint][]] => [
      { kind: "aggregate", aggregate: "lhist", signed: true, parameters: [min, max, step] },
      (v) => histogram(v.map((x) => bucketOf({ by: "step", min, max, step }, x))),
    ]),
    // Every word, as the other executor has it.
    ...[
      { aggregate: "variance", signed: true },
      { aggregate: "variance", signed: false },
      { aggregate: "llhist", signed: true, parameters: [10n, 0n, 5n, 20n] },
      { aggregate: "llhist", signed: true, parameters: [2n, 3n, 61n, 4n] },
      { aggregate: "sllhist", signed: true, parameters: [10n, 1n, 5n, 20n] },
      { aggregate: "shist", signed: true, parameters: [] },
    ].map((one): [AggregateType, (values: bigint[]) => [number, bigint][]] => {
      const type = { kind: "aggregate", ...one } as const;
      return [
        type,
        (v) => {
          const added = new BigUint64Array(aggregateWords(type));
          for (const x of v) addToCopy(type, added, 0, x);
          return [...added].map((word, i) => [i, s64(word)]);
        },
      ];
    }),
  ];
  const samples = [
    0n,
    1n,
    2n,
    3n,
    5n,
    8n,
    15n,
    16n,
    17n,
    31n,
    33n,
    63n,
    64n,
    76n,
    77n,
    99n,
    100n,
    1000n,
    65535n,
    65536n,
    -1n,
    -50n,
    -51n,
    (1n << 40n) + 12345n,
    (1n << 62n) + 1n,
    (1n << 63n) - 1n,
  ];
  for (const [type, expected] of aggregates) {
    test(`${type.aggregate}${type.parameters?.join(" ") ?? ""}: per CPU, keyed, and read back`, () => {
      const f = new IrBuilder();
      const value = f.argument(0);
      f.add({ op: "aggregate", map: 2, value });
      const key = f.key(f.constant(7));
      f.add({ op: "aggregate", map: 3, key, value });
      const read = valueOf(type);
      if (read === undefined || "part" in read)
        [2, 3].forEach((map, i) => {
          const result = f.fresh();
          f.add({ op: "aggregate-read", result, map, signed: true, ...(map === 3 ? { key } : {}) });
          f.result(i, result);
        });
      const copies = copiesOf(type, 16, capabilities.cpus);
      const maps = [
        ...slots(2),
        irMap("s", [], type, { kind: "percpu-slot", offset: 8 }),
        irMap("k", [u64], type, { kind: "percpu-hash", ...copies }),
      ];
      using module = new KernelModule(f.finish(raw), maps);
      const small = samples.filter(
        (x) => read === undefined || "double" in read || (x < 1n << 60n && x > -(1n << 60n)),
      );
      for (const sample of small) module.run(un(sample));
      const wanted = expected(small);
      const entry = module.entries(3)[0]?.[1];
      assert.ok(entry !== undefined);
      const view = new DataView(entry.buffer, entry.byteOffset, entry.byteLength);
      for (const [word, want] of wanted) {
        if (type.aggregate !== "min" && type.aggregate !== "max") {
          assert.equal(module.perCpuWord(16 + word * 8), want, `slot word ${word}`);
          let sum = 0n;
          for (let copy = 0; copy < copies.copies; copy++)
            sum += view.getBigInt64(copy * copies.stride + word * 8, true);
          assert.equal(sum, want, `keyed word ${word}`);
        }
      }
      if (read === undefined || "double" in read) return;
      const total = small.reduce((a, b) => a + b);
      const number = {
        count: BigInt(small.length),
        sum: total,
        avg: total / BigInt(small.length),
        stats: total / BigInt(small.length),
        min: wanted[0]?.[1],
        max: wanted[0]?.[1],
      }[type.aggregate];
      assert.deepEqual(module.results(2), [number, number]);
    });
  }

  test("for-each visits every entry and shares a slot", () => {
    const callback = new IrBuilder("each", "map-callback");
    const [key, value, sum] = [callback.fresh(), callback.fresh(), callback.fresh()];
    callback.add({ op: "load", result: key, from: { kind: "callback", of: "key", offset: 0 }, size: 8, signed: false });
    callback.add({
      op: "load",
      result: value,
      from: { kind: "callback", of: "value", offset: 0 },
      size: 8,
      signed: false,
    });
    callback.add({
      op: "load",
      result: sum,
      from: { kind: "callback", of: "captures", offset: 8 },
      size: 8,
      signed: false,
    });
    callback.add({
      op: "store",
      to: { kind: "callback", of: "captures", offset: 8 },
      size: 8,
      value: callback.binary("add", sum, callback.binary("mul", key, value)),
    });
    callback.end({ op: "return", stop: false });
    const f = new IrBuilder();
    const captures = f.slot(16);
    f.add({ op: "zero", at: { kind: "slot", slot: captures, offset: 0 }, size: 16 });
    for (let i = 1; i <= 5; i++)
      f.add({
        op: "map-store",
        map: 1,
        key: f.key(f.constant(i)),
        source: { kind: "value", value: f.constant(i * 10), width: 8 },
      });
    f.add({ op: "for-each", map: 1, callback: 1, captures });
    const total = f.fresh();
    f.add({ op: "load", result: total, from: { kind: "slot", slot: captures, offset: 8 }, size: 8, signed: false });
    f.result(0, total);
    const functions: IrFunction[] = [callback.finish(undefined)];
    using module = new KernelModule(f.finish(raw), [slotMap(0), irMap("m", [u64], u64, { kind: "hash" })], {
      functions,
    });
    module.run();
    assert.deepEqual(module.results(1), [550n]);
  });
});

function histogram(buckets: number[]): [number, bigint][] {
  const counts = new Map<number, bigint>();
  for (const bucket of buckets) counts.set(bucket, (counts.get(bucket) ?? 0n) + 1n);
  return [...counts];
}
