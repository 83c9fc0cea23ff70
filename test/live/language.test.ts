import assert from "node:assert/strict";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../support/strobe.ts";
import { languageCases } from "./language-cases.ts";

const home = temporaryFolder();
after(() => home.remove());
const env = { ...process.env, STROBE_CACHE: home.path };

for (const { name, script, output, stderr = "", args = [] } of languageCases) {
  test(name, async () => {
    // Compiled, and by the plan that was kept of it.
    for (const run of ["first", "second"]) {
      const outcome = await strobe(["-q", "-e", script, ...args], { env });
      assert.equal(outcome.stderr, stderr, run);
      assert.equal(outcome.stdout, output, run);
      assert.equal(outcome.code, 0, run);
    }
  });
}
