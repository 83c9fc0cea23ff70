// What is kept of files between runs: taken when nothing has changed.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { kept, type LoadedModule } from "./kept-modules.ts";

const cache = mkdtempSync(join(tmpdir(), "strobe-kept-"));
process.env["STROBE_CACHE"] = cache;
after(() => rmSync(cache, { recursive: true }));

/** What is made of a text, and how often it was made. */
function counting(source: string): { make: () => LoadedModule; times: number } {
  const counted = { times: 0, make: (): LoadedModule => (counted.times++, { format: "module", source }) };
  return counted;
}

test("a file that has not changed is not made again", () => {
  const first = counting("made\nof it\n");
  for (let i = 0; i < 3; i++)
    assert.deepEqual(kept("/a.ts", "text", undefined, first.make), { format: "module", source: "made\nof it\n" });
  assert.equal(first.times, 1);
  const changed = counting("other");
  assert.equal(kept("/a.ts", "text 2", undefined, changed.make)?.source, "other");
  assert.equal(kept("/a.ts", "text 2", undefined, changed.make)?.source, "other");
  assert.equal(kept("/a.ts", "text 2", "module", changed.make)?.source, "other");
  assert.equal(changed.times, 2);
  assert.equal(readdirSync(join(cache, "modules")).length, 1, "one of a file");
  assert.equal(
    kept("/b.ts", "text", undefined, () => undefined),
    undefined,
  );
});

test("what is damaged is made again", () => {
  const folder = join(cache, "modules");
  const [name] = readdirSync(folder);
  const path = join(folder, name);
  const made = counting("third");
  truncateSync(path, 10);
  assert.equal(kept("/a.ts", "text 3", undefined, made.make)?.source, "third");
  const whole = readFileSync(path, "utf8");
  writeFileSync(path, whole.replace("\nmodule\n", "\nwasm\n"));
  assert.equal(kept("/a.ts", "text 3", undefined, made.make)?.source, "third");
  assert.equal(made.times, 2);
  assert.equal(readFileSync(path, "utf8"), whole);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});
