// Aggregations by key in tables of strobe's own (src/compiler/layouts/shared-table.ts) on other kernels: verifiers take the
// handlers, and calls of two threads are counted to the last, as in the kernel's tables; kernels before 6.9 have those.
import assert from "node:assert/strict";
import { after } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { tryOnKernels, type Trial } from "./trials.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** Of each thread 500 calls, reads of 512 bytes and questions for its parent. */
const threads = `
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) void visit(long key) { __asm__ volatile("" : : "r"(key) : "memory"); }
static void *run(void *zero)
{
	char block[512];
	for (long i = 0; i < 500; i++) {
		visit(i);
		if (read((long)zero, block, sizeof(block)) == sizeof(block))
			syscall(SYS_getppid);
	}
	return 0;
}
int main(void)
{
	pthread_t other;
	long zero = open("/dev/zero", O_RDONLY);
	pthread_create(&other, 0, run, (void *)zero);
	run((void *)zero);
	pthread_join(other, 0);
}
`;

/** A slow guest interrupts handlers so often that the kernel leaves some out, which strobe says: these are added again. */
function withMissed(printed: readonly string[], stderr: string): readonly string[] {
  const missed = Number(
    /sys_enter_getppid missed (\d+) events? \(its handler was already running\)/.exec(stderr)?.[1] ?? 0,
  );
  return printed.map((line) => {
    const [, name = "", count] = /^(@(?:(?:one|calls|left)\[.*\]|right): )(\d+)$/.exec(line) ?? [];
    const whole = name.startsWith("@one") ? 3000 : name.startsWith("@calls") ? 2000 : 1000;
    return count !== undefined && whole - Number(count) <= missed && Number(count) <= whole ? `${name}${whole}` : line;
  });
}

/** A clock's ticks interrupt the other handlers at any place. */
const counts = `
  uprobe:/bin/threads:visit {
    @one[0] = count(); @many[arg0] = count(); @bits[arg0 % 2] = hist(1); @texts[str("visit", 6), arg0 % 2] = stats(2);
  }
  tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @one[0] = count(); @calls[comm] = sum(2); }
  kprobe:vfs_read /pid == cpid && arg2 == 512/ { @one[0] = count(); }
  software:cpu-clock:1000000 { @ticks++; @one[1] = count(); }
  end {
    printf("%d\\n", @ticks == (int64)@one[1]); clear(@ticks); printf("@one[0]: %d\\n", (int64)@one[0]); clear(@one);
    print(len(@many)); $twice = 0; for ($entry : @many) { $twice += (int64)$entry.1 == 2; } print($twice); clear(@many);
  }`;
const row = "[1]                  500 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|";
const counted = [
  "1",
  "@one[0]: 3000",
  "500",
  "500",
  "@bits[0]:",
  row,
  "@bits[1]:",
  row,
  "@calls[threads]: 2000",
  "@texts[visit, 0]: { .count = 500, .average = 2, .total = 1000 }",
  "@texts[visit, 1]: { .count = 500, .average = 2, .total = 1000 }",
];
/** Values that are stored, added to and deleted: what is added to @moved goes from slot to slot, entries of @words stay. */
const pairs = `
  uprobe:/bin/threads:visit { @start[tid] = arg0 + 1; @pair[tid] = (arg0, arg0 + 1); @moved[arg0 % 3]++; @words[arg0 % 5]++; }
  tracepoint:syscalls:sys_enter_getppid /pid == cpid && @start[tid]/ {
    if (@pair[tid].1 == @start[tid]) { @right = count(); } delete(@start, tid); delete(@pair, tid); @left[@start[tid]] = count();
  }
  software:cpu-clock:1000000 { @ticks++; @start[0] = 1; delete(@start, 0); @moved[7]++; @words[7]++; }
  uprobe:/bin/threads:main { delete(@moved, 9); }
  end {
    printf("%d %d\\n", @ticks == @moved[7], @ticks == @words[7]); delete(@moved, 7); clear(@ticks);
    for ($entry : @words) { if ($entry.0 < 7) { printf("@words %d %d\\n", $entry.0, $entry.1); } }
    print(@moved); print(@right); print(@left); print(len(@start)); print(len(@pair)); exit();
  }`;
const paired = [
  "1 1",
  ...[0, 1, 2, 3, 4].map((rest) => `@words ${rest} 200`),
  "@moved[2]: 332",
  "@moved[0]: 334",
  "@moved[1]: 334",
  "@right: 1000",
  "@left[0]: 1000",
  "0",
  "0",
];
const tooMany = `config = { max_map_keys = 400 } uprobe:/bin/threads:visit { @many[arg0] = count(); } end { print(len(@many)); clear(@many); }`;

const run = (how: "mapped" | "kernel", script: string): string =>
  `STROBE_HASH_TABLES=${how} strobe -v -c /bin/threads -e '${script}'`;
const mayGoto = (kernel: string): boolean => kernel !== "6.1";
/** Of each map where it is and why, as -v says it. */
const places = (stderr: string): readonly string[] =>
  [...stderr.matchAll(/^map @\w+: (mapped table|hash) of \d+ entries[^(\n]*(\(.*\))?$/gm)].map(
    ([, table, why = ""]) => `${table} ${why}`,
  );
const lines = (stdout: string): readonly string[] => stdout.split("\n").filter((line) => line !== "");

tryOnKernels({
  verb: "counts in mapped tables",
  files: () => ({ "/bin/threads": compileC(folder.path, "threads", threads, ["-O1", "-static", "-pthread"]) }),
  deadline: 300,
  trials: (kernel): readonly Trial[] => {
    const asked = mayGoto(kernel) ? "mapped table " : "hash (this kernel has no may_goto (Linux 6.9))";
    return [
      {
        name: "handlers that interrupt each other lose no count",
        script: run("mapped", counts),
        check: ({ stdout, stderr }) => {
          assert.deepEqual(withMissed(lines(stdout), stderr), counted, stderr);
          assert.deepEqual(places(stderr), Array(5).fill(asked), stderr);
        },
      },
      {
        name: "the kernel's tables count the same",
        script: run("kernel", counts),
        check: ({ stdout, stderr }) => {
          assert.deepEqual(withMissed(lines(stdout), stderr), counted, stderr);
          assert.deepEqual(places(stderr), Array(5).fill("hash (hash_tables is kernel)"), stderr);
        },
      },
      {
        name: "stored and deleted values are nobody else's",
        script: run("mapped", pairs),
        check: ({ stdout, stderr }) => {
          assert.deepEqual(
            withMissed(lines(stdout), stderr).slice(0, paired.length).sort(),
            [...paired].sort(),
            stderr,
          );
          const buckets = [...stderr.matchAll(/mapped buckets of 4096 entries or more/g)];
          assert.equal(buckets.length, mayGoto(kernel) ? 4 : 0, stderr);
        },
      },
      {
        name: "the kernel's tables keep the same",
        script: run("kernel", pairs),
        check: ({ stdout, stderr }) =>
          assert.deepEqual(
            withMissed(lines(stdout), stderr).slice(0, paired.length).sort(),
            [...paired].sort(),
            stderr,
          ),
      },
      {
        name: "updates that there is no room for are counted",
        script: run("mapped", tooMany),
        check: ({ stdout, stderr }) => {
          assert.deepEqual(lines(stdout), ["400"], stderr);
          assert.match(stderr, /: 200 updates of @many failed/);
          assert.deepEqual(places(stderr), [asked], stderr);
        },
      },
    ];
  },
});
