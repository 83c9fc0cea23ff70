import assert from "node:assert/strict";
import { test } from "node:test";
import type { AggregateType } from "../../language/types.ts";
import type { MapSnapshot } from "../../session/events.ts";
import { comm, count, sampledMap, snapshot, stackServices } from "../../../test/support/stack-fixtures.ts";
import { SvgWriter } from "./page.ts";

const options = { top: 0, divisor: 1, services: stackServices };

function picture(...maps: readonly MapSnapshot[]): string {
  const writer = new SvgWriter();
  for (const map of maps) assert.ok(writer.add(map, options));
  return Buffer.from(writer.finish(0)).toString();
}

/** Title, left edge and width of each rectangle. */
function rectangles(text: string): readonly (readonly [string, number, number])[] {
  return [
    ...text.matchAll(/<title>([^<]*)<\/title>(?:<text[^>]*>[^<]*<\/text>)*<rect [^>]*x="([^"]*)"[^>]*width="([^"]*)"/g),
  ].map(([, title, x, width]) => [title, Number(x), Number(width)] as const);
}

test("a flame graph: each frame as wide as its share, above what called it", () => {
  assert.deepEqual(rectangles(picture(sampledMap())), [
    ["all\n9 (100.00 %)", 0, 1180],
    ["app\n9 (100.00 %)", 0, 1180],
    ["main\n9 (100.00 %)", 0, 1180],
    ["run\n9 (100.00 %)", 0, 1180],
    ["operator;\n9 (100.00 %)", 0, 1180],
    ["[unknown]_[k]\n5 (55.56 %)", 0, 655.56],
    ["vfs_read_[k]\n5 (55.56 %)", 0, 655.56],
  ]);
});

test("sums are drawn as amounts, in another colour than counts", () => {
  const sum: AggregateType = { kind: "aggregate", aggregate: "sum", signed: false };
  assert.match(picture(sampledMap()), /<g class="flame count"/);
  assert.match(picture(sampledMap(sum)), /<g class="flame amount"/);
});

test("what has no picture is left to others: averages of stacks, texts, amounts below 0", () => {
  const writer = new SvgWriter();
  const avg: AggregateType = { kind: "aggregate", aggregate: "avg", signed: false };
  assert.equal(writer.add(snapshot([comm], { kind: "string", capacity: 8 }, [[["a"], 65n]]), options), false);
  assert.equal(writer.add({ ...sampledMap(), map: { ...sampledMap().map, value: avg }, entries: [] }, options), false);
  const signed: AggregateType = { kind: "aggregate", aggregate: "sum", signed: true };
  assert.equal(writer.add(snapshot([comm], signed, [[["a"], -1n]]), options), false);
  assert.match(Buffer.from(writer.finish(3)).toString(), /No map was printed that could be drawn\./);
});

test("numbers are bars, the largest on top", () => {
  const map = snapshot([comm], count, [
    [["a"], 1n],
    [["b"], 4n],
  ]);
  assert.deepEqual(rectangles(picture(map)), [
    ["b: 4", 390, 790],
    ["a: 1", 390, 197.5],
  ]);
});

const hist: AggregateType = { kind: "aggregate", aggregate: "lhist", signed: false, parameters: [0n, 2n, 1n] };

/** A histogram's words: below, 0, 1, above. */
function histogramOf(...words: readonly number[]): MapSnapshot {
  const bytes = Buffer.alloc(8 * words.length);
  words.forEach((word, i) => bytes.writeBigUInt64LE(BigInt(word), 8 * i));
  return { ...snapshot([], hist, []), entries: [[Buffer.alloc(0), bytes]] };
}

test("a histogram that is printed once has bars, several times a column each", () => {
  assert.deepEqual(rectangles(picture(histogramOf(0, 3, 1, 0))), [
    ["[0]: 3", 390, 790],
    ["[1]: 1", 390, 263.31],
  ]);
  const map = picture(histogramOf(0, 4, 0, 0), histogramOf(0, 1, 2, 0));
  assert.deepEqual(
    [...map.matchAll(/fill-opacity="([^"]*)"><title>([^<]*)<\/title>/g)].map(([, depth, title]) => [title, depth]),
    [
      ["[0], print 1: 4", "1"],
      ["[0], print 2: 1", "0.5"],
      ["[1], print 2: 2", "0.71"],
    ],
  );
  assert.match(map, /2 prints, the first on the left; the darkest is 4/);
});

test("names of others end no element and hold nothing that XML has not", () => {
  const text = picture(snapshot([comm], count, [[['</text>&"\x1b\uffff'], 1n]]));
  assert.match(text, /&lt;\/text&gt;&amp;&quot;\\x1b\ufffd/);
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(text, /[\0-\x08\x0b-\x1f\ufffe\uffff]/);
});
