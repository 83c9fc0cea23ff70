// `strobe boot --append-to` of what is no initial RAM disk, or a damaged one: it is said, and the file is as it was.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** As the kernel's documentation has it: text, its length, the sum of its bytes, a magic word. */
function disk(text: string, length: number, sum: number): Buffer {
  const foot = Buffer.alloc(8);
  foot.writeUInt32LE(length, 0);
  foot.writeUInt32LE(sum, 4);
  return Buffer.concat([Buffer.alloc(1000, "x"), Buffer.from(text), foot, Buffer.from("#BOOTCONFIG\n")]);
}

for (const [name, bytes, why] of [
  ["long", disk("", 0xfff_ffff, 5), "its boot configuration is longer than it can be"],
  ["sum", disk("abc\n", 4, 5), "its boot configuration is damaged (the sum is wrong)"],
] as const)
  test(why, async () => {
    const path = join(folder.path, name);
    writeFileSync(path, bytes);
    const { stderr, code } = await strobe(["boot", "--remove-from", path]);
    assert.deepEqual([stderr.split("\n")[0], code], [`strobe: cannot change ${path}: ${why}`, 1]);
    assert.deepEqual(readFileSync(path), bytes);
    assert.ok(readdirSync(folder.path).every((file) => ["long", "sum"].includes(file)));
  });

test("a folder is no RAM disk", async () => {
  const { stderr, code } = await strobe(["boot", "--remove-from", folder.path]);
  assert.deepEqual([stderr.split("\n")[0], code], [`strobe: cannot change ${folder.path}: it is no regular file`, 1]);
});
