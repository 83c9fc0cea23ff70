// Probes inside functions of programs: single instructions, and returns in place.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const skip = process.arch === "x64" ? false : "x86-64 only";

/** A function whose every instruction is known: `turns` is run 10 times, with 7 turns of its loop each. */
const turnsSource = `
#include <stdio.h>
int turns(int n);
__asm__(
".text\\n.globl turns\\n.type turns, @function\\n"
"turns:\\n"
"  xorl %eax, %eax\\n"            /* 0 */
"  leaq counter(%rip), %rdx\\n"   /* 2 */
"1: addl %edi, %eax\\n"           /* 9 */
"  addl $1, (%rdx)\\n"            /* 11 */
"  lock incl 4(%rdx)\\n"          /* 14 */
"  pushq %rax\\n"                 /* 18 */
"  popq %rax\\n"                  /* 19 */
"  decl %edi\\n"                  /* 20 */
"  jnz 1b\\n"                     /* 22 */
"  cmpl $28, %eax\\n"             /* 24 */
"  jne 2f\\n"                     /* 27 */
"  ret\\n"                        /* 29 */
"2: xorl %eax, %eax\\n"           /* 30 */
"  ret\\n"                        /* 32 */
".size turns, .-turns\\n");
int counter[2];
int main(void) { int sum = 0; for (int i = 0; i < 10; i++) sum += turns(7); printf("%d %d %d\\n", sum, counter[0], counter[1]); return 0; }
`;

/** Instructions of all sorts, among them those that the kernel steps over in its own ways. */
const mixedSource = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
long counter; char from[64] = "abcdefghijklmnopqrstuvwxyz", to[64]; double weights[4] = { 0.5, 1.5, 2.5, 3.5 };
__attribute__((noinline)) long mixed(long n) {
  long flags, result, count = 26; void *d = to, *s = from;
  __asm__ volatile("lock incq %0" : "+m"(counter));
  __asm__ volatile("pushfq; popq %0" : "=r"(flags) :: "cc");
  __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(count) :: "memory");
  __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_getppid) : "rcx", "r11", "memory");
  __asm__ volatile("endbr64; rdtsc; mfence; nopw %%cs:0(%%rax,%%rax); cpuid" ::: "rax", "rdx", "rbx", "rcx");
  double w = weights[n % 4] * n; for (int i = 0; i < n % 3; i++) w += weights[i] / (i + 1);
  return ((flags & 0x100) ? 1000000 : 0) + n + (result == getppid()) + strlen(to) + (long)w;
}
__attribute__((noinline)) int chosen(int k) {
  switch (k) { case 0: return 11; case 1: return puts("one"); case 2: return 44; case 3: return 5 * counter; case 4: return 9; case 5: return getpid() > 0; default: return -1; }
}
int main(int argc, char **argv) {
  long sum = 0; int n = atoi(argv[1]);
  for (int i = 0; i < n; i++) sum += mixed(i) + chosen(i % 8);
  printf("%ld %ld\\n", sum, counter);
  return 0;
}
`;

/** What is returned is also written down: a line "NAME COUNT SUM" a function. */
const returnsSource = `
#include <stdio.h>
#include <stdlib.h>
struct ops { int (*call)(int); };
long count[4], sum[4];
#define NOTED(i, value) ({ int noted = (value); count[i]++; sum[i] += noted; noted; })
__attribute__((noinline)) int leaf(int x) { return NOTED(0, x + 1); }
__attribute__((noinline)) int tail(int x) { if (x % 3 == 0) return NOTED(1, 7); return leaf(x * 2); }
__attribute__((noinline)) int through(struct ops *o, int x) { return o->call(x); }
__attribute__((noinline)) int many(int x) {
  switch (x % 7) {
  case 0: return NOTED(2, 100);
  case 1: return NOTED(2, leaf(x) * 2);
  case 2: if (x > 50) return NOTED(2, -1); return NOTED(2, 3);
  case 3: return NOTED(2, x * x);
  case 4: fflush(stdout); return NOTED(2, 4);
  case 5: return NOTED(2, 8 * leaf(x));
  default: return NOTED(2, 9);
  }
}
__attribute__((noinline)) int rare(int x) {
  if (__builtin_expect(x < 0, 0)) { fprintf(stderr, "negative"); if (x == -2) abort(); return NOTED(3, -5); }
  return NOTED(3, x);
}
int main(int argc, char **argv) {
  struct ops ops = { leaf }; int n = atoi(argv[1]); long all = 0;
  for (int i = 0; i < n; i++) all += tail(i) + through(&ops, i) + many(i) + rare(i == 3 ? -1 : i);
  const char *names[] = { "leaf", "tail", "many", "rare" };
  for (int i = 0; i < 4; i++) printf("%s %ld %ld\\n", names[i], count[i], sum[i]);
  return all == 1;
}
`;

const folder = temporaryFolder();
let turns = "",
  mixed = "",
  objects = "";

before(() => {
  if (skip) return;
  turns = compileC(folder.path, "turns", turnsSource, ["-O1"]);
  mixed = compileC(folder.path, "mixed", mixedSource, ["-O2", "-fcf-protection=full"]);
  objects = bpfObjects();
});
after(async () => {
  if (!skip) await nothingLeft(objects);
  folder.remove();
});

/** What a script prints over a command, and what the command does. */
async function over(command: string, script: string): Promise<{ printed: string; command: string; stderr: string }> {
  const output = join(folder.path, "output");
  const { stdout, stderr, code } = await strobe(["-o", output, "-c", command, "-e", script]);
  assert.equal(code, 0, stderr);
  return {
    printed: readFileSync(output, "utf8").trim(),
    command: stdout,
    stderr: stderr.replace(/^Attached \d+ probes?\n/m, ""),
  };
}

const alone = (command: string, ...args: string[]): string => spawnSync(command, args, { encoding: "utf8" }).stdout;

test(
  "every instruction is counted exactly, but the one that the kernel refuses, which is named",
  { skip },
  async () => {
    const { printed, command, stderr } = await over(turns, `insn:${turns}:turns:* { @[probe] = count(); }`);
    const counts = Object.fromEntries(
      [...printed.matchAll(/turns:(\d+)\]: (\d+)/g)].map(([, offset, count]) => [offset, Number(count)]),
    );
    assert.deepEqual(counts, { 0: 10, 2: 10, 9: 70, 11: 70, 18: 70, 19: 70, 20: 70, 22: 70, 24: 10, 27: 10, 29: 10 });
    assert.equal(command, "280 70 70\n");
    assert.match(stderr, /warning: 1 of 14 instructions of `turns` cannot be probed/);
    assert.match(stderr, /turns:14 `lock incl 4\(%rdx\)`: the kernel refuses the prefix `lock`/);
  },
);

test("one instruction, by an offset of either base, with registers", { skip }, async () => {
  for (const place of ["turns:20", "turns:0x14"]) {
    const { printed, stderr } = await over(
      turns,
      `insn:${turns}:${place} { @eax = sum(reg("ax")); @n[func] = count(); }`,
    );
    // 7, 7+6, 7+6+5 …: the sums so far, ten times.
    assert.deepEqual(printed.split(/\n+/), [`@eax: ${10 * (7 + 13 + 18 + 22 + 25 + 27 + 28)}`, "@n[turns]: 70"]);
    assert.equal(stderr, "");
  }
});

test("the disassembly is listed with offsets", { skip }, async () => {
  const { stdout } = await strobe(["-lv", `insn:${turns}:turns:*`]);
  assert.match(
    stdout,
    new RegExp(
      `^insn:${turns}:turns:9\n {4}add %edi, %eax\ninsn:${turns}:turns:11\n {4}addl \\$1, \\(%rdx\\)\ninsn:${turns}:turns:14\n {4}lock incl 4\\(%rdx\\)\n {4}cannot be probed: the kernel refuses the prefix \`lock\`\n`,
      "m",
    ),
  );
  assert.match(stdout, /turns:22\n {4}jne turns\+9\n/);
  const { stdout: plain } = await strobe(["-l", `insn:${turns}:turns:*`]);
  assert.deepEqual(
    plain
      .trim()
      .split("\n")
      .map((line) => line.split(":").at(-1)),
    ["0", "2", "9", "11", "18", "19", "20", "22", "24", "27", "29", "30", "32"],
  );
});

test("places that cannot be probed are refused with the reason", { skip }, async () => {
  const complaint = async (probe: string): Promise<string> => {
    const { stderr, code } = await strobe(["-e", `${probe} { }`]);
    assert.equal(code, 1);
    return stderr;
  };
  assert.match(await complaint(`insn:${turns}:turns:10`), /turns:10 is inside an instruction, which begins at turns:9/);
  assert.match(
    await complaint(`insn:${turns}:turns:14`),
    /`lock incl 4\(%rdx\)` at turns:14 cannot be probed: the kernel refuses the prefix `lock`/,
  );
  assert.match(await complaint(`insn:${turns}:turns:100`), /`turns` has only 33 bytes/);
  assert.match(
    await complaint(`insn:${turns}:turn:*`),
    /there is no function `turn` in .*\n.*\n.*\nhelp: did you mean `turns`\?/,
  );
  assert.match(await complaint(`insn:${turns}:turns:x`), /does not say what to probe/);
});

test("a program does the same with a probe on each instruction of its functions", { skip }, async () => {
  const { command, printed } = await over(
    `${mixed} 24`,
    `insn:${mixed}:mixed:*, insn:${mixed}:chosen:* { @ = count(); } insn:${mixed}:mixed:0 { @calls = count(); }`,
  );
  assert.equal(command, alone(mixed, "24"));
  assert.match(printed, /^@calls: 24$/m);
});

for (const level of ["-O0", "-O1", "-O2", "-O3"]) {
  test(`returns and what is returned are exact at ${level}`, { skip }, async () => {
    const program = compileC(folder.path, `returns${level}`, returnsSource, [level, "-g"]);
    const probe = (name: string): string =>
      `ret:${program}:${name} { @n["${name}"] = count(); @sum["${name}"] = sum((int32)retval); }\n`;
    const { printed, command, stderr } = await over(
      `${program} 100`,
      ["leaf", "tail", "many", "rare"].map(probe).join(""),
    );
    const value = (map: string, name: string): number =>
      Number(new RegExp(`^@${map}\\[${name}\\]: (-?\\d+)$`, "m").exec(printed)?.[1]);
    const truth = command
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
    assert.deepEqual(
      truth.map(([name]) => name),
      ["leaf", "tail", "many", "rare"],
    );
    // Where a tail call is a call, its caller returns as well.
    const jumps = stderr.includes("`tail` to `leaf`");
    assert.equal(jumps, level === "-O2" || level === "-O3");
    for (const [name, count, sum] of truth) {
      if (name === "tail" && !jumps) assert.equal(value("n", name), 100);
      else assert.deepEqual([name, value("n", name), value("sum", name)], [name, Number(count), Number(sum)]);
    }
  });
}

test("a function that only jumps to others has no returns, and that is said", { skip }, async () => {
  const program = compileC(folder.path, "jumps", returnsSource, ["-O2"]);
  const { stderr, code } = await strobe(["-e", `ret:${program}:through { }`]);
  assert.equal(code, 1);
  assert.match(stderr, /`through` has no return instruction: it ends with a jump to a function through a pointer/);
  const { stdout } = await strobe(["-lv", `ret:${program}:t*`]);
  assert.match(stdout, /:tail\n {4}returns at [\d, ]+\n {4}jumps to leaf\n/);
});

const variablesSource = `
#include <stdio.h>
struct point { int x, y; };
__attribute__((noinline)) struct point *make(struct point *p, int n) {
  int total = 0;
  for (int i = 0; i < n; i++) total += i * n;
  p->x = total; p->y = n;
  return p;
}
int main(void) { struct point p; long sum = 0; for (int i = 0; i < 10; i++) sum += make(&p, i)->x; printf("%ld\\n", sum); return 0; }
`;

test("variables are known at instructions, and results by their types at returns", { skip }, async () => {
  const program = compileC(folder.path, "variables", variablesSource, ["-O0", "-g"]);
  const { stdout } = await strobe(["-lv", `insn:${program}:make:*`]);
  // i++ of the loop.
  const [, place = ""] = /^insn:\S*:(make:\d+)\n {4}addl \$1, -?\w+\(%rbp\)$/m.exec(stdout) ?? [];
  const { printed, command } = await over(
    program,
    `
    insn:${program}:${place} { @turns[var("n")] = sum(var("i")); }
    ret:${program}:make { @x = sum(retval.x); @y = max(retval.y); }`,
  );
  const lines = printed.split(/\n+/);
  assert.ok(lines.includes(`@x: ${command.trim()}`) && lines.includes("@y: 9"), printed);
  // 0 + 1 + … before n.
  assert.deepEqual(
    lines.filter((line) => line.startsWith("@turns")).sort(),
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `@turns[${n}]: ${(n * (n - 1)) / 2}`),
  );
});

// ── calls through the linkage table ──

const callsSource = `
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]); long sum = 0;
  for (int i = 0; i < n; i++) { char *p = malloc(i + 1); memset(p, 1, i); p[i] = 0; sum += strlen(p); free(p); }
  printf("%ld\\n", sum);
  return 0;
}
`;

for (const [name, ...flags] of [
  ["lazy", "-Wl,-z,lazy"],
  ["now", "-Wl,-z,now"],
  ["landing-pads", "-fcf-protection=full", "-Wl,-z,ibtplt"],
  ["fixed", "-no-pie"],
]) {
  test(`calls of imported functions are counted where they are made: ${name}`, { skip }, async () => {
    const program = compileC(folder.path, `calls-${name}`, callsSource, ["-O1", "-fno-builtin", ...flags]);
    const { printed, command } = await over(
      `${program} 100`,
      `plt:${program}:malloc { @bytes = sum(arg0); @f[func] = count(); } plt:${program}:* { @[probe] = count(); }`,
    );
    assert.equal(command, "4950\n");
    assert.match(printed, /^@bytes: 5050$/m);
    assert.match(printed, /^@f\[malloc\]: 100$/m);
    const counts = Object.fromEntries(
      [...printed.matchAll(/:(\w+)\]: (\d+)$/gm)].map(([, of, count]) => [of, Number(count)]),
    );
    // What starting and ending make of it is the C library's affair.
    for (const of of ["__cxa_finalize", "atoi", "strtol"]) delete counts[of];
    assert.deepEqual(counts, { free: 100, malloc: 100, memset: 100, printf: 1, strlen: 100 });
  });
}

test("calls that go around the linkage table are not there to probe, and that is said", { skip }, async () => {
  const program = compileC(folder.path, "calls-noplt", callsSource, ["-O1", "-fno-builtin", "-fno-plt"]);
  const { stderr, code } = await strobe(["-e", `plt:${program}:malloc { }`]);
  assert.equal(code, 1);
  assert.match(stderr, /has no linkage table entry of `malloc`|has no linkage table/);
});

// ── Go ──

const goSource = `package main

import "fmt"

type Server struct{ n int }

//go:noinline
func (s *Server) handle(a int, b string) (int, string) {
	if a%2 == 0 {
		return a * s.n, b
	}
	return -a, b + "!"
}

//go:noinline
func add(a, b int) int { return a + b }

//go:noinline
func Pick[T any](x T, f func(T) int) int { return f(x) }

func main() {
	s := &Server{3}
	done := make(chan int)
	for g := 0; g < 4; g++ {
		go func() {
			t := 0
			for i := 0; i < 25; i++ {
				r, _ := s.handle(i, "x")
				t = add(t, r)
			}
			done <- t
		}()
	}
	t := 0
	for g := 0; g < 4; g++ {
		t += <-done
	}
	fmt.Println(t + Pick(4, func(x int) int { return x * 2 }) + Pick("ab", func(x string) int { return len(x) }) - 10)
}
`;

const skipGo = skip !== false ? skip : spawnSync("go", ["version"]).status === 0 ? false : "needs go";

function compileGo(name: string, ...flags: readonly string[]): string {
  writeFileSync(join(folder.path, "main.go"), goSource);
  const path = join(folder.path, name);
  const { status, stderr } = spawnSync("go", ["build", ...flags, "-o", path, "main.go"], {
    cwd: folder.path,
    encoding: "utf8",
    env: { ...process.env, GO111MODULE: "off", GOFLAGS: "" },
  });
  assert.equal(status, 0, stderr);
  return path;
}

for (const [name, ...flags] of [["go"], ["go-stripped", "-ldflags=-s -w"]]) {
  test(`what Go functions return is exact: ${name}`, { skip: skipGo }, async () => {
    const program = compileGo(name, ...flags);
    const { printed, command } = await over(
      program,
      `
      ret:${program}:main.(*Server).handle { @sum = sum((int64)retval); @length[reg("cx")] = count(); @of[goid] = count(); @f[func] = count(); }
      uprobe:${program}:main.add { @second = sum((int64)arg1); @called[func] = count(); }
      end { print(len(@of)); clear(@of); }`,
    );
    // Twice the sum of 3a over even a below 25, less that of odd a; four goroutines.
    const sum = 4 * (3 * (12 * 13) - 12 * 12);
    assert.equal(command, `${sum}\n`);
    assert.deepEqual(
      printed.split(/\n+/).filter((line) => line !== ""),
      [
        "4",
        "@called[main.add]: 100",
        "@f[main.(*Server).handle]: 100",
        "@length[2]: 48",
        "@length[1]: 52",
        `@second: ${sum}`,
        `@sum: ${sum}`,
      ],
    );
  });
}

test(
  "a generic Go function of a stripped program goes by the name that all its instances have",
  { skip: skipGo },
  async () => {
    const program = compileGo("go-generic", "-ldflags=-s -w");
    const { printed } = await over(
      program,
      `uprobe:${program}:main.Pick[...] { @in = count(); } ret:${program}:main.Pick[...] { @out = count(); }`,
    );
    assert.match(printed, /^@in: [23]\n+@out: 2$/);
  },
);

test("a uretprobe of a Go function is at its return instructions, and says so", { skip: skipGo }, async () => {
  const program = compileGo("go-in-place", "-ldflags=-s -w");
  const { stdout, stderr, code } = await strobe([
    "-c",
    program,
    "-e",
    `uretprobe:${program}:main.add { @ = count(); @sum = sum((int64)retval); } ret:${program}:main.add { @ret = count(); @retsum = sum((int64)retval); }`,
  ]);
  assert.equal(code, 0, stderr);
  assert.match(
    stderr,
    /warning: returns are probed at the function's return instructions, as by `ret:`: `main\.add` is a Go function, and a return trampoline on its stack would crash the program/,
  );
  const [, printed] = /^(-?\d+)$/m.exec(stdout) ?? [];
  const value = (name: string): string | undefined => new RegExp(`^@${name}: (.*)$`, "m").exec(stdout)?.[1];
  assert.notEqual(printed, undefined);
  assert.equal(value(""), "100");
  assert.equal(value("ret"), "100");
  assert.equal(value("sum"), value("retsum"));
});

test("each instruction runs as often as a debugger counts", { skip }, async () => {
  const source = `
__attribute__((noinline)) int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * n; return s; }
int main(void) { int t = 0; for (int i = 0; i < 10; i++) t += work(i); return t == 1; }
`;
  const program = compileC(folder.path, "counted", source, ["-O1"]);
  const text = alone("objdump", "-d", "--no-show-raw-insn", "--disassemble=work", program);
  const addresses = [...text.matchAll(/^ *([0-9a-f]+):\t/gm)].map(([, address = ""]) => Number.parseInt(address, 16));
  const offsets = addresses.map((address) => address - (addresses[0] ?? 0));
  const commands = [
    ...offsets.map((offset) => `break *(work+${offset})`),
    ...offsets.map((_, i) => `ignore ${i + 1} 1000000`),
    "run",
    "info breakpoints",
  ];
  const said = alone("gdb", "-batch", "-nx", ...commands.flatMap((command) => ["-ex", command]), program);
  const hits = said
    .split(/^\d+ +breakpoint/m)
    .slice(1)
    .map((one) => Number(/already hit (\d+) time/.exec(one)?.[1] ?? 0));
  assert.equal(hits.length, offsets.length, said);
  const { printed } = await over(program, `insn:${program}:work:* { @[probe] = count(); }`);
  const counts = new Map(
    [...printed.matchAll(/work:(\d+)\]: (\d+)/g)].map(([, offset, count]) => [Number(offset), Number(count)]),
  );
  assert.deepEqual(
    counts,
    new Map(offsets.map((offset, i) => [offset, hits[i]] as const).filter(([, count]) => count !== 0)),
  );
});
