import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { IrMap } from "../compiler/ir/ir.ts";
import { bucketOf } from "../language/aggregations/buckets.ts";
import { aggregateWords, shapedPart } from "../language/aggregations/table.ts";
import { fieldLayout } from "../language/layout.ts";
import type { AggregateType, Type } from "../language/types.ts";
import { i64, u16, u8 } from "../language/types.ts";
import type { MapSnapshot } from "../session/events.ts";
import { recordMemory, schemaOf, servicesOf } from "../../test/support/output-fixtures.ts";
import { JsonConsumer } from "./json.ts";
import { TextConsumer } from "./text.ts";

/** Runs a consumer of each kind over a file and gives back what they wrote. */
function outputs(use: (consumer: TextConsumer | JsonConsumer) => void): { text: string; json: string } {
  const folder = mkdtempSync(join(tmpdir(), "strobe-output-"));
  const write = (name: string, make: (descriptor: number) => TextConsumer | JsonConsumer) => {
    const path = join(folder, name);
    const descriptor = openSync(path, "w");
    const consumer = make(descriptor);
    use(consumer);
    consumer.end();
    closeSync(descriptor);
    return readFileSync(path, "utf8");
  };
  const result = {
    text: write("text", (output) => new TextConsumer({ output, messages: output, quiet: false, buffering: "line" })),
    json: write("json", (output) => new JsonConsumer({ output, buffering: "line" })),
  };
  rmSync(folder, { recursive: true });
  return result;
}

function snapshot(
  name: string,
  keys: readonly Type[],
  value: IrMap["value"],
  entries: readonly (readonly [Uint8Array, Uint8Array])[],
): MapSnapshot {
  return { map: { name, shown: `@${name}`, keys, value, entries: 1 }, index: 0, entries };
}

function words(...values: bigint[]): Uint8Array {
  return new Uint8Array(new BigUint64Array(values).buffer);
}

const printed = { top: 0, divisor: 0, services: servicesOf() };
const none = new Uint8Array(0);

test("a keyed map is printed by value, smallest first", () => {
  const map = snapshot("n", [i64], i64, [
    [words(1n), words(30n)],
    [words(2n), words(10n)],
    [words(3n), words(20n)],
  ]);
  const { text, json } = outputs((consumer) => consumer.map(map, printed));
  assert.equal(text, "@n[2]: 10\n@n[3]: 20\n@n[1]: 30\n");
  assert.equal(json, '{"type": "map", "data": {"@n": {"2": 10, "3": 20, "1": 30}}}\n');
});

test("top keeps the largest, and a divisor scales", () => {
  const map = snapshot("n", [i64], i64, [
    [words(1n), words(30n)],
    [words(2n), words(10n)],
    [words(3n), words(20n)],
  ]);
  const { text, json } = outputs((consumer) => consumer.map(map, { ...printed, top: 2, divisor: 10 }));
  assert.equal(text, "@n[3]: 2\n@n[1]: 3\n");
  assert.equal(json, '{"type": "map", "data": {"@n": {"3": 2, "1": 3}}}\n');
});

test("a tuple in a key has no blanks in JSON", () => {
  const map = snapshot("n", [{ kind: "tuple", elements: [i64, i64] }, i64], i64, [[words(1n, 2n, 3n), words(4n)]]);
  const { text, json } = outputs((consumer) => consumer.map(map, printed));
  assert.equal(text, "@n[(1, 2), 3]: 4\n");
  assert.equal(json, '{"type": "map", "data": {"@n": {"(1,2),3": 4}}}\n');
});

test("keys of several parts and string values", () => {
  const keys: Type[] = [{ kind: "string", capacity: 4 }, i64];
  const { offsets, size } = fieldLayout(keys);
  const key = new Uint8Array(size);
  key.set([97, 98], 0);
  new DataView(key.buffer).setBigInt64(offsets[1], -2n, true);
  const map = snapshot("", keys, { kind: "string", capacity: 8 }, [[key, new TextEncoder().encode("v\0\0\0\0\0\0\0")]]);
  const { text, json } = outputs((consumer) => consumer.map(map, printed));
  assert.equal(text, "@[ab, -2]: v\n");
  assert.equal(json, '{"type": "map", "data": {"@": {"ab,-2": "v"}}}\n');
});

function histogramWords(type: AggregateType, values: readonly bigint[]): Uint8Array {
  const { part } = shapedPart(type, "buckets");
  const counts = Array.from({ length: aggregateWords(type) }, () => 0n);
  for (const value of values) {
    counts[bucketOf(part.of, value)]++;
  }
  return words(...counts);
}

test("a histogram has a row a power of two between its ends", () => {
  const type: AggregateType = { kind: "aggregate", aggregate: "hist", signed: true, parameters: [0n] };
  const map = snapshot("h", [], type, [[none, histogramWords(type, [1n, 5n, 5n, 1024n])]]);
  const { text, json } = outputs((consumer) => consumer.map(map, printed));
  const bar = (n: number) => "@".repeat(n).padEnd(52);
  const row = (label: string, count: number, n: number) =>
    `${label.padEnd(16)}${String(count).padStart(8)} |${bar(n)}|\n`;
  assert.equal(
    text,
    "@h:\n" +
      row("[1]", 1, 26) +
      row("[2, 4)", 0, 0) +
      row("[4, 8)", 2, 52) +
      ["[8, 16)", "[16, 32)", "[32, 64)", "[64, 128)", "[128, 256)", "[256, 512)", "[512, 1K)"]
        .map((label) => row(label, 0, 0))
        .join("") +
      row("[1K, 2K)", 1, 26) +
      "\n",
  );
  assert.match(
    json,
    /^\{"type": "hist", "data": \{"@h": \[\{"min": 1, "max": 1, "count": 1\},\{"min": 2, "max": 3, "count": 0\}/,
  );
});

test("finer and linear histograms show whole numbers and open ends", () => {
  const fine: AggregateType = { kind: "aggregate", aggregate: "hist", signed: true, parameters: [2n] };
  assert.match(
    outputs((c) => c.map(snapshot("f", [], fine, [[none, histogramWords(fine, [1000n])]]), printed)).text,
    /^@f:\n\[896, 1024\) {12}1 /,
  );
  const linear: AggregateType = { kind: "aggregate", aggregate: "lhist", signed: true, parameters: [0n, 100n, 10n] };
  const { text } = outputs((c) =>
    c.map(snapshot("l", [], linear, [[none, histogramWords(linear, [-1n, 5n, 1000n])]]), printed),
  );
  const labels = text
    .split("\n")
    .slice(1, -2)
    .map((line) => line.slice(0, 16).trimEnd());
  assert.deepEqual(labels, [
    "(..., 0)",
    ...Array.from({ length: 10 }, (_, i) => `[${i * 10}, ${i * 10 + 10})`),
    "[100, ...)",
  ]);
});

test("records are in the order of their first field", () => {
  const type: Type = {
    kind: "record",
    fields: ["bytes", "pieces"].map((name) => ({ name, type: { kind: "integer", bits: 64, signed: false } })),
  };
  const key: Type = { kind: "integer", bits: 64, signed: false };
  const entries = [
    [words(1n), words(300n, 1n)],
    [words(2n), words(20n, 9n)],
  ] as const;
  const { text } = outputs((c) => c.map(snapshot("kept", [key], type, entries), printed));
  assert.equal(text, "@kept[2]: { .bytes = 20, .pieces = 9 }\n@kept[1]: { .bytes = 300, .pieces = 1 }\n");
});

test("statistics name their parts", () => {
  const type: AggregateType = { kind: "aggregate", aggregate: "stats", signed: true };
  const { text, json } = outputs((c) => c.map(snapshot("s", [], type, [[none, words(31n, 2n)]]), printed));
  assert.equal(text, "@s: { .count = 2, .average = 15, .total = 31 }\n");
  assert.equal(json, '{"type": "stats", "data": {"@s": {"count": 2, "average": 15, "total": 31}}}\n');
});

function shape(
  name: string,
  members: readonly (readonly [name: string, offset: number, type: Type])[],
): Type & { readonly kind: "struct" } {
  return {
    kind: "struct",
    union: false,
    name,
    size: 8,
    members: members.map(([of, offset, type]) => ({ name: of, offset, type })),
  };
}

test("values of every shape", () => {
  const cases: [Type, (view: DataView, at: number) => void, string, string][] = [
    [
      { kind: "tuple", elements: [i64, { kind: "string", capacity: 2 }] },
      (v, at) => {
        v.setBigInt64(at, 1n, true);
        v.setUint8(at + 8, 97);
      },
      "(1, a)",
      '[1,"a"]',
    ],
    [
      { kind: "record", fields: [{ name: "a", type: i64 }] },
      (v, at) => v.setBigInt64(at, 1n, true),
      "{ .a = 1 }",
      '{"a": 1}',
    ],
    [{ kind: "boolean" }, (v, at) => v.setUint8(at, 1), "true", "true"],
    [
      { kind: "named", of: "inet" },
      (v, at) => {
        v.setUint32(at, 2, true);
        v.setUint8(at + 8, 127);
        v.setUint8(at + 11, 1);
      },
      "127.0.0.1",
      '"127.0.0.1"',
    ],
    [
      { kind: "named", of: "inet" },
      (v, at) => {
        v.setUint32(at, 10, true);
        v.setUint8(at + 23, 1);
      },
      "::1",
      '"::1"',
    ],
    [
      { kind: "named", of: "macaddr" },
      (v, at) => {
        v.setUint8(at, 0xab);
      },
      "AB:00:00:00:00:00",
      '"AB:00:00:00:00:00"',
    ],
    [
      { kind: "named", of: "strerror" },
      (v, at) => v.setBigUint64(at, 2n, true),
      "No such file or directory",
      '"No such file or directory"',
    ],
    [{ kind: "named", of: "ksym" }, (v, at) => v.setBigUint64(at, 0x1002n, true), "vfs_read", '"vfs_read"'],
    // struct { u8 a; union { u16 b; struct { u8 c; u8 d; }; }; struct { u8 e : 3; }; struct { u8 f; } g; }
    [
      shape("s", [
        ["a", 0, u8],
        [
          "",
          2,
          {
            ...shape("", [
              ["b", 0, u16],
              [
                "",
                0,
                shape("", [
                  ["c", 0, u8],
                  ["d", 1, u8],
                ]),
              ],
            ]),
            union: true,
          },
        ],
        [
          "",
          4,
          {
            kind: "struct",
            union: false,
            name: "",
            size: 1,
            members: [{ name: "e", offset: 0, bitOffset: 1, bitWidth: 3, type: u8 }],
          },
        ],
        ["", 5, u8],
        ["g", 6, shape("", [["f", 0, u8]])],
      ]),
      (v, at) => [1, 0, 2, 3, 0xfb, 9, 4].forEach((byte, i) => v.setUint8(at + i, byte)),
      "{ .a = 1, .b = 770, .c = 2, .d = 3, .e = 5, .g = { .f = 4 } }",
      '{"a": 1, "b": 770, "c": 2, "d": 3, "e": 5, "g": {"f": 4}}',
    ],
    // struct A { u8 x, y; }; struct B { u8 x; }; struct C : B { u8 x; }; struct D : A, C { u8 z, y; }
    [
      shape("D", [
        [
          "",
          0,
          shape("A", [
            ["x", 0, u8],
            ["y", 1, u8],
          ]),
        ],
        [
          "",
          2,
          shape("C", [
            ["", 0, shape("B", [["x", 0, u8]])],
            ["x", 1, u8],
          ]),
        ],
        ["z", 4, u8],
        ["y", 5, u8],
      ]),
      (v, at) => [1, 2, 3, 4, 5, 6].forEach((byte, i) => v.setUint8(at + i, byte)),
      "{ .A::x = 1, .A::y = 2, .B::x = 3, .C::x = 4, .z = 5, .y = 6 }",
      '{"A::x": 1, "A::y": 2, "B::x": 3, "C::x": 4, "z": 5, "y": 6}',
    ],
    // struct { enum { NEG = -2, ONE = 1 } e : 3, f : 3; bool b : 1; }
    [
      {
        kind: "struct",
        union: false,
        name: "",
        size: 4,
        members: [
          ...["e", "f"].map((name, i) => ({
            name,
            offset: 0,
            bitOffset: i * 3,
            bitWidth: 3,
            type: {
              kind: "enum",
              name: "",
              bits: 32,
              signed: true,
              names: new Map([
                [-2n, "NEG"],
                [1n, "ONE"],
              ]),
            } as const,
          })),
          { name: "b", offset: 0, bitOffset: 6, bitWidth: 1, type: { kind: "boolean" } },
        ],
      },
      (v, at) => v.setUint8(at, 0b1111110),
      "{ .e = NEG, .f = -1, .b = true }",
      '{"e": -2, "f": -1, "b": true}',
    ],
    [
      { kind: "enum", name: "e", bits: 32, signed: false, names: new Map([[1n, "RED"]]) },
      (v, at) => v.setUint32(at, 1, true),
      "RED",
      "1",
    ],
  ];
  for (const [type, write, text, json] of cases) {
    const memory = recordMemory();
    const schema = schemaOf({ kind: "print-value" }, [type]);
    write(memory.view, schema.fields[0].offset);
    const got = outputs((consumer) => consumer.handler(schema, memory, servicesOf())(0));
    assert.equal(got.text, `${text}\n`);
    assert.equal(got.json, `{"type": "value", "data": ${json}}\n`);
  }
});

test("stacks stand on lines of their own", () => {
  const stacks: IrMap = {
    name: "",
    shown: "",
    keys: [],
    value: i64,
    stacks: { frames: 127, buildId: false, unwind: false, displaced: 0 },
    entries: 1,
  };
  const memory = recordMemory();
  const schema = schemaOf({ kind: "print-value" }, [{ kind: "stack", space: "kernel", mode: "bpftrace", limit: 127 }]);
  const services = servicesOf({ maps: [stacks] });
  assert.equal(
    outputs((consumer) => consumer.handler(schema, memory, services)(0)).text,
    "\n        vfs_read+4\n        0x10\n\n",
  );
});

test("text that is no UTF-8 is printed as it came, and is spelled out in JSON", () => {
  const bytes = Uint8Array.from([
    0x61, 0xff, 0xc3, 0xa9, 0xc3, 0x28, 0xef, 0xbb, 0xbf, 0xef, 0xbf, 0xbd, 0xf0, 0x9f, 0x98, 0x80, 0xe2, 0x82, 0, 0,
  ]);
  const text: Type = { kind: "string", capacity: bytes.length };
  const folder = mkdtempSync(join(tmpdir(), "strobe-output-"));
  const path = join(folder, "text");
  const descriptor = openSync(path, "w");
  const consumer = new TextConsumer({ output: descriptor, messages: descriptor, quiet: false, buffering: "line" });
  consumer.map(snapshot("m", [text], text, [[bytes, bytes]]), printed);
  consumer.end();
  closeSync(descriptor);
  const said = Buffer.from(bytes.subarray(0, 18));
  assert.deepEqual(
    readFileSync(path),
    Buffer.concat([Buffer.from("@m["), said, Buffer.from("]: "), said, Buffer.from("\n")]),
  );
  rmSync(folder, { recursive: true });
  const shown = JSON.stringify("a\\xffé\\xc3(\ufeff\ufffd😀\\xe2\\x82");
  assert.equal(
    outputs((each) => each.map(snapshot("m", [text], text, [[bytes, bytes]]), printed)).json,
    `{"type": "map", "data": {"@m": {${shown}: ${shown}}}}\n`,
  );
});

test("records in a key are written without blanks in JSON", () => {
  const key: Type = {
    kind: "record",
    fields: [
      { name: "a", type: i64 },
      { name: "b", type: { kind: "tuple", elements: [u8, u8] } },
    ],
  };
  const { text, json } = outputs((consumer) =>
    consumer.map(
      snapshot("n", [key], i64, [[Uint8Array.from([1, 0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0]), words(5n)]]),
      printed,
    ),
  );
  assert.equal(text, "@n[{ .a = 1, .b = (2, 3) }]: 5\n");
  assert.equal(json, '{"type": "map", "data": {"@n": {"{.a=1,.b=(2,3)}": 5}}}\n');
});
