// The library as a program uses it: exact counts, typed values, and nothing left behind.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { after, before, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  AttachError,
  compileScript,
  LinuxError,
  ScriptError,
  trace,
  type MapTable,
  type Trace,
  type TraceEvent,
  type TraceOptions,
  type Value,
} from "../../src/index.ts";
import { syscallsSource } from "../support/programs.ts";
import { bpfObjects, compileC, nothingLeft, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const atStart = bpfObjects();
let calls = "";
before(() => {
  calls = compileC(folder.path, "calls", syscallsSource);
});
after(async () => {
  folder.remove();
  await nothingLeft(atStart);
});

/** What this process holds of BPF and perf. Nothing is pinned, so what is closed is gone. */
function held(): string[] {
  const kinds = readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The descriptor of the listing itself.
      return [];
    }
  });
  return kinds.filter((kind) => /bpf|perf/.test(kind));
}

const getppid = "tracepoint:syscalls:sys_enter_getppid /pid == cpid/";

/** Every test has a deadline; a trace that does not end by itself is stopped by it, and the counts then are wrong. */
function run(script: string, options: TraceOptions = {}): Promise<Trace> {
  return trace(script, { signal: AbortSignal.timeout(300_000), ...options });
}

async function events(script: string, options?: TraceOptions): Promise<TraceEvent[]> {
  const seen: TraceEvent[] = [];
  for await (const event of await run(script, options)) seen.push(event);
  return seen;
}

/** What print() gave. */
async function values(script: string, options?: TraceOptions): Promise<Value[]> {
  return (await events(script, options)).map((event) => {
    assert.equal(event.type, "value");
    return event.value;
  });
}

/** The maps of the end, by name. */
async function maps(script: string, options?: TraceOptions): Promise<Record<string, MapTable["entries"]>> {
  const tables = (await events(script, options)).filter((event) => event.type === "map");
  return Object.fromEntries(tables.map(({ map }) => [map.name, map.entries]));
}

test("a loop over the events sees each of them, then how it ended", async () => {
  const session = await run(`${getppid} { printf("%d %s", pid == cpid, comm); }`, { command: `${calls} 1000` });
  assert.equal(session.attached, 1);
  const childPid = session.childPid;
  assert.ok(childPid !== undefined && childPid > 0);
  const texts: string[] = [];
  for await (const event of session) {
    assert.equal(event.type, "printf");
    texts.push(event.text);
  }
  assert.deepEqual(
    texts,
    Array.from({ length: 1000 }, () => "1 calls"),
  );
  assert.equal(session.dropped, 0);
  assert.deepEqual(await session.ended, { exitCode: 0, reason: "target" });
});

test("exit() ends the loop with its code", async () => {
  const session = await run('begin { printf("a"); exit(3); }');
  const texts: TraceEvent[] = [];
  for await (const event of session) texts.push(event);
  assert.deepEqual(texts, [{ type: "printf", text: "a" }]);
  assert.deepEqual(await session.ended, { exitCode: 3, reason: "exit" });
});

test("print gives typed values", async () => {
  const seen = await values(`begin {
    print(42); print(-1); print(0x7fffffffffffffff); print((uint8)300); print(true); print("text");
    print((1, "two", (3, 4))); print((pid=7, name="x")); print(ntop(0x0100007f)); print(syscall_name(0));
    print(signal_name(9)); print(strerror(2)); print((void *)16); print(pton("127.0.0.1")); print(buf("ab", 2));
    exit();
  }`);
  assert.deepEqual(seen, [
    42,
    -1,
    0x7fffffffffffffffn,
    44,
    true,
    "text",
    [1, "two", [3, 4]],
    { pid: 7, name: "x" },
    "127.0.0.1",
    "read",
    "Killed",
    "No such file or directory",
    16n,
    [127, 0, 0, 1],
    new Uint8Array([97, 98]),
  ]);
});

test("a record of a kernel probe has the types of its fields", async () => {
  const [first, ...rest] = await values(
    `${getppid} { print((mine=pid == cpid, name=comm, at=nsecs, stack=kstack(3))); }`,
    {
      command: `${calls} 3`,
    },
  );
  assert.equal(rest.length, 2);
  const { mine, name, at, stack } = first as {
    mine: unknown;
    name: unknown;
    at: unknown;
    stack: { frames: readonly unknown[] };
  };
  assert.equal(mine, true);
  assert.equal(name, "calls");
  assert.equal(typeof at, "number");
  assert.equal(stack.frames.length, 3);
  for (const frame of stack.frames as readonly { address: bigint; symbol?: string }[]) {
    assert.equal(typeof frame.address, "bigint");
    assert.match(frame.symbol ?? "", /^[A-Za-z_]/);
  }
});

test("maps come at the end with keys and values of their types", async () => {
  assert.deepEqual(
    await maps(`begin {
    @plain = 5; @text["a"] = "b"; @two[1, "x"] = (1, 2); @count = count(); @sum = sum(-3);
    @min[1] = min(9); @max = max(8); @avg = avg(7); @stats = stats(6); @stats = stats(8);
    @log = hist(5); @log = hist(6); @linear = lhist(25, 0, 100, 10); @linear = lhist(-1, 0, 100, 10);
    exit();
  }`),
    {
      plain: [[undefined, 5]],
      text: [["a", "b"]],
      two: [
        [
          [1, "x"],
          [1, 2],
        ],
      ],
      count: [[undefined, 1]],
      sum: [[undefined, -3]],
      min: [[1, 9]],
      max: [[undefined, 8]],
      avg: [[undefined, 7]],
      stats: [[undefined, { count: 2, average: 7, total: 14 }]],
      log: [[undefined, [{ low: 4, high: 8, count: 2 }]]],
      linear: [
        [
          undefined,
          [
            { low: null, high: 0, count: 1 },
            { low: 0, high: 10, count: 0 },
            { low: 10, high: 20, count: 0 },
            { low: 20, high: 30, count: 1 },
          ],
        ],
      ],
    },
  );
});

test("what else a script says is told apart by type", async () => {
  const seen = await events(
    `begin {
    printf("p"); errorf("e"); warnf("w"); time("%Y"); @m[1] = 2; print(@m[1]); print(@m); clear(@m); system("echo s"); exit();
  }`,
    { unsafe: true },
  );
  assert.deepEqual(seen.map(({ type }) => type).sort(), [
    "entry",
    "errorf",
    "map",
    "output",
    "printf",
    "time",
    "warnf",
  ]);
  assert.deepEqual(
    seen.find(({ type }) => type === "entry"),
    { type: "entry", map: "m", key: 1, value: 2 },
  );
  assert.deepEqual(
    seen.find(({ type }) => type === "output"),
    { type: "output", text: "s\n" },
  );
});

test("map() shows a map while the script runs", async () => {
  const watched = compileC(folder.path, "watched", syscallsSource);
  await using session = await run(
    'tracepoint:syscalls:sys_enter_getppid /comm == "watched"/ { @calls[comm] = count(); }',
  );
  assert.deepEqual(session.map("calls"), { name: "calls", entries: [] });
  for (const calls of [500, 1000]) {
    await once(spawn(watched, ["500"]), "exit");
    assert.deepEqual(session.map("calls"), { name: "calls", entries: [["watched", calls]] });
  }
  assert.throws(() => session.map("nope"), {
    name: "RangeError",
    message: "strobe: the script has no map @nope; it has @calls",
  });
  assert.deepEqual(session.map("@calls"), session.map("calls"));
  session.stop();
  await session.ended;
  assert.throws(() => session.map("calls"), {
    name: "RangeError",
    message: "strobe: the trace has ended, and its maps with it",
  });
});

test("sessions live side by side and see their own events", async () => {
  const counts = await Promise.all(
    [100, 200, 300].map((n) => maps(`${getppid} { @ = count(); }`, { command: `${calls} ${n}` })),
  );
  assert.deepEqual(
    counts.map((of) => of[""]),
    [100, 200, 300].map((n) => [[undefined, n]]),
  );
});

test("parameters reach the script", async () => {
  const script = 'begin { print(($1, str($2), getopt("name", "none"), getopt("flag"))); exit(); }';
  assert.deepEqual(await values(script, { positional: ["7", "two"], named: { name: "given", flag: true } }), [
    [7, "two", "given", true],
  ]);
  assert.deepEqual(await values(script, { named: new Map([["name", "map"]]) }), [[0, "", "map", false]]);
});

test("an AbortSignal ends the trace, and the maps still come", async () => {
  const controller = new AbortController();
  const session = await trace('interval:ms:10 { @ticks = count(); printf("tick"); }', { signal: controller.signal });
  const seen: TraceEvent[] = [];
  for await (const event of session) {
    seen.push(event);
    if (seen.length === 3) controller.abort();
  }
  const last = seen.at(-1);
  assert.ok(last?.type === "map" && last.map.name === "ticks" && Number(last.map.entries[0][1]) >= 3);
  assert.deepEqual(await session.ended, { exitCode: 0, reason: "stop" });
});

test("an AbortSignal that came before starts nothing", async () => {
  await assert.rejects(trace("begin { }", { signal: AbortSignal.abort(new Error("too late")) }), {
    message: "too late",
  });
});

test("leaving the loop, and leaving the scope, detach everything", async () => {
  {
    await using session = await run(`tracepoint:syscalls:sys_enter_getppid /pid == ${process.pid}/ { @ = count(); }`);
    assert.equal(session.attached, 1);
    assert.ok(held().length > 0);
  }
  assert.deepEqual(held(), []);
  const session = await run('interval:ms:5 { printf("tick"); }');
  for await (const event of session) {
    assert.equal(event.type, "printf");
    break;
  }
  assert.deepEqual(held(), []);
  assert.deepEqual(await session.ended, { exitCode: 0, reason: "stop" });
});

test("stop() ends from outside, and end probes still run", async () => {
  const session = await run('interval:ms:5 { @ = 1; } end { printf("bye"); clear(@); }');
  setTimeout(() => session.stop(), 50);
  const seen: TraceEvent[] = [];
  for await (const event of session) seen.push(event);
  assert.deepEqual(seen, [{ type: "printf", text: "bye" }]);
});

test("a reader that is too slow loses the newest events, and their number is known", async () => {
  const session = await run(`${getppid} { printf("x"); }`, { command: `${calls} 5000`, queueLimit: 100 });
  await session.ended;
  let received = 0;
  for await (const event of session) {
    assert.equal(event.type, "printf");
    received++;
  }
  assert.equal(received, 100);
  assert.equal(session.dropped, 4900);
});

test("what is wrong with a script is a ScriptError with its place", async () => {
  const script = 'begin { printf("%d\\n", pidd); }';
  await assert.rejects(trace(script, { name: "mine.bt" }), (error) => {
    assert.ok(error instanceof ScriptError);
    const [diagnostic] = error.diagnostics;
    assert.equal(diagnostic.severity, "error");
    assert.equal(diagnostic.code, "name");
    assert.equal(script.slice(diagnostic.span.start, diagnostic.span.end), "pidd");
    assert.match(diagnostic.help ?? "", /`pid`/);
    assert.equal(error.source.name, "mine.bt");
    assert.match(error.message, /^mine\.bt:1:24: error: unknown identifier: 'pidd'\n/);
    return true;
  });
  await assert.rejects(trace("begin { }", { pid: process.pid, command: "true" }), {
    message: /^strobe: the options pid and command exclude each other/,
  });
  await assert.rejects(
    trace("tracepoint:syscalls:sys_enter_opena { }"),
    (error) => error instanceof ScriptError && /sys_enter_open/.test(error.diagnostics[0].help ?? ""),
  );
  await assert.rejects(
    trace('begin { system("true"); }'),
    (error) => error instanceof ScriptError && error.diagnostics[0].code === "unsafe",
  );
});

test("warnings do not keep a script from running", async () => {
  await using session = await run("begin { 1; exit(); }");
  assert.deepEqual(
    session.warnings.map(({ severity, code }) => ({ severity, code })),
    [{ severity: "warning", code: "unused" }],
  );
});

test("what the kernel refuses is a LinuxError or an AttachError, and nothing stays", async () => {
  // A map larger than the kernel's limit on one allocation.
  await assert.rejects(
    run("config = { max_map_keys = 4294967295 } tracepoint:sched:sched_switch { @[nsecs, comm] = 1; }"),
    (error) => {
      assert.ok(error instanceof LinuxError, String(error));
      assert.equal(error.call, "bpf(BPF_MAP_CREATE)");
      assert.match(error.errno, /^E/);
      return true;
    },
  );
  // More than a processor has debug registers.
  const watchpoints = Array.from({ length: 32 }, (_, i) => `watchpoint:${0x1000 + i * 8}:8:w`);
  await assert.rejects(run(`${watchpoints.join(", ")} { @ = count(); }`, { pid: process.pid }), (error) => {
    assert.ok(error instanceof AttachError, String(error));
    assert.ok(
      error.failed.length > 0 &&
        error.failed.every(({ probe, reason }) => watchpoints.includes(probe) && reason.length > 0),
    );
    return true;
  });
  assert.deepEqual(held(), []);
});

test("compileScript tells what would run without running it", () => {
  const good = compileScript({ name: "good", text: "tracepoint:sched:sched_switch { @[args.next_comm] = count(); }" });
  assert.deepEqual(good.diagnostics, []);
  assert.deepEqual(good.plan?.maps.filter(({ name }) => name === "").length, 1);
  const bad = compileScript({ name: "bad", text: 'begin { $x = 1; $x = "a"; }' });
  assert.equal(bad.plan, undefined);
  assert.deepEqual(
    bad.diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code),
    ["type"],
  );
});

test("memory stays flat over 500,000 events", async () => {
  // A thousand calls at a time, so that a machine keeps up; what a very busy one does not is counted.
  const steady = compileC(
    folder.path,
    "steady",
    `
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    int main(int argc, char **argv)
    {
      for (int i = atoi(argv[1]); i > 0; i--) {
        for (int j = 0; j < 1000; j++) syscall(SYS_getppid);
        usleep(5000);
      }
      return 0;
    }`,
  );
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const read = async (thousands: number): Promise<Trace> => {
    const session = await run(`${getppid} { printf("%d", tid); }`, { command: `${steady} ${thousands}` });
    let received = 0;
    let lost = 0;
    const others: TraceEvent[] = [];
    for await (const event of session) {
      if (event.type === "printf") received++;
      else if (event.type === "trouble" && event.trouble.kind === "lost") lost += event.trouble.count;
      else others.push(event);
    }
    assert.deepEqual([received + lost + session.dropped, others], [thousands * 1000, []]);
    return session;
  };
  // The first session has code compiled and modules loaded. The others are kept until the end, and with them what does
  // not depend on the number of events.
  await read(50);
  const small = await read(100);
  const early = used();
  const large = await read(600);
  const growth = used() - early;
  assert.ok(small !== large);
  // Eight bytes kept of each event more would be 4 MB.
  assert.ok(growth < 3 * 2 ** 20, `grew by ${growth} bytes`);
});
