import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { openDebugInfo } from "./dwarf/debug-info.ts";
import type { DebugInfo } from "./dwarf/facts.ts";
import { Elf, ElfError, bytesOf } from "./elf.ts";
import { ElfSymbols } from "./elf-symbols.ts";
import { placedElf } from "./placed-elf.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-placed-"));
after(() => rmSync(folder, { recursive: true }));
const skip =
  process.arch !== "x64" ? "x86-64 only" : spawnSync("gcc", ["--version"]).status !== 0 ? "needs gcc" : false;

const source = `
struct point { int x, y; };
static struct point origin = { 1, 2 };
int calls;
static inline __attribute__((always_inline)) int twice(int n) { calls++; return n * 2; }
__attribute__((noinline)) int far(struct point *p, int by) { int sum = p->x + twice(by); __asm__ volatile("" : "+r"(sum)); return sum; }
__attribute__((section(".init.text"))) int setup(int n) { return far(&origin, n); }
__attribute__((section(".noinstr.text"))) int cold(int n) { return twice(n) + origin.y; }
`;
const addresses = new Map([
  [".text", 0xffffffffc0401000n],
  [".data", 0xffffffffc0500000n],
  [".bss", 0xffffffffc0501000n],
  [".noinstr.text", 0xffffffffc0600000n],
]);

function object(name: string, ...options: string[]): string {
  const path = join(folder, name);
  writeFileSync(`${path}.c`, source);
  execFileSync("gcc", [
    "-c",
    "-g",
    "-O2",
    "-gdwarf-5",
    "-mcmodel=kernel",
    "-fno-pic",
    "-fno-asynchronous-unwind-tables",
    "-o",
    path,
    ...options,
    `${path}.c`,
  ]);
  return path;
}
const open = (path: string): Elf => new Elf(bytesOf(readFileSync(path)));

/** What debug information says of a function and the line tables of the file. */
function told(info: DebugInfo, names: readonly string[]): unknown {
  return {
    functions: names.map((name) =>
      info
        .functionsNamed(name)
        .map(({ instances, parameters }) => [
          instances.map(({ kind, entry, ranges }) => [kind, entry, ranges]),
          parameters.map((one) => [one.name, one.location(instances[0].entry)]),
        ]),
    ),
    lines: [...info.lines("placed.o.c")].map(({ line, address }) => `${line} ${address.toString(16)}`),
    globals: ["calls", "origin"].map((name) => info.globalsNamed(name).map((one) => one.location(0n))),
  };
}

test("a placed file tells what a linked one does", { skip }, () => {
  const path = object("placed.o");
  const linked = join(folder, "linked");
  const places = [...addresses, [".init.text", 0xffffffffc0700000n] as const];
  execFileSync(
    "ld",
    [
      "-o",
      linked,
      "-e",
      "0",
      "--no-warn-rwx-segments",
      ...places.map(([name, address]) => `--section-start=${name}=0x${address.toString(16)}`),
      path,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const elf = placedElf(open(path), new Map(places));
  const [mine, theirs] = [elf, open(linked)].map((one) => openDebugInfo({ binary: one, debug: one }));
  const expected = told(theirs, ["far", "twice", "setup", "cold"]);
  assert.deepEqual(told(mine, ["far", "twice", "setup", "cold"]), expected);
  assert.match(
    JSON.stringify(expected, (_, value: unknown) => (typeof value === "bigint" ? value.toString(16) : value)),
    /"inlined","ffffffffc0600\w+"[^]*"inlined","ffffffffc0401\w+"/,
  );
});

test("symbols have addresses, and code is where the segments say", { skip }, () => {
  const [path, text] = [object("placed.o"), 0x401000n];
  const elf = placedElf(
    open(path),
    new Map([
      [".text", text],
      [".data", 0x500000n],
      [".bss", 0x501000n],
    ]),
  );
  const symbols = new ElfSymbols(elf);
  const listed = execFileSync("nm", [path], { encoding: "utf8" });
  for (const [name, base] of [
    ["far", text],
    ["calls", 0x501000n],
    ["setup", 0n],
  ] as const) {
    const [, offset = ""] = new RegExp(`^(\\w+) \\w ${name}$`, "m").exec(listed) ?? [];
    assert.equal(symbols.find(name)?.address, base + BigInt(`0x${offset}`), name);
  }
  const far = symbols.find("far")!.address;
  const file = open(path);
  assert.deepEqual(
    elf.read(Number(elf.fileOffset(far)), 8),
    file.read(file.section(".text")!.offset + Number(far - text), 8),
  );
  assert.equal(elf.addressOf(elf.fileOffset(far + 3n)!), far + 3n);
});

test("compressed sections, and files that have only debug information", { skip }, () => {
  const plain = placedElf(open(object("placed.o")), addresses);
  const names = ["far", "twice", "cold"];
  const wanted = told(openDebugInfo({ binary: plain, debug: plain }), names);
  const compressed = object("placed.o", "-gz=zlib");
  assert.match(execFileSync("readelf", ["-SW", compressed], { encoding: "utf8" }), /\.debug_info .* C /);
  const kept = join(folder, "kept.debug");
  execFileSync("objcopy", ["--only-keep-debug", compressed, kept]);
  for (const path of [compressed, kept]) {
    const elf = placedElf(open(path), addresses);
    assert.deepEqual(told(openDebugInfo({ binary: elf, debug: elf }), names), wanted);
    assert.equal(elf.addressOf(elf.fileOffset(0xffffffffc0600001n)!), 0xffffffffc0600001n);
    // Nowhere: what was there while it was loaded.
    assert.equal(elf.fileOffset(0n), undefined);
  }
});

test("linked files are refused, and damaged ones give an error", { skip }, () => {
  const path = object("placed.o");
  const bytes = readFileSync(path);
  assert.throws(() => placedElf(open(process.execPath), addresses), ElfError);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      (changes) => {
        const damaged = Buffer.from(bytes);
        for (const [at, value] of changes) damaged[at] = value;
        try {
          const elf = placedElf(new Elf(bytesOf(damaged)), addresses);
          for (const section of elf.sections) elf.content(section);
        } catch (error) {
          assert.ok(error instanceof ElfError, String(error));
        }
      },
    ),
    { numRuns: 300 },
  );
});
