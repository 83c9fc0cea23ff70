// `strobe leaks`: what programs took and did not give back, held against the programs' own counts, and valgrind's.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pmuType } from "../../src/linux/kernel/tracefs.ts";
import { interrupt, startStrobe, strobe, temporaryFolder } from "../support/strobe.ts";

const uprobes = process.geteuid?.() === 0 && pmuType("uprobe") !== undefined;
const options = { timeout: 300_000, skip: !uprobes && "needs root and uprobes" };
const valgrind = "/usr/bin/valgrind";
const folder = temporaryFolder();
const program = join(folder.path, "keeper");
const output = join(folder.path, "out.json");

const source = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#define HIDDEN __attribute__((noinline))
#define PAGE 4096ul
#define KEEP asm volatile("" ::: "memory")
void *kept[1000];
HIDDEN void *by_malloc(size_t n) { void *p = malloc(n); KEEP; return p; }
HIDDEN void *by_calloc(size_t n) { void *p = calloc(3, n); KEEP; return p; }
HIDDEN void *by_realloc(void *old, size_t n) { void *p = realloc(old, n); KEEP; return p; }
HIDDEN void *by_alignment(size_t n) { void *p; if (posix_memalign(&p, 64, n)) abort(); KEEP; return p; }
HIDDEN void *by_small_alignment(size_t n) { void *p = aligned_alloc(8, n); KEEP; return p; }
HIDDEN char *by_mmap(size_t n) { char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); KEEP; return p; }

HIDDEN int memory(void) {
  int n = 0;
  for (int i = 0; i < 10; i++) kept[n++] = by_malloc(100);
  for (int i = 0; i < 5; i++) kept[n++] = by_calloc(50);
  for (int i = 0; i < 20; i++) free(by_malloc(33));
  void *p = 0;
  for (int i = 1; i < 200; i++) p = by_realloc(p, i * 100);
  if (by_realloc(p, 1ul << 62)) abort();
  kept[n++] = p;
  kept[n++] = by_alignment(777);
  kept[n++] = by_small_alignment(16);
  free(by_realloc(by_malloc(5), 1000));
  if (by_realloc(by_malloc(7), 0)) abort();
  KEEP;
  return n;
}
HIDDEN void holes(void) { char *a = by_mmap(10 * PAGE); munmap(a, PAGE); munmap(a + 9 * PAGE, PAGE); munmap(a + 4 * PAGE, 2 * PAGE - 1); KEEP; }
HIDDEN void within(void) { char *a = by_mmap(6 * PAGE); mmap(a + PAGE, 2 * PAGE, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); munmap(a, PAGE); KEEP; }
HIDDEN void moved(void) { char *a = by_mmap(3 * PAGE + 5); mremap(a, 4 * PAGE, 64 * PAGE, MREMAP_MAYMOVE); KEEP; }
int open_now(void) { int n = 0; for (int i = 0; i < 1000; i++) n += fcntl(i, F_GETFD) >= 0; return n; }
HIDDEN int descriptors(void) {
  int p[2], s[2], before = open_now();
  if (pipe(p)) abort();
  close(p[0]);
  int d = dup(p[1]);
  dup2(d, 900); dup2(900, 900); dup2(p[1], 900);
  fcntl(d, F_DUPFD, 500);
  close_range(400, 600, 0);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, s)) abort();
  open("/etc/passwd", O_RDONLY);
  open("/does/not/exist", O_RDONLY);
  close(socket(AF_UNIX, SOCK_STREAM, 0));
  for (int i = 0; i < 3; i++) eventfd(0, 0);
  KEEP;
  return open_now() - before;
}
HIDDEN void events(void) { for (int i = 0; i < 80; i++) { int e = eventfd(0, 0); if (i % 8 >= 5) close(e); } KEEP; }

struct conn { int references; } conns[4];
HIDDEN struct conn *conn_get(long why, struct conn *c) { c->references++; KEEP; return c; }
HIDDEN void conn_put(struct conn *c) { KEEP; c->references--; }
HIDDEN void careful(struct conn *c) { conn_get(1, c); conn_put(c); KEEP; }
HIDDEN void careless(struct conn *c) { conn_get(2, c); KEEP; }

int main(int argc, char **argv) {
  if (argc > 2) { char byte; if (read(0, &byte, 1) < 0) return 1; }
  if (!strcmp(argv[1], "memory")) {
    int child = argc > 2 ? 0 : fork();
    if (child) { waitpid(child, 0, 0); }
    printf("%d\\n", memory());
    for (int i = 0; i < 1000; i++) if (argc > 2) free(kept[i]);
  } else if (!strcmp(argv[1], "mappings")) { holes(); within(); moved(); by_mmap(PAGE); }
  else if (!strcmp(argv[1], "files")) printf("%d\\n", descriptors());
  else if (!strcmp(argv[1], "events")) { events(); if (read(0, argv[0], 1) < 0) return 1; }
  else {
    for (int i = 0; i < 100; i++) careful(&conns[i % 4]);
    for (int i = 0; i < 7; i++) careless(&conns[2]);
    careless(&conns[3]); careless(&conns[3]); conn_put(&conns[3]);
    for (int i = 0; i < 4; i++) printf("%p %d\\n", &conns[i], conns[i].references);
  }
  fflush(stdout);
  _exit(0);
}
`;

before(() => {
  writeFileSync(`${program}.c`, source);
  if (uprobes) execFileSync("gcc", ["-g", "-O1", "-w", "-o", program, `${program}.c`]);
});
after(() => folder.remove());

interface Kept {
  readonly bytes: number;
  readonly pieces: number;
}

const piece = (bytes: number, pieces: number): Kept => ({ bytes, pieces });

/** The entries of a map that was written as JSON lines. */
function entries(map: string, file = output): readonly (readonly [key: string, value: unknown])[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith('{"type": "map"'))
    .flatMap((line) => {
      const { data } = JSON.parse(line) as { readonly data: Record<string, Record<string, unknown>> };
      return Object.entries(data[map] ?? {});
    });
}

/** Whose stacks name one of these functions: what it kept. */
function keptBy(all: ReturnType<typeof entries>): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [stack, value] of all) {
    const name = /\b(by_\w+|holes|within|moved|descriptors)\b/.exec(stack)?.[1];
    if (name !== undefined) found[name] = name in found ? [found[name], value].flat() : value;
  }
  return found;
}

async function leaks(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await strobe(["leaks", "-q", "-f", "json", "-o", output, ...args]);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  return stdout;
}

test("memory that a command and its child keep, by each way to ask for it", { ...options }, async () => {
  await leaks(["-c", `${program} memory`]);
  const own = keptBy(entries("@kept"));
  assert.deepEqual(own, {
    by_malloc: [piece(1000, 10), piece(1000, 10)],
    by_calloc: [piece(750, 5), piece(750, 5)],
    by_realloc: [piece(19_900, 1), piece(19_900, 1)],
    by_alignment: [piece(777, 1), piece(777, 1)],
    by_small_alignment: [piece(16, 1), piece(16, 1)],
  });
});

test("a command that gives everything back keeps nothing", { ...options }, async () => {
  await leaks(["-c", `${program} memory freed`]);
  assert.deepEqual(keptBy(entries("@kept")), {});
});

test(
  "programs that others wrote: as valgrind counts",
  {
    ...options,
    skip: options.skip || (!existsSync(valgrind) && "needs valgrind"),
  },
  async () => {
    const numbers = join(folder.path, "numbers");
    writeFileSync(numbers, Array.from({ length: 2000 }, (_, i) => `${i}\n`).join(""));
    for (const command of [
      ["sort", "-r", numbers],
      ["sed", "s/1/2/", numbers],
      ["grep", "-c", "1", numbers],
    ]) {
      const { stderr } = spawnSync(valgrind, ["--leak-check=no", "--run-libc-freeres=no", ...command], {
        encoding: "utf8",
      });
      const [, bytes, blocks] = /in use at exit: ([\d,]+) bytes in ([\d,]+) blocks/.exec(stderr) ?? [];
      await leaks(["-c", command.join(" ")]);
      const kept = entries("@kept").map(([, value]) => value as Kept);
      const sum = { bytes: 0, pieces: 0 };
      for (const one of kept) {
        sum.bytes += one.bytes;
        sum.pieces += one.pieces;
      }
      assert.deepEqual(
        sum,
        { bytes: Number(bytes.replaceAll(",", "")), pieces: Number(blocks.replaceAll(",", "")) },
        command[0],
      );
    }
  },
);

test("mappings, with what was cut out of them", { ...options }, async () => {
  await leaks(["mappings", "-c", `${program} mappings`]);
  const kept = keptBy(entries("@kept"));
  const page = 4096;
  // by_mmap stands for what holes(), within() and main() mapped through it.
  const mapped = (kept["by_mmap"] as Kept[]).map(({ bytes, pieces }) => `${bytes / page} in ${pieces}`);
  assert.deepEqual(mapped.sort(), ["1 in 1", "3 in 1", "6 in 2"]);
  assert.deepEqual(kept["within"], { bytes: 2 * page, pieces: 1 });
  assert.deepEqual(kept["moved"], { bytes: 64 * page, pieces: 1 });
});

test("descriptors, as many as the program has", { ...options }, async () => {
  const own = Number(await leaks(["files", "-c", `${program} files`]));
  const kept = entries("@kept").filter(([stack]) => stack.includes("descriptors"));
  assert.equal(own, 9);
  assert.equal(
    kept.reduce((sum, [, value]) => sum + Number(value), 0),
    own,
  );
});

test("objects of the kernel's slab caches", { ...options }, async () => {
  const running = startStrobe(["leaks", "slab", "--comm", "keeper", "-f", "text", "-f", `json=${output}`]);
  await running.attached;
  const child = spawn(program, ["events"], { stdio: ["pipe", "ignore", "ignore"] });
  await new Promise((done) => setTimeout(done, 1500));
  const { code } = await interrupt(running);
  child.stdin.end();
  assert.equal(code, 0);
  // struct eventfd_ctx: one for each that is open.
  const contexts = entries("@kept").filter(([stack]) => /^\w+,\s*__k\w+\+\d+,?\s+do_eventfd\+/.test(stack));
  assert.deepEqual(
    contexts.map(([, value]) => (value as Kept).pieces),
    [50],
    String(entries("@kept").map(([stack]) => stack)),
  );
});

test("references that functions take and give back", { ...options }, async () => {
  const printed = await leaks([
    "-c",
    `${program} references`,
    `get=uprobe:${program}:conn_get args.c`,
    `put=uprobe:${program}:conn_put`,
  ]);
  const own = printed
    .trim()
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, left]) => left !== "0");
  const left = entries("@left").map(([object, value]) => [object, String((value as { left: number }).left)]);
  assert.deepEqual(new Map(left as [string, string][]), new Map(own as [string, string][]));
  const takers = entries("@taken_by")
    .filter(([stack]) => stack.includes("careless"))
    .map(([, count]) => count);
  assert.deepEqual(
    takers.map(Number).sort((a, b) => a - b),
    [1, 1, 7],
  );
});

test("what makes no sense is told", { ...options }, async () => {
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [["memoy"], 'strobe leaks takes one of memory, mappings, files, slab, not "memoy"'],
    [["files", "slab"], 'strobe leaks takes one of memory, mappings, files, slab, got "slab" as well'],
    [["--kernel", "get=igrab"], "put= is missing: strobe leaks --kernel get=FUNCTION put=FUNCTION"],
    [["get=igrab", "put=iput"], "get=igrab needs --kernel, or a probe: get=uprobe:PROGRAM:FUNCTION"],
    [
      ["--kernel", "get=igrab", "put=uprobe:libc:free"],
      "functions of the kernel and of programs have no objects in common: ask for either",
    ],
    [
      ["--library", "libm", "-p", "1"],
      "there is no malloc and no free in libm: --library names the library or program that has the allocator",
    ],
    [["--older", "soon"], '--older takes a time such as 50us, 10ms or 2s, not "soon"'],
    [["--room", "0"], '--room takes a whole number from 1 on, not "0"'],
    [["-e", "begin { }"], "strobe leaks writes its script itself: it takes no -e"],
  ];
  for (const [args, message] of wrong) {
    const { stderr, code } = await strobe(["leaks", ...args]);
    assert.equal(stderr, `strobe: ${message}\n(strobe -h shows the options)\n`);
    assert.equal(code, 1);
  }
});
