import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Kallsyms } from "../../linux/kernel/kallsyms.ts";
import { KeptFiles } from "../../store/kept-files.ts";
import { sharedNames } from "./shared-names.ts";

const symbols = (...lines: readonly string[]): Kallsyms => Kallsyms.parse(Buffer.from([...lines, ""].join("\n")));
const never = (): Kallsyms => assert.fail("the names were known");

const home = mkdtempSync(join(tmpdir(), "strobe-shared-"));
const file = join(home, "shared-names", "of-running-kernel");
process.env["STROBE_CACHE"] = home;
after(() => rmSync(home, { recursive: true }));

test("names that functions share are read once", () => {
  const kernel = symbols("ffffffff81000000 t show", "ffffffff81000010 t show", "ffffffff81000020 t other");
  assert.deepEqual([...sharedNames(() => kernel)], ["show"]);
  assert.deepEqual([...sharedNames(never)], ["show"]);
  // Of another boot, or damaged.
  const whole = readFileSync(file);
  const another = whole.toString("latin1", 16).replace(/[0-9a-f]/, (first) => (first === "0" ? "1" : "0"));
  new KeptFiles({ folder: "shared-names", names: /^of/, files: 1 }).write("of-running-kernel", another);
  const ofAnotherBoot = readFileSync(file);
  for (const spoilt of [ofAnotherBoot, whole.subarray(0, -1), Buffer.alloc(0)]) {
    writeFileSync(file, spoilt);
    assert.deepEqual([...sharedNames(() => kernel)], ["show"]);
    assert.deepEqual(readFileSync(file), whole);
  }
});

test("hidden symbols are not taken for an answer, and a place that cannot be written is no trouble", () => {
  rmSync(file);
  assert.equal(sharedNames(() => symbols("0000000000000000 t show", "0000000000000000 t show")).size, 0);
  assert.throws(() => sharedNames(never), /the names were known/);
  rmSync(home, { recursive: true });
  writeFileSync(home, "");
  assert.deepEqual([...sharedNames(() => symbols("ffffffff81000000 t show", "ffffffff81000010 t show"))], ["show"]);
});
