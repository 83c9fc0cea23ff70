import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { KeptFiles } from "../../store/kept-files.ts";
import { functionNames } from "./function-names.ts";

const never = (): never => assert.fail("the names were known");

const home = mkdtempSync(join(tmpdir(), "strobe-names-"));
const file = join(home, "function-names", "shared");
process.env["STROBE_CACHE"] = home;
after(() => rmSync(home, { recursive: true }));

test("names are found once, each kind its own", () => {
  // No symbol has such a letter, but a byte of it must come back as it went.
  const found = ["show", "store", "\xe9"];
  assert.deepEqual(
    functionNames("shared", () => found),
    found,
  );
  assert.deepEqual(functionNames("shared", never), found);
  assert.deepEqual(
    functionNames("typed", () => []),
    [],
  );
  assert.deepEqual(functionNames("typed", never), []);
  // Of another boot, or damaged.
  const whole = readFileSync(file);
  const another = whole.toString("latin1", 16).replace(/[0-9a-f]/, (first) => (first === "0" ? "1" : "0"));
  new KeptFiles({ folder: "function-names", names: /^shared$/, files: 4 }).write("shared", another);
  const ofAnotherBoot = readFileSync(file);
  for (const spoilt of [ofAnotherBoot, whole.subarray(0, -1), Buffer.alloc(0)]) {
    writeFileSync(file, spoilt);
    assert.deepEqual(
      functionNames("shared", () => found),
      found,
    );
    assert.deepEqual(readFileSync(file), whole);
  }
});

test("what is hidden is not taken for an answer, and a place that cannot be written is no trouble", () => {
  rmSync(file);
  const hidden = (): boolean => false;
  assert.deepEqual(
    functionNames("shared", () => [], hidden),
    [],
  );
  assert.throws(() => functionNames("shared", never, hidden), /the names were known/);
  rmSync(home, { recursive: true });
  writeFileSync(home, "");
  assert.deepEqual(
    functionNames("shared", () => ["show"]),
    ["show"],
  );
});
