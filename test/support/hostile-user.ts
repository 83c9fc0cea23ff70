// A second user on this machine, who wants strobe, run by root, to read, write or delete what they choose.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, lchownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./strobe.ts";

/** nobody's */
export const strangerId = 65534;

export interface Stranger {
  /** Theirs, and what is in it. */
  readonly home: string;
  /** Root's own folder, which holds what must not change. */
  readonly victim: string;
  /** Runs a shell's line as them, in their home. */
  run(line: string): void;
  /** Fails when anything in the victim's folder is not as it was. */
  readonly checkVictim: () => void;
  readonly remove: () => void;
}

export function stranger(): Stranger {
  const folder = temporaryFolder();
  const home = join(folder.path, "home");
  const victim = join(folder.path, "victim");
  chmodSync(folder.path, 0o755);
  for (const path of [home, victim]) mkdirSync(path, { mode: 0o755 });
  lchownSync(home, strangerId, strangerId);
  // Names as strobe's own have: of plans, of build ids.
  for (let i = 0; i < 100; i++) writeFileSync(join(victim, `${i}`.padStart(16, "0")), `precious ${i}`);
  const contents = (): string[] =>
    readdirSync(victim)
      .sort()
      .map((name) => `${name}: ${readFileSync(join(victim, name), "latin1")}`);
  const before = contents();
  return {
    home,
    victim,
    run(line) {
      const { status, stderr } = spawnSync("sh", ["-c", line], {
        cwd: home,
        uid: strangerId,
        gid: strangerId,
        encoding: "utf8",
        timeout: 300_000,
      });
      assert.equal(status, 0, stderr);
    },
    checkVictim: () => assert.deepEqual(contents(), before),
    remove: () => folder.remove(),
  };
}
