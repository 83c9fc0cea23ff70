import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Folder } from "./folder.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "strobe-folder-")));
after(() => rmSync(root, { recursive: true }));
const asRoot = { skip: process.geteuid?.() !== 0 && "needs root" };

/** Where it leads to; or why not there. */
function opened(path: string, make = 0): string {
  try {
    const folder = Folder.open(path, make);
    const found = folder.path;
    folder[Symbol.dispose]();
    return found;
  } catch (error) {
    return (error as Error).message.replace(/^(\w+): .*/, "$1");
  }
}

const at = (...names: string[]): string => join(root, ...names);

test("what may be made is made, for its owner alone", () => {
  for (const make of [0, 1]) assert.equal(opened(at("a/b"), make), `there is no ${at("a")}`);
  assert.equal(opened(at("a/b/"), 2), at("a/b"));
  assert.equal(opened(`${root}//a/./b/../b`), at("a/b"));
  assert.deepEqual([statSync(at("a")).mode & 0o777, statSync(at("a/b")).mode & 0o777], [0o700, 0o700]);
  assert.equal(opened("a/b"), "a/b is not an absolute path");
  writeFileSync(at("file"), "");
  assert.equal(opened(at("file")), `${at("file")} is not a folder`);
  assert.equal(opened(at("file/b")), "ENOTDIR");
  assert.equal(opened(at("file/b"), 9), "ENOTDIR");
  assert.equal(opened("/proc/strobe", 9), "ENOENT");
});

test("others must not be able to write to it, nor on the way", () => {
  mkdirSync(at("open/inner/own"), { recursive: true });
  chmodSync(at("open/inner"), 0o770);
  assert.equal(opened(at("open/inner")), `others can write to ${at("open/inner")}`);
  assert.equal(opened(at("open/inner/own")), `others can write to ${at("open/inner")}`);
  // As /tmp is.
  chmodSync(at("open/inner"), 0o1777);
  assert.equal(opened(at("open/inner/own")), at("open/inner/own"));
  assert.equal(opened(at("open/inner/made/too"), 2), at("open/inner/made/too"));
  assert.equal(opened(at("open/inner")), `others can write to ${at("open/inner")}`);
});

test("links of our own are followed, of what they miss nothing is made", () => {
  mkdirSync(at("target/inner"), { recursive: true });
  symlinkSync("target", at("relative"));
  symlinkSync(at("relative"), at("absolute"));
  symlinkSync("nowhere", at("dangling"));
  symlinkSync("loop", at("loop"));
  assert.equal(opened(at("absolute/inner")), at("target/inner"));
  assert.equal(opened(at("absolute/new"), 9), at("target/new"));
  assert.equal(opened(at("dangling/new"), 9), `there is no ${at("nowhere")}`);
  assert.equal(existsSync(at("nowhere")), false);
  assert.equal(opened(at("loop")), `there are too many links on the way to ${at("loop")}`);
});

test("nothing on the way is somebody else's", asRoot, () => {
  mkdirSync(at("shared"));
  chmodSync(at("shared"), 0o1777);
  mkdirSync(at("shared/theirs/own"), { recursive: true });
  mkdirSync(at("shared/own"));
  symlinkSync("own", at("shared/link"));
  for (const name of ["theirs", "link"]) lchownSync(at("shared", name), 65534, 65534);
  assert.equal(opened(at("shared/own")), at("shared/own"));
  assert.equal(opened(at("shared/theirs")), `${at("shared/theirs")} belongs to another user (uid 65534)`);
  assert.equal(opened(at("shared/theirs/own"), 1), `${at("shared/theirs")} belongs to another user (uid 65534)`);
  assert.equal(opened(at("shared/link")), `the link ${at("shared/link")} belongs to another user (uid 65534)`);
  assert.equal(opened(at("shared/link/new"), 9), `the link ${at("shared/link")} belongs to another user (uid 65534)`);
});
