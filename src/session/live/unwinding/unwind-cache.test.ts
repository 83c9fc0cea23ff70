import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { UnwindTable } from "../../../debuginfo/unwind-table.ts";
import { UnwindCache } from "./unwind-cache.ts";

function table(rows: number, base = 0x1000n): UnwindTable {
  return {
    base,
    starts: Uint32Array.from({ length: rows }, (_, i) => i * 4),
    rules: Uint32Array.from({ length: rows }, (_, i) => i * 7),
  };
}

function inFolder(run: (path: string) => void): void {
  const path = mkdtempSync(join(tmpdir(), "unwind-cache-"));
  process.env["STROBE_CACHE"] = path;
  try {
    run(join(path, "unwind"));
  } finally {
    rmSync(path, { recursive: true });
  }
}

test("a table is read as it was written", () =>
  inFolder((path) => {
    const cache = new UnwindCache();
    assert.equal(cache.read("aa"), undefined);
    for (const base of [0n, 0x1000n, -0x8000_0000n]) {
      cache.write("aa", table(5000, base));
      assert.deepEqual(cache.read("aa"), table(5000, base));
    }
    cache.write("bb", table(10));
    assert.deepEqual(readdirSync(path), ["aa"], "small ones are not worth a file");
  }));

test("a damaged table is none", () =>
  inFolder((path) => {
    const cache = new UnwindCache();
    cache.write("aa", table(2000));
    const whole = readFileSync(join(path, "aa"));
    for (let at = 0; at < whole.length; at += 97) {
      const damaged = Buffer.from(whole);
      damaged[at] ^= 0x10;
      writeFileSync(join(path, "aa"), damaged, { mode: 0o600 });
      const read = cache.read("aa");
      // What is in no one's way is the header's filling.
      if (read) assert.deepEqual(read, table(2000));
      writeFileSync(join(path, "aa"), whole.subarray(0, at), { mode: 0o600 });
      assert.equal(cache.read("aa"), undefined);
    }
  }));

test("a folder that cannot be written is no error", () =>
  inFolder((path) => {
    writeFileSync(path, "");
    const cache = new UnwindCache();
    cache.write("aa", table(2000));
    assert.equal(cache.read("aa"), undefined);
  }));

test("those that were not used for longest go first", () =>
  inFolder((path) => {
    const cache = new UnwindCache(40_000);
    for (const [i, id] of ["aa", "bb"].entries()) {
      cache.write(id, table(2000));
      utimesSync(join(path, id), 1000 + i, 1000 + i);
    }
    assert.notEqual(cache.read("aa"), undefined);
    cache.write("cc", table(2000));
    assert.deepEqual(readdirSync(path).sort(), ["aa", "cc"]);
  }));
