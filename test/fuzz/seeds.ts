// Valid inputs, small ones: they are damaged hundreds of times a second.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bytesOf, Elf } from "../../src/debuginfo/elf.ts";
import { usdtObject } from "../../src/debuginfo/usdt-object.ts";
import { BtfWriter } from "../support/btf-writer.ts";
import { render } from "../support/random-pieces.ts";
import { randomProgram } from "../support/random-programs.ts";
import type { Seed } from "./target.ts";

export function texts(...all: readonly string[]): Seed[] {
  return all.map((text) => ({ bytes: Buffer.from(text) }));
}

function filesOf(folder: string, ending: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

/** What the documentation shows between fences of a language. */
function shown(language: RegExp): string[] {
  return filesOf("docs", ".md").flatMap((page) =>
    [...page.matchAll(/```(\w*)\n([^]*?)```/g)].filter(([, of]) => language.test(of)).map(([, , text]) => text),
  );
}

export function scriptSeeds(): Seed[] {
  const own = [
    "tools",
    "src/language/bpftrace/fixtures",
    "src/compiler/fixtures",
    "src/language/bpftrace/fixtures/format",
  ].flatMap((folder) => filesOf(folder, ".bt"));
  const quoted = filesOf("docs", ".md").flatMap((page) =>
    [...page.matchAll(/'([^'\n]*\{[^'\n]*)'/g)].map(([, text]) => text),
  );
  const random = Array.from({ length: 60 }, (_, i) =>
    render(randomProgram(i + 1).pieces).replaceAll("rawtracepoint:differential", "kprobe:f"),
  );
  return texts(...own, ...quoted, ...random, ...shown(/^$/));
}

export function headerSeeds(): Seed[] {
  return texts(
    "#ifndef A_H\n#define A_H 1\n#define B (1 << 3)\nstruct a { int x; unsigned long long y[4]; struct { char c; } in; struct a *next; unsigned f : 3; };\n#endif\n",
    "typedef struct a { const char *name; } a_t;\nenum e { E1, E2 = 5, E3 };\nstatic inline int f(int x) { return x; }\nextern int g(void);\n#define C E2\n",
    "#if defined(X) && X > 2\nstruct b { int x; };\n#elif 1\nstruct a { union { int i; float f; } u; void (*call)(int, char); };\n#else\n#error no\n#endif\n",
  );
}

export function handlerSeeds(): Seed[] {
  const own = readFileSync("src/language/typescript/parse.test.ts", "utf8");
  const bodies = [...own.matchAll(/^ {2}\["[^"]*", (?:"((?:[^"\\]|\\.)*)"|'([^']*)')/gm)].map(
    ([, double, single]) => double ?? single,
  );
  return texts(...bodies.map((body) => `(args) => { ${body} }`));
}

export function moduleSeeds(): Seed[] {
  return texts(...filesOf("tools", ".ts"), ...shown(/^ts$/).slice(0, 40));
}

// ── binaries ──

const source = `#include <sys/sdt.h>
struct point { int x, y; struct point *next; unsigned low : 3; double d; union { char c; long l; } u; enum { RED, BLUE } color; };
__thread int mine; int counter = 3; static const char *names[] = {"a", "b"};
static inline int twice(int x) { return x * 2; }
int choose(int n) { switch (n) { case 0: return 3; case 1: return 5; case 2: return twice(n); case 3: return 9; case 4: return 11; case 5: return 1; default: return counter; } }
int add(struct point *p, int n) { DTRACE_PROBE2(app, added, p->x, n); return p->x + twice(n) + mine + choose(n); }
int main(int argc, char **argv) { struct point p = { argc, 2 }; return add(&p, argc) + (int)names[0][0]; }
`;
const plusSource = `#include <string>
#include <vector>
namespace app { struct Base { virtual ~Base() {} virtual int f(int) = 0; }; template <class T> struct Box : Base { T value; int f(int x) override { if (x > 3) throw x; return x + (int)value; } }; }
int g(app::Base &b, int x) { try { return b.f(x); } catch (int y) { return y; } }
int main(int argc, char **) { app::Box<long> box; std::vector<std::string> v(argc); return g(box, argc) + (int)v.size(); }
`;
const rustSource =
  "struct P { x: i32, e: Option<u8> }\nfn add(p: &P, n: i32) -> i32 { p.x + n + p.e.unwrap_or(0) as i32 }\nfn main() { let p = P { x: 1, e: Some(3) }; std::process::exit(add(&p, 2)) }\n";

let elfs: readonly Seed[] | undefined;

/**
 * Programs and libraries as compilers make them in many ways, those that are here. Small: a large one is mostly alike.
 */
export function elfSeeds(): readonly Seed[] {
  return (elfs ??= built());
}

function built(): readonly Seed[] {
  const folder = mkdtempSync(join(tmpdir(), "strobe-fuzz-"));
  const made: Buffer[] = [];
  const make = (compiler: string, ending: string, text: string, ...options: string[]): void => {
    const from = join(folder, `program${ending}`);
    const to = join(folder, "out");
    writeFileSync(from, text);
    const { status } = spawnSync(compiler, [...options, "-o", to, from], {
      cwd: folder,
      stdio: "ignore",
      timeout: 300_000,
    });
    if (status === 0) made.push(readFileSync(to));
  };
  try {
    const usdt = existsSync("/usr/include/sys/sdt.h")
      ? source
      : source.replace(/#include.*\n/, "").replace(/DTRACE_PROBE2\([^;]*;/, "");
    for (const options of [
      ["-g", "-O1", "-Wl,--build-id"],
      ["-gdwarf-4", "-O2"],
      ["-g", "-gz=zlib"],
      ["-g", "-gsplit-dwarf"],
      ["-gdwarf-4", "-fdebug-types-section", "-O2"],
      ["-g", "-O2", "-c"],
      ["-gdwarf64", "-gdwarf-5"],
      ["-g", "-shared", "-fPIC"],
      ["-s", "-O2"],
      ["-g1", "-O2", "-m32", "-c"],
      ["-gdwarf-3", "-O1", "-static-pie", "-nostdlib"],
    ])
      make("gcc", ".c", usdt, ...options);
    make("clang", ".c", usdt, "-g", "-O2", "-gpubnames");
    make("g++", ".cc", plusSource, "-g", "-O1", "-c");
    make("rustc", ".rs", rustSource, "-g", "--emit=obj", "--crate-type=bin");
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const path of ["/bin/true", "/usr/lib/x86_64-linux-gnu/libdl.so.2"])
    if (existsSync(path)) made.push(readFileSync(path));
  made.push(
    Buffer.from(
      usdtObject("x86-64", "app", [
        {
          name: "one",
          parameters: [
            { size: 8, signed: false, float: false },
            { size: 4, signed: true, float: false },
          ],
        },
      ]),
    ),
  );
  return made.filter(({ length }) => length < 300_000).map((bytes) => ({ bytes, ranges: rangesOf(bytes) }));
}

let split: { readonly binary: Buffer; readonly files: readonly Seed[] } | undefined;

/** A program whose entries are in another file; that file, and the package that such files are put into. */
export function splitDwarf(): { readonly binary: Buffer; readonly files: readonly Seed[] } {
  if (split !== undefined) return split;
  const folder = mkdtempSync(join(tmpdir(), "strobe-fuzz-"));
  const run = (command: string, ...words: string[]): boolean =>
    spawnSync(command, words, { cwd: folder, stdio: "ignore", timeout: 300_000 }).status === 0;
  try {
    writeFileSync(join(folder, "program.c"), source.replace(/#include.*\n/, "").replace(/DTRACE_PROBE2\([^;]*;/, ""));
    if (
      !run("gcc", "-g", "-O1", "-gsplit-dwarf", "-gdwarf-4", "-c", "program.c") ||
      !run("gcc", "-o", "program", "program.o")
    )
      return (split = { binary: Buffer.alloc(0), files: [] });
    run("dwp", "program.dwo", "-o", "program.dwp");
    const files = ["program.dwo", "program.dwp"]
      .filter((name) => existsSync(join(folder, name)))
      .map((name) => readFileSync(join(folder, name)));
    return (split = {
      binary: readFileSync(join(folder, "program")),
      files: files.map((bytes) => ({ bytes, ranges: rangesOf(bytes) })),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The headers, and each section that says something. */
function rangesOf(bytes: Buffer): [number, number][] {
  const elf = new Elf(bytesOf(bytes));
  const table = Number(bytes.readBigUInt64LE(40));
  const sections = elf.sections.filter(
    ({ type, size, name }) => type !== 8 && size > 0 && !/^\.(text|rodata|data)$/.test(name),
  );
  const headers: [number, number][] = elf.wide
    ? [
        [0, 64],
        [64, 64 + elf.segments.length * 56],
        [table, bytes.length],
      ]
    : [[0, 52]];
  return [...headers, ...sections.map(({ offset, size }): [number, number] => [offset, offset + size])];
}

export function btfSeeds(): Seed[] {
  const writer = new BtfWriter();
  const int = writer.int("int", 4, { signed: true });
  const char = writer.int("char", 1);
  const names = writer.array(char, 16);
  const self = writer.struct("point", 40, [
    ["x", int, 0],
    ["name", names, 32],
    ["low", int, 160, 3],
  ]);
  const pointer = writer.pointer(self);
  writer.struct("list", 16, [
    ["next", pointer, 0],
    ["prev", pointer, 64],
  ]);
  writer.struct(
    "either",
    8,
    [
      ["a", int, 0],
      ["b", pointer, 0],
    ],
    true,
  );
  writer.enum("color", [
    ["RED", 0],
    ["BLUE", 5],
  ]);
  writer.enum64("big", [["HUGE", 1n << 40n]]);
  writer.forward("absent");
  writer.volatile(writer.typedef("point_t", self));
  return [{ bytes: Buffer.from(writer.bytes()) }];
}

/** Sections of programs, for what reads nothing but these. */
export function sectionSeeds(...names: readonly string[]): () => Seed[] {
  return () =>
    elfSeeds().flatMap(({ bytes }) => {
      const elf = new Elf(bytesOf(bytes));
      return elf.sections
        .filter(({ name, size }) => size > 0 && names.includes(name))
        .map((section) => ({ bytes: Buffer.from(elf.content(section)) }));
    });
}

export function packedSeeds(): Seed[] {
  const text = Buffer.from("strobe ".repeat(100));
  return spawnSync("xz", ["--version"]).status === 0
    ? [{ bytes: execFileSync("xz", ["-c"], { input: text }) }]
    : texts("\u00fd7zXZ\0");
}

export function loaderCacheSeeds(): Seed[] {
  const path = resolve("/etc/ld.so.cache");
  return existsSync(path) ? [{ bytes: readFileSync(path).subarray(0, 1 << 17) }] : texts("glibc-ld.so.cache1.1");
}
