import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Type } from "../../language/types.ts";
import { i64, integer, u64 } from "../../language/types.ts";
import type { BinaryOp, CompareOp, Instruction, IrBlock, IrFunction, IrMap, Source, Terminator } from "../ir/ir.ts";
import type { EventSchema } from "../plan.ts";
import { generate } from "./generate.ts";
import { MemoryRuntime, type MemoryRuntimeOptions } from "../../../test/support/memory-runtime.ts";
import { readsOfRow } from "./recorded.ts";
import { withWordsOfRows } from "./words-of-rows.ts";
import { parseAddress } from "./parse-address.ts";
import { evaluate } from "./evaluate.ts";
import type { HostModule } from "./writer.ts";

const leave: Terminator = { op: "return" };
const block = (instructions: Instruction[], terminator: Terminator = leave, parameters: number[] = []): IrBlock => ({
  parameters,
  instructions,
  terminator,
});

function makeFunction(blocks: IrBlock[], slots: number[] = [], kind: IrFunction["kind"] = "handler"): IrFunction {
  return {
    name: "test",
    kind,
    placement: "host",
    matches: [],
    values: Array.from({ length: 40 }, () => ({})),
    slots: slots.map((size, i) => ({ name: `slot ${i}`, size, align: 8 })),
    blocks,
  };
}

const makeMap = (name: string, keys: Type[], value: IrMap["value"], entries = 100): IrMap => ({
  name,
  shown: `@${name}`,
  keys,
  value,
  entries,
});

function makeSchema(fields: [Type, number][], size: number): EventSchema {
  return {
    action: { kind: "print-value" },
    fields: fields.map(([type, offset]) => ({ name: "", type, offset })),
    size,
    probe: "begin",
  };
}

function run(
  fn: IrFunction,
  module: Partial<HostModule> = {},
  options: Partial<MemoryRuntimeOptions> = {},
): MemoryRuntime {
  const maps = module.maps ?? [];
  const runtime = new MemoryRuntime({ maps, ...options });
  evaluate(generate(fn, { functions: module.functions ?? [fn], maps, schemas: module.schemas ?? [] }))(runtime);
  return runtime;
}

const branch = (condition: number, yes: number, no: number): Terminator =>
  // oxlint-disable-next-line unicorn/no-thenable -- the IR's word
  ({ op: "branch", condition, then: yes, otherwise: no });
const constant = (result: number, value: bigint): Instruction => ({ op: "constant", result, value });
const value = (of: number, width: 1 | 2 | 4 | 8 = 8): Source => ({ kind: "value", value: of, width });
const result = makeMap("result", [], i64);
const keep = (of: number): Instruction => ({ op: "map-store", map: 0, source: value(of) });
const kept = (runtime: MemoryRuntime): bigint | undefined => {
  const bytes = runtime.mapLookup(0, null);
  return bytes && new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true);
};
/** Runs instructions on constants v0, v1, … and gives v39. */
function compute(constants: bigint[], ...instructions: Instruction[]): bigint | undefined {
  return kept(
    run(makeFunction([block([...constants.map((c, i) => constant(i, c)), ...instructions, keep(39)])], [64, 64]), {
      maps: [result],
    }),
  );
}

const least = -(1n << 63n);
const most = (1n << 63n) - 1n;

describe("javascript executor", () => {
  it("computes as a 64-bit machine does", () => {
    const cases: [BinaryOp, bigint, bigint, bigint][] = [
      ["add", most, 1n, least],
      ["sub", least, 1n, most],
      ["mul", 1n << 40n, 1n << 30n, 0n],
      ["mul", -3n, 5n, -15n],
      ["udiv", -1n, 2n, most],
      ["udiv", 7n, 0n, 0n],
      ["sdiv", -7n, 2n, -3n],
      ["sdiv", least, -1n, least],
      ["sdiv", 7n, 0n, 0n],
      ["umod", -1n, 10n, 5n],
      ["umod", -7n, 0n, -7n],
      ["smod", -7n, 4n, -3n],
      ["smod", 7n, -4n, 3n],
      ["smod", -7n, 0n, -7n],
      ["smod", least, -1n, 0n],
      ["and", -1n, 0xffn, 0xffn],
      ["or", 1n, least, least + 1n],
      ["xor", -1n, most, least],
      ["shl", 1n, 63n, least],
      ["shl", 1n, 64n, 1n],
      ["shl", 3n, -1n, least],
      ["lshr", -1n, 60n, 15n],
      ["lshr", -1n, 64n, -1n],
      ["ashr", -8n, 1n, -4n],
      ["ashr", least, 63n, -1n],
    ];
    for (const [kind, left, right, expected] of cases) {
      assert.equal(
        compute([left, right], { op: "binary", kind, result: 39, left: 0, right: 1 }),
        expected,
        `${left} ${kind} ${right}`,
      );
    }
    // A constant may be written unsigned.
    assert.equal(compute([(1n << 64n) - 1n, 1n], { op: "binary", kind: "add", result: 39, left: 0, right: 1 }), 0n);
  });

  it("compares signed and unsigned", () => {
    const truths: Record<CompareOp, bigint> = {
      eq: 0n,
      ne: 1n,
      ult: 0n,
      ule: 0n,
      ugt: 1n,
      uge: 1n,
      slt: 1n,
      sle: 1n,
      sgt: 0n,
      sge: 0n,
    };
    for (const [kind, expected] of Object.entries(truths)) {
      assert.equal(
        compute([-1n, 1n], { op: "compare", kind: kind as CompareOp, result: 39, left: 0, right: 1 }),
        expected,
        kind,
      );
    }
    assert.equal(compute([5n], { op: "compare", kind: "uge", result: 39, left: 0, right: 0 }), 1n);
  });

  it("narrows, swaps and moves bytes", () => {
    assert.equal(compute([0x1ffn], { op: "extend", result: 39, value: 0, bits: 8, signed: true }), -1n);
    assert.equal(compute([-1n], { op: "extend", result: 39, value: 0, bits: 32, signed: false }), 0xffff_ffffn);
    assert.equal(compute([0xff_1234n], { op: "swap-bytes", result: 39, value: 0, bits: 16 }), 0x3412n);
    assert.equal(compute([0x80n], { op: "swap-bytes", result: 39, value: 0, bits: 64 }), least);
    const to = { kind: "slot", slot: 0, offset: 4 } as const;
    const store: Instruction = { op: "store", to, value: 0, size: 4 };
    assert.equal(
      compute([0x1_8000_0001n], store, { op: "load", result: 39, from: to, size: 4, signed: true }),
      -0x7fff_ffffn,
    );
    assert.equal(
      compute([0x1_8000_0001n], store, { op: "load", result: 39, from: to, size: 8, signed: false }),
      0x8000_0001n,
    );
    assert.equal(
      compute(
        [0xffffn],
        store,
        { op: "zero", at: to, size: 1 },
        { op: "load", result: 39, from: to, size: 4, signed: false },
      ),
      0xff00n,
    );
  });

  it("passes block arguments all at once and leaves loops", () => {
    // (a, b) = (b, a + b), ten times: the 10th Fibonacci number.
    const fn = makeFunction([
      block([constant(0, 0n), constant(1, 1n), constant(2, 0n), constant(3, 10n), constant(4, 1n)], {
        op: "jump",
        to: 1,
        args: [0, 1, 2],
      }),
      block([{ op: "compare", kind: "ult", result: 8, left: 7, right: 3 }], branch(8, 2, 3), [5, 6, 7]),
      block(
        [
          { op: "binary", kind: "add", result: 9, left: 5, right: 6 },
          { op: "binary", kind: "add", result: 10, left: 7, right: 4 },
        ],
        { op: "jump", to: 1, args: [6, 9, 10] },
      ),
      block([keep(5)]),
    ]);
    assert.equal(kept(run(fn, { maps: [result] })), 55n);
    // Swapped parameters, without end but for the runtime, which is asked after every 65536 rounds.
    const endless = makeFunction([
      block([constant(0, 1n), constant(1, 2n), constant(4, 0n), constant(5, 1n)], {
        op: "jump",
        to: 1,
        args: [0, 1, 4],
      }),
      block([], { op: "guard", body: 2, exit: 3 }, [2, 3, 6]),
      block([{ op: "binary", kind: "add", result: 7, left: 6, right: 5 }, keep(7)], {
        op: "jump",
        to: 1,
        args: [3, 2, 7],
      }),
      block([]),
    ]);
    const runtime = new MemoryRuntime({ maps: [result] });
    let asked = 0;
    runtime.rest = () => {
      if (++asked === 20) throw new Error("enough");
    };
    assert.throws(
      () => evaluate(generate(endless, { functions: [endless], maps: [result], schemas: [] }))(runtime),
      /enough/,
    );
    assert.equal(kept(runtime), 20n * 65536n - 1n);
  });

  it("reads, changes and deletes map entries", () => {
    const counts = makeMap("counts", [u64], i64, 2);
    const key = { kind: "slot", slot: 0, offset: 0 } as const;
    const has = (to: number, entry: number): Instruction => ({
      op: "compare",
      kind: "ne",
      result: to,
      left: entry,
      right: 14,
    });
    const fn = makeFunction(
      [
        block([
          constant(0, 7n),
          constant(1, 3n),
          constant(14, 0n),
          { op: "store", to: key, value: 0, size: 8 },
          { op: "map-add", map: 1, key, value: 1, result: 2 },
          { op: "map-add", map: 1, key, value: 1, result: 3, old: true },
          { op: "map-lookup", result: 12, map: 1, key },
          { op: "entry-load", result: 4, map: 1, entry: 12, size: 8, signed: true },
          has(5, 12),
          { op: "store", to: key, value: 1, size: 8 },
          { op: "map-lookup", result: 13, map: 1, key },
          { op: "entry-load", result: 6, map: 1, entry: 13, size: 8, signed: true },
          has(7, 13),
          { op: "map-store", map: 1, key, source: value(0) },
          { op: "map-length", result: 8, map: 1 },
          { op: "map-delete", result: 9, map: 1, key },
          { op: "map-delete", result: 10, map: 1, key },
          { op: "map-store", map: 1, key, source: value(0) },
          constant(11, 99n),
          { op: "store", to: key, value: 11, size: 8 },
          { op: "map-store", map: 1, key, source: value(0) },
          { op: "emit", schema: 0, fields: [2, 3, 4, 5, 6, 7, 8, 9, 10].map((v) => value(v, 1)) },
        ]),
      ],
      [8],
    );
    const schema = makeSchema(
      Array.from({ length: 9 }, (_, i) => [integer(8, true), 8 + i]),
      24,
    );
    const runtime = run(fn, { maps: [result, counts], schemas: [schema] });
    assert.deepEqual(
      [...(runtime.records[0]?.record ?? [])],
      [0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 6, 1, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    );
    assert.deepEqual(runtime.refused, [0, 1]);
  });

  it("aggregates, and reads aggregations as numbers", () => {
    const aggregates = (["count", "sum", "avg", "min", "max"] as const).map((aggregate) =>
      makeMap(aggregate, [], { kind: "aggregate", aggregate, signed: true }),
    );
    const hist = makeMap("hist", [], { kind: "aggregate", aggregate: "hist", signed: true });
    const maps = [...aggregates, hist];
    const fn = makeFunction([
      block([
        constant(0, -9n),
        constant(1, 4n),
        ...[0, 1].flatMap((v) =>
          maps.map((map, i): Instruction => ({
            op: "aggregate",
            map: i,
            ...(map.name === "count" ? {} : { value: v }),
          })),
        ),
        ...aggregates.map((_, i): Instruction => ({ op: "aggregate-read", result: 10 + i, map: i, signed: true })),
        { op: "emit", schema: 0, fields: aggregates.map((_, i) => value(10 + i)) },
      ]),
    ]);
    const runtime = run(fn, {
      maps,
      schemas: [
        makeSchema(
          aggregates.map((_, i) => [i64, 8 + 8 * i]),
          48,
        ),
      ],
    });
    const record = runtime.records[0]?.record ?? new Uint8Array();
    assert.deepEqual([...new BigInt64Array(record.buffer, 8)], [2n, -5n, -2n, -9n, 4n]);
    const buckets = new BigInt64Array(runtime.mapLookup(5, null)?.buffer ?? new ArrayBuffer(0));
    assert.deepEqual(
      [...buckets].flatMap((count, i) => (count ? [[i, count]] : [])),
      [
        [0, 1n],
        [4, 1n],
      ],
    );
  });

  it("walks a map with a callback that shares a slot, and can stop", () => {
    const counts = makeMap("counts", [u64], i64);
    const captured = { kind: "callback", of: "captures", offset: 0 } as const;
    const callback = makeFunction(
      [
        block(
          [
            { op: "load", result: 0, from: { kind: "callback", of: "key", offset: 0 }, size: 8, signed: false },
            { op: "load", result: 1, from: { kind: "callback", of: "value", offset: 0 }, size: 8, signed: true },
            { op: "binary", kind: "mul", result: 2, left: 0, right: 1 },
            { op: "load", result: 3, from: captured, size: 8, signed: true },
            { op: "binary", kind: "add", result: 4, left: 3, right: 2 },
            { op: "store", to: captured, value: 4, size: 8 },
            constant(5, 2n),
            { op: "compare", kind: "eq", result: 6, left: 0, right: 5 },
          ],
          branch(6, 1, 2),
        ),
        block([], { op: "return", stop: true }),
        block([], { op: "return", stop: false }),
      ],
      [],
      "map-callback",
    );
    const key = { kind: "slot", slot: 0, offset: 0 } as const;
    const fill = [1n, 2n, 3n].flatMap((n): Instruction[] => [
      constant(0, n),
      { op: "store", to: key, value: 0, size: 8 },
      constant(1, n * 10n),
      { op: "map-store", map: 1, key, source: value(1) },
    ]);
    const fn = makeFunction(
      [
        block([
          ...fill,
          { op: "zero", at: { kind: "slot", slot: 1, offset: 0 }, size: 8 },
          { op: "for-each", map: 1, callback: 1, captures: 1 },
          { op: "load", result: 5, from: { kind: "slot", slot: 1, offset: 0 }, size: 8, signed: true },
          keep(5),
        ]),
      ],
      [8, 8],
    );
    assert.equal(kept(run(fn, { functions: [fn, callback], maps: [result, counts] })), 1n * 10n + 2n * 20n);
  });

  it("handles strings: reading, comparing, searching, measuring", () => {
    const bytes = new TextEncoder();
    const page = new Uint8Array(4096).fill(65);
    page.set(bytes.encode("hello\0"), 4090);
    const memory = [
      { address: 0x1000n, bytes: page },
      { address: 0x2000n, bytes: bytes.encode("far\0") },
    ];
    const text = { kind: "slot", slot: 0, offset: 0 } as const;
    const schema = makeSchema(
      [
        [u64, 8],
        [u64, 16],
        [u64, 24],
        [u64, 32],
        [u64, 40],
      ],
      48,
    );
    const read = (address: bigint, limit?: bigint): (bigint | string)[] => {
      const fn = makeFunction(
        [
          block([
            constant(0, address),
            constant(1, limit ?? 0n),
            {
              op: "fill",
              to: text,
              length: 2,
              source: {
                kind: "string",
                space: "user",
                address: 0,
                ...(limit === undefined ? {} : { limit: 1 }),
                size: 16,
                padded: true,
              },
            },
            { op: "compare-strings", result: 3, left: text, right: bytes.encode("hello\0"), length: 16 },
            { op: "compare-strings", result: 4, left: text, right: bytes.encode("hex"), length: 2 },
            { op: "find-string", result: 5, text, capacity: 16, needle: bytes.encode("ll\0"), needleCapacity: 3 },
            { op: "string-length", result: 6, text, capacity: 16 },
            { op: "emit", schema: 0, fields: [2, 3, 4, 5, 6].map((v) => value(v)) },
            { op: "fill", to: { kind: "slot", slot: 1, offset: 0 }, source: { kind: "copy", from: text, size: 16 } },
            { op: "map-store", map: 0, source: { kind: "copy", from: { kind: "slot", slot: 1, offset: 0 }, size: 16 } },
          ]),
        ],
        [16, 16],
      );
      const runtime = run(
        fn,
        { maps: [makeMap("text", [], { kind: "string", capacity: 16 })], schemas: [schema] },
        { memory },
      );
      const record = runtime.records[0]?.record ?? new Uint8Array();
      return [
        Buffer.from(runtime.mapLookup(0, null) ?? [])
          .toString("latin1")
          .replace(/\0+$/, ""),
        ...new BigInt64Array(record.buffer, 8),
      ];
    };
    assert.deepEqual(read(0x1ffan), ["hello", 5n, 0n, 0n, 2n, 5n]);
    assert.deepEqual(read(0x1ffan, 3n), ["hel", 3n, 1n, 0n, -1n, 3n]);
    // Longer than the field; a limit that is negative, so none; across pages; a page that is missing.
    assert.deepEqual(read(0x1000n, -1n), ["A".repeat(15), 15n, 1n, 1n, -1n, 15n]);
    assert.deepEqual(read(0x2000n), ["far", 3n, 1n, 1n, -1n, 3n]);
    assert.deepEqual(read(0x9000n), ["", 0n, 1n, 1n, -1n, 0n]);
  });

  it("builds records in the schema's layout", () => {
    const memory = [{ address: 0x10n, bytes: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) }];
    const fn = makeFunction([
      block([
        constant(0, 0x10n),
        constant(1, 3n),
        constant(2, 0x500n),
        constant(3, -2n),
        {
          op: "emit",
          schema: 1,
          fields: [
            value(3, 4),
            { kind: "constant", bytes: Uint8Array.of(104, 105, 0), size: 8 },
            { kind: "buffer", space: "kernel", address: 0, length: 1, capacity: 6, padded: false },
            { kind: "memory", space: "kernel", address: 0, size: 4 },
            { kind: "memory", space: "kernel", address: 2, size: 4 },
            { kind: "comm" },
          ],
        },
      ]),
    ]);
    const string8: Type = { kind: "string", capacity: 8 };
    const schema = makeSchema(
      [
        [integer(32, true), 8],
        [string8, 12],
        [{ kind: "buffer", capacity: 6 }, 20],
        [integer(32, false), 32],
        [integer(32, false), 36],
        [{ kind: "string", capacity: 16 }, 40],
      ],
      56,
    );
    const [event] = run(fn, { schemas: [schema, schema] }, { memory, comm: "strobe" }).records;
    assert.equal(event?.schema, 1);
    assert.deepEqual(
      [...(event?.record ?? [])],
      [
        1, 0, 0, 0, 0, 0, 0, 0, 254, 255, 255, 255, 104, 105, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 1,
        2, 3, 4, 0, 0, 0, 0, 115, 116, 114, 111, 98, 101, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
      ],
    );
  });

  it("reads builtins, memory and a context; says what only the kernel can", () => {
    const fn = makeFunction([
      block([
        { op: "builtin", result: 0, name: "cpu" },
        { op: "load-context", result: 1, offset: 8, size: 2, signed: true },
        { op: "read", result: 2, space: "kernel", address: 0, offset: 2, size: 4, signed: false },
        { op: "binary", kind: "add", result: 3, left: 1, right: 2 },
        keep(3),
      ]),
    ]);
    const context = new Uint8Array(16).fill(0xff);
    const options = { builtins: { cpu: 40n }, context, memory: [{ address: 42n, bytes: Uint8Array.of(5, 0, 0, 0) }] };
    assert.equal(kept(run(fn, { maps: [result] }, options)), 4n);
    assert.throws(
      () => run(fn, { maps: [result] }, { builtins: { cpu: 1n } }),
      /a load from the context runs only in the kernel/,
    );
    assert.throws(
      () => run(makeFunction([block([constant(0, 1n), { op: "override", value: 0 }])])),
      /override\(\) runs only in the kernel/,
    );
  });

  it("moves what the context has into memory, widened as its sign says", () => {
    const context = new Uint8Array(16);
    const moved = (bytes: readonly number[], from: 1 | 2 | 4 | 8, to: 1 | 2 | 4 | 8, signed: boolean): bigint => {
      context.set(bytes, 8);
      const place = { kind: "slot", slot: 0, offset: 0 } as const;
      const fn = makeFunction(
        [
          block([
            { op: "load-context", result: 1, offset: 8, size: from, signed },
            { op: "zero", at: place, size: 8 },
            { op: "store", to: place, value: 1, size: to },
            { op: "load", result: 2, from: place, size: 8, signed: true },
            keep(2),
          ]),
        ],
        [8],
      );
      return kept(run(fn, { maps: [result] }, { context })) ?? 0n;
    };
    assert.equal(moved([0xfe], 1, 8, true), -2n);
    assert.equal(moved([0xfe], 1, 8, false), 254n);
    assert.equal(moved([1, 0x80], 2, 4, true), 0xffff_8001n);
    assert.equal(moved([1, 0x80, 3, 4], 4, 2, true), 0x8001n);
    assert.equal(moved([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 8, 8, false), -1n);
  });

  it("reads a word of a recorded row where half of a builtin is asked for", () => {
    const row = {
      words: { pid: { offset: 0, size: 8 }, tid: { offset: 8, size: 4 }, uid: { offset: 12, size: 4 } },
      texts: [],
      absent: [],
    } as const;
    const fn = makeFunction([
      block([
        { op: "builtin", result: 0, name: "pid-and-tid" },
        constant(1, 32n),
        { op: "binary", kind: "lshr", result: 2, left: 0, right: 1 },
        { op: "extend", result: 3, value: 0, bits: 32, signed: false },
        { op: "builtin", result: 4, name: "gid-and-uid" },
        { op: "extend", result: 5, value: 4, bits: 32, signed: false },
        { op: "binary", kind: "add", result: 6, left: 2, right: 3 },
        { op: "binary", kind: "add", result: 7, left: 6, right: 5 },
        keep(7),
      ]),
    ]);
    const reading = withWordsOfRows(fn, row);
    assert.ok(reading.blocks[0].instructions.every(({ op }) => op !== "builtin"));
    assert.deepEqual(readsOfRow(reading, [reading], row), [
      [0, 4],
      [8, 4],
      [12, 4],
    ]);
    const context = new Uint8Array(new Uint32Array([70, 0, 5, 1000]).buffer);
    assert.equal(kept(run(reading, { maps: [result] }, { context })), 1075n);
    const both = makeFunction([block([{ op: "builtin", result: 0, name: "pid-and-tid" }, keep(0)])]);
    assert.deepEqual(withWordsOfRows(both, row).blocks, both.blocks);
    assert.deepEqual(readsOfRow(both, [both], row), [
      [0, 8],
      [8, 4],
    ]);
  });

  it("writes addresses in network order", () => {
    const parse = (text: string): string => Buffer.from(parseAddress(Buffer.from(text))).toString("hex");
    assert.equal(parse("127.0.0.1\0"), "7f000001");
    assert.equal(parse("::1"), "00000000000000000000000000000001");
    assert.equal(parse("2001:db8::ff00:42:8329"), "20010db8000000000000ff0000428329");
    assert.equal(parse("::ffff:10.0.0.1"), "00000000000000000000ffff0a000001");
    assert.throws(() => parse("1.2.3.256"), /no internet address/);
    assert.throws(() => parse("1:2:3"), /no internet address/);
  });
});
