// The index of the kernel's types that a run leaves for the next.
import assert from "node:assert/strict";
import { chmodSync, readFileSync, readdirSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { strobe, temporaryFolder } from "../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };

test("the index of the kernel's types is kept, used, and made again when it is damaged", deadline, async () => {
  const home = temporaryFolder();
  try {
    const folder = join(home.path, "types");
    let runs = 0;
    const sizes = async (): Promise<string> => {
      // Another script every time: one that ran before needs no types.
      const script = `begin { printf("%d %d\\n", sizeof(struct task_struct), offsetof(struct tcp_sock, bytes_sent)); exit(); } // ${runs++}`;
      const { stdout, stderr, code } = await strobe(["-q", "-e", script], {
        env: { ...process.env, STROBE_CACHE: home.path },
      });
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^\d+ \d+\n/);
      return stdout;
    };
    const first = await sizes();
    const [name, ...others] = readdirSync(folder);
    assert.deepEqual(others, []);
    const file = join(folder, name);
    const { ino, mode } = statSync(file);
    assert.equal(mode & 0o777, 0o600);
    const kept = readFileSync(file);

    assert.equal(await sizes(), first);
    assert.equal(statSync(file).ino, ino, "what is whole is not written again");

    truncateSync(file, kept.length - 4);
    assert.equal(await sizes(), first);
    assert.deepEqual(readFileSync(file), kept);

    chmodSync(file, 0o666);
    assert.equal(await sizes(), first);
    assert.equal(statSync(file).mode & 0o777, 0o600, "what others may write is not trusted");
  } finally {
    home.remove();
  }
});
