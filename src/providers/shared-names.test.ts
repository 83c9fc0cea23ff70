import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Kallsyms } from "../linux/kallsyms.ts";
import { sharedNames } from "./shared-names.ts";

const symbols = (...lines: readonly string[]): Kallsyms => Kallsyms.parse(Buffer.from([...lines, ""].join("\n")));
const never = (): Kallsyms => assert.fail("the names were known");

test("names that functions share are read once", () => {
  const folder = mkdtempSync(join(tmpdir(), "strobe-shared-"));
  const file = join(folder, "cache", "of-running-kernel");
  try {
    const kernel = symbols("ffffffff81000000 t show", "ffffffff81000010 t show", "ffffffff81000020 t other");
    assert.deepEqual([...sharedNames(() => kernel, join(folder, "cache"))], ["show"]);
    assert.deepEqual([...sharedNames(never, join(folder, "cache"))], ["show"]);
    // Of another boot, or cut short.
    const whole = readFileSync(file, "latin1");
    for (const spoilt of [whole.replace(/^./, (first) => (first === "'" ? "-" : "'")), whole.slice(0, -1), ""]) {
      writeFileSync(file, spoilt);
      assert.deepEqual([...sharedNames(() => kernel, join(folder, "cache"))], ["show"]);
      assert.equal(readFileSync(file, "latin1"), whole);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("hidden symbols are not taken for an answer, and a place that cannot be written is no trouble", () => {
  const folder = mkdtempSync(join(tmpdir(), "strobe-shared-"));
  try {
    assert.equal(sharedNames(() => symbols("0000000000000000 t show", "0000000000000000 t show"), folder).size, 0);
    assert.throws(() => sharedNames(never, folder), /the names were known/);
    writeFileSync(join(folder, "file"), "");
    assert.deepEqual([...sharedNames(() => symbols("ffffffff81000000 t show", "ffffffff81000010 t show"), join(folder, "file"))], ["show"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
