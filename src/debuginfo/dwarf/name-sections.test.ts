// Indexes of names that others made, beside a scan of our own of the same program.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as fc from "fast-check";
import { bytesOf, Elf } from "../elf.ts";
import { DwarfError } from "./cursor.ts";
import { DebugNames } from "./debug-names.ts";
import { openDebugInfo } from "./debug-info.ts";
import type { Catalogs } from "./input-files.ts";
import type { DebugInfo } from "./facts.ts";
import { GdbIndex } from "./gdb-index.ts";
import { lastName } from "./names.ts";
import { SectionData } from "./sections.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-names-"));
after(() => rmSync(folder, { recursive: true }));

const has = (tool: string): boolean => spawnSync(tool, ["--version"]).status === 0;

const first = `
  struct shape { int sides; };
  typedef struct shape shape_t;
  enum colour { RED = 3 };
  int corners = 4;
  static inline int twice(int n) { return n * n ^ 7; }
  int other(int);
  __attribute__((noinline)) int area(shape_t *s) { return twice(s->sides) + corners; }
  int main(int argc, char **argv) { shape_t s = { argc }; return area(&s) + other(argc) + (enum colour)argc; }`;
const second = `
  static inline int twice(int n) { return n * n ^ 7; }
  static int calls;
  __attribute__((noinline)) int other(int n) { return twice(n) + ++calls; }`;
const classes = `
  namespace app {
    template <class T> __attribute__((noinline)) T larger(T a, T b) { return a > b ? a : b; }
    struct Server { static int count; int port; __attribute__((noinline)) int handle(int n) { return port + n; } };
    int Server::count = 7;
  }
  int handle(int n) { return n; }
  int main(int argc, char **) { app::Server s{argc}; return s.handle(1) + app::larger(argc, 3) + app::larger(1.0, 2.0) + handle(app::Server::count); }`;

let count = 0;
function build(compiler: string, options: readonly string[], ...sources: readonly string[]): string {
  const path = join(folder, `program${++count}`);
  const files = sources.map((text, i) => {
    const file = `${path}.${i}.${compiler.endsWith("++") ? "cc" : "c"}`;
    writeFileSync(file, text);
    return file;
  });
  execFileSync(compiler, ["-g", ...options, "-o", path, ...files], { cwd: folder });
  return path;
}

/** Opens a file, and tells how often its names were scanned for. */
function open(path: string): { readonly info: DebugInfo; readonly scans: () => number } {
  let scans = 0;
  const catalogs: Catalogs = {
    least: 0,
    read: () => undefined,
    write: (part) => {
      if (part === "debug_info") scans++;
    },
    scan: () => undefined,
  };
  const elf = new Elf(bytesOf(readFileSync(path)));
  return { info: openDebugInfo({ binary: elf, debug: elf, catalogs }), scans: () => scans };
}

/** All that is said of a name, in a form that compares. */
function said(info: DebugInfo, name: string): unknown {
  const functions = info
    .functionsNamed(name)
    .map(({ qualifiedName, declared, instances }) => [
      qualifiedName,
      declared.line,
      instances.map(({ kind, entry }) => `${kind} ${entry}`).sort(),
    ]);
  const variables = info.globalsNamed(name).map(({ name: plain, declared }) => [plain, declared.line]);
  const type = info.typeNamed(name);
  return {
    functions: functions.map((each) => JSON.stringify(each)).sort((a, b) => a.localeCompare(b)),
    variables,
    type: type && [type.kind, "name" in type ? type.name : ""],
  };
}

const names = ["area", "twice", "other", "main", "corners", "calls", "shape", "shape_t", "colour", "int", "nothing"];
const classNames = [
  "app::Server::handle",
  "handle",
  "app::larger",
  "larger",
  "larger<int>",
  "app::larger<double>",
  "_ZN3app6Server6handleEi",
  "app::Server::count",
  "count",
  "app::Server",
  "Server",
  "main",
];

function sameAs(path: string, plain: string, wanted: readonly string[]): void {
  const [ours, theirs] = [open(plain).info, open(path).info];
  for (const name of wanted) assert.deepEqual(said(theirs, name), said(ours, name), name);
}

for (const [compiler, ...options] of [
  ["clang", "-gdwarf-5", "-gpubnames", "-O0"],
  ["clang", "-gdwarf-5", "-gpubnames", "-O2"],
]) {
  test(
    `.debug_names of ${compiler} ${options.join(" ")}`,
    { skip: has(compiler) ? false : `needs ${compiler}` },
    () => {
      const path = build(compiler, options, first, second);
      const plain = join(folder, "plain");
      execFileSync("objcopy", ["--remove-section=.debug_names", path, plain]);
      sameAs(path, plain, names);
      const { info, scans } = open(path);
      const kind = options.includes("-O0") ? "body" : "inlined";
      assert.equal(
        info.functionsNamed("twice").flatMap(({ instances }) => instances.filter((each) => each.kind === kind)).length,
        2,
      );
      assert.equal(info.functionsNamed("area").length, 1);
      assert.equal(info.globalsNamed("corners").length, 1);
      assert.equal(info.typeNamed("shape")?.kind, "struct");
      assert.equal(scans(), 0, "the index tells");
      assert.equal(info.functionsNamed("nothing").length, 0);
      assert.equal(scans(), 1, "what the index does not know may be there");
    },
  );
}

test(
  ".debug_names of C++, where names stand without their scopes",
  { skip: has("clang++") ? false : "needs clang++" },
  () => {
    const path = build("clang++", ["-gdwarf-5", "-gpubnames", "-O1"], classes);
    const plain = join(folder, "plain");
    execFileSync("objcopy", ["--remove-section=.debug_names", path, plain]);
    sameAs(path, plain, classNames);
    const { info, scans } = open(path);
    assert.deepEqual(
      info.functionsNamed("app::Server::handle").map(({ qualifiedName }) => qualifiedName),
      ["app::Server::handle"],
    );
    assert.deepEqual(
      info
        .functionsNamed("handle")
        .map(({ qualifiedName }) => qualifiedName)
        .sort(),
      ["app::Server::handle", "handle"],
    );
    assert.equal(scans(), 0);
  },
);

const noGdb =
  has("gdb") && spawnSync("gdb-add-index", []).error === undefined && has("gcc")
    ? false
    : "needs gcc and gdb-add-index";

for (const [kind, section] of [
  ["", ".gdb_index"],
  ["-dwarf-5", ".debug_names"],
] as const) {
  test(`${section} of gdb`, { skip: noGdb }, () => {
    for (const [compiler, sources, wanted] of [
      ["gcc", [first, second], names],
      ["g++", [classes], classNames],
    ] as const) {
      const plain = build(compiler, ["-O1"], ...sources);
      const path = `${plain}.indexed`;
      execFileSync("cp", [plain, path]);
      execFileSync("gdb-add-index", [...(kind === "" ? [] : [kind]), path], { stdio: "ignore" });
      assert.ok(new Elf(bytesOf(readFileSync(path))).section(section) !== undefined);
      sameAs(path, plain, wanted);
      if (compiler !== "gcc") continue;
      const { info, scans } = open(path);
      assert.equal(info.functionsNamed("area").length, 1);
      assert.equal(info.globalsNamed("corners").length, 1);
      assert.equal(info.typeNamed("shape")?.kind, "struct");
      assert.equal(scans(), 0, "the index tells");
      assert.equal(info.functionsNamed("twice").flatMap(({ instances }) => instances).length, 2);
      assert.equal(scans(), 1, "it knows nothing of inlined copies");
    }
  });
}

test(".gdb_index version 9 has a field more", { skip: noGdb }, () => {
  const path = build("gcc", ["-O1"], first, second);
  execFileSync("gdb-add-index", [path], { stdio: "ignore" });
  const elf = new Elf(bytesOf(readFileSync(path)));
  const old = elf.content(elf.section(".gdb_index")!);
  const words = [0, 4, 8, 12, 16, 20].map((at) => old.readUInt32LE(at));
  const header = Buffer.alloc(28);
  [9, ...words.slice(1).map((offset) => offset + 4), words[5] + 4].forEach((word, i) =>
    header.writeUInt32LE(word, 4 * i),
  );
  const index = new GdbIndex(Buffer.concat([header, old.subarray(24)]));
  assert.equal([...index.find("functions", "area")].length, 1);
  assert.deepEqual([...index.find("functions", "area")], [...new GdbIndex(old).find("functions", "area")]);
  assert.equal([...index.find("variables", "area")].length, 0);
});

test("damaged indexes give an error, not more", { skip: noGdb || (has("clang") ? false : "needs clang") }, () => {
  const gdb = build("gcc", ["-O1"], first, second);
  execFileSync("gdb-add-index", [gdb], { stdio: "ignore" });
  const clang = build("clang", ["-gdwarf-5", "-gpubnames"], first, second);
  const section = (path: string, name: string): Buffer => {
    const elf = new Elf(bytesOf(readFileSync(path)));
    return elf.content(elf.section(name)!);
  };
  const texts = section(clang, ".debug_str");
  const readers = [
    { bytes: section(gdb, ".gdb_index"), read: (bytes: Buffer) => new GdbIndex(bytes) },
    {
      bytes: section(clang, ".debug_names"),
      read: (bytes: Buffer) =>
        new DebugNames(
          bytes,
          new SectionData("debug_str", texts.length, (at, length) => texts.subarray(at, at + length)),
        ),
    },
  ];
  fc.assert(
    fc.property(
      fc.nat(1),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      fc.nat(),
      (which, changes, cut) => {
        const { bytes, read } = readers[which];
        const damaged = Buffer.from(bytes);
        for (const [at, value] of changes) damaged[at % damaged.length] = value;
        try {
          const index = read(damaged.subarray(0, damaged.length - (cut % 3 === 0 ? cut % damaged.length : 0)));
          for (const name of names) assert.ok([...index.find("functions", name)].length < 1000);
        } catch (error) {
          if (!(error instanceof DwarfError)) throw error;
        }
      },
    ),
    { numRuns: 400 },
  );
});

test("the last part of a name", () => {
  assert.deepEqual(["f", "a::f", "a::b<c::d>::f", "f<a::b>", "a::f<b::c>", "::f"].map(lastName), [
    "f",
    "f",
    "f",
    "f<a::b>",
    "f<b::c>",
    "f",
  ]);
});

test(
  "what was found in a large file is kept, and damage to it does no harm",
  { skip: has("gcc") ? false : "needs gcc" },
  () => {
    const path = build("gcc", ["-O1"], first, second);
    const kept = new Map<string, Buffer>();
    let writes = 0;
    const catalogs: Catalogs = {
      least: 0,
      scan: () => undefined,
      read: (part) => kept.get(part),
      write: (part, bytes) => {
        writes++;
        kept.set(part, bytes);
      },
    };
    const ask = (): unknown => {
      const elf = new Elf(bytesOf(readFileSync(path)));
      const info = openDebugInfo({ binary: elf, debug: elf, catalogs });
      const [place] = info.linePlaces(`${path}.1.c`, { ranges: [{ first: 4, last: 4 }] }).places;
      return [place.line, place.address, info.functionAt(place.address)?.fn.name, said(info, "area")];
    };
    const answer = ask();
    assert.equal(writes, 3);
    assert.deepEqual(ask(), answer);
    assert.equal(writes, 3);
    for (const [part, bytes] of kept) {
      const damaged = Buffer.from(bytes);
      damaged[damaged.length - 9] ^= 1;
      kept.set(part, damaged);
    }
    assert.deepEqual(ask(), answer);
    assert.equal(writes, 6);
  },
);
