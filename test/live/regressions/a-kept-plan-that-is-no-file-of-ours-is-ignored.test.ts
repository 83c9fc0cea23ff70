// A plan that is a FIFO, a link, a folder, a device or somebody else's: the script is compiled, and nothing blocks.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());
const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };

test("what has a plan's name is looked at before it is opened", deadline, async () => {
  const env = { ...process.env, STROBE_CACHE: folder.path };
  const run = async (): Promise<boolean> => {
    const { stdout, stderr, code } = await strobe(["-v", "-e", "begin { print(6 * 7); exit(); }"], { env });
    assert.deepEqual([stdout, code], ["42\n\n\n", 0], stderr);
    return stderr.includes("its plan was kept");
  };
  assert.deepEqual([await run(), await run()], [false, true]);
  const [name] = readdirSync(join(folder.path, "plans"));
  const plan = join(folder.path, "plans", name);
  const elsewhere = join(folder.path, "elsewhere");
  writeFileSync(elsewhere, readFileSync(plan), { mode: 0o600 });
  const make = (...words: string[]): void => assert.equal(spawnSync(words[0], words.slice(1)).status, 0);
  const instead: Readonly<Record<string, () => void>> = {
    "a FIFO": () => make("mkfifo", "-m", "600", plan),
    "a link": () => symlinkSync(elsewhere, plan),
    "a link to a device": () => symlinkSync("/dev/zero", plan),
    "a device": () => make("mknod", "-m", "600", plan, "c", "1", "5"),
    "somebody else's": () => {
      linkSync(elsewhere, plan);
      lchownSync(plan, 65534, 65534);
    },
    "for others to write": () => {
      writeFileSync(plan, readFileSync(elsewhere));
      chmodSync(plan, 0o660);
    },
    "a folder": () => mkdirSync(plan),
  };
  for (const [what, put] of Object.entries(instead)) {
    rmSync(plan);
    put();
    assert.equal(await run(), false, what);
    // A folder stays.
    assert.deepEqual(
      [await run(), lstatSync(plan).isFile()],
      what === "a folder" ? [false, false] : [true, true],
      what,
    );
    if (what === "somebody else's") lchownSync(elsewhere, 0, 0);
  }
});
