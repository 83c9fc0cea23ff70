import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { ElfSymbols } from "./elf-symbols.ts";
import { Elf, ElfError, bytesOf, type Bytes } from "./elf.ts";
import { usdtNotes } from "./usdt-notes.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-elf-"));
after(() => rmSync(folder, { recursive: true }));
const fixture = resolve("src/debuginfo/fixture.c");
const missing =
  spawnSync("gcc", ["--version"]).status !== 0
    ? "needs gcc"
    : !existsSync(fixture)
      ? "run from the project's folder"
      : false;
const build = (name: string, ...options: string[]): string => {
  const path = join(folder, name);
  execFileSync("gcc", ["-O1", "-Wl,--build-id", "-o", path, ...options, fixture]);
  return path;
};
const open = (path: string): Elf => new Elf(bytesOf(readFileSync(path)));

test("symbols are those of nm, by name, by address and in the listing", { skip: missing }, () => {
  const path = build("plain");
  const elf = open(path);
  const symbols = new ElfSymbols(elf);
  const listed = new Map([...symbols].map((symbol) => [symbol.name, symbol]));
  // T t W: functions, B b D d: objects; only those with a size have a type.
  const lines = execFileSync("nm", ["--print-size", "--defined-only", path], { encoding: "utf8" }).trim().split("\n");
  const expected = lines
    .map((line) => /^([0-9a-f]+) ([0-9a-f]+) ([TtWBbDd]) (\S+)$/.exec(line))
    .filter((match) => match !== null);
  const own = expected.filter((match) =>
    ["main", "hidden", "shown", "probed", "weak_alias", "initialised", "zeroes"].includes(match[4]),
  );
  assert.equal(own.length, 7);
  assert.deepEqual([...symbols.named((name) => name === "hidden" || name === "shown")].map(({ name }) => name).sort(), [
    "hidden",
    "shown",
  ]);
  assert.deepEqual([...symbols.named(() => false)], []);
  for (const [, address, size, letter, name] of own) {
    const kind = /[TtW]/.test(letter) ? "function" : "object";
    const symbol = {
      name,
      address: BigInt(`0x${address}`),
      size: BigInt(`0x${size}`),
      kind,
      global: name !== "hidden",
    };
    assert.deepEqual(symbols.find(name), symbol);
    assert.deepEqual(listed.get(name), symbol);
    if (kind === "object") continue;
    const shown = name === "weak_alias" ? "shown" : name;
    const last = symbols.functionAt(symbol.address + symbol.size - 1n);
    assert.deepEqual(
      [last?.name === "weak_alias" ? "shown" : last?.name, last?.offset],
      [shown, Number(symbol.size) - 1],
    );
    // Code as the file has it: what the segments say is what the section says.
    const text = elf.section(".text")!;
    assert.equal(elf.fileOffset(symbol.address), symbol.address - text.address + BigInt(text.offset));
    assert.equal(elf.addressOf(elf.fileOffset(symbol.address)!), symbol.address);
  }
  assert.equal(symbols.find("idden"), undefined, "the tail of a name is not a name");
  assert.equal(symbols.find("printf"), undefined, "defined elsewhere");
  assert.equal(symbols.functionAt(1n), undefined);
  assert.equal(elf.fileOffset(symbols.find("zeroes")!.address), undefined, "zeroes are not in the file");
  assert.match(elf.interpreter!, /ld/);
  const note = execFileSync("readelf", ["-n", path], { encoding: "utf8" });
  assert.equal(elf.buildId, /Build ID: (\w+)/.exec(note)![1]);
});

test("a stripped library has its exported symbols, with versions", { skip: missing }, () => {
  const path = build("stripped.so", "-shared", "-fPIC", "-s", "-Wl,--default-symver");
  const symbols = new ElfSymbols(open(path));
  assert.deepEqual([symbols.find("shown")?.kind, symbols.find("shown")?.version], ["function", "stripped.so"]);
  assert.equal(symbols.find("shown@stripped.so")?.address, symbols.find("shown")?.address);
  assert.equal(symbols.find("shown@OTHER"), undefined);
  assert.equal(symbols.find("hidden"), undefined);
});

test(
  "static probes: place, semaphore and arguments",
  { skip: missing || (process.arch !== "x64" && "the fixture is for x86-64") },
  () => {
    const path = build("probes", "-no-pie");
    const bytes = readFileSync(path);
    const elf = open(path);
    const symbols = new ElfSymbols(elf);
    const [plain, guarded, ...more] = usdtNotes(elf);
    assert.equal(more.length, 0);
    const probed = symbols.find("probed")!;
    assert.deepEqual([plain?.provider, plain?.name, plain?.semaphoreOffset], ["fixture", "plain", 0n]);
    assert.match(plain.argumentText, /^-4@%edi$/);
    assert.deepEqual([guarded?.provider, guarded?.name, guarded?.argumentText], ["fixture", "guarded", ""]);
    for (const probe of [plain, guarded]) {
      assert.equal(symbols.functionAt(probe.address)?.symbol.address, probed.address);
      assert.equal(bytes[Number(probe.fileOffset)], 0x90, "a nop");
    }
    assert.equal(guarded.semaphoreOffset, elf.fileOffset(symbols.find("fixture_semaphore")!.address));
  },
);

test("compressed sections", { skip: missing }, () => {
  const plain = open(build("debug", "-g", "-gz=none"));
  const packed = open(build("debug-packed", "-g", "-gz=zlib"));
  const [whole, compressed] = [plain.section(".debug_str")!, packed.section(".debug_str")!];
  assert.ok(compressed.size < whole.size);
  // All strings but the one that quotes the options.
  const strings = (bytes: Buffer): string[] =>
    bytes
      .toString("latin1")
      .split("\0")
      .filter((text) => !text.includes("-gz="))
      .sort();
  assert.ok(strings(plain.content(whole)).includes("initialised"));
  assert.deepEqual(strings(packed.content(compressed)), strings(plain.content(whole)));
});

test("damaged files give an ElfError or facts, never a crash or a hang", { skip: missing }, () => {
  const whole = readFileSync(build("small", "-s"));
  const headers = 64 + 13 * 56;
  const sections = Number(whole.readBigUInt64LE(40));
  const place = fc.oneof(
    fc.nat(headers),
    fc.integer({ min: sections, max: whole.length - 1 }),
    fc.nat(whole.length - 1),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(place, fc.nat(255)), { minLength: 1, maxLength: 6 }),
      fc.nat(whole.length * 4),
      (edits, cut) => {
        const bytes = Buffer.from(whole.subarray(0, cut));
        for (const [at, value] of edits) if (at < bytes.length) bytes[at] = value;
        const strict: Bytes = {
          size: bytes.length,
          read: (offset, length) => {
            assert.ok(offset >= 0 && offset + length <= bytes.length, "reads stay inside the file");
            return bytes.subarray(offset, offset + length);
          },
        };
        try {
          const elf = new Elf(strict);
          const symbols = new ElfSymbols(elf);
          assert.ok([...symbols].length < 10_000);
          symbols.find("shown");
          symbols.functionAt(0x1139n);
          usdtNotes(elf);
          assert.ok(elf.buildId === undefined || /^[0-9a-f]*$/.test(elf.buildId));
        } catch (error) {
          if (!(error instanceof ElfError)) throw error;
        }
      },
    ),
    { numRuns: 500 },
  );
});
