import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePrintf, PrintfError } from "./printf.ts";

test("a format falls into texts and conversions; length modifiers say how many bits count", () => {
  const { pieces } = parsePrintf("a%% %-10lld|%08.3hhx%rx%.*s");
  assert.deepEqual(pieces, [
    "a% ",
    { letter: "d", flags: "-", width: 10, precision: -1, bits: 64 },
    "|",
    { letter: "x", flags: "0", width: 8, precision: 3, bits: 8 },
    { letter: "rx", flags: "", width: 0, precision: -1 },
    { letter: "s", flags: "", width: 0, precision: -2 },
  ]);
});

test("a percent sign that begins no conversion is text", () => {
  assert.deepEqual(parsePrintf("100%").pieces, ["100%"]);
  assert.deepEqual(parsePrintf("a%,b %5\n%k %").pieces, ["a%,b %5\n%k %"]);
  assert.deepEqual(parsePrintf("50%-%d").pieces, ["50%-", { letter: "d", flags: "", width: 0, precision: -1 }]);
});

test("what cannot be printed is told with its place", () => {
  const told = (text: string): readonly [string, number] | undefined => {
    try {
      parsePrintf(text);
      return undefined;
    } catch (error) {
      assert.ok(error instanceof PrintfError);
      return [error.message, error.offset];
    }
  };
  assert.deepEqual(told("%*d"), ["a field width of * is not supported", 0]);
});
