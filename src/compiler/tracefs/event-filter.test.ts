// Comparisons in the kernel's order of a field let through what the handler's own order does.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TracepointField } from "../../machine/system.ts";
import { filterWords, isSayable, type Comparison, type NumberTest } from "./event-filter.ts";

const fieldOf = (size: number, signed: boolean): TracepointField => ({
  name: "x",
  declaration: "loff_t",
  offset: 16,
  size,
  signed,
});

/** As the kernel decides: numbers of the field's width and sign, `&&` before `||`. */
function decide(words: string, x: bigint): boolean {
  return words.split(" || ").some((side) => side.split(" && ").every((one) => compare(one, x)));
}

function compare(words: string, x: bigint): boolean {
  const [, how, number] = /^x (\S+) (-?\d+)$/.exec(words)!;
  return holds(x, how as Comparison, BigInt(number));
}

function holds(x: bigint, how: Comparison, y: bigint): boolean {
  const results = { "==": x === y, "!=": x !== y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y };
  return results[how];
}

for (const size of [1, 2, 4, 8])
  for (const signed of [true, false])
    test(`numbers of ${size} bytes, ${signed ? "signed where the kernel's are not" : "unsigned where the kernel's are signed"}`, () => {
      const bits = size * 8;
      const most = (1n << BigInt(bits - 1)) - 1n;
      const patterns = [0n, 1n, 5n, most - 1n, most, most + 1n, most + 2n, 2n * most, 2n * most + 1n];
      const as = (value: bigint, isSigned: boolean): bigint =>
        isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
      for (const how of ["==", "!=", "<", "<=", ">", ">="] as const)
        for (const asked of patterns) {
          const value = as(asked, signed);
          const one: NumberTest = {
            kind: "number",
            of: { offset: 16, size, signed },
            test: how,
            value,
            unsigned: size === 8 && !signed,
          };
          const fields = [fieldOf(size, !signed)];
          assert.ok(isSayable(one, fields));
          const words = filterWords(one, fields, 0n)!;
          for (const pattern of patterns)
            assert.equal(
              decide(words, as(pattern, !signed)),
              holds(as(pattern, signed), how, value),
              `${words}: ${pattern} ${how} ${value}`,
            );
        }
    });

test("within others, what became two tests stands in parentheses", () => {
  const fields = [fieldOf(8, false)];
  const more: NumberTest = {
    kind: "number",
    of: { offset: 16, size: 8, signed: true },
    test: ">",
    value: 7n,
    unsigned: false,
  };
  const less: NumberTest = { ...more, test: "<" };
  const thread: NumberTest = { kind: "number", of: "tid", test: "==", value: 3n, unsigned: false };
  assert.equal(
    filterWords({ kind: "or", left: thread, right: more }, fields, 0n),
    "common_pid == 3 || (x > 7 && x <= 9223372036854775807)",
  );
  assert.equal(
    filterWords({ kind: "and", left: less, right: thread }, fields, 0n),
    "(x < 7 || x > 9223372036854775807) && common_pid == 3",
  );
});

test("a number that no value of the field is stays with the handler", () => {
  const one: NumberTest = {
    kind: "number",
    of: { offset: 16, size: 2, signed: true },
    test: "<",
    value: 40000n,
    unsigned: false,
  };
  assert.equal(isSayable(one, [fieldOf(2, false)]), false);
});
