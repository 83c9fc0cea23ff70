// Probes in TypeScript on this machine: exact counts, typed events, and nothing left behind. The library is the built
// one, as its users have it; handlers get it and what else they name as captures.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { resolve } from "node:path";
import { inspect } from "node:util";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type * as Library from "../../src/index.ts";
import { callsSource, syscallsSource } from "../support/programs.ts";
import { bpfObjects, compileC, nothingLeft, temporaryFolder } from "../support/strobe.ts";

// Not a name of its own for each: a bundler would rename them, and handlers are read as they are.
const strobe = (await import(pathToFileURL(resolve("dist/index.mjs")).href)) as typeof Library;

const folder = temporaryFolder();
const atStart = bpfObjects();
let calls = "";
let functions = "";
before(() => {
  calls = compileC(folder.path, "calls", syscallsSource);
  functions = compileC(folder.path, "functions", callsSource);
});
after(async () => {
  folder.remove();
  await nothingLeft(atStart);
});

test("typed events are stamped beside their fields", async () => {
  const told = strobe.event<{ own: number }>();
  const session = await strobe.trace(
    strobe.begin(() => told.emit({ own: 0 }), { told }),
    strobe.tracepoint(
      getppid,
      () => {
        if (strobe.pid === strobe.cpid) told.emit({ own: strobe.pid });
      },
      { strobe, told },
    ),
    { command: `${calls} 2`, signal: deadline(), stamp: ["time", "pid", "tid", "cpu", "probe"] },
  );
  const child = session.childPid!;
  const events = await all(told);
  await session.ended;
  assert.deepEqual(events, [{ own: 0 }, { own: child }, { own: child }]);
  const stamps = events.map((event) => strobe.stampOf(event)!);
  assert.deepEqual(
    stamps.map(({ pid, tid, probe }) => [pid, tid, probe]),
    [[process.pid, process.pid, "begin"], ...[1, 2].map(() => [child, child, `tracepoint:${getppid}`])],
  );
  const [first, second, third] = stamps.map(({ time }) => time!);
  assert.ok(first <= second && second <= third);
  assert.ok(stamps.every(({ cpu }) => Number.isInteger(cpu)));
  assert.equal(strobe.stampOf({ own: child }), undefined);
});

test("a program steers its handlers by what it sets", async () => {
  const watched = strobe.map<[name: string, id: number], boolean>();
  const factor = strobe.map<[], number>();
  const seen = strobe.map<number, number>();
  const found = strobe.event<{ n: number }>();
  watched.set("calls", 1, true);
  watched.set("other", 1, true);
  assert.deepEqual(
    [...watched],
    [
      [["calls", 1], true],
      [["other", 1], true],
    ],
  );
  assert.equal(watched.delete("other", 1), true);
  factor.set(5);
  const session = await strobe.trace(
    strobe.tracepoint(
      getppid,
      () => {
        if (!watched.has(strobe.comm, 1)) return;
        seen.at(strobe.cpid).value += factor.value;
        if (seen.get(strobe.cpid) === 15) found.emit({ n: 1 });
      },
      { strobe, watched, factor, seen, found },
    ),
    { command: `${calls} 3`, signal: deadline() },
  );
  // The command starts with the trace, and ends when it wants to.
  await all(found);
  await session.ended;
  assert.deepEqual([...seen.values()], [15]);
  assert.deepEqual([...watched], [[["calls", 1], 1]]);
});

test("entries are set and removed while it runs", async () => {
  const on = strobe.map<number, number>();
  const hits = strobe.map<number, "count">();
  const session = await strobe.trace(
    strobe.tracepoint(
      getppid,
      () => {
        if (on.has(strobe.pid)) hits.at(strobe.pid).count();
      },
      { strobe, on, hits },
    ),
    { signal: deadline() },
  );
  const ask = (times: number): void => {
    for (let i = 0; i < times; i++) void process.ppid;
  };
  ask(3);
  on.set(process.pid, 1);
  ask(5);
  assert.equal(on.delete(process.pid), true);
  assert.equal(on.delete(process.pid), false);
  ask(7);
  assert.deepEqual([...hits], [[process.pid, 5]]);
  assert.equal(hits.delete(process.pid), true);
  assert.equal(hits.size, 0);
  assert.throws(() => on.set(process.pid, "x" as unknown as number), /expected an integer/);
  assert.throws(() => (hits as unknown as { set(...of: number[]): void }).set(1, 2), /a count is counted by handlers/);
  session.stop();
  await session.ended;
});

function tally(of: Library.StrobeMap<string, "count">, key: string): void {
  of.at(key).count();
}

test("functions take maps", async () => {
  const first = strobe.map<string, "count">();
  const second = strobe.map<string, "count">();
  const session = await strobe.trace(
    strobe.tracepoint(
      getppid,
      () => {
        if (strobe.pid !== strobe.cpid) return;
        tally(first, strobe.comm);
        tally(second, strobe.comm);
        tally(second, strobe.comm);
      },
      { strobe, first, second, tally },
    ),
    { command: `${calls} 7`, signal: deadline() },
  );
  await session.ended;
  assert.deepEqual(
    [...first, ...second],
    [
      ["calls", 7],
      ["calls", 14],
    ],
  );
});

test("the greatest of a map", () => {
  const snapshot = new strobe.Snapshot<string, unknown>([
    ["a", 1],
    ["b", { count: 1, average: 9, total: 9 }],
    ["c", [{ low: 0, high: 1, count: 4 }]],
    ["d", "text"],
  ]);
  assert.deepEqual([...snapshot.top(3).keys()], ["b", "c", "a"]);
});

test("aggregations show themselves", async () => {
  const sizes = strobe.map<[], "hist">();
  const steps = strobe.map<string, "lhist">();
  const stats = strobe.map<string, "stats">();
  const n = strobe.map<[], number>();
  const session = await strobe.trace(
    strobe.tracepoint(
      getppid,
      () => {
        if (strobe.pid !== strobe.cpid) return;
        n.value += 1;
        sizes.hist(n.value * 1024);
        steps.at("x").lhist(n.value, 1, 3, 1);
        stats.at("x").stats(n.value);
      },
      { strobe, n, sizes, steps, stats },
    ),
    { command: `${calls} 4`, signal: deadline() },
  );
  await session.ended;
  assert.equal(
    inspect(sizes.get()),
    [
      `[1K, 2K)               1 |${"@".repeat(26).padEnd(52)}|`,
      `[2K, 4K)               2 |${"@".repeat(52)}|`,
      `[4K, 8K)               1 |${"@".repeat(26).padEnd(52)}|`,
    ].join("\n"),
  );
  assert.equal(inspect(steps, { breakLength: Infinity }), "Snapshot(1) [Map] { 'x' => [1, ...) ▄▄█ 4 }");
  assert.equal(inspect(stats), "Snapshot(1) [Map] { 'x' => { count: 4, average: 2, total: 10 } }");
});

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const deadline = (): AbortSignal => AbortSignal.timeout(300_000);
const getppid = "syscalls:sys_enter_getppid";

test("maps are exact while it runs and after its end", async () => {
  const total = strobe.map<[], "count">();
  const byName = strobe.map<[name: string, even: boolean], "sum">({ name: "by_name" });
  const sizes = strobe.map<string, "hist">();
  const last = strobe.map<number, number>();
  const session = await strobe.trace(
    strobe.tracepoint(
      getppid,
      {
        filter: () => strobe.pid === strobe.cpid,
        handler: () => {
          total.count();
          byName.at(strobe.comm, strobe.elapsed > 0).sum(3);
          sizes.at("x").hist(100);
          last.set(strobe.cpid, 7);
        },
      },
      { strobe, total, byName, sizes, last },
    ),
    { command: `${calls} 1000`, signal: deadline() },
  );
  assert.equal(session.attached, 1);
  assert.equal((await session.ended).reason, "target");
  assert.deepEqual([...total], [[undefined, 1000]]);
  assert.equal(byName.get("calls", true), 3000);
  assert.deepEqual([...byName.keys()], [["calls", true]]);
  assert.deepEqual(sizes.get("x"), [{ low: 64, high: 128, count: 1000 }]);
  assert.deepEqual([...last.values()], [7]);
  assert.deepEqual(JSON.parse(JSON.stringify(byName.snapshot())), [[["calls", true], 3000]]);
  total.clear();
  assert.equal(total.size, 0);
});

test("events arrive in order, with values of their types", async () => {
  const seen = strobe.event<{
    n: number;
    name: string;
    big: bigint;
    exact: bigint;
    truth: boolean;
    pair: readonly [number, string];
    inner: { cpu: number };
    at: number;
  }>();
  const n = strobe.map<[], number>();
  const huge = 2n ** 63n + 1n;
  const session = await strobe.trace(
    strobe.tracepoint(
      getppid,
      () => {
        if (strobe.pid !== strobe.cpid) return;
        n.value += 1;
        seen.emit({
          n: n.value,
          name: strobe.comm,
          big: huge,
          exact: BigInt(strobe.u64(huge)),
          truth: n.value > 2,
          pair: [n.value * 2, "é"],
          inner: { cpu: strobe.cpu },
          at: strobe.u64(huge),
        });
      },
      { strobe, n, seen, huge },
    ),
    { command: `${calls} 3`, signal: deadline() },
  );
  const got = await all(seen);
  await session.ended;
  assert.deepEqual(
    got.map(({ inner, ...rest }) => {
      assert.equal(typeof inner.cpu, "number");
      return rest;
    }),
    [1, 2, 3].map((i) => ({
      n: i,
      name: "calls",
      big: huge,
      exact: huge,
      truth: i > 2,
      pair: [i * 2, "é"],
      at: Number(huge),
    })),
  );
  assert.equal(seen.dropped, 0);
});

function double(x: number): number {
  if (x > 100) return 0;
  return x * 2;
}
const offset = 5;
function shifted(x: number): number {
  return double(x) + offset;
}

test("functions, constants, thread-local variables, functions of a program", async () => {
  const sums = strobe.map<string, "sum">();
  const started = strobe.threadLocal();
  const both = strobe.map<[], "stats">();
  const session = await strobe.trace(
    strobe.uprobe(
      functions,
      "leaf_add",
      ([a, b]) => {
        sums.at("plain").sum(a + b);
        sums.at("shifted").sum(shifted(a));
        started.set(a);
      },
      { sums, shifted, double, offset, started },
    ),
    strobe.uretprobe(
      functions,
      "leaf_add",
      (retval) => {
        const a = started.get();
        if (a === undefined) return;
        both.stats(strobe.i32(retval));
        started.delete();
      },
      { strobe, started, both },
    ),
    { command: `${functions} 4`, signal: deadline() },
  );
  await session.ended;
  // i + 10 for i from 0 to 3; 2i + 5. What is 0 is there all the same.
  assert.equal(sums.get("plain"), 10 + 11 + 12 + 13);
  assert.equal(sums.get("shifted"), 5 + 7 + 9 + 11);
  assert.deepEqual(both.get(), { count: 4, average: 11, total: 10 + 11 + 12 + 13 });
  assert.equal(started.size, 0);
});

test("what is printed is text, or events where that is asked for", async () => {
  const m = strobe.map<string, number>();
  const session = await strobe.trace(
    strobe.begin(
      () => {
        strobe.print(`100% ${1 + 1} ${(255).toString(16)} ${strobe.elapsed > 0}`);
        strobe.printf("%05d|%s\n", 42, "x");
        strobe.print([1, "two"]);
        strobe.emit({ one: 1 });
        m.set("a", 1);
        for (const [key, value] of m) strobe.print(key, value);
        strobe.print(m);
        strobe.exit(3);
      },
      { strobe, m },
    ),
    { output: "events", signal: deadline() },
  );
  const events = await all(session);
  assert.deepEqual(events, [
    { type: "printf", text: "100% 2 ff true\n" },
    { type: "printf", text: "00042|x\n" },
    { type: "value", value: [1, "two"] },
    { type: "value", value: { one: 1 } },
    { type: "printf", text: "a 1\n" },
    { type: "map", map: { name: "m", entries: [["a", 1]] } },
  ]);
  assert.deepEqual(await session.ended, { exitCode: 3, reason: "exit" });
});

test("snapshots come every so often, and add up", async () => {
  const ticked = strobe.map<[], "count">();
  const kept = strobe.map<[], "count">();
  const session = await strobe.trace(
    strobe.interval(
      "10ms",
      () => {
        ticked.count();
        kept.count();
      },
      { ticked, kept },
    ),
    { signal: deadline() },
  );
  const snapshots: number[] = [];
  for await (const snapshot of ticked.every("50ms", { clear: true })) {
    snapshots.push(snapshot.get(undefined) ?? 0);
    if (snapshots.length === 3) session.stop();
  }
  await session.ended;
  assert.equal(snapshots.length, 4);
  assert.equal(
    snapshots.reduce((sum, n) => sum + n),
    kept.get(),
  );
  assert.ok(kept.get()! > 0);
});

test("a trace that is stopped leaves its loops", async () => {
  const ticks = strobe.event<{ n: number }>();
  const controller = new AbortController();
  const session = await strobe.trace(
    strobe.interval("5ms", () => ticks.emit({ n: 1 }), { ticks }),
    { signal: controller.signal },
  );
  let read = 0;
  for await (const tick of ticks) {
    read += tick.n;
    if (read === 3) controller.abort();
  }
  assert.ok(read >= 3);
  assert.equal((await session.ended).reason, "stop");
  {
    await using again = await strobe.trace(strobe.interval("5ms", () => ticks.emit({ n: 2 }), { ticks }));
    assert.equal(again.attached, 1);
    for await (const tick of ticks) {
      assert.equal(tick.n, 2);
      break;
    }
  }
});

test("several traces at once have nothing in common, and share no map", async () => {
  const one = strobe.map<[], "count">();
  const two = strobe.map<[], "count">();
  const probe = (own: typeof one): Library.Probe =>
    strobe.tracepoint(
      getppid,
      () => {
        if (strobe.pid === strobe.cpid) own.count();
      },
      { strobe, own },
    );
  const options = { signal: deadline() };
  const sessions = await Promise.all([
    strobe.trace(probe(one), { ...options, command: `${calls} 100` }),
    strobe.trace(probe(two), { ...options, command: `${calls} 200` }),
  ]);
  await Promise.all(sessions.map((session) => session.ended));
  assert.deepEqual([one.get(), two.get()], [100, 200]);

  await using running = await strobe.trace(strobe.interval("1s", () => one.count(), { one }));
  assert.equal(running.attached, 1);
  await assert.rejects(strobe.trace(probe(one)), /the map `own` belongs to a trace that runs/);
});

test("mistakes are told at their place, in the file they were made in", async () => {
  const text = 'tracepoint("sched:sched_swich", (args: Args) => { print(args.nxt_pid); });\n';
  const offset = text.indexOf("(args");
  // oxlint-disable-next-line typescript/no-implied-eval -- as a stripper leaves it, whatever bundles this test
  const stripped = new Function("return (args      ) => { print(args.nxt_pid); }")() as () => void;
  const handler = strobe.withCaptures(stripped, () => ({ print: strobe.print }), { file: "mine.ts", text, offset });
  const told = async (started: Promise<unknown>): Promise<string[]> => {
    const error: unknown = await started.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof strobe.ScriptError);
    return error.diagnostics.map(
      ({ span, message, help }) =>
        `${error.source.name}: ${error.source.text.slice(span.start, span.end)}: ${message}${help === undefined ? "" : `; ${help}`}`,
    );
  };
  assert.deepEqual(await told(strobe.trace(strobe.tracepoint("sched:sched_swich", handler))), [
    "mine.ts: sched_swich: no matches for tracepoint sched:sched_swich; did you mean `sched_switch`?",
  ]);
  assert.deepEqual(await told(strobe.trace(strobe.tracepoint("sched:sched_switch", handler))), [
    "mine.ts: nxt_pid: tracepoint:sched:sched_switch has no argument `nxt_pid`; did you mean `next_pid`?",
  ]);
});

test("what cannot be captured is said", async () => {
  const list = [1, 2];
  await assert.rejects(
    strobe.trace(
      strobe.interval(
        "1s",
        () => {
          strobe.print(list);
        },
        { strobe, list },
      ),
    ),
    /`list` is an array, which a handler cannot use/,
  );
  await assert.rejects(
    strobe.trace(
      strobe.interval(
        "1s",
        () => {
          strobe.print(list);
        },
        { strobe },
      ),
    ),
    /`list` cannot be resolved from the handler's source/,
  );
  assert.throws(() => strobe.interval("1 fortnight", () => {}), /takes a rate such as "99hz"/);
  assert.throws(() => strobe.map().at(1), /at\(\) works in handlers only/);
});

test("iterators and stacks", async () => {
  const found = strobe.event<{ pid: number; name: string }>();
  const self = process.pid;
  const session = await strobe.trace(
    strobe.iter(
      "task",
      (ctx) => {
        if (ctx.task.tgid === self) found.emit({ pid: ctx.task.pid, name: ctx.task.comm });
      },
      { found, self },
    ),
    { signal: deadline() },
  );
  const tasks = await all(found);
  await session.ended;
  assert.ok(tasks.some(({ pid }) => pid === process.pid));

  const stacks = strobe.event<{ stack: Library.Stack; name: string }>();
  const traced = await strobe.trace(
    strobe.uprobe(
      functions,
      "leaf_text",
      ([text]) => {
        stacks.emit({ stack: strobe.ustack(2), name: strobe.str(text) });
      },
      { strobe, stacks },
    ),
    { command: `${functions} 1`, signal: deadline() },
  );
  const [only] = await all(stacks);
  await traced.ended;
  assert.equal(only.name, "hello from user space");
  assert.equal(only.stack.frames[0].symbol, "leaf_text");
});

/** Collects garbage, here and now. */
function collect(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

test(
  "a million events through the iterator take no memory, and none is unaccounted for",
  { timeout: 300_000 },
  async () => {
    const total = 1_000_000;
    const ticks = strobe.event<{ n: number; name: string }>();
    const ticked = strobe.map<[], "count">();
    const session = await strobe.trace(
      strobe.tracepoint(
        getppid,
        () => {
          if (strobe.pid !== strobe.cpid) return;
          ticked.count();
          ticks.emit({ n: strobe.tid, name: strobe.comm });
        },
        { strobe, ticked, ticks },
      ),
      { command: `${calls} ${total}`, output: "events", signal: AbortSignal.timeout(300_000) },
    );
    collect();
    const before = process.memoryUsage().heapUsed;
    let read = 0;
    let most = 0;
    for await (const { name } of ticks) {
      if (name !== "calls") throw new Error(name);
      if (++read % 100_000 === 0) {
        collect();
        most = Math.max(most, process.memoryUsage().heapUsed - before);
      }
    }
    let lost = 0;
    for await (const event of session)
      if (event.type === "trouble" && event.trouble.kind === "lost") lost += event.trouble.count;
    assert.equal(ticked.get(), total);
    assert.equal(read + ticks.dropped + lost, total);
    assert.ok(read > 0);
    // A batch that is being read is in memory as a whole: at most the queue's limit.
    assert.ok(most < 24 << 20, `the heap grew by ${most} bytes`);
  },
);
