import assert from "node:assert/strict";
import { test } from "node:test";
import { histogramWords, readHistogram } from "./histogram-words.ts";

const fields = [
  { name: "fd", declaration: "unsigned int", offset: 16, size: 8, signed: false },
  { name: "count", declaration: "size_t", offset: 32, size: 8, signed: false },
  { name: "comm", declaration: "char[16]", offset: 40, size: 16, signed: false },
  { name: "prio", declaration: "int", offset: 56, size: 4, signed: true },
];
const number = (offset: number, size = 8, signed = false) => ({ offset, size, signed });
const histogram = {
  keys: [number(16), "thread", "cpu"] as const,
  sums: [number(32)],
  entries: 2048,
  maps: [0],
  source: "",
};

test("what the kernel counts by, in its words", () => {
  const filter = { kind: "number", of: number(32), test: ">", value: 5n, unsigned: true } as const;
  const words = histogramWords({ ...histogram, filter }, fields, 0n);
  assert.equal(words?.trigger, "hist:keys=fd,common_pid,common_cpu:vals=hitcount,count:size=2048 if count > 5");
  assert.equal(
    histogramWords({ ...histogram, filter: true, sums: [] }, fields, 0n)?.trigger,
    "hist:keys=fd,common_pid,common_cpu:vals=hitcount:size=2048",
  );
  // A text, a part of a field, and a sum of numbers that the kernel reads otherwise.
  for (const [key, sum] of [
    [number(40), number(32)],
    [number(16, 4), number(32)],
    [number(16), number(56, 4)],
  ])
    assert.equal(histogramWords({ ...histogram, filter: true, keys: [key], sums: [sum] }, fields, 0n), undefined);
});

/** As Linux 6.12 prints it, of an event with two histograms. */
const shown = `# event histogram
#
# trigger info: hist:keys=common_cpu:vals=hitcount:sort=hitcount:size=2048 [active]
#

{ common_cpu:          1 } hitcount:          9

Totals:
    Hits: 9
    Entries: 1
    Dropped: 0


# event histogram
#
# trigger info: hist:keys=fd,common_pid,common_cpu:vals=hitcount,count:sort=hitcount:size=2048 if count > 5 [active]
#

{ fd:          1, common_pid:         57, common_cpu:          0 } hitcount:          2  count:         14
{ fd: 18446744073709551615, common_pid:         64, common_cpu:          1 } hitcount:       1000  count:     100000

Totals:
    Hits: 1005
    Entries: 2
    Dropped: 3
`;

test("what the kernel shows of a histogram", () => {
  const words = { keys: ["fd", "common_pid", "common_cpu"], sums: ["count"], filter: "count > 5", trigger: "" };
  assert.deepEqual(readHistogram(shown, words), {
    entries: [
      { keys: [1n, 57n, 0n], count: 2n, sums: [14n] },
      { keys: [0xffff_ffff_ffff_ffffn, 64n, 1n], count: 1000n, sums: [100000n] },
    ],
    dropped: 3,
  });
  assert.deepEqual(readHistogram(shown, { keys: ["common_cpu"], sums: [], filter: undefined, trigger: "" }), {
    entries: [{ keys: [1n], count: 9n, sums: [] }],
    dropped: 0,
  });
  const seven = shown.replace("common_pid,common_cpu:vals", "common_pid,common_cpucommon_cpu:vals");
  assert.deepEqual(readHistogram(seven, words), readHistogram(shown, words));
  assert.equal(readHistogram(shown, { ...words, filter: "count > 6" }), undefined);
  assert.equal(readHistogram(shown, { ...words, keys: ["fd"] }), undefined);
  // An entry that is not as it should be is not left out.
  assert.equal(readHistogram(shown.replace("100000", "1.5"), words), undefined);
});
