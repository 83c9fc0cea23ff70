// Thread-local variables of libraries: each thread's own, whichever way the library asks for them, and from before it
// does.
import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Elf } from "../../src/debuginfo/elf.ts";
import { libraryThreadLocals } from "../../src/debuginfo/thread-locals.ts";
import { FileBytes } from "../../src/machine/binaries/file-bytes.ts";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const atStart = bpfObjects();
const copies = 24;
let program = "";

const librarySource = `
struct pair { int a, b; };
static __thread int mine = 5;
__thread long shown = -70;
static __thread struct pair both = { 3, 4 };
static __thread char text[16];
static __thread int zero;
__attribute__((noinline)) void lib_look(int n) { __asm__ volatile("" : : "r"(n) : "memory"); }
__attribute__((noinline)) void lib_use(int n)
{
  mine += n; shown -= n; both.a -= n; both.b += n; zero += n; text[0] = 'a' + n; text[1] = 'z';
  lib_look(n);
}`;

/**
 * Looks and uses in three threads that begin later, in one that began before any library was there, and in its first.
 */
const programSource = `
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void (*use)(int), (*look)(int);
static int ready[2];
static void *thread(void *arg)
{
  int n = (int)(long)arg;
  char byte;
  if (n == 7) read(ready[0], &byte, 1);
  look(n); use(n); use(n);
  return 0;
}
int main(int argc, char **argv)
{
  pthread_t early, late;
  void *library = 0;
  pipe(ready);
  pthread_create(&early, 0, thread, (void *)7L);
  for (int i = 1; i < argc; i++) library = dlopen(argv[i], RTLD_NOW);
  if (!library) { fprintf(stderr, "%s\\n", dlerror()); return 1; }
  use = (void (*)(int))dlsym(library, "lib_use");
  look = (void (*)(int))dlsym(library, "lib_look");
  for (long n = 1; n <= 3; n++) { pthread_create(&late, 0, thread, (void *)n); pthread_join(late, 0); }
  write(ready[1], "", 1);
  pthread_join(early, 0);
  look(9); use(4);
  return 0;
}`;

const state = (n: number, times: number): string =>
  `${n}: ${5 + n * times} ${-70 - n * times} ${3 - n * times} ${4 + n * times} ${n * times} ${times === 0 ? "" : `${String.fromCharCode(97 + n)}z`}`;
const expected = [...[1, 2, 3, 7].flatMap((n) => [state(n, 0), state(n, 1), state(n, 2)]), state(9, 0), state(4, 1)];
const script = (library: string): string => `uprobe:${library}:lib_look {
  printf("%d: %d %d %d %d %d %s\\n", arg0, var("mine"), var("shown"), var("both").a, var("both").b, var("zero"), str(var("text")));
}`;

before(() => {
  program = compileC(folder.path, "program", programSource, ["-O1", "-pthread"]);
});
after(async () => {
  await nothingLeft(atStart);
  folder.remove();
});

async function seen(library: string, command: string): Promise<string[]> {
  const output = join(folder.path, "output");
  const { stderr, code } = await strobe(["-q", "-o", output, "-c", command, "-e", script(library)]);
  assert.equal(stderr, "");
  assert.equal(code, 0);
  return readFileSync(output, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (line.endsWith(" ") ? line : line.trimEnd()));
}

function library(name: string, ...flags: readonly string[]): string {
  return compileC(folder.path, `lib${name}.so`, librarySource, ["-O0", "-g", "-shared", "-fPIC", ...flags]);
}

for (const [name, flags, kind] of [
  ["general", [], "module"],
  ["initial", ["-ftls-model=initial-exec"], "offset"],
  ["descriptors", ["-mtls-dialect=gnu2"], "descriptor"],
] as const) {
  test(
    `a library that is opened, by its ${kind}`,
    { skip: process.arch === "x64" ? false : "x86-64 only" },
    async () => {
      const path = library(name, ...flags);
      assert.equal(libraryThreadLocals(new Elf(new FileBytes(path)))?.kind, kind);
      assert.deepEqual(await seen(path, `${program} ${path}`), expected);
    },
  );

  test(
    `a library that the program comes with, by its ${kind}`,
    { skip: process.arch === "x64" ? false : "x86-64 only" },
    async () => {
      const path = library(`with-${name}`, ...flags);
      const own = compileC(folder.path, `with-${name}`, programSource, ["-O1", "-pthread", "-Wl,--no-as-needed", path]);
      assert.deepEqual(await seen(path, `${own} ${path}`), expected);
    },
  );
}

test(
  "the last of many libraries: of a number beyond those that a thread knows",
  { skip: process.arch === "x64" ? false : "x86-64 only" },
  async () => {
    for (const [name, flags] of [
      ["many-general", []],
      ["many-descriptors", ["-mtls-dialect=gnu2"]],
    ] as const) {
      const path = library(name, ...flags);
      const all = Array.from({ length: copies }, (_, i) => {
        const copy = join(folder.path, `lib${name}-${i}.so`);
        copyFileSync(path, copy);
        return copy;
      });
      assert.deepEqual(await seen(all.at(-1)!, `${program} ${all.join(" ")}`), expected);
    }
  },
);

test("executables as before, and a library that never asks for its own says so", async () => {
  const path = compileC(
    folder.path,
    "own",
    `${librarySource}\nint main(void) { lib_look(0); lib_use(1); lib_use(1); return 0; }`,
    ["-O0", "-g"],
  );
  assert.deepEqual(await seen(path, path), [state(0, 0), state(1, 1), state(1, 2)]);
  const silent = compileC(
    folder.path,
    "libsilent.so",
    "static __thread int never __attribute__((used)) = 3; int f(int n) { return n; }",
    ["-O0", "-g", "-shared", "-fPIC"],
  );
  const { stderr, code } = await strobe(["-e", `uprobe:${silent}:f { print(var("never")) }`]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /`never` is in a library's thread-local storage, and nothing in the library tells where that is/,
  );
});

test("where a function returns", { skip: process.arch === "x64" ? false : "x86-64 only" }, async () => {
  const path = library("returning");
  const output = join(folder.path, "output");
  await strobe([
    "-q",
    "-o",
    output,
    "-c",
    `${program} ${path}`,
    "-e",
    `uretprobe:${path}:lib_use { printf("%d %d\\n", var("mine"), var("zero")); }`,
  ]);
  assert.deepEqual(
    readFileSync(output, "utf8").trim().split("\n"),
    [1, 2, 3, 7].flatMap((n) => [`${5 + n} ${n}`, `${5 + 2 * n} ${2 * n}`]).concat("9 4"),
  );
});

test("musl's are said to be out of reach", { skip: process.arch === "x64" ? false : "x86-64 only" }, async () => {
  compileC(folder.path, "libc.so", "void *__tls_get_addr(void *at) { return at; }", [
    "-shared",
    "-fPIC",
    "-nostdlib",
    "-Wl,-soname,libc.so",
  ]);
  const path = library("of-musl", "-nostdlib", `-L${folder.path}`, "-Wl,--no-as-needed", join(folder.path, "libc.so"));
  const { stderr, code } = await strobe(["-e", `uprobe:${path}:lib_use { print(var("mine")) }`]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /`mine` is in a library's thread-local storage, which strobe finds with glibc only, not with musl/,
  );
});
