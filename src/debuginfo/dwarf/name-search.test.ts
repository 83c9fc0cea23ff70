// Names that are searched for, beside an index of the whole file: both must tell the same.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { bytesOf, Elf } from "../elf.ts";
import { NumberSearch, TextSearch } from "./byte-search.ts";
import { DwarfError } from "./cursor.ts";
import { openDebugInfo } from "./debug-info.ts";
import type { DebugInfo } from "./facts.ts";
import { SectionData } from "./sections.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-search-"));
after(() => rmSync(folder, { recursive: true }));
const has = (tool: string): boolean => spawnSync(tool, ["--version"]).status === 0;

const header = `
  #pragma once
  namespace app {
    template <class T> __attribute__((noinline)) T larger(T a, T b) { return a > b ? a : b; }
    struct Shape { int sides; static int made; int corners(); template <class T> T scaled(T by) { return by * sides; } bool operator<(const Shape &o) const { return sides < o.sides; } };
    enum class Colour { red, green };
    typedef Shape Figure;
    template <class T> struct Pair { T a, b; };
  }
  static inline int f(int n) { return n * n ^ 77; }
  int reopen(int); int open2(int);`;
const first = `
  #include "shapes.h"
  int app::Shape::made = 3;
  namespace { int hidden(int n) { return f(n) + 2; } int open(int n) { return n + 5; } }
  int app::Shape::corners() { return sides + hidden(made); }
  int main(int argc, char **) {
    app::Shape s{argc}; app::Figure g{2}; app::Pair<int> p{1, argc}; app::Pair<long> q{p.a, p.b}; app::Colour c = app::Colour::green;
    return s.corners() + app::larger(argc, 3) + (int)app::larger(1.0, 2.0) + reopen(argc) + open(argc) + s.scaled(argc) + (int)s.scaled(2.5) + (s < g) + (int)q.b + (int)c;
  }`;
const second = `
  #include "shapes.h"
  static int calls;
  __attribute__((noinline)) int reopen(int n) { app::Shape t{n}; return f(n) + ++calls + t.scaled(n) + app::larger(n, 9); }`;
writeFileSync(join(folder, "shapes.h"), header);
writeFileSync(join(folder, "first.cc"), first);
writeFileSync(join(folder, "second.cc"), second);

let count = 0;
function build(compiler: string, options: readonly string[]): string {
  const path = join(folder, `program${++count}`);
  execFileSync(compiler, ["-g", ...options, "-o", path, "first.cc", "second.cc"], { cwd: folder, stdio: "pipe" });
  return path;
}

/** Opens a file, to be searched or to be indexed, and tells whether an index was made. */
function open(elf: Elf, searched: number): { readonly info: DebugInfo; readonly indexed: () => boolean } {
  let indexed = false;
  const write = (part: string): void => {
    indexed ||= part === "debug_info";
  };
  return {
    info: openDebugInfo({
      binary: elf,
      debug: elf,
      searched,
      catalogs: { least: 0, read: () => undefined, write, scan: () => undefined },
    }),
    indexed: () => indexed,
  };
}

/** What is said of a name, in forms that compare. */
const questions: readonly ((info: DebugInfo, name: string) => unknown)[] = [
  (info, name) =>
    info
      .functionsNamed(name)
      .map(({ qualifiedName, linkageName, declared, instances }) =>
        JSON.stringify([
          qualifiedName,
          linkageName,
          declared.line,
          instances.map(({ kind, entry, caller }) => `${kind} ${entry} ${caller?.name}`).sort(),
        ]),
      )
      .sort(),
  (info, name) => info.globalsNamed(name).map(({ name: plain, kind, declared }) => [plain, kind, declared.line]),
  (info, name) => {
    const type = info.typeNamed(name);
    return type && [type.kind, "name" in type ? type.name : "", "bytes" in type ? type.bytes : 0];
  },
];

const more = [
  "larger",
  "app::larger",
  "larger<int>",
  "app::larger<double>",
  "app::Shape::scaled",
  "scaled<int>",
  "hidden",
  "open",
  "open2",
  "(anonymous namespace)::open",
  "app::Shape::operator<",
  "app::Shape::made",
  "made",
  "calls",
  "app::Shape",
  "Shape",
  "Figure",
  "app::Figure",
  "Colour",
  "int",
  "double",
  "s",
  "_ZN3app5Shape7cornersEv",
  "Pair",
  "app::Pair",
  "Pair<int>",
  "app::Pair<long>",
  "nothing",
  "app::nothing",
  "::f",
  "f",
  "x",
];

const settings: readonly (readonly [string, ...string[]])[] = [
  ["g++", "-O0"],
  ["g++", "-O2"],
  ["g++", "-O2", "-flto"],
  ["g++", "-O1", "-gdwarf-4", "-fdebug-types-section"],
  ["g++", "-O1", "-gdwarf64", "-gdwarf-5"],
  ["g++", "-O2", "-gz=zlib"],
  ["clang++", "-O2", "-gdwarf-5"],
  ["clang++", "-O0", "-gdwarf-4"],
  ["clang++", "-O1", "-gdwarf-5", "-fdebug-types-section"],
];
for (const [compiler, ...options] of settings) {
  test(`names of ${compiler} ${options.join(" ")}`, { skip: has(compiler) ? false : `needs ${compiler}` }, () => {
    const elf = new Elf(bytesOf(readFileSync(build(compiler, options))));
    const index = open(elf, Infinity).info;
    const names = new Set([...index.functionNames(), ...more]);
    assert.ok(names.size > 20);
    // Where it is linked as a whole, a variable has its name in another unit than its place.
    assert.deepEqual(
      index.globalsNamed("calls").map((calls) => [calls.name, calls.location(0n).kind]),
      [["calls", "memory"]],
    );
    assert.ok(![...index.functionNames()].includes("calls"));
    for (const name of names) {
      for (const question of questions) {
        const { info, indexed } = open(elf, 0);
        assert.deepEqual(question(info, name), question(index, name), name);
        assert.equal(indexed(), false, `${name} needs no index`);
      }
    }
  });
}

test("whoever asks for many names has them indexed", { skip: has("g++") ? false : "needs g++" }, () => {
  const elf = new Elf(bytesOf(readFileSync(build("g++", ["-O1"]))));
  const { info, indexed } = open(elf, 0);
  for (let i = 0; i < 10; i++) assert.equal(info.functionsNamed("reopen").length, 1);
  assert.equal(indexed(), false);
  assert.equal(info.functionsNamed("reopen").length, 1);
  assert.equal(indexed(), true);
});

test("damaged debug information gives an answer or an error", { skip: has("g++") ? false : "needs g++" }, () => {
  const whole = readFileSync(build("g++", ["-O1"]));
  const parts = new Elf(bytesOf(whole)).sections.filter(({ name }) =>
    /^\.debug_(info|abbrev|str|line|line_str)$/.test(name),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(parts.length - 1), fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 12 }),
      fc.constantFrom(...more),
      (changes, name) => {
        const damaged = Buffer.from(whole);
        for (const [part, at, value] of changes) damaged[parts[part].offset + (at % parts[part].size)] = value;
        try {
          const { info } = open(new Elf(bytesOf(damaged)), 0);
          for (const question of questions) question(info, name);
        } catch (error) {
          if (!(error instanceof DwarfError)) throw error;
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("a large section comes in pieces, each with what is before it", () => {
  const whole = Buffer.from(Uint8Array.from({ length: (4 << 20) + 12345 }, (_, i) => (i * 31) ^ (i >>> 8)));
  const section = new SectionData("debug_info", whole.length, (at, length, room) => {
    if (room === undefined) return Buffer.from(whole.subarray(at, at + length));
    return room.subarray(0, whole.copy(room, 0, at, at + length));
  });
  for (const from of [0, 5000]) {
    let end = from,
      count = 0;
    for (const { at, fresh, bytes } of section.pieces(100, from)) {
      assert.equal(fresh, end);
      assert.equal(at, Math.max(0, fresh - 100));
      assert.ok(bytes.equals(whole.subarray(at, at + bytes.length)));
      end = at + bytes.length;
      count++;
    }
    assert.equal(end, whole.length);
    assert.ok(count > 10);
  }
});

test("numbers and texts are found wherever pieces are cut", () => {
  const one = fc.uint8Array({ minLength: 0, maxLength: 80 }).map((bytes) => Buffer.from(bytes.map((byte) => byte & 3)));
  fc.assert(
    fc.property(
      one,
      fc.uniqueArray(
        fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)).map(([a, b, c]) => a | (b << 8) | (c << 16) | (2 << 24)),
        { minLength: 1, maxLength: 40 },
      ),
      fc.integer({ min: 4, max: 30 }),
      (bytes, values, piece) => {
        const expected: string[] = [];
        for (let at = 0; at + 4 <= bytes.length; at++)
          if (values.includes(bytes.readUInt32LE(at))) expected.push(`${at} ${bytes.readUInt32LE(at)}`);
        const found: string[] = [];
        const search = new NumberSearch(new Set(values));
        for (let fresh = 0; fresh < bytes.length; fresh += piece) {
          const base = Math.max(0, fresh - 3);
          search.each(bytes.subarray(base, fresh + piece), fresh - base, (at, value) =>
            found.push(`${base + at} ${value}`),
          );
        }
        assert.deepEqual(found.sort(), expected.sort());
      },
    ),
  );
  fc.assert(
    fc.property(
      fc.stringMatching(/^[ab<]{1,4}$/),
      fc.array(fc.stringMatching(/^[ab<]{0,6}$/)),
      fc.integer({ min: 1, max: 20 }),
      (name, texts, piece) => {
        const bytes = Buffer.from(texts.map((text) => `${text}\0`).join(""));
        const expected: number[] = [];
        for (let at = 0; at < bytes.length; at++)
          if (bytes.toString("latin1", at).startsWith(name) && [0, 0x3c].includes(bytes[at + name.length]))
            expected.push(at);
        const found: number[] = [];
        const search = new TextSearch(Buffer.from(name));
        for (let fresh = 0; fresh < bytes.length; fresh += piece) {
          const base = Math.max(0, fresh - name.length);
          search.each(bytes.subarray(base, fresh + piece), fresh - base, (at) => found.push(base + at));
        }
        assert.deepEqual(
          found.sort((a, b) => a - b),
          expected,
        );
      },
    ),
  );
});
