// Aggregations by key in tables of strobe's own (src/compiler/layouts/shared-table.ts), with the kernel's beside them.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const live = { timeout: 120_000, skip: process.geteuid?.() !== 0 && "needs root" };
const folder = temporaryFolder();
after(() => folder.remove());

const mapped = "config = { max_map_keys = 10000 }";
/** Of each thread, so often for each of 10,000 keys. */
const rounds = Number(process.env["STROBE_TABLE_ROUNDS"] ?? 1);

test("handlers that interrupt each other on all CPUs lose no count", live, async () => {
  const objects = bpfObjects();
  const program = compileC(
    folder.path,
    "threads",
    `#include <pthread.h>
     #include <stdlib.h>
     #include <sys/syscall.h>
     #include <unistd.h>
     static int rounds;
     __attribute__((noinline)) void visit(long key) { __asm__ volatile("" : : "r"(key) : "memory"); }
     static void *run(void *first) {
       for (int round = 0; round < rounds; round++)
         for (long i = 0; i < 10000; i++) {
           visit((i + (long)first * 1250) % 10000);
           if (i % 4 == 0) syscall(SYS_getppid);
         }
       return 0;
     }
     int main(int argc, char **argv) {
       pthread_t threads[8];
       rounds = atoi(argv[1]);
       for (long i = 0; i < 8; i++) pthread_create(&threads[i], 0, run, (void *)i);
       for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
       // Threads that have ended are still met for a moment.
       usleep(200000);
     }`,
    ["-O1", "-g", "-pthread"],
  );
  const script = `${mapped}
    uprobe:${program}:visit /pid == cpid/ {
      @one[0] = count(); @many[arg0] = count(); @bits[arg0 & 15] = hist(arg0); @texts[str("visit", 6), arg0 % 3] = stats(1);
    }
    tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @one[0] = count(); @calls[tid] = sum(1); }
    software:cpu-clock:100000 /pid == cpid && tid != cpid/ { @ticks++; @one[0] = count(); @many[0] = count(); }
    end { print(@ticks); print(@one); }`;
  const { stdout, stderr, code } = await strobe(["-v", "-f", "json", "-e", script, "-c", `${program} ${rounds}`]);
  assert.equal(code, 0, stderr);
  for (const map of ["one", "many", "bits", "texts", "calls"])
    assert.match(stderr, new RegExp(`^map @${map}: mapped table of 10000 entries`, "m"));
  assert.doesNotMatch(stderr, /lost|full|room|gave up/);
  const maps: Record<string, unknown> = {};
  for (const line of stdout.trim().split("\n")) {
    const { data } = JSON.parse(line) as { data: unknown };
    if (typeof data === "object") Object.assign(maps, data);
  }
  const visits = 8 * 10_000 * rounds;
  const ticks = Number(maps["@ticks"] ?? 0);
  assert.deepEqual(maps["@one"], { 0: visits + visits / 4 + ticks });
  const many = maps["@many"] as Record<string, number>;
  assert.equal(Object.keys(many).length, 10_000);
  for (const [key, count] of Object.entries(many)) assert.equal(count, 8 * rounds + (key === "0" ? ticks : 0), key);
  const bits = maps["@bits"] as Record<string, { readonly count: number }[]>;
  assert.deepEqual(
    Object.values(bits).map((buckets) => buckets.reduce((sum, { count }) => sum + count, 0)),
    Array.from({ length: 16 }, () => visits / 16),
  );
  const calls = Object.values(maps["@calls"] as Record<string, number>);
  assert.deepEqual(
    calls,
    Array.from({ length: 8 }, () => visits / 32),
  );
  const texts = maps["@texts"] as Record<string, { readonly count: number }>;
  assert.equal(
    Object.values(texts).reduce((sum, { count }) => sum + count, 0),
    visits,
  );
  await nothingLeft(objects);
});

const getppid = (script: string, config = ""): Promise<{ stdout: string; stderr: string }> =>
  strobe([
    "-v",
    "-e",
    `config = { ${config} } ${script}`,
    "-c",
    `python3 -c 'import os\nfor i in range(1000): os.getppid()'`,
  ]);
const enter = "tracepoint:syscalls:sys_enter_getppid /pid == cpid/";

test(
  "entries that are stored, added to and deleted on all CPUs, and by what interrupts that, are nobody else's",
  live,
  async () => {
    const program = compileC(
      folder.path,
      "pairs",
      `#include <pthread.h>
     #include <stdlib.h>
     #include <sys/syscall.h>
     #include <unistd.h>
     static int rounds;
     __attribute__((noinline)) void enter(long key) { __asm__ volatile("" : : "r"(key) : "memory"); }
     __attribute__((noinline)) void leave(long key) { __asm__ volatile("" : : "r"(key) : "memory"); }
     static void *run(void *first) {
       for (long i = 0; i < 2000L * rounds; i++) {
         enter(i * 8 + (long)first);
         syscall(SYS_getppid);
         leave(i * 8 + (long)first);
       }
       return 0;
     }
     int main(int argc, char **argv) {
       pthread_t threads[8];
       rounds = atoi(argv[1]);
       for (long i = 0; i < 8; i++) pthread_create(&threads[i], 0, run, (void *)i);
       for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
       usleep(200000);
     }`,
      ["-O1", "-g", "-pthread"],
    );
    // Ticks of the clock interrupt the other handlers at any place. What is added to @moved goes from slot to slot; entries of
    // @words and @last stay where they are.
    const script = `config = { max_map_keys = 256 }
    uprobe:${program}:enter /pid == cpid/ {
      @start[tid] = arg0; @pair[arg0 % 16, tid] = (arg0, arg0 + 1); @moved[arg0 % 3]++; @words[arg0 % 5]++; @last[arg0 % 500] = arg0;
    }
    tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @start[tid]++; @moved[7]++; @words[7]++; }
    uprobe:${program}:leave /@start[tid]/ {
      if (@start[tid] == arg0 + 1) { @right = count(); } else { @wrong = count(); }
      if (@pair[arg0 % 16, tid].1 == arg0 + 1) { @together = count(); }
      delete(@start, tid); delete(@pair, (arg0 % 16, tid)); @again[@start[tid]] = count();
    }
    software:cpu-clock:100000 /pid == cpid && tid != cpid/ {
      @ticks++; @start[0x1000000 + tid] = 1; delete(@start, 0x1000000 + tid); @moved[8]++; @words[8]++;
    }
    uprobe:${program}:main { delete(@moved, 1); }
    end {
      printf("%d %d %d\\n", @ticks == @moved[8], @ticks == @words[8], len(@last));
      $right = 0; for ($entry : @last) { $right += $entry.1 % 500 == $entry.0; } printf("%d\\n", $right);
      delete(@moved, 8); clear(@ticks);
    }`;
    const { stdout, stderr, code } = await strobe(["-v", "-e", script, "-c", `${program} ${rounds}`]);
    assert.equal(code, 0, stderr);
    for (const map of ["start", "pair", "moved", "words", "last"])
      assert.match(stderr, new RegExp(`^map @${map}: mapped buckets of 256 entries or more`, "m"));
    assert.doesNotMatch(stderr, /lost|full|room|gave up|failed/);
    const visits = 16_000 * rounds;
    const thirds = [0, 1, 2].map((rest) => Math.floor((visits - 1 - rest) / 3) + 1);
    const sorted = stdout
      .split("\n")
      .filter((line) => line.startsWith("@") && !/^@(last\[\d+|words\[8)\]/.test(line))
      .sort();
    assert.deepEqual(sorted, [
      `@again[0]: ${visits}`,
      ...thirds.map((count, rest) => `@moved[${rest}]: ${count}`),
      `@moved[7]: ${visits}`,
      `@right: ${visits}`,
      `@together: ${visits}`,
      ...[0, 1, 2, 3, 4].map((rest) => `@words[${rest}]: ${visits / 5}`),
      `@words[7]: ${visits}`,
    ]);
    assert.match(stdout, /^1 1 500\n500$/m);
  },
);

test("keys beyond the room are refused and counted; a table that was cleared has room again", live, async () => {
  const script = `begin { for ($i : 0..20) { @[100 + $i] = count(); } print(len(@)); clear(@); print(len(@)); }
    ${enter} { @n++; @[@n % 20] = count(); }`;
  const { stdout, stderr } = await getppid(script, "max_map_keys = 20");
  assert.match(stderr, /^map @: mapped table of 20 entries/m);
  assert.doesNotMatch(stderr, /room|full/);
  assert.match(stdout, /^20\n0\n/m);
  const kept = stdout.match(/^@\[1?\d\]: 5[01]$/gm) ?? [];
  assert.equal(kept.length, 20);
  const full = await getppid(`${enter} { @n++; @[@n % 20] = count(); }`, "max_map_keys = 15");
  // Python makes a few such calls itself.
  assert.equal((full.stdout.match(/^@\[\d+\]: 5[01]$/gm) ?? []).length, 15);
  assert.match(full.stderr, /250 updates/);
});

test("the kernel's tables hold what those of strobe's own do not, and -v says why", live, async () => {
  const why = async (script: string, config?: string): Promise<string | undefined> =>
    (await getppid(script, config)).stderr.match(/^map @: hash of .*\((.*)\)$/m)?.[1];
  assert.equal(await why(`${enter} { @[pid] = count(); delete(@, pid); }`), "entries of it are deleted");
  assert.equal(
    await why(`${enter} { @[pid] = count(); for ($kv : @) { @n++ } }`),
    "handlers do more than add to it and read it",
  );
  assert.equal(await why(`${enter} { @[pid] = count(); }`, "hash_tables = kernel"), "hash_tables is kernel");
  assert.equal(
    await why(`tracepoint:syscalls:sys_enter_openat { @[str(args.filename, 100)] = count(); }`),
    "its keys have 100 bytes",
  );
  assert.equal(
    await why(`${enter} { $i = 0; while ($i++ < (pid & 7)) { @[$i] = count(); } }`),
    "it is used within a loop",
  );
  const histograms = `${enter} { @a[pid] = hist(pid); @b[pid] = hist(pid); @[pid] = hist(pid); }`;
  assert.match((await why(histograms, "max_map_keys = 25000")) ?? "", /^it and the others would take \d\d MB$/);
});

test("handlers and the host read, zero and print them as they do the kernel's", live, async () => {
  const script = `begin { @[1] = count(); @[7] = count(); @sum[1] = sum(-5); @low[1] = min(4); @avg[2] = avg(10); }
    ${enter} { @n++; @[@n % 2] = count(); @sum[@n % 2] = sum(@n); @low[1] = min(@n); @avg[2] = avg(@n);
      if (@n == 1000) { printf("%d %d %d %d\\n", (int64)@[1], (int64)@[3], (int64)@low[1], (int64)@sum[1]); } }
    end { for ($kv : @) { printf("%d %d\\n", $kv.0, (int64)$kv.1); } clear(@); print(len(@)); print(@sum); zero(@sum); print(@sum); }`;
  const outputs = await Promise.all(
    ["mapped", "kernel"].map((way) => getppid(script, `hash_tables = ${way}`).then(({ stdout }) => stdout)),
  );
  assert.match(outputs[0], /501 0 1 249995/);
  assert.deepEqual(outputs[0].split("\n").sort(), outputs[1].split("\n").sort());
});
