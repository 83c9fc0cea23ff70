import assert from "node:assert/strict";
import { test } from "node:test";
import { napLength, Naps } from "./nap.ts";

const ringBytes = 8 << 20;
/** At a steady rate (records a millisecond of 48 bytes), found after so long. */
function nap(rate: number, milliseconds: number, turn = false): number {
  return napLength({ records: rate * milliseconds, bytes: rate * milliseconds * 48, ringBytes, milliseconds, turn });
}

test("lines that come one by one are out within some milliseconds", () => {
  assert.equal(nap(1, 3), 3);
  assert.equal(nap(20, 3), 3);
});

test("a flood is gathered until a wake-up is worth its while, however long the last nap was", () => {
  for (const milliseconds of [1, 3, 20]) {
    assert.equal(nap(25, milliseconds), 10);
    assert.equal(nap(200, milliseconds), 10);
    assert.equal(nap(400, milliseconds), 5);
    assert.equal(nap(1000, milliseconds), 3);
  }
});

test("turns of the event loop are worth more", () => {
  assert.equal(nap(1, 3, true), 3);
  assert.equal(nap(100, 3, true), 20);
  assert.equal(nap(400, 3, true), 10);
});

test("the ring does not fill beyond its sixteenth", () => {
  assert.equal(nap(5000, 5), 2);
  assert.equal(nap(10_000, 1), 1);
  assert.equal(nap(20_000, 1), 0);
  assert.ok(nap(5000, 5) * 5000 * 48 <= ringBytes / 16);
});

test("what was there in no time at all is no infinite rate", () => {
  assert.equal(napLength({ records: 1, bytes: 48, ringBytes, milliseconds: 0, turn: false }), 3);
});

/** Naps on a clock that only sleeping moves. */
function napsWith(slept: (milliseconds: number) => boolean) {
  let now = 0;
  const sleeps: number[] = [];
  const naps = new Naps(() => now, (milliseconds) => {
    sleeps.push(milliseconds);
    now += milliseconds;
    return slept(milliseconds);
  });
  return { naps, sleeps, now: () => now };
}

test("a thread of our own sleeps, with a turn of the event loop now and then", async () => {
  const { naps, sleeps, now } = napsWith(() => true);
  let turns = 0;
  for (let i = 0; i < 20; i++) {
    let turned = false;
    setImmediate(() => { turned = true; });
    const wait = naps.take(10, Infinity, now());
    if (wait === undefined) continue;
    await wait;
    assert.equal(turned, true);
    turns++;
  }
  assert.equal(sleeps.length, 20);
  // Five naps of 10 ms fit between two turns.
  assert.equal(turns, 3);
});

test("a signal's handler has its turn at once", async () => {
  const { naps, sleeps, now } = napsWith(() => false);
  let turned = false;
  setImmediate(() => { turned = true; });
  await naps.take(10, Infinity, now());
  assert.deepEqual([turned, sleeps], [true, [10]]);
});

test("whoever needs the event loop sooner gets it", async () => {
  const { naps, sleeps, now } = napsWith(() => true);
  let ticked = false;
  setTimeout(() => { ticked = true; }, 1);
  await naps.take(10, 5, now());
  assert.equal(ticked, true);
  await naps.take(0, Infinity, now());
  assert.deepEqual(sleeps, []);
});
