import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrintf, PrintfError } from "./printf.ts";

test("a format falls into texts and conversions; length modifiers say how many bits count", () => {
  const { pieces } = parsePrintf("a%% %-10lld|%08.3hhx%rx%.*s");
  assert.deepEqual(pieces, [
    "a% ", { letter: "d", flags: "-", width: 10, precision: -1, bits: 64 }, "|", { letter: "x", flags: "0", width: 8, precision: 3, bits: 8 },
    { letter: "rx", flags: "", width: 0, precision: -1 }, { letter: "s", flags: "", width: 0, precision: -2 },
  ]);
});

test("what cannot be printed is told with its place", () => {
  const told = (text: string): readonly [string, number] | undefined => {
    try { parsePrintf(text); return undefined; } catch (error) { assert.ok(error instanceof PrintfError); return [error.message, error.offset]; }
  };
  assert.deepEqual(told("ab %"), ["incomplete conversion", 3]);
  assert.deepEqual(told("%d %y"), ["unknown conversion `%y`", 3]);
  assert.deepEqual(told("%*d"), ["a field width of * is not supported", 0]);
});
