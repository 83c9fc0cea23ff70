import assert from "node:assert/strict";
import { test } from "node:test";
import { pauseLength, Pauses } from "./pauses.ts";

const ringBytes = 8 << 20;
/** At a steady rate (records a millisecond of 48 bytes), found after so long. */
function pause(
  rate: number,
  milliseconds: number,
  how: { readonly turn?: boolean; readonly patience?: number | undefined } = {},
): number {
  return pauseLength({
    records: rate * milliseconds,
    bytes: rate * milliseconds * 48,
    ringBytes,
    milliseconds,
    turn: false,
    ...how,
  });
}

test("lines that come one by one are out within some milliseconds", () => {
  assert.equal(pause(1, 3), 2);
  assert.equal(pause(20, 3), 2);
});

test("a flood is gathered until a wake-up is worth its while, however long the last pause was", () => {
  for (const milliseconds of [1, 3, 20]) {
    assert.equal(pause(25, milliseconds), 5);
    assert.equal(pause(200, milliseconds), 5);
    assert.equal(pause(300, milliseconds), 3);
    assert.equal(pause(1000, milliseconds), 2);
  }
});

test("turns of the event loop are worth more", () => {
  assert.equal(pause(1, 3, { turn: true }), 3);
  assert.equal(pause(100, 3, { turn: true }), 20);
  assert.equal(pause(400, 3, { turn: true }), 10);
});

test("where nobody waits for lines, they are gathered for longer", () => {
  for (const rate of [0.1, 1, 100, 200]) assert.equal(pause(rate, 10, { patience: 50 }), 50);
  assert.equal(pause(1000, 10, { patience: 50 }), 10);
});

test("the ring does not fill beyond its sixteenth", () => {
  assert.equal(pause(5000, 5), 2);
  assert.equal(pause(10_000, 1), 1);
  assert.equal(pause(20_000, 1), 0);
  for (const patience of [undefined, 50]) assert.ok(pause(5000, 5, { patience }) * 5000 * 48 <= ringBytes / 16);
});

test("what was there in no time at all is no infinite rate", () => {
  assert.equal(pauseLength({ records: 1, bytes: 48, ringBytes, milliseconds: 0, turn: false }), 2);
});

/** Pauses on a clock that only sleeping moves. */
function napsWith(slept: (milliseconds: number, until?: number) => boolean) {
  let now = 0;
  const sleeps: number[] = [];
  const pauses = new Pauses(
    () => now,
    (milliseconds, until) => {
      sleeps.push(milliseconds);
      now += milliseconds;
      return slept(milliseconds, until);
    },
  );
  return { pauses, sleeps, now: () => now };
}

test("a thread of our own sleeps, with a turn of the event loop now and then", async () => {
  const { pauses, sleeps, now } = napsWith(() => true);
  let turns = 0;
  for (let i = 0; i < 40; i++) {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    const wait = pauses.take(10, Infinity, now());
    if (wait === undefined) continue;
    await wait;
    assert.equal(turned, true);
    turns++;
  }
  assert.equal(sleeps.length, 40);
  // Ten pauses of 10 ms fit between two turns; the first has one before it.
  assert.equal(turns, 4);
});

test("whoever stops in a turn of the event loop does not sleep after it", async () => {
  const { pauses, sleeps, now } = napsWith(() => true);
  setImmediate(() => pauses.stop());
  await pauses.take(10, Infinity, now());
  assert.deepEqual(sleeps, []);
});

test("what comes up in the event loop has its turn at once", async () => {
  const { pauses, sleeps, now } = napsWith(() => false);
  for (const milliseconds of [10, 0, 200]) {
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await pauses.take(milliseconds, Infinity, now());
    assert.equal(turned, true);
  }
  assert.deepEqual(sleeps, [10, 0, 200]);
});

test("a sleep ends with what is waited for", async () => {
  const seen: (number | undefined)[] = [];
  const { pauses, now } = napsWith((_, until) => {
    seen.push(until);
    return true;
  });
  await pauses.take(10, Infinity, now(), 5);
  assert.equal(pauses.take(10, Infinity, now(), 7), undefined);
  assert.equal(pauses.take(10, Infinity, now()), undefined);
  assert.deepEqual(seen, [5, 7, undefined]);
});

test("whoever needs the event loop sooner gets it", async () => {
  const { pauses, sleeps, now } = napsWith(() => true);
  let ticked = false;
  setTimeout(() => {
    ticked = true;
  }, 1);
  await pauses.take(10, 5, now());
  assert.equal(ticked, true);
  await pauses.take(0, 0, now());
  assert.deepEqual(sleeps, []);
});
