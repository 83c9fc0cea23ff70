import assert from "node:assert/strict";
import { test } from "node:test";
import type { CheckedHandler } from "../../language/checked-program.ts";
import { probeNames } from "./probe-names.ts";

const handler = (...sites: [name: string, match?: number][]): CheckedHandler =>
  ({
    sites: sites.map(([name, match]) => ({
      name,
      data: null,
      ...(match === undefined ? {} : { match: BigInt(match) }),
    })),
  }) as unknown as CheckedHandler;

test("sites with numbers keep their distances", () => {
  const names = probeNames([handler(["begin"]), handler(["close", 3], ["read", 0], ["write", 1])]);
  assert.deepEqual(names, ["begin", "read", "write", "", "close"]);
});

test("every name is there once, whatever the handlers share", () => {
  const names = probeNames([
    handler(["read", 0], ["write", 1]),
    handler(["write", 1], ["open", 2]),
    handler(["read", 0], ["write", 1]),
    handler(["x"], ["x"]),
  ]);
  assert.deepEqual(names, ["read", "write", "open", "x"]);
});

test("numbers far apart, or the same for two, are not laid out", () => {
  assert.deepEqual(probeNames([handler(["a", 0], ["b", 1_000_000])]), ["a", "b"]);
  assert.deepEqual(probeNames([handler(["a", 1], ["b", 1], ["c", 3])]), ["a", "b", "c"]);
});
