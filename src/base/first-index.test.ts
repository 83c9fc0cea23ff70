import assert from "node:assert/strict";
import { test } from "node:test";
import { firstIndex } from "./first-index.ts";

test("the first index that a condition holds for is the one that a walk finds", () => {
  for (let count = 0; count < 20; count++)
    for (let from = 0; from <= count; from++) {
      const asked: number[] = [];
      assert.equal(
        firstIndex(count, (index) => {
          asked.push(index);
          return index >= from;
        }),
        from,
      );
      assert.ok(asked.every((index) => index >= 0 && index < count));
      assert.ok(asked.length <= 5);
    }
});
