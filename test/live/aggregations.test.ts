// The door for aggregations: one that is made up here, from parts, goes all the way; and the numbers of those that are
// built in, from handlers on every CPU, are those of the values that they were given.
import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Aggregation } from "../../src/language/aggregations/aggregation.ts";
import { aggregations, aggregateWords } from "../../src/language/aggregations/table.ts";
import { addToCopy, resultOf } from "../../src/language/aggregations/value.ts";
import { builtins, findBuiltin } from "../../src/language/builtins/table.ts";
import { u64, type AggregateType } from "../../src/language/types.ts";
import { complete } from "../../src/lsp/completion.ts";
import { servicesOf } from "../support/output-fixtures.ts";
import { JsonConsumer } from "../../src/output/json.ts";
import { TextConsumer } from "../../src/output/text.ts";
import type { MapSnapshot } from "../../src/session/events.ts";
import { ScriptError, trace, type Bucket, type MapTable, type TraceOptions } from "../../src/index.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

/** How far the least and the greatest value are apart, of values above a floor that counts as one. */
const range: Aggregation = {
  name: "range",
  spelling: { typescript: ["range", "spread"] },
  doc: "How far values are apart.",
  takes: "integers",
  parameters: [{ name: "unit", default: 1n }],
  refuse: ([unit]) => (BigInt(unit) > 0n ? undefined : { code: "limit", message: "range() needs a unit of 1 or more" }),
  parts: () => [{ kind: "extreme", which: "min" }, { kind: "extreme", which: "max" }, { kind: "count" }],
  results: (type) => ({
    values: { part: 2 },
    range: {
      double: (_type, words) =>
        Number(BigInt(resultOf(type, { part: 1 }, words)) - BigInt(resultOf(type, { part: 0 }, words))) /
        Number(type.parameters?.[0]),
    },
  }),
  value: "range",
  shape: "record",
};
const live = { skip: process.getuid?.() === 0 ? false : "needs root" };
const atStart = process.getuid?.() === 0 ? bpfObjects() : undefined;
before(() => {
  aggregations.set(range.name, range);
});
after(async () => {
  aggregations.delete(range.name);
  if (atStart !== undefined) await nothingLeft(atStart);
});

/** dd on each CPU writes blocks of these sizes. */
const sizes = [3, 40, 17, 900, 5, 123_456];
const command = `sh -c '${sizes
  .map(
    (size, i) => `taskset -c ${i % availableParallelism()} dd if=/dev/zero of=/dev/null bs=${size} count=1 status=none`,
  )
  .join("; ")}'`;
const writes = 'tracepoint:syscalls:sys_enter_write /comm == "dd" && args.fd == 1/';

/** The maps at the end of a script, by name. */
async function maps(script: string, options: TraceOptions = {}): Promise<Record<string, MapTable["entries"]>> {
  const found: Record<string, MapTable["entries"]> = {};
  for await (const event of await trace(script, { signal: AbortSignal.timeout(20_000), ...options }))
    if (event.type === "map") found[event.map.name] = event.map.entries;
  return found;
}

test("a made-up aggregation is a builtin like any other: documented and completed", () => {
  assert.equal(findBuiltin("range")?.signature, "@ = range(n [, unit])");
  assert.deepEqual(findBuiltin("range")?.arity, [1, 2]);
  assert.ok(builtins().some(({ name, doc }) => name === "range" && doc === "How far values are apart."));
  const text = "begin { @ = ran";
  const { items } = complete({ name: "made-up.bt", text }, text.length);
  const found = items.find(({ label }) => label === "range");
  assert.equal(found?.detail, "@ = range(n [, unit])");
});

test("its arguments are checked by its row", async () => {
  const refused = async (call: string): Promise<string> => {
    const error = await trace(`begin { @ = ${call}; exit(); }`).then(
      () => undefined,
      (e: unknown) => e,
    );
    assert.ok(error instanceof ScriptError, call);
    return error.diagnostics.map(({ message, help }) => `${message}; ${help}`).join("\n");
  };
  assert.equal(await refused("range(1, 0)"), "range() needs a unit of 1 or more; undefined");
  assert.match(await refused("range()"), /usage: range\(n \[, unit\]\)/);
  assert.match(await refused("range(2.5)"), /range\(\) only supports integer arguments/);
  assert.match(await refused("range(1, pid)"), /range\(\) needs constants here/);
});

test("it is drawn as text and JSON, in the order of its value", () => {
  const type: AggregateType = { kind: "aggregate", aggregate: "range", signed: true, parameters: [2n] };
  const words = (...values: readonly bigint[]): Uint8Array => {
    const copy = new BigUint64Array(aggregateWords(type));
    for (const value of values) addToCopy(type, copy, 0, value);
    return new Uint8Array(copy.buffer);
  };
  const entries: [Uint8Array, Uint8Array][] = [
    [new Uint8Array([1, 0, 0, 0, 0, 0, 0, 0]), words(5n, -4n, 1n)],
    [new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0]), words(7n, 8n)],
  ];
  const map = { name: "r", shown: "@r", keys: [u64], value: type, entries: 2 } as const;
  const snapshot: MapSnapshot = { map, index: 0, entries };
  const folder = temporaryFolder();
  const written = (make: (output: number) => TextConsumer | JsonConsumer): string => {
    const path = join(folder.path, "out");
    const output = openSync(path, "w");
    const consumer = make(output);
    consumer.map(snapshot, { top: 0, divisor: 0, services: servicesOf() });
    consumer.end();
    closeSync(output);
    return readFileSync(path, "utf8");
  };
  const text = written((output) => new TextConsumer({ output, messages: output, quiet: false, buffering: "line" }));
  const json = written((output) => new JsonConsumer({ output, buffering: "line" }));
  folder.remove();
  assert.equal(text, "@r[2]: { .values = 2, .range = 0.5 }\n@r[1]: { .values = 3, .range = 4.5 }\n");
  assert.equal(
    json,
    '{"type": "stats", "data": {"@r": {"2": {"values": 2, "range": 0.5}, "1": {"values": 3, "range": 4.5}}}}\n',
  );
});

test("it runs in the kernel, on every CPU, and on the host", live, async () => {
  const { r, k, h } = await maps(
    `${writes} { @r = range(args.count); @k[comm] = range(args.count, 10); }
     begin { @h = range(-5); @h = range(7); @h = range(0); }`,
    { command },
  );
  assert.deepEqual(r, [[undefined, { values: 6, range: 123_453 }]]);
  assert.deepEqual(k, [["dd", { values: 6, range: 12_345.3 }]]);
  assert.deepEqual(h, [[undefined, { values: 3, range: 12 }]]);
});

test("variance and standard deviation of handlers are those of the values", live, async () => {
  const average = sizes.reduce((a, b) => a + b) / sizes.length;
  const variance = sizes.reduce((sum, size) => sum + (size - average) ** 2, 0) / sizes.length;
  const near = (found: MapTable["entries"] | undefined, wanted: number): void => {
    const value = Number(found?.[0]?.[1]);
    assert.ok(Math.abs(value / wanted - 1) < 1e-14, `${value} is not ${wanted}`);
  };
  const found = await maps(
    `${writes} {
       $n = (int64)args.count;
       @small = variance(args.count); @key[comm] = stddev(args.count); @below = variance(-$n);
       // Their squares take more than 64 bits.
       @large = variance($n * 1000000000000); @unsigned[1] = variance((uint64)$n + (1 << 63));
     }
     begin { @host = stddev(2); @host = stddev(4); @copy = 0; if (@host == 1.0) { @copy = 1; } }`,
    { command },
  );
  near(found["small"], variance);
  near(found["key"], Math.sqrt(variance));
  near(found["below"], variance);
  near(found["large"], variance * 1e24);
  near(found["unsigned"], variance);
  assert.deepEqual(found["host"], [[undefined, 1]]);
  assert.deepEqual(found["copy"], [[undefined, 1]]);
});

test("llhist counts values where D's llquantize does", live, async () => {
  const found = await maps(
    `${writes} { @kernel = llhist(args.count, 10, 0, 4, 20); @key[cpu] = llhist(args.count, 10, 1, 3, 10); }
     begin { ${[...sizes, -1, 0].map((size) => `@host = llhist(${size}, 10, 0, 4, 20);`).join(" ")} }`,
    { command },
  );
  const used = (entries: MapTable["entries"] = []): unknown[] =>
    entries.flatMap(([, buckets]) =>
      (buckets as unknown as readonly Bucket[])
        .filter(({ count }) => count > 0)
        .map(({ low, high, count }) => [low, high, count]),
    );
  const buckets = [
    [3, 4, 1],
    [5, 6, 1],
    [15, 20, 1],
    [40, 45, 1],
    [900, 950, 1],
    [100_000, null, 1],
  ];
  assert.deepEqual(used(found["kernel"]), buckets);
  assert.deepEqual(used(found["host"]), [[null, 1, 2], ...buckets]);
  const byKey = (used(found["key"]) as [number | null, number | null, number][])
    .flatMap(([low, , count]) => Array.from({ length: count }, () => low ?? -1))
    .sort((a, b) => a - b);
  assert.deepEqual(byKey, [-1, -1, 10, 40, 900, 10_000]);
});

test("they are printed as numbers and rows, and in JSON", live, async () => {
  const script = `begin {
    @v = variance(1); @v = variance(4); @s["a"] = stddev(1); @s["a"] = stddev(4); @s["b"] = stddev(3);
    @l = llhist(7, 10, 0, 1, 10); @l = llhist(20, 10, 0, 1, 10); exit(); }`;
  const text = await strobe(["-q", "-e", script]);
  const bar = "@".repeat(52);
  const row = (label: string, count: number): string =>
    `${label.padEnd(16)}${String(count).padStart(8)} |${(count === 0 ? "" : bar).padEnd(52)}|`;
  assert.equal(
    text.stdout.trim(),
    [
      "@l:",
      row("[7]", 1),
      row("[8]", 0),
      row("[9]", 0),
      row("[10, 20)", 0),
      row("[20, 30)", 1),
      "",
      "@s[b]: 0",
      "@s[a]: 1.5",
      "@v: 2.25",
    ].join("\n"),
  );
  const json = await strobe(["-q", "-f", "json", "-e", script]);
  assert.equal(
    json.stdout.trim(),
    [
      '{"type": "hist", "data": {"@l": [{"min": 7, "max": 7, "count": 1},{"min": 8, "max": 8, "count": 0},' +
        '{"min": 9, "max": 9, "count": 0},{"min": 10, "max": 19, "count": 0},{"min": 20, "max": 29, "count": 1}]}}',
      '{"type": "map", "data": {"@s": {"b": 0, "a": 1.5}}}',
      '{"type": "map", "data": {"@v": 2.25}}',
    ].join("\n"),
  );
});
