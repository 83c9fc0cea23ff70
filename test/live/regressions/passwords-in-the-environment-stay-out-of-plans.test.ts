// Plans are told by what is in the environment; what it is is not written down.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());
const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };

test("another value is another plan, and none is in it", deadline, async () => {
  const run = async (more: NodeJS.ProcessEnv): Promise<boolean> => {
    const env = { ...process.env, STROBE_CACHE: folder.path, ...more };
    const { stderr, code } = await strobe(["-v", "-c", "/bin/echo --password=hunter-c", "-e", "begin { exit(); }"], {
      env,
    });
    assert.equal(code, 0, stderr);
    return stderr.includes("its plan was kept");
  };
  const settings = (text: string): NodeJS.ProcessEnv => ({
    DEBUGINFOD_URLS: `http://user:${text}-url@127.0.0.1:1/`,
    STROBE_TOKEN: `${text}-strobe`,
    BPFTRACE_TOKEN: `${text}-bpftrace`,
  });
  assert.equal(await run(settings("hunter")), false);
  assert.equal(await run(settings("hunter")), true);
  assert.equal(await run(settings("hunter2")), false);
  const plans = readdirSync(join(folder.path, "plans"));
  assert.equal(plans.length, 2);
  for (const name of plans) assert.doesNotMatch(readFileSync(join(folder.path, "plans", name), "latin1"), /hunter/);
});
