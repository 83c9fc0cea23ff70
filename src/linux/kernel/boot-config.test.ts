import assert from "node:assert/strict";
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bootConfigBlock, changeBootConfig } from "./boot-config.ts";

test("a block is text, zeroes, size, sum and magic, and ends at a multiple of four", () => {
  // As tools/bootconfig writes it behind an initial RAM disk of 10 bytes: the text with its zero, and what fills up.
  assert.deepEqual(
    bootConfigBlock("a=1\n", 10),
    Buffer.concat([
      Buffer.from("a=1\n\0\0"),
      Buffer.from([6, 0, 0, 0]),
      Buffer.from([0x61 + 0x3d + 0x31 + 0x0a, 0, 0, 0]),
      Buffer.from("#BOOTCONFIG\n"),
    ]),
  );
  for (let behind = 0; behind < 8; behind++) assert.equal((behind + bootConfigBlock("a=1", behind).length) % 4, 0);
  assert.throws(() => bootConfigBlock("x".repeat(32767), 0), /32767 bytes at most, this one would have 32768/);
});

test("an initial RAM disk gets, keeps and loses its configuration, and nothing else of it changes", () => {
  const folder = mkdtempSync(join(tmpdir(), "strobe-boot-"));
  const disk = join(folder, "initrd");
  const content = Buffer.from(Array.from({ length: 1001 }, (_, i) => i * 7));
  const bytes = (): Buffer => readFileSync(disk);
  try {
    writeFileSync(disk, content);
    chmodSync(disk, 0o640);
    const seen: (string | undefined)[] = [];
    const change = (to: string | undefined): void => changeBootConfig(disk, (old) => (seen.push(old), to));
    change("kernel.quiet\n");
    assert.deepEqual(bytes().subarray(0, content.length), content);
    const first = bytes();
    change("other = 'text'\n");
    // A boot loader has filled it up.
    writeFileSync(disk, Buffer.concat([bytes(), Buffer.alloc(2)]));
    change("kernel.quiet\n");
    assert.deepEqual(bytes(), first);
    change(undefined);
    assert.deepEqual(bytes(), content);
    assert.deepEqual(seen, [undefined, "kernel.quiet\n", "other = 'text'\n", "kernel.quiet\n"]);
    assert.equal(statSync(disk).mode & 0o7777, 0o640);
    // Through a link, as distributions have them: the link stays.
    const link = join(folder, "initrd.img");
    symlinkSync("initrd", link);
    changeBootConfig(link, () => "kernel.quiet\n");
    assert.ok(lstatSync(link).isSymbolicLink() && lstatSync(disk).isFile());
    assert.deepEqual(bytes(), first);
    rmSync(link);
    assert.throws(() => changeBootConfig("/dev/null", () => "kernel.quiet\n"), /it is no regular file/);
    // Damaged ones stay as they are.
    const damaged = Buffer.from(first);
    damaged[content.length]++;
    writeFileSync(disk, damaged);
    assert.throws(() => change("more\n"), /the sum is wrong/);
    const long = Buffer.from(first);
    long.writeUInt32LE(0x7fff_ffff, long.length - 20);
    writeFileSync(disk, long);
    assert.throws(() => change("more\n"), /longer than it can be/);
    assert.deepEqual(bytes(), long);
    assert.deepEqual(readdirSync(folder), ["initrd"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
