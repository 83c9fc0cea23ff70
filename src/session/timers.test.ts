import assert from "node:assert/strict";
import { test } from "node:test";
import { Timers } from "./timers.ts";

test("ticks keep to their multiples, in order of time and then of the script", () => {
  let now = 0;
  const ran: string[] = [];
  const ticker = (name: string, milliseconds: number) => ({
    period: milliseconds * 1e6,
    run: () => void ran.push(`${name}@${now}`),
  });
  using timers = new Timers([ticker("slow", 30), ticker("fast", 10)], { now: () => now, after: () => () => {} });
  timers.tick();
  assert.deepEqual(ran, []);
  assert.equal(timers.untilNext(), 10);
  now = 12;
  assert.equal(timers.untilNext(), -2);
  timers.tick();
  assert.deepEqual(ran.splice(0), ["fast@12"]);
  assert.equal(timers.untilNext(), 8);
  now = 20;
  timers.tick();
  assert.deepEqual(ran.splice(0), ["fast@20"]);
  now = 41;
  timers.tick();
  assert.deepEqual(ran.splice(0), ["slow@41", "fast@41", "fast@41"]);
});

test("a long stop is caught up to a limit, the rest is counted", () => {
  let now = 0;
  let ran = 0;
  using timers = new Timers([{ period: 1e6, run: () => void ran++ }], { now: () => now, after: () => () => {} });
  now = 5000;
  timers.tick();
  assert.equal(ran + timers.missed, 5000);
  assert.equal(timers.missed, 3999);
  timers.tick();
  assert.equal(ran + timers.missed, 5000);
});

test("disposing within a tick stops what was due", () => {
  let now = 0;
  const ran: string[] = [];
  const timers: Timers = new Timers(
    [
      {
        period: 1e6,
        run: () => {
          ran.push("a");
          timers[Symbol.dispose]();
        },
      },
      { period: 1e6, run: () => void ran.push("b") },
    ],
    { now: () => now, after: () => () => {} },
  );
  now = 3;
  timers.tick();
  assert.deepEqual(ran, ["a"]);
});
