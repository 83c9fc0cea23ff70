// New keys from everywhere that handlers run, at default settings: none is lost below a map's limit, and above it as
// many are counted as were refused. Where interrupts are off, in hard interrupts and in debug exceptions the kernel's
// allocator has little to give.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { missing, runTool } from "../../support/compilers.ts";
import { strobe } from "../../support/strobe.ts";

const limit = 4096;
const folder = mkdtempSync(join(tmpdir(), "strobe-maps-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const skip = missing("gcc");
const workload = join(folder, "workload");
if (skip === false) {
  writeFileSync(
    join(folder, "workload.c"),
    `
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    static long calls, keys;
    volatile long watched;
    __attribute__((noinline)) void hit(long key, const char *name) { __asm__ volatile("" :: "r"(key), "r"(name) : "memory"); }
    static void *work(void *_) {
      char name[16];
      for (long i = 0; i < calls; i++) { snprintf(name, sizeof name, "key %ld", i % keys); hit(i % keys, name); }
      return 0;
    }
    /* hit CALLS KEYS THREADS | watch CALLS | busy - | calls CALLS | sleep CALLS */
    int main(int argc, char **argv) {
      calls = atol(argv[2]);
      if (!strcmp(argv[1], "hit")) {
        int threads = atoi(argv[4]);
        pthread_t thread[8];
        keys = atol(argv[3]);
        for (int i = 0; i < threads; i++) pthread_create(&thread[i], 0, work, 0);
        for (int i = 0; i < threads; i++) pthread_join(thread[i], 0);
      } else if (!strcmp(argv[1], "watch")) for (long i = 0; i < calls; i++) watched = i;
      else if (!strcmp(argv[1], "busy")) for (;;) watched++;
      else for (long i = 0; i < calls; i++) if (!strcmp(argv[1], "sleep")) usleep(1); else getppid();
      return 0;
    }`,
  );
  runTool(folder, "gcc", ["-O1", "-g", "-no-pie", "-pthread", "-o", workload, "workload.c"]);
}

interface Outcome {
  /** A map's number of keys, and how many values its entries count. */
  readonly maps: ReadonlyMap<string, { readonly keys: number; readonly values: number }>;
  /** Refused updates, by map and reason: told of while the script runs, too. */
  readonly refused: Readonly<Record<string, number>>;
}

async function outcomeOf(script: string, command: string | undefined): Promise<Outcome> {
  const { stdout, stderr, code } = await strobe(
    ["-q", "-f", "json", "-e", script, ...(command === undefined ? [] : ["-c", `${workload} ${command}`])],
    { deadline: 300_000 },
  );
  assert.equal(code, 0, stderr);
  const maps = new Map<string, { keys: number; values: number }>();
  const refused: Record<string, number> = {};
  for (const line of stdout.trim().split("\n")) {
    const { type, data } = JSON.parse(line) as { type: string; data: Record<string, unknown> };
    if (type === "map_full") {
      const { map, updates, why } = data as { map: string; updates: number; why: string };
      refused[`${map} ${why}`] = (refused[`${map} ${why}`] ?? 0) + updates;
      continue;
    }
    for (const [name, value] of Object.entries(data)) {
      const entries = typeof value === "object" && value !== null ? Object.values(value) : [];
      maps.set(name, {
        keys: entries.length,
        values:
          entries.length === 0 ? Number(value) : entries.reduce<number>((sum, entry) => sum + valuesIn(type, entry), 0),
      });
    }
  }
  return { maps, refused };
}

/** How many values an entry is made of: a histogram's and a statistic's count, a series' sum of ones, else a number. */
function valuesIn(type: string, entry: unknown): number {
  if (type === "stats" && typeof entry === "object") return (entry as { count: number }).count;
  if (type === "hist" || type === "lhist")
    return (entry as { count: number }[]).reduce((sum, { count }) => sum + count, 0);
  if (type === "tseries") return (entry as { value?: number }[]).reduce((sum, { value = 0 }) => sum + value, 0);
  return Number(entry);
}

/** Statements that put a key into a map of each kind; and each map's values after so many updates of so many keys. */
const everyKind = (
  key: string,
): string => `@count[${key}] = count(); @sum[${key}] = sum(1); @stats[${key}] = stats(1); @hist[${key}] = hist(1);
  @fine[${key}] = hist(1, 5); @linear[${key}] = lhist(1, 0, 100, 1); @series[${key}] = tseries(1, 1h, 100, "sum"); @number[${key}]++;`;
const kinds = ["@count", "@sum", "@stats", "@hist", "@fine", "@linear", "@series", "@number"];
const extremes = (key: string): string =>
  `@min[${key}] = min(1); @max[${key}] = max(1); @avg[${key}] = avg(1); @stored[${key}] = 1;`;
const extremeKinds = ["@min", "@max", "@avg", "@stored"];

/** Maps that are stored or added to are in tables of buckets, which may take more keys than they must. */
const mayHoldMore: ReadonlySet<string> = new Set(["@number", "@stored", "@text"]);

/** A map that was given so many keys, each once, holds its limit at least; and what it does not hold was refused. */
function holds(name: string, made: number, least: number, { maps, refused }: Outcome): void {
  const { keys = 0, values } = maps.get(name) ?? {};
  if (mayHoldMore.has(name)) assert.ok(keys >= least, `${name} holds ${keys} of ${least}`);
  else assert.equal(keys, Math.min(made, least), name);
  if (name !== "@text") assert.equal(values, keys, name);
  assert.equal(refused[`${name} full`] ?? 0, made - keys, name);
}

const few = 500;
const fewKeys = `config = { max_map_keys = ${few} }`;

test("every kind of map, from a uprobe on several CPUs", { skip }, async () => {
  const [threads, rounds] = [4, 2];
  const script = `${fewKeys} uprobe:${workload}:hit { ${everyKind("arg0")} ${extremes("arg0")} @text[str(arg1)] = count(); @pair[arg0, "a"] = hist(1); }`;
  const { maps, refused } = await outcomeOf(script, `hit ${few * rounds} ${few} ${threads}`);
  assert.deepEqual(refused, {});
  for (const name of [...kinds, "@text", "@pair"])
    assert.deepEqual(maps.get(name), { keys: few, values: few * rounds * threads }, name);
  for (const name of extremeKinds) assert.deepEqual(maps.get(name), { keys: few, values: few }, name);
});

test("above the limit each refused update is counted, for its map", { skip }, async () => {
  const over = 137;
  const outcome = await outcomeOf(
    `${fewKeys} uprobe:${workload}:hit { ${everyKind("arg0")} ${extremes("arg0")} }`,
    `hit ${few + over} ${few + over} 1`,
  );
  for (const name of [...kinds, ...extremeKinds]) holds(name, few + over, few, outcome);
});

/**
 * Handlers count their runs in `@n` and put so many keys a run into a histogram; keys above the limit are refused. Ends
 * what goes on for ever once more keys were made than the maps hold.
 */
const filling = (spec: string, keys: number): string =>
  `${spec} { $first = @n * ${keys}; @n++; for ($i : 0..${keys}) { @hist[$first + $i] = hist(1); @number[$first + $i]++; } if (@n * ${keys} == ${limit + 10 * keys}) { exit(); } }`;

async function fills(spec: string, keys: number, command: string): Promise<void> {
  const outcome = await outcomeOf(filling(spec, keys), command);
  const made = (outcome.maps.get("@n")?.values ?? 0) * keys;
  assert.ok(made >= limit, `${made} keys do not fill a map`);
  for (const name of ["@hist", "@number"]) holds(name, made, limit, outcome);
}

test("from a tracepoint of system calls", { skip }, () =>
  fills("tracepoint:syscalls:sys_enter_getppid /pid == cpid/", 1, `calls ${limit}`),
);
test("from a raw tracepoint where interrupts are off", { skip }, () =>
  fills("rawtracepoint:sched_switch /pid == cpid/", 8, "sleep 600"),
);
test("from a timer's interrupt", { skip }, () => fills("profile:hz:997 /pid == cpid/", 16, "busy -"));
test("from a software event", { skip }, () => fills("software:cpu-clock:1000000 /pid == cpid/", 16, "busy -"));
test("from a debug exception", { skip }, async () => {
  const address = spawnSync("nm", [workload], { encoding: "utf8" }).stdout.match(/^([0-9a-f]+) \w watched$/m)?.[1];
  await fills(`watchpoint:0x${address}:8:w`, 8, "watch 512");
});

test("from an iterator", async () => {
  const { maps, refused } = await outcomeOf(
    "iter:task { for ($i : 0..4096) { @hist[$i] = hist(1); } @n++; }",
    undefined,
  );
  const runs = maps.get("@n")?.values ?? 0;
  assert.ok(runs > 0);
  assert.deepEqual([maps.get("@hist"), refused], [{ keys: limit, values: limit * runs }, {}]);
});

for (const [where, script] of [
  ["begin", "begin { BODY exit(); }"],
  ["interval", "interval:ms:1 { BODY exit(); }"],
  ["end", "begin { exit(); } end { BODY }"],
]) {
  test(`from ${where}, up to the limit and above`, async () => {
    const outcome = await outcomeOf(
      script.replace("BODY", `for ($i : 0..4106) { @hist[$i] = hist(1); @text[($i, "x")] = $i; }`),
      undefined,
    );
    for (const name of ["@hist", "@text"]) holds(name, 4106, limit, outcome);
  });
}

test("maps that drop their oldest keys refuse none, and keep the newest", { skip }, async () => {
  const script = `let @old = lruhash(1000); let @each = percpulruhash(1000);
    uprobe:${workload}:hit { @old[arg0] = 1; @each[arg0] = hist(1); } end { printf("%d %d\\n", has_key(@old, 8191), has_key(@each, 8191)); }`;
  const { stdout, stderr } = await strobe(["-e", script, "-c", `${workload} hit 8192 8192 1`]);
  assert.doesNotMatch(stderr, /WARNING/);
  assert.match(stdout, /^1 1$/m);
  for (const name of ["old", "each"]) {
    const keys = stdout.match(new RegExp(`^@${name}\\[`, "gm"))?.length ?? 0;
    assert.ok(keys > 0 && keys <= 1000, `${keys} of 1000`);
  }
});
