import assert from "node:assert/strict";
import { test } from "node:test";
import { napLength, Naps } from "./nap.ts";

const ringBytes = 8 << 20;
/** At a steady rate (records a millisecond of 48 bytes), found after so long. */
function nap(
  rate: number,
  milliseconds: number,
  how: { readonly turn?: boolean; readonly patience?: number | undefined } = {},
): number {
  return napLength({
    records: rate * milliseconds,
    bytes: rate * milliseconds * 48,
    ringBytes,
    milliseconds,
    turn: false,
    ...how,
  });
}

test("lines that come one by one are out within some milliseconds", () => {
  assert.equal(nap(1, 3), 2);
  assert.equal(nap(20, 3), 2);
});

test("a flood is gathered until a wake-up is worth its while, however long the last nap was", () => {
  for (const milliseconds of [1, 3, 20]) {
    assert.equal(nap(25, milliseconds), 5);
    assert.equal(nap(200, milliseconds), 5);
    assert.equal(nap(300, milliseconds), 3);
    assert.equal(nap(1000, milliseconds), 2);
  }
});

test("turns of the event loop are worth more", () => {
  assert.equal(nap(1, 3, { turn: true }), 3);
  assert.equal(nap(100, 3, { turn: true }), 20);
  assert.equal(nap(400, 3, { turn: true }), 10);
});

test("where nobody waits for lines, they are gathered for longer", () => {
  for (const rate of [0.1, 1, 100, 200]) assert.equal(nap(rate, 10, { patience: 50 }), 50);
  assert.equal(nap(1000, 10, { patience: 50 }), 10);
});

test("the ring does not fill beyond its sixteenth", () => {
  assert.equal(nap(5000, 5), 2);
  assert.equal(nap(10_000, 1), 1);
  assert.equal(nap(20_000, 1), 0);
  for (const patience of [undefined, 50]) assert.ok(nap(5000, 5, { patience }) * 5000 * 48 <= ringBytes / 16);
});

test("what was there in no time at all is no infinite rate", () => {
  assert.equal(napLength({ records: 1, bytes: 48, ringBytes, milliseconds: 0, turn: false }), 2);
});

/** Naps on a clock that only sleeping moves. */
function napsWith(slept: (milliseconds: number, until?: number) => boolean) {
  let now = 0;
  const sleeps: number[] = [];
  const naps = new Naps(
    () => now,
    (milliseconds, until) => {
      sleeps.push(milliseconds);
      now += milliseconds;
      return slept(milliseconds, until);
    },
  );
  return { naps, sleeps, now: () => now };
}

test("a thread of our own sleeps, with a turn of the event loop now and then", async () => {
  const { naps, sleeps, now } = napsWith(() => true);
  let turns = 0;
  for (let i = 0; i < 40; i++) {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    const wait = naps.take(10, Infinity, now());
    if (wait === undefined) continue;
    await wait;
    assert.equal(turned, true);
    turns++;
  }
  assert.equal(sleeps.length, 40);
  // Ten naps of 10 ms fit between two turns; the first has one before it.
  assert.equal(turns, 4);
});

test("whoever stops in a turn of the event loop does not sleep after it", async () => {
  const { naps, sleeps, now } = napsWith(() => true);
  setImmediate(() => naps.stop());
  await naps.take(10, Infinity, now());
  assert.deepEqual(sleeps, []);
});

test("what comes up in the event loop has its turn at once", async () => {
  const { naps, sleeps, now } = napsWith(() => false);
  for (const milliseconds of [10, 0, 200]) {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await naps.take(milliseconds, Infinity, now());
    assert.equal(turned, true);
  }
  assert.deepEqual(sleeps, [10, 0, 200]);
});

test("a sleep ends with what is waited for", async () => {
  const seen: (number | undefined)[] = [];
  const { naps, now } = napsWith((_, until) => {
    seen.push(until);
    return true;
  });
  await naps.take(10, Infinity, now(), 5);
  assert.equal(naps.take(10, Infinity, now(), 7), undefined);
  assert.equal(naps.take(10, Infinity, now()), undefined);
  assert.deepEqual(seen, [5, 7, undefined]);
});

test("whoever needs the event loop sooner gets it", async () => {
  const { naps, sleeps, now } = napsWith(() => true);
  let ticked = false;
  setTimeout(() => {
    ticked = true;
  }, 1);
  await naps.take(10, 5, now());
  assert.equal(ticked, true);
  await naps.take(0, 0, now());
  assert.deepEqual(sleeps, []);
});
