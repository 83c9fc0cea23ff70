// A program or debug file that is cut short or has hostile numbers in it is an error about that file, and none of
// strobe's own.
import { Failure } from "../../../src/base/failure.ts";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bytesOf, Elf } from "../../../src/debuginfo/elf.ts";
import { kernelImage } from "../../../src/machine/kernel/kernel-image.ts";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";
import { reason } from "../../../src/messages/message.ts";

const skip =
  process.geteuid?.() !== 0 ? "needs root" : spawnSync("gcc", ["--version"]).status !== 0 ? "needs gcc" : false;
const folder = temporaryFolder();
after(() => folder.remove());

test("probes, listings and the kernel's image", { skip }, async () => {
  const whole = readFileSync(
    compileC(
      folder.path,
      "whole",
      `
    struct point { int x, y; } counter;
    __attribute__((noinline)) int work(int n, struct point *p) { return p->x + n; }
    int main(int argc, char **argv) { return work(argc, &counter); }`,
      ["-g", "-O1"],
    ),
  );
  const elf = new Elf(bytesOf(whole));
  const table = Number(whole.readBigUInt64LE(40));
  const headerOf = (name: string): number => table + 64 * (elf.section(name)?.index ?? 0);
  const contentOf = (name: string): number => elf.section(name)?.offset ?? 0;
  const file = (name: string, change: (bytes: Buffer) => Buffer | number): string => {
    const bytes = Buffer.from(whole);
    const changed = change(bytes);
    const path = join(folder.path, name);
    writeFileSync(path, typeof changed === "number" ? bytes : changed, { mode: 0o755 });
    return path;
  };
  const elfDamage = [
    [file("cut", (bytes) => bytes.subarray(0, 2000)), "ELF file: the section table lies behind the end of the file"],
    [
      file("sections", (bytes) => bytes.writeBigUInt64LE(1n << 40n, 40)),
      "ELF file: the section table lies behind the end of the file",
    ],
    [
      file("segments", (bytes) => bytes.writeBigUInt64LE(BigInt(bytes.length - 8), 32)),
      "ELF file: the table of program headers reaches beyond the end of the file",
    ],
    [
      file("symbols", (bytes) => bytes.writeBigUInt64LE(3n << 30n, headerOf(".symtab") + 32)),
      "ELF file: section .symtab is too large (3221225472 bytes)",
    ],
    [
      file("names", (bytes) => bytes.writeBigUInt64LE((1n << 64n) - 1n, headerOf(".strtab") + 24)),
      "ELF file: section .strtab lies behind the end of the file",
    ],
  ] as const;
  for (const [path, wrong] of elfDamage) {
    const attach = await strobe(["-e", `uprobe:${path}:main { exit(); }`]);
    assert.deepEqual([attach.code, attach.stderr.split("\n")[0]], [1, `-e:1:1: error: ${path}: damaged ${wrong}`]);
    const list = await strobe(["-l", `uprobe:${path}:*`]);
    assert.deepEqual(
      [list.code, list.stdout, list.stderr],
      [
        1,
        "",
        `strobe: ${path}: damaged ${wrong}\nThe file is damaged or cut short: build it again, or copy it anew.\n`,
      ],
    );
  }
  for (const [path, wrong] of [
    [
      file("version", (bytes) => bytes.writeUInt16LE(9, contentOf(".debug_info") + 4)),
      "debug information: version 9 of DWARF is not understood",
    ],
    [
      file("length", (bytes) => bytes.writeUInt32LE(0x7fffffff, contentOf(".debug_info"))),
      "debug information: a unit ends behind .debug_info",
    ],
    [
      file("shapes", (bytes) => bytes.writeUInt32LE(0x7fffffff, contentOf(".debug_info") + 8)),
      "debug information: .debug_abbrev is too short",
    ],
  ] as const) {
    const { stderr, code } = await strobe(["-e", `uprobe:${path}:work { print(args.n); exit(); }`]);
    assert.deepEqual([code, stderr.split("\n")[0]], [1, `-e:1:1: error: ${path}: damaged ${wrong}`]);
  }
  const [image, wrong] = elfDamage[2];
  assert.deepEqual(
    kernelImage(() => 0n, { paths: { vmlinux: image } }),
    new Failure(reason(`${image}: damaged ${wrong}`)),
  );
});
