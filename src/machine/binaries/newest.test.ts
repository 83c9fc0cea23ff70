import assert from "node:assert/strict";
import { test } from "node:test";
import { Newest } from "./newest.ts";

test("what is oldest goes when there is no room, and some stay however large they are", () => {
  const newest = new Newest<{ bytes: number }>(100, ({ bytes }) => bytes);
  const owners = Array.from({ length: 20 }, () => ({}));
  const there = (): number[] => owners.flatMap((owner, i) => (newest.of(owner) === undefined ? [] : [i]));
  for (const owner of owners.slice(0, 10)) newest.keep(owner, { bytes: 10 });
  assert.deepEqual(there(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  newest.keep(owners[10], { bytes: 1000 });
  newest.keep(owners[11], { bytes: 10 });
  assert.deepEqual(there(), [4, 5, 6, 7, 8, 9, 10, 11]);
  for (const owner of owners.slice(12)) newest.keep(owner, { bytes: 10 });
  assert.deepEqual(there(), [11, 12, 13, 14, 15, 16, 17, 18, 19]);
});

test("what has grown while it was the newest is counted as it is then", () => {
  const newest = new Newest<{ bytes: number }>(100, ({ bytes }) => bytes);
  const owners = Array.from({ length: 9 }, () => ({}));
  const first = newest.keep(owners[0], { bytes: 0 });
  first.bytes = 200;
  for (const owner of owners.slice(1)) newest.keep(owner, { bytes: 1 });
  assert.equal(newest.of(owners[0]), undefined);
  assert.equal(newest.of(owners[1])?.bytes, 1);
});
