import assert from "node:assert/strict";
import { test } from "node:test";
import { napLength } from "./nap.ts";

const ringBytes = 8 << 20;
/** At a steady rate (records a millisecond of 48 bytes), found after so long. */
function nap(rate: number, milliseconds: number): number {
  return napLength({ records: rate * milliseconds, bytes: rate * milliseconds * 48, ringBytes, milliseconds });
}

test("lines that come one by one are out within some milliseconds", () => {
  assert.equal(nap(1, 3), 3);
  assert.equal(nap(20, 3), 3);
});

test("a flood is gathered, however long the last nap was", () => {
  for (const milliseconds of [1, 3, 20]) assert.equal(nap(300, milliseconds), 20);
});

test("the ring does not fill beyond its sixteenth", () => {
  assert.equal(nap(2000, 5), 5);
  assert.equal(nap(10_000, 1), 1);
  assert.equal(nap(20_000, 1), 0);
  assert.ok(nap(2000, 5) * 2000 * 48 <= ringBytes / 16);
});

test("what was there in no time at all is no infinite rate", () => {
  assert.equal(napLength({ records: 1, bytes: 48, ringBytes, milliseconds: 0 }), 3);
});
