// Every field of a file's headers with a value that it cannot have, and files cut anywhere: each reader answers, or
// says what is wrong with which file.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { BtfWriter } from "../../test/support/btf-writer.ts";
import { Btf, BtfError } from "./btf.ts";
import { DamageError } from "./damage.ts";
import { openDebugInfo } from "./dwarf/debug-info.ts";
import { hasDebugInfo } from "./dwarf/input-files.ts";
import { ElfSymbols } from "./elf-symbols.ts";
import { bytesOf, Elf, ElfError, type Bytes } from "./elf.ts";
import { placedElf } from "./placed-elf.ts";

const skip = spawnSync("gcc", ["--version"]).status !== 0 ? "needs gcc" : false;
const folder = mkdtempSync(join(tmpdir(), "strobe-damage-"));
after(() => rmSync(folder, { recursive: true }));

function built(...options: readonly string[]): Buffer {
  const source = join(folder, "source.c");
  const path = join(folder, "built");
  writeFileSync(source, "struct point { int x, y; } counter; int add(int n, struct point *p) { return p->x + n; }\n");
  execFileSync("gcc", ["-g", "-O1", "-nostdlib", ...options, "-o", path, source]);
  return readFileSync(path);
}

/** The bytes with each field of 4 or 8 bytes in some ranges changed, and cut at every 16th byte. */
function* damaged(whole: Buffer, ranges: readonly (readonly [from: number, to: number])[]): Iterable<Buffer> {
  const values = [0n, 0xffff_ffffn, 1n << 40n, BigInt(whole.length + 1), (1n << 64n) - 1n];
  for (const [from, to] of ranges) {
    for (let at = from; at + 4 <= to; at += 4) {
      for (const value of values) {
        const bytes = Buffer.from(whole);
        if (value >> 32n === 0n) bytes.writeUInt32LE(Number(value), at);
        else if (at % 8 === 0 && at + 8 <= to) bytes.writeBigUInt64LE(value, at);
        else continue;
        yield bytes;
      }
    }
  }
  for (let length = 0; length < whole.length; length += 16) yield whole.subarray(0, length);
}

function headersOf(bytes: Buffer): readonly (readonly [number, number])[] {
  const table = Number(bytes.readBigUInt64LE(40));
  return [
    [0, 64],
    [64, 64 + bytes.readUInt16LE(56) * 56],
    [table, table + bytes.readUInt16LE(60) * 64],
  ];
}

/** How many of the questions about damaged files were refused; each refusal names the file. */
function refusals(whole: Buffer, questions: (bytes: Bytes) => readonly (() => unknown)[]): number {
  let refused = 0;
  for (const bytes of damaged(whole, headersOf(whole))) {
    for (const question of questions(bytesOf(bytes, "/tmp/x"))) {
      try {
        question();
      } catch (error) {
        assert.ok(error instanceof DamageError, error instanceof Error ? error.stack : String(error));
        assert.match(error.message, /^\/tmp\/x: damaged (?:ELF file|debug information): [^/]+$/);
        refused++;
      }
    }
  }
  return refused;
}

test("linked files", { skip }, () => {
  const count = refusals(built("-shared", "-fPIC", "-Wl,--build-id"), (bytes) => {
    let elf: Elf | undefined;
    const open = (): Elf => (elf ??= new Elf(bytes));
    return [
      () => open().sections.map((section) => open().content(section)),
      () => open().buildId,
      () => open().interpreter,
      () => [...new ElfSymbols(open())],
      () => new ElfSymbols(open()).functionAt(0x1000n),
      () =>
        hasDebugInfo(open()) &&
        openDebugInfo({ binary: open(), debug: open() })
          .functionsNamed("add")
          .map(({ parameters }) => parameters.map(({ type }) => type)),
    ];
  });
  assert.ok(count > 1000, String(count));
});

test("relocatable files", { skip }, () => {
  const whole = built("-c");
  const addresses = new Map(new Elf(bytesOf(whole)).sections.map(({ name }, i) => [name, BigInt(0x1000 * (i + 1))]));
  const count = refusals(whole, (bytes) => {
    const placed = (): Elf => placedElf(new Elf(bytes), addresses);
    return [() => placed().sections.map((section) => placed().content(section)), () => [...new ElfSymbols(placed())]];
  });
  assert.ok(count > 500, String(count));
});

test("BTF", () => {
  const writer = new BtfWriter();
  const int = writer.int("int", 4, { signed: true });
  const point = writer.struct("point", 8, [
    ["x", int, 0],
    ["y", int, 32],
  ]);
  writer.pointer(point);
  writer.array(int, 4);
  writer.typedef("point_t", point);
  const whole = Buffer.from(writer.bytes());
  let refused = 0;
  for (const bytes of damaged(whole, [[0, whole.length & ~3]])) {
    try {
      const btf = new Btf(bytes);
      for (let id = 0; id < Math.min(btf.end, 12); id++) {
        const type = btf.type(id);
        if (type.kind === "struct") type.members.map((member) => btf.strip(member.type));
        btf.strip(id);
        btf.findAll(btf.name(id));
      }
      btf.index();
    } catch (error) {
      assert.ok(error instanceof BtfError, error instanceof Error ? error.stack : String(error));
      assert.match(error.message, /^damaged BTF: /);
      refused++;
    }
  }
  assert.ok(refused > 50, String(refused));
});

test("a section of gigabytes is refused before there is memory for it", { skip }, () => {
  const whole = built("-c");
  const elf = new Elf(bytesOf(whole));
  const symbols = elf.section(".symtab");
  assert.ok(symbols !== undefined);
  const large = Buffer.from(whole);
  large.writeBigUInt64LE(3n << 30n, Number(large.readBigUInt64LE(40)) + symbols.index * 64 + 32);
  const read = (offset: number, length: number): Buffer => {
    assert.ok(length < 1 << 20, "nothing large is read");
    return large.subarray(offset, offset + length);
  };
  assert.throws(
    () => [...new ElfSymbols(new Elf({ size: 2 ** 33, path: "/tmp/x", read }))],
    (error) =>
      error instanceof ElfError &&
      error.message === "/tmp/x: damaged ELF file: section .symtab is too large (3221225472 bytes)",
  );
});
