import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { btfSeeds } from "../../../test/fuzz/seeds.ts";
import { takeRefusals } from "../../linux/refused-files.ts";
import { btfOfFile } from "./image-types.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-types-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("types of a file that is named, as they are", () => {
  const path = join(folder, "btf");
  const [seed] = btfSeeds();
  assert.ok(seed);
  writeFileSync(path, seed.bytes);
  assert.ok(btfOfFile(path));
  assert.deepEqual(takeRefusals(), []);
});

test("a named file without types is told", () => {
  const path = join(folder, "text");
  writeFileSync(path, "no types");
  btfOfFile(path);
  btfOfFile(join(folder, "absent"));
  assert.deepEqual(takeRefusals(), [`${path} is not read: there is no BTF in it (and 1 more like it)`]);
});
