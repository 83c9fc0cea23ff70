import assert from "node:assert/strict";
import { test } from "node:test";
import { kernelAtLeast } from "../base/kernel-features.ts";

test("a kernel has what came with an earlier version, or its own", () => {
  assert.equal(kernelAtLeast([6, 1], 5, 15), true);
  assert.equal(kernelAtLeast([5, 15], 5, 15), true);
  assert.equal(kernelAtLeast([5, 10], 5, 15), false);
  assert.equal(kernelAtLeast([5, 15], 6, 1), false);
});
