import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ownFolder } from "./cache-folder.ts";
import { KeptFiles, nameFor } from "./kept-files.ts";

const root = mkdtempSync(join(tmpdir(), "strobe-kept-"));
process.env["XDG_CACHE_HOME"] = root;
after(() => rmSync(root, { recursive: true }));

test("a file is read as it was written, and the new one takes the old one's place", () => {
  const folder = join(root, "some/where");
  const kept = new KeptFiles(folder, { files: 2 });
  assert.equal(kept.read("a"), undefined);
  kept.write("a", "one");
  kept.write("a", Buffer.from("two"));
  assert.equal(kept.read("a")?.toString(), "two");
  assert.equal(kept.open("a", (_, size) => size), 3);
  assert.deepEqual([statSync(folder).mode & 0o777, statSync(join(folder, "a")).mode & 0o777], [0o700, 0o600]);
  kept.remove("a");
  kept.remove("a");
  assert.equal(kept.read("a"), undefined);
});

test("what was not used for longest goes first", () => {
  const folder = join(root, "few");
  const kept = new KeptFiles(folder, { files: 3, bytes: 10 });
  const write = (name: string, time: number, contents = "1"): void => {
    kept.write(name, contents);
    utimesSync(join(folder, name), time, time);
  };
  for (const [i, name] of ["a", "b", "c"].entries()) write(name, 1000 + i);
  kept.read("a");
  write("d", 2000);
  assert.deepEqual(readdirSync(folder).sort(), ["a", "c", "d"]);
  kept.write("e", "123456789");
  assert.deepEqual(readdirSync(folder).sort(), ["a", "e"], "c and d are more than there is room for");
});

test("what others may write is not believed, and is written anew", () => {
  const folder = join(root, "open");
  const kept = new KeptFiles(folder, { files: 2 });
  kept.write("a", "mine");
  chmodSync(join(folder, "a"), 0o620);
  assert.equal(kept.read("a"), undefined);
  kept.write("a", "mine");
  assert.equal(kept.read("a")?.toString(), "mine");
});

test("a folder that is none, and a file that is a folder, are no errors", () => {
  writeFileSync(join(root, "file"), "");
  const none = new KeptFiles(join(root, "file/folder"), { files: 2 });
  none.write("a", "text");
  none.remove("a");
  assert.equal(none.read("a"), undefined);
  assert.equal(new KeptFiles(root, { files: 9 }).read("some"), undefined);
});

test("names of texts are file names, and seldom another text's", () => {
  const names = new Set(Array.from({ length: 10_000 }, (_, i) => nameFor(`text ${i}`)));
  assert.equal(names.size, 10_000);
  for (const name of names) assert.match(name, /^[0-9a-f]{16}$/);
});

test("a folder that others may write to is not our own", () => {
  const folder = join(root, "strobe/shared");
  assert.equal(ownFolder("shared"), folder);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  chmodSync(folder, 0o770);
  assert.equal(ownFolder("shared"), undefined);
  symlinkSync(root, join(root, "strobe/linked"));
  assert.equal(ownFolder("linked"), undefined);
  writeFileSync(join(root, "strobe/file"), "");
  assert.equal(ownFolder("file"), undefined);
});
