import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../base/failure.ts";
import type { Fetch } from "../../language/context.ts";
import { bytesWords, numberWords, textWords } from "./fetch-words.ts";

const kernel = { machine: "x86-64", inProgram: false } as const;
const program = { machine: "x86-64", inProgram: true } as const;
const di: Fetch = { kind: "context", offset: 112, size: 8, signed: false };

const behind = (base: Fetch, offset: number, size: 1 | 2 | 4 | 8, space: "kernel" | "user"): Fetch => ({
  kind: "pointed",
  base,
  offset,
  size,
  signed: size === 4,
  space,
});

test("numbers are registers and what they point to, with the type that cuts them", () => {
  assert.deepEqual(numberWords(di, kernel), { words: "%di", type: "u64" });
  assert.deepEqual(numberWords({ ...di, size: 4, signed: true }, kernel), { words: "%di", type: "s32" });
  assert.deepEqual(numberWords({ kind: "narrow", of: di, size: 2, signed: false }, kernel), {
    words: "%di",
    type: "u16",
  });
  const chain = behind(behind(di, 8, 8, "kernel"), -16, 4, "kernel");
  assert.deepEqual(numberWords(chain, kernel), { words: "-16(+8(%di))", type: "s32" });
  assert.deepEqual(numberWords({ kind: "constant", value: -3n }, kernel), { words: "\\-3", type: "u64" });
});

test("memory of programs is read as such, and at their own places as all memory is", () => {
  const chain = behind(behind(di, 8, 8, "kernel"), 0, 8, "user");
  assert.deepEqual(numberWords(chain, kernel), { words: "+u0(+8(%di))", type: "u64" });
  assert.deepEqual(numberWords(behind(di, 24, 8, "user"), program), { words: "+24(%di)", type: "u64" });
  assert.ok(numberWords(behind(di, 24, 8, "kernel"), program) instanceof Failure);
});

test("texts and bytes lie at addresses, with what is added to them", () => {
  assert.deepEqual(textWords(di, "user", kernel), { words: "+u0(%di)", type: "ustring" });
  const inside: Fetch = { kind: "binary", operator: "+", left: di, right: { kind: "constant", value: 5n } };
  assert.deepEqual(textWords({ kind: "address", base: inside, offset: 3 }, "kernel", kernel), {
    words: "+8(%di)",
    type: "string",
  });
  assert.deepEqual(bytesWords(di, 24, "user", program), { words: "+0(%di)", type: "u64[3]" });
  assert.deepEqual(bytesWords({ kind: "constant", value: 0x1000n }, 6, "kernel", kernel), {
    words: "@0x1000",
    type: "u16[3]",
  });
  assert.ok(bytesWords(di, 4096, "user", program) instanceof Failure);
});

test("what an event cannot compute is refused with its reason", () => {
  const reason = (fetch: Fetch): string => {
    const words = numberWords(fetch, kernel);
    return words instanceof Failure ? words.reason : words.words;
  };
  assert.equal(
    reason({ kind: "binary", operator: "*", left: di, right: di }),
    "a value that is computed, on the way to another",
  );
  assert.equal(reason({ kind: "task" }), "the current task");
  const narrow: Fetch = { ...di, size: 4, signed: false };
  assert.equal(reason(behind(narrow, 0, 8, "kernel")), "memory behind a pointer of less than 8 bytes");
});
