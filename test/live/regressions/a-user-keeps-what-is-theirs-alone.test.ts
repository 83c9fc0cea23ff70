// strobe of a user who is not root: below their own cache folder, and nowhere when the environment has another user's.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { stranger, strangerId } from "../../support/hostile-user.ts";
import { command } from "../../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root, to become another user" };
const other = stranger();
after(() => other.remove());

/** What `strobe --info` of that user says of the store. */
function store(env: NodeJS.ProcessEnv): string | undefined {
  const { stdout, stderr } = spawnSync(process.execPath, [command, "--info"], {
    env: { PATH: process.env["PATH"], ...env },
    uid: strangerId,
    gid: strangerId,
    encoding: "utf8",
    timeout: 300_000,
    cwd: "/",
  });
  assert.equal(stderr, "");
  return /^kept between runs +(.*)$/m.exec(stdout)?.[1];
}

test("below their home, which is not made", deadline, () => {
  const { home } = other;
  assert.equal(store({ HOME: home }), `yes  in ${home}/.cache/strobe`);
  assert.deepEqual(
    [statSync(join(home, ".cache")).uid, statSync(join(home, ".cache")).mode & 0o777],
    [strangerId, 0o700],
  );
  assert.equal(store({ HOME: home, XDG_CACHE_HOME: join(home, "x/y") }), `yes  in ${home}/x/y/strobe`);
  assert.equal(store({ HOME: home, STROBE_CACHE: join(home, "s") }), `yes  in ${home}/s`);
  assert.equal(store({ HOME: home, XDG_CACHE_HOME: "relative" }), `yes  in ${home}/.cache/strobe`);
  assert.equal(store({ HOME: join(home, "gone") }), `no   there is no ${home}/gone (for ${home}/gone/.cache/strobe)`);
  assert.equal(existsSync(join(home, "gone")), false);
  chmodSync(join(home, ".cache"), 0o777);
  assert.equal(store({ HOME: home }), `no   others can write to ${home}/.cache (for ${home}/.cache/strobe)`);
});

test("not in another user's", deadline, () => {
  const { victim } = other;
  mkdirSync(join(victim, "../theirs"));
  assert.match(store({ HOME: join(victim, "..") }) ?? "", /^no   EACCES: /);
  assert.match(store({ HOME: "/root" }) ?? "", /^no   EACCES: /);
  assert.equal(store({ STROBE_CACHE: victim }), `no   ${victim} belongs to another user (uid 0) (for ${victim})`);
  other.checkVictim();
  assert.deepEqual(readdirSync(join(victim, "../theirs")), []);
});
