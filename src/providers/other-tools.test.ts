import assert from "node:assert/strict";
import { test } from "node:test";
import { otherToolsKind } from "./other-tools.ts";

test("kinds of probes of other tools are named", () => {
  assert.match(otherToolsKind("fbt") ?? "", /kprobe:FUNCTION/);
  assert.match(otherToolsKind("tick-10s") ?? "", /interval:s:1/);
  assert.equal(otherToolsKind("tracepont"), undefined);
});
