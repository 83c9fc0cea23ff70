import assert from "node:assert/strict";
import { test } from "node:test";
import { strobe } from "../support/strobe.ts";
import { languageCases } from "./language-cases.ts";

for (const { name, script, output, stderr = "", args = [] } of languageCases) {
  test(name, async () => {
    const outcome = await strobe(["-q", "-e", script, ...args]);
    assert.equal(outcome.stderr, stderr);
    assert.equal(outcome.stdout, output);
    assert.equal(outcome.code, 0);
  });
}
