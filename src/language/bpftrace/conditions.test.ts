import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionValue } from "./conditions.ts";

const defined: Record<string, string> = { A: "5", B: "(A + 1)", EMPTY: "", LOOP: "LOOP", FN: "1" };
const bodyOf = (name: string): string | undefined => (Object.hasOwn(defined, name) ? defined[name] : undefined);

const values: readonly (readonly [text: string, value: bigint | undefined])[] = [
  ["0", 0n],
  ["0x1fUL", 31n],
  ["017", 15n],
  ["A", 5n],
  ["B * 2", 12n],
  ["NOWHERE", 0n],
  ["defined(A) && !defined NOWHERE", 1n],
  ["defined(EMPTY)", 1n],
  ["A == 5 && B > 5 || 0", 1n],
  ["1 + 2 * 3 - -1", 8n],
  ["1 << 3 | 1", 9n],
  ["~0 & 0xff", 255n],
  ["7 / 2 % 2", 1n],
  ["(2 >= 3) ? 10 : A ? 20 : 30", 20n],
  ["1 << 63", -(1n << 63n)],
  ["\\t 1 ".replace("\\t", "\t"), 1n],
  // Nothing that a number comes of.
  ["", undefined],
  ["1 +", undefined],
  ["(1", undefined],
  ["1 2", undefined],
  ["FN(1)", undefined],
  ["EMPTY", undefined],
  ["LOOP", undefined],
  ["1 / 0", undefined],
  ["08", undefined],
  ["defined(", undefined],
  ["defined(1)", undefined],
  ["1 ? 2", undefined],
  ['"a" == 1', undefined],
];
for (const [text, value] of values) {
  test(`#if ${text}`, () => assert.equal(conditionValue(text, bodyOf), value));
}

test("a condition ends, whatever names it leads to and however deep it goes", () => {
  const doubling = (name: string): string | undefined =>
    name === "N0"
      ? "1"
      : /^N\d+$/.test(name)
        ? `N${Number(name.slice(1)) - 1} + N${Number(name.slice(1)) - 1}`
        : undefined;
  assert.equal(conditionValue("N40", doubling), undefined);
  assert.equal(conditionValue("N5", doubling), 32n);
  assert.equal(conditionValue("(".repeat(100_000), bodyOf), undefined);
  assert.equal(conditionValue("!".repeat(100_000) + "1", bodyOf), undefined);
});
