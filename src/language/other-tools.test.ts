import assert from "node:assert/strict";
import { test } from "node:test";
import { bpftraceRules as bpftrace } from "./bpftrace/rules.ts";
import { findBuiltin } from "./builtins/table.ts";
import { otherToolsWord, words } from "./other-tools.ts";
import { typescriptRules as typescript } from "./typescript/rules.ts";

test("what other tools' words are is in the table of builtins", () => {
  const unknown = Object.values(words).filter((word) => typeof word !== "string" && findBuiltin(word[1]) === undefined);
  assert.deepEqual(unknown, []);
});

test("they are told in the language's own spelling", () => {
  assert.equal(
    otherToolsWord("quantize", bpftrace),
    "DTrace's quantize is hist here, shist where values may be negative",
  );
  assert.equal(otherToolsWord("execname", typescript), "DTrace's and SystemTap's execname is comm here");
  assert.equal(otherToolsWord("quantise", bpftrace), undefined);
  assert.equal(otherToolsWord("toString", bpftrace), undefined);
});
