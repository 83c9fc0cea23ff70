// The files for speedscope and pprof. test/live/pictures.test.ts reads them with tools that are not ours.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { AggregateType } from "../language/types.ts";
import { comm, count, sampledMap, snapshot, stackServices } from "../../test/support/stack-fixtures.ts";
import { PprofWriter } from "./pprof.ts";
import { SpeedscopeWriter } from "./speedscope.ts";

const options = { top: 0, divisor: 1, services: stackServices };

test("speedscope: the command, then the stack from the outermost frame on; a profile a print", () => {
  const writer = new SpeedscopeWriter();
  assert.ok(writer.add(sampledMap(), options));
  assert.ok(writer.add(sampledMap(), options));
  const { shared, profiles } = JSON.parse(Buffer.from(writer.finish()).toString()) as {
    shared: { frames: readonly { name: string }[] };
    profiles: readonly Record<string, unknown>[];
  };
  assert.deepEqual(
    shared.frames.map(({ name }) => name),
    ["app", "main", "run", "operator;", "[unknown]_[k]", "vfs_read_[k]"],
  );
  const profile = {
    type: "sampled",
    name: "@m",
    unit: "none",
    startValue: 0,
    endValue: 9,
    samples: [
      [0, 1, 2, 3, 4, 5],
      [0, 1, 2, 3, 4, 5],
      [0, 1, 2, 3],
    ],
    weights: [2, 3, 4],
  };
  assert.deepEqual(profiles, [profile, profile]);
});

test("pprof: strings, samples and labels of every print", () => {
  const writer = new PprofWriter();
  assert.ok(writer.add(sampledMap(), options));
  const fields = fieldsOf(gunzipSync(writer.finish()));
  const texts = fields
    .filter(([field]) => field === 6)
    .map(([, content]) => Buffer.from(content as Uint8Array).toString());
  assert.deepEqual([...texts].sort(), [
    "",
    "@m",
    "[unknown]_[k]",
    "app",
    "count",
    "key0",
    "main",
    "operator;",
    "run",
    "vfs_read_[k]",
  ]);
  const samples = fields.filter(([field]) => field === 2).map(([, content]) => fieldsOf(content as Uint8Array));
  assert.deepEqual(
    samples.map((one) => [
      varints(one.find(([field]) => field === 1)?.[1]).length,
      varints(one.find(([field]) => field === 2)?.[1]),
    ]),
    [
      [5, [2]],
      [5, [3]],
      [3, [4]],
    ],
  );
});

test("what is no stack, or does not add up, is no profile", () => {
  const avg: AggregateType = { kind: "aggregate", aggregate: "avg", signed: false };
  for (const writer of [new SpeedscopeWriter(), new PprofWriter()]) {
    assert.equal(writer.add(snapshot([comm], count, [[["a"], 1n]]), options), false);
    assert.equal(
      writer.add({ ...sampledMap(), map: { ...sampledMap().map, value: avg }, entries: [] }, options),
      false,
    );
  }
});

type Field = readonly [field: number, content: number | Uint8Array];

/** The fields of a message of protocol buffers: numbers and bytes. */
function fieldsOf(bytes: Uint8Array): readonly Field[] {
  const fields: Field[] = [];
  for (let at = 0; at < bytes.length;) {
    const [tag, content] = varint(bytes, at);
    const [value, end] = varint(bytes, content);
    at = tag % 8 === 2 ? end + value : end;
    fields.push([tag >> 3, tag % 8 === 2 ? bytes.subarray(end, at) : value]);
  }
  return fields;
}

function varints(bytes: number | Uint8Array | undefined): readonly number[] {
  assert.ok(bytes instanceof Uint8Array);
  const values: number[] = [];
  for (let at = 0; at < bytes.length;) {
    const [value, end] = varint(bytes, at);
    values.push(value);
    at = end;
  }
  return values;
}

function varint(bytes: Uint8Array, at: number): readonly [value: number, end: number] {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[at++];
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return [value, at];
  }
}
