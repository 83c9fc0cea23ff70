import assert from "node:assert/strict";
import { test } from "node:test";
import { CallTree } from "./call-tree.ts";

const [root, inner, leaf] = [1n, 2n, 3n];
const tree = (): CallTree => new CallTree((func) => func === root);

test("calls nest, and take the time between their events", () => {
  const calls = tree();
  assert.equal(calls.enter("1", 0, root, 100), 0);
  assert.equal(calls.enter("1", 1, inner, 110), 1);
  assert.deepEqual(calls.leave("1", 1, inner, 130), { within: 1, nanoseconds: 20 });
  assert.deepEqual(calls.leave("1", 0, root, 150), { within: 0, nanoseconds: 50 });
  calls.end();
  assert.deepEqual([calls.leftOut, calls.unfinished], [0, 0]);
});

test("what a call does that began earlier is left out, and counted", () => {
  const calls = tree();
  // The kernel goes on within a call whose entry it had no buffer for.
  assert.equal(calls.enter("1", 0, inner, 100), undefined);
  assert.equal(calls.enter("1", 1, leaf, 101), undefined);
  assert.equal(calls.leave("1", 1, leaf, 102), undefined);
  assert.equal(calls.leave("1", 0, inner, 103), undefined);
  assert.equal(calls.leave("1", 0, root, 104), undefined);
  assert.equal(calls.leftOut, 3);
  assert.equal(calls.enter("1", 0, root, 105), 0);
  assert.deepEqual(calls.leave("1", 0, root, 106), { within: 0, nanoseconds: 1 });
  assert.equal(calls.leftOut, 3);
});

test("threads have stacks of their own, and recursion is another call", () => {
  const calls = tree();
  assert.equal(calls.enter("1", 0, root, 1), 0);
  assert.equal(calls.enter("2", 0, root, 2), 0);
  assert.equal(calls.enter("1", 1, root, 3), 1);
  assert.deepEqual(calls.leave("2", 0, root, 7), { within: 0, nanoseconds: 5 });
  assert.deepEqual(calls.leave("1", 1, root, 9), { within: 1, nanoseconds: 6 });
  calls.end();
  assert.deepEqual([calls.leftOut, calls.unfinished], [0, 1]);
});

test("a return that was lost ends with the next call at its depth", () => {
  const calls = tree();
  calls.enter("1", 0, root, 1);
  assert.equal(calls.enter("1", 1, inner, 2), 1);
  assert.equal(calls.enter("1", 1, leaf, 3), 1);
  assert.equal(calls.unfinished, 1);
  assert.deepEqual(calls.leave("1", 0, root, 9), { within: 0, nanoseconds: 8 });
  assert.equal(calls.unfinished, 2);
});

test("an interrupt between the end of a call and the writing of its return has the call's depth", () => {
  const calls = tree();
  assert.equal(calls.enter("1", 0, root, 1), 0);
  assert.equal(calls.enter("1", 0, inner, 2, 1), 1);
  assert.deepEqual(calls.leave("1", 0, inner, 3), { within: 1, nanoseconds: 1 });
  assert.equal(calls.enter("1", 0, leaf, 4, 8), 1);
  assert.deepEqual(calls.leave("1", 0, leaf, 6), { within: 1, nanoseconds: 2 });
  assert.deepEqual(calls.leave("1", 0, root, 9), { within: 0, nanoseconds: 8 });
  assert.equal(calls.enter("1", 0, root, 10), 0);
  // With interrupts off all along, nothing but an NMI comes in between.
  assert.equal(calls.enter("1", 1, inner, 11, 1), 1);
  assert.equal(calls.enter("1", 1, leaf, 12, 1), 1);
  assert.equal(calls.unfinished, 1);
  calls.end();
  assert.deepEqual([calls.leftOut, calls.unfinished], [0, 3]);
});
