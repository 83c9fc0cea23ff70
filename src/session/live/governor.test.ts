import assert from "node:assert/strict";
import { test } from "node:test";
import { govern, shares, type Load } from "./governor.ts";

/** A program that ran so often in the window, its handler taking so long, held back to one event in `every`. */
const load = (
  runs: number,
  body: number,
  { entry = 100, every = 1 }: { entry?: number; every?: number } = {},
): Load => ({ runs, entry, every, nanoseconds: (runs / every) * body + (runs - runs / every) * 8 });

test("a budget goes to the modest first, the rest is shared alike", () => {
  assert.deepEqual(shares([10, 20, 30], 100), [10, 20, 30]);
  assert.deepEqual(shares([10, 200, 300], 100), [10, 45, 45]);
  assert.deepEqual(shares([], 100), []);
});

test("nobody is held back within the budget", () => {
  assert.deepEqual(govern([load(1000, 500), load(10, 50)], 1_000_000), [
    { every: 1, hopeless: false },
    { every: 1, hopeless: false },
  ]);
});

test("an expensive handler is run for as few events as keep it within what is left, the modest one beside it untouched", () => {
  const [modest, hot] = govern([load(100, 100), load(10_000, 2000)], 3_000_000);
  assert.deepEqual(modest, { every: 1, hopeless: false });
  // 10,000 events cost 1.08 ms without the handler; what is left of 2.98 ms is room for 950 of its 20 ms: one in 16.
  assert.deepEqual(hot, { every: 16, hopeless: false });
});

test("a probe that costs too much without its handler is hopeless", () => {
  const [verdict] = govern([load(100_000, 50)], 1_000_000);
  assert.deepEqual(verdict, { every: 1 << 20, hopeless: true });
  // And remains so while it is held back.
  assert.deepEqual(govern([load(100_000, 50, { every: 1 << 20 })], 1_000_000)[0], { every: 1 << 20, hopeless: true });
});

test("a handler is let run more often when things calm down, step by step", () => {
  const calm = (every: number): number => govern([load(1000, 500, { every })], 10_000_000)[0].every;
  assert.equal(calm(64), 32);
  assert.equal(calm(2), 1);
  assert.equal(calm(1), 1);
  // A window without events says nothing of the handler, but that there is room.
  assert.equal(govern([load(0, 0, { every: 8 })], 10_000_000)[0].every, 4);
});

test("a handler held back to what fits stays where it is", () => {
  const held = load(10_000, 2000, { every: 16 });
  assert.deepEqual(govern([held], 3_000_000), [{ every: 16, hopeless: false }]);
});
