import assert from "node:assert/strict";
import { test } from "node:test";
import { instructionAt } from "./instructions.ts";

// push %rbp; mov %rsp,%rbp; mov $0x1122334455667788,%rax; ret
const code = Uint8Array.from([0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xc3]);

test("every byte belongs to the instruction it is in", () => {
  const starts = Array.from(code, (_, offset) => instructionAt(code, offset));
  assert.deepEqual(starts, [0, 1, 1, 1, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 14]);
  assert.equal(instructionAt(code, code.length), undefined);
});

test("bytes that are no instruction end the search", () => {
  assert.equal(instructionAt(Uint8Array.from([0x90, 0x06, 0x90]), 2), undefined);
});
