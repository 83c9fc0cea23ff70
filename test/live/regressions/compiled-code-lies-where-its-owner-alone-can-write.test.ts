// strobe as a package in another user's project, run by root: compiled code is kept in root's own store, and what they
// put beside the command is not opened by V8.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { stranger, strangerId, type Stranger } from "../../support/hostile-user.ts";
import { temporaryFolder } from "../../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };

interface Project extends Stranger {
  readonly dist: string;
  readonly store: string;
  /** Files with compiled code beside the command. */
  readonly beside: () => string[];
  readonly inStore: () => string[];
  /** strobe by root. */
  readonly start: () => void;
}

function project(t: TestContext): Project {
  const other = stranger();
  const own = temporaryFolder();
  t.after(() => {
    other.remove();
    own.remove();
  });
  const dist = join(other.home, "dist");
  cpSync("dist", dist, { recursive: true, filter: (path) => !/\.(?:map|cache)$/.test(path) });
  symlinkSync(resolve("node_modules"), join(other.home, "node_modules"));
  for (const path of ["", ...readdirSync(dist)]) lchownSync(join(dist, path), strangerId, strangerId);
  const store = join(own.path, "store");
  const list = (path: string): string[] => readdirSync(path).sort();
  return {
    ...other,
    dist,
    store,
    beside: () => list(dist).filter((name) => /\.cache|\.new$/.test(name)),
    inStore: () => list(join(store, "code")),
    start: () => {
      const env = { ...process.env, STROBE_CACHE: store, NODE_OPTIONS: "" };
      const { stdout, stderr, status } = spawnSync(
        process.execPath,
        [join(dist, "strobe.js"), "-q", "-e", "begin { print(6 * 7); exit(); }"],
        { env, encoding: "utf8", timeout: 300_000 },
      );
      assert.deepEqual([stdout, stderr, status], ["42\n\n\n", "", 0]);
    },
  };
}

test("code goes to the store, and is found there", deadline, (t) => {
  const { dist, store, beside, inStore, start } = project(t);
  start();
  assert.deepEqual(beside(), []);
  const kept = inStore();
  assert.ok(kept.length >= 2, kept.join());
  const times = (): number[] => kept.map((name) => statSync(join(store, "code", name)).ino);
  const before = times();
  start();
  assert.deepEqual([inStore(), times()], [kept, before]);
  // A command that is another one now has code of its own.
  for (const name of readdirSync(dist).filter((file) => /^command-.*\.js$/.test(file)))
    writeFileSync(join(dist, name), readFileSync(join(dist, name)));
  start();
  assert.equal(inStore().length, kept.length + 1);
});

test("what they put beside the command is not taken: files, links, FIFOs", deadline, (t) => {
  const { dist, store, inStore, start, victim, checkVictim } = project(t);
  start();
  const plant: Readonly<Record<string, (path: string) => void>> = {
    // Code that V8 would take, and crash at.
    theirs: (path) => {
      writeFileSync(
        path,
        Buffer.concat([
          readFileSync(join(store, "code", inStore()[0])).subarray(0, 100_000),
          Buffer.alloc(100_000, 0x55),
        ]),
      );
      lchownSync(path, strangerId, strangerId);
    },
    "a link": (path) => symlinkSync(join(victim, "0000000000000000"), path),
    "a FIFO": (path) => assert.equal(spawnSync("mkfifo", ["-m", "644", path]).status, 0),
    "a folder": (path) => mkdirSync(path),
    "for all to write": (path) => {
      writeFileSync(path, "root's");
      chmodSync(path, 0o666);
    },
  };
  const names = readdirSync(dist)
    .filter((file) => /^(?:command|compiler)-.*\.js$/.test(file))
    .map((file) => join(dist, `${file}.${process.version}-${process.arch}.cache`));
  for (const [what, put] of Object.entries(plant)) {
    for (const name of names) put(name);
    const about = (): string[] => names.map((name) => `${statSync(name, { throwIfNoEntry: false })?.ino} ${what}`);
    const before = about();
    start();
    assert.deepEqual(about(), before);
    for (const name of names) rmSync(name, { recursive: true });
  }
  checkVictim();
});

test("in a folder of root's own it lies beside the command, whole", deadline, (t) => {
  const { dist, beside, start, home } = project(t);
  for (const path of ["..", "", ...readdirSync(dist)]) lchownSync(join(dist, path), 0, 0);
  start();
  assert.ok(
    beside().length >= 2 &&
      beside().every((name) => /^(?:command|compiler|rest)-\w+\.js\.v[\d.]+-\w+\.cache$/.test(name)),
    beside().join(),
  );
  // The folder is root's, but not the way to it.
  for (const name of beside()) rmSync(join(dist, name));
  lchownSync(home, strangerId, strangerId);
  start();
  assert.deepEqual(beside(), []);
});
