import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { KeptFiles, type Kind } from "./kept-files.ts";
import { storePath } from "./place.ts";
import { large } from "./whole.ts";

const root = mkdtempSync(join(tmpdir(), "strobe-kept-"));
process.env["STROBE_CACHE"] = join(root, "some/where");
after(() => rmSync(root, { recursive: true }));

const kind = (folder: string, more: Partial<Kind> = {}): Kind => ({ folder, names: /^[a-z]$/, files: 9, ...more });
const placeOf = (folder: string, ...names: string[]): string => join(root, "some/where", folder, ...names);

test("a file is read as it was written, and the new one takes the old one's place", () => {
  for (const form of [undefined, large]) {
    const folder = form === undefined ? "summed" : "large";
    const kept = new KeptFiles(kind(folder, form && { form }));
    assert.equal(kept.read("a"), undefined);
    kept.write("a", "one");
    kept.write("a", Buffer.from("two, and more"));
    assert.equal(kept.read("a")?.toString(), "two, and more");
    assert.equal(kept.path("a"), placeOf(folder, "a"));
    assert.deepEqual(
      [statSync(placeOf(folder)).mode & 0o777, statSync(placeOf(folder, "a")).mode & 0o777],
      [0o700, 0o600],
    );
    assert.deepEqual(readdirSync(placeOf(folder)), ["a"]);
    kept.write("b", "");
    assert.equal(kept.read("b")?.length, 0);
    kept.remove("a");
    kept.remove("a");
    assert.equal(kept.read("a"), undefined);
    assert.equal(kept.path("a"), undefined);
  }
});

test("what was not used for longest goes first", () => {
  const kept = new KeptFiles(kind("few", { files: 3, bytes: 59 }));
  const write = (name: string, time: number, contents = "1"): void => {
    kept.write(name, contents);
    utimesSync(placeOf("few", name), time, time);
  };
  for (const [i, name] of ["a", "b", "c"].entries()) write(name, 1000 + i);
  kept.read("a");
  write("d", 2000);
  assert.deepEqual(readdirSync(placeOf("few")).sort(), ["a", "c", "d"]);
  kept.write("e", "1234567890");
  assert.deepEqual(readdirSync(placeOf("few")).sort(), ["a", "e"], "c and d are more than there is room for");
});

test("only files of strobe's own names are removed, those of a strobe that was killed included", () => {
  const kept = new KeptFiles(kind("mixed", { files: 1 }));
  kept.write("a", "first");
  const folder = placeOf("mixed");
  const others = ["notes.txt", "ab", "a.tar", "a.12345678.old", ".a"];
  for (const name of others) writeFileSync(join(folder, name), "theirs");
  mkdirSync(join(folder, "d"));
  symlinkSync("notes.txt", join(folder, "l"));
  writeFileSync(join(folder, "a.12345678.new"), "half");
  for (const name of readdirSync(folder)) lutimesSync(join(folder, name), 1000, 1000);
  kept.write("b", "second");
  assert.deepEqual(readdirSync(folder).sort(), [...others, "b", "d", "l"].sort());
});

test("other names are neither read nor written", () => {
  const kept = new KeptFiles(kind("names"));
  for (const name of ["../names/a", "..", "", "ab", "a\n"]) {
    kept.write(name, "text");
    assert.equal(kept.read(name), undefined);
    assert.equal(kept.path(name), undefined);
  }
  assert.deepEqual(readdirSync(placeOf(".")).includes("names"), false);
});

test("what others may write is not believed, and is written anew", () => {
  const kept = new KeptFiles(kind("open"));
  kept.write("a", "mine");
  chmodSync(placeOf("open", "a"), 0o620);
  assert.equal(kept.read("a"), undefined);
  kept.write("a", "mine");
  assert.equal(kept.read("a")?.toString(), "mine");
  chmodSync(placeOf("open"), 0o770);
  assert.equal(kept.read("a"), undefined);
  assert.equal(storePath("open"), undefined);
});

test("what is no file is not opened, and a link not followed", () => {
  const kept = new KeptFiles(kind("odd"));
  kept.write("a", "mine");
  symlinkSync("a", placeOf("odd", "l"));
  mkdirSync(placeOf("odd", "d"));
  assert.equal(spawnSync("mkfifo", ["-m", "600", placeOf("odd", "f")]).status, 0);
  for (const name of ["l", "d", "f"]) assert.equal(kept.read(name), undefined, name);
  for (const name of ["l", "f"]) {
    kept.write(name, "file");
    assert.equal(kept.read(name)?.toString(), "file");
  }
  assert.equal(kept.read("a")?.toString(), "mine");
});

test("a damaged file is removed", () => {
  for (const form of [undefined, large]) {
    const folder = form === undefined ? "damaged-summed" : "damaged-large";
    const kept = new KeptFiles(kind(folder, form && { form }));
    const contents = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i * i));
    for (const length of [0, 1, 5, 64, contents.length]) {
      kept.write("a", contents.subarray(0, length));
      const file = placeOf(folder, "a");
      const whole = readFileSync(file);
      const spoilt = [
        whole.subarray(0, -1),
        Buffer.concat([whole, Buffer.of(0)]),
        Buffer.alloc(whole.length),
        Buffer.alloc(0),
      ];
      for (let at = 0; at < whole.length; at += 1 + (at >> 2)) {
        const damaged = Buffer.from(whole);
        damaged[at] ^= 1 << (at & 7);
        spoilt.push(damaged);
        if (at > 20)
          spoilt.push(whole.subarray(0, at), Buffer.from(whole).fill(0xff, at, Math.min(at + 20, whole.length)));
      }
      for (const bytes of spoilt) {
        writeFileSync(file, bytes, { mode: 0o600 });
        assert.equal(kept.read("a"), undefined);
        assert.deepEqual(readdirSync(placeOf(folder)), []);
      }
      kept.write("a", contents.subarray(0, length));
      assert.deepEqual(kept.read("a"), contents.subarray(0, length));
    }
  }
});

test("a file that is not filled, or not to the end, leaves nothing", () => {
  const kept = new KeptFiles(kind("unfilled"));
  kept.write("a", "old");
  kept.make("a", () => false);
  assert.throws(
    () =>
      kept.make("a", () => {
        throw new RangeError("a mistake");
      }),
    RangeError,
  );
  assert.deepEqual(readdirSync(placeOf("unfilled")), ["a"]);
  assert.equal(kept.read("a")?.toString(), "old");
});

test("a store that was removed meanwhile is made again", () => {
  const kept = new KeptFiles(kind("again"));
  kept.write("a", "one");
  rmSync(join(root, "some"), { recursive: true });
  assert.equal(kept.read("a"), undefined);
  kept.write("a", "two");
  assert.equal(kept.read("a")?.toString(), "two");
});
