// Modules as distributions pack them.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { ElfError } from "../../debuginfo/elf.ts";
import { packedElfAt } from "./packed-elf.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-packed-"));
after(() => rmSync(folder, { recursive: true }));
const plain = join(folder, "demo.ko");
copyFileSync(process.execPath, plain);
const original = readFileSync(plain).subarray(0, 1 << 16);
// Headers are enough to be an ELF file; its sections are behind them.
original.fill(0, 0x28, 0x30);
original.fill(0, 0x3a, 0x40);
writeFileSync(plain, original);
const segmentsOf = (path: string): number | undefined => packedElfAt(path)?.segments.length;
const expected = segmentsOf(plain);

test("a file as it is, and by gzip", () => {
  assert.ok(expected !== undefined && expected > 0);
  writeFileSync(`${plain}.gz`, gzipSync(original));
  assert.equal(segmentsOf(`${plain}.gz`), expected);
  assert.equal(packedElfAt(join(folder, "none.ko.gz")), undefined);
});

for (const [tool, ending] of [
  ["xz", "xz"],
  ["zstd", "zst"],
] as const) {
  const skip = spawnSync(tool, ["--version"]).status === 0 ? false : `needs ${tool}`;
  test(`a file by ${tool}`, { skip }, () => {
    execFileSync(tool, ["-k", "-f", "-q", plain]);
    assert.equal(segmentsOf(`${plain}.${ending}`), expected);
  });
}

test("what is damaged or something else is said", () => {
  for (const ending of ["gz", "xz", "zst"]) {
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from("no archive at all, only text that is long enough"),
      Buffer.from("28b52ffdffffffffffffffffffffffffffffffffffffff", "hex"),
    ]) {
      const path = join(folder, `bad.ko.${ending}`);
      writeFileSync(path, bytes);
      assert.throws(
        () => packedElfAt(path),
        (error) => error instanceof ElfError && error.message.includes(`it cannot be unpacked as ${ending}: `),
      );
    }
  }
});
