// The ready programs in TypeScript, run by the built command against workloads of known deeds.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { connect, type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { comm, folder, work } from "../support/tool-workloads.ts";

const command = resolve("dist/strobe.js");
const ran = new Set<string>();

interface Program {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly code: Promise<number | null>;
}

function start(tool: string, ...args: readonly string[]): Program {
  ran.add(tool);
  const child = spawn(process.execPath, [command, "run", `tools/${tool}.ts`, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const deadline = setTimeout(() => child.kill("SIGKILL"), 300_000);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (data: string) => {
    stdout += data;
  });
  child.stderr.setEncoding("utf8").on("data", (data: string) => {
    stderr += data;
  });
  const code = new Promise<number | null>((done) =>
    child.on("close", (status) => {
      clearTimeout(deadline);
      done(status);
    }),
  );
  return { child, stdout: () => stdout, stderr: () => stderr, code };
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let wait = 0; wait < 6000; wait++) {
    if (holds()) return;
    await sleep(50);
  }
  throw new Error(`waited in vain for ${what}`);
}

/** Does a deed over and over, some milliseconds apart, until it is told to stop. */
async function again(deed: () => Promise<void>, over: Promise<unknown>): Promise<void> {
  const state = { over: false };
  void over.then(() => {
    state.over = true;
  });
  while (!state.over) {
    await deed();
    await sleep(20);
  }
}

function worker(...args: readonly string[]): Promise<void> {
  const child = spawn(work, args, { stdio: ["ignore", "ignore", "ignore"] });
  return new Promise((done) => child.on("close", () => done()));
}

test("top shows the process that makes the calls", async () => {
  const top = start("top", "--every=500ms", "--screens=4", "--top=1000");
  await again(() => worker("calls", "20000"), top.code);
  assert.equal(await top.code, 0, top.stderr());
  const screens = top
    .stdout()
    .split(/^(?=\d\d:\d\d:\d\d {2})/m)
    .filter((screen) => screen !== "");
  assert.equal(screens.length, 4);
  assert.match(screens[0], /^\d\d:\d\d:\d\d {2}\d+ processes, [\d.]+[kM]? system calls a second\n {4}PID COMM/);
  assert.match(top.stdout(), new RegExp(`^ *\\d+ ${comm} +[\\d.]+k +[\\d.]+k? +\\d+$`, "m"));
});

test("alert tells of a process above the limit, runs a command, and ends", async () => {
  const alert = start(
    "alert",
    "--call=getppid",
    "--above=5000",
    `--comm=${comm}`,
    "--every=300ms",
    "--once",
    '--then=echo "then $ALERT_COMM"',
  );
  await again(() => worker("calls", "20000"), alert.code);
  assert.equal(await alert.code, 1, alert.stderr());
  assert.match(
    alert.stdout(),
    new RegExp(`^\\d\\d:\\d\\d:\\d\\d ALERT ${comm} \\(\\d+\\): \\d+ getppid a second, the limit is 5000$`, "m"),
  );
  assert.match(alert.stdout(), new RegExp(`^then ${comm}$`, "m"));
});

test("summary counts the calls of a process, as JSON", async () => {
  const child = spawn(work, ["calls", "1234"], { stdio: ["pipe", "ignore", "ignore"] });
  const output = join(folder.path, "summary.json");
  const summary = start("summary", `--pid=${child.pid}`, `--output=${output}`);
  await until("the handlers", () => summary.stderr() !== "");
  child.stdin.end();
  assert.equal(await summary.code, 0, summary.stderr());
  const { programs } = JSON.parse(readFileSync(output, "utf8")) as {
    programs: {
      program: string;
      calls: { name: string; count: number; failed: number; microseconds: number; histogram: { count: number }[] }[];
    }[];
  };
  assert.deepEqual(
    programs.map(({ program }) => program),
    [comm],
  );
  const calls = new Map(programs[0].calls.map((call) => [call.name, call]));
  const getppid = calls.get("getppid");
  assert.deepEqual(
    [getppid?.count, getppid?.failed, getppid?.histogram.reduce((sum, { count }) => sum + count, 0)],
    [1234, 0, 1234],
  );
  const pause = calls.get("clock_nanosleep");
  assert.equal(pause?.count, 1);
  assert.ok((pause?.microseconds ?? 0) >= 40_000);
});

test("supervise reports programs, files and calls of a command, and ends as it did", async () => {
  const report = join(folder.path, "report.txt");
  const written = join(folder.path, "written");
  const supervise = start(
    "supervise",
    `--output=${report}`,
    "sh",
    "-c",
    `cat /etc/hostname > '${written}'; cat < /missing-${process.pid}; ${work} calls 500 </dev/null; exit 3`,
  );
  assert.equal(await supervise.code, 3, supervise.stderr());
  const text = readFileSync(report, "utf8");
  assert.match(text, /^PROGRAMS\n +PID +PPID ENDED +PROGRAM$/m);
  assert.match(text, /^ *\d+ +\d+ status 3 +\/\S*\/sh$/m);
  assert.match(text, /^ *\d+ +\d+ status 0 +\/\S*\/cat$/m);
  assert.ok(text.includes(` status 0         ${work}\n`), text);
  assert.match(text, new RegExp(`^ +1 ${written} \\(.*\\)$`, "m"));
  assert.match(text, new RegExp(`^ +1 /missing-${process.pid} \\(.*\\)$`, "m"));
  // Without a shell, which asks for its parent as well.
  const alone = start("supervise", `--output=${report}`, "--", work, "calls", "500");
  assert.equal(await alone.code, 0, alone.stderr());
  assert.match(readFileSync(report, "utf8"), /^ +500 +[\d.]+ {2}getppid$/m);
  const short = start("supervise", `--output=${report}`, "--top=1", work, "calls", "500");
  assert.equal(await short.code, 0, short.stderr());
  // The call that it pauses in takes the longest.
  assert.match(readFileSync(report, "utf8"), /SYSTEM CALLS\n[^\n]*CALL\n +1 +[\d.]+ {2}clock_nanosleep\n$/);
});

test("request lists what a server does to answer", async () => {
  const wanted = join(folder.path, "wanted.txt");
  writeFileSync(wanted, "found");
  const port = await freePort();
  const server = join(folder.path, "server.mjs");
  writeFileSync(
    server,
    `import { createServer } from "node:http"; import { readFileSync } from "node:fs";
    createServer((request, response) => response.end(readFileSync(${JSON.stringify(wanted)}))).listen(${port});`,
  );
  const request = start("request", "--path=/this", process.execPath, server);
  await until("the server", () => request.stdout().includes("Waiting for a request"));
  for (const path of ["/other", "/this?x=1"]) {
    for (let attempt = 0; ; attempt++) {
      try {
        assert.equal(await (await fetch(`http://127.0.0.1:${port}${path}`)).text(), "found");
        break;
      } catch (error) {
        if (attempt > 6000) throw error;
        await sleep(50);
      }
    }
  }
  assert.equal(await request.code, 0, request.stderr());
  const text = request.stdout();
  assert.match(text, /^GET \/this\?x=1: \d+ system calls of \d+ threads, answered on descriptor \d+ after [\d.]+ ms$/m);
  assert.doesNotMatch(text, /GET \/other/);
  assert.match(text, new RegExp(`main openat\\("${wanted}"\\) +\\d+$`, "m"));
  assert.match(text.trimEnd().split("\n").at(-1) ?? "", /main (write|writev|sendmsg)\(\d+\) +\d+$/);
  await assert.rejects(connected(port));
});

test("a time to run ends each of them, and names of threads choose among processes", async () => {
  const top = start("top", "--for=2s", "--every=500ms", `--comm=${comm}`);
  const summary = start("summary", "--for", "1s", "--comm", `${comm},no-such-thread`);
  const alert = start("alert", "--for=1s", "--call=getppid", "--above=0", "--comm=no-such-thread", "--every=200ms");
  const supervise = start("supervise", "--for=500ms", "sleep", "60");
  await again(() => worker("calls", "20000"), Promise.all([top.code, summary.code]));
  for (const program of [top, summary, alert]) assert.equal(await program.code, 0, program.stderr());
  assert.equal(await supervise.code, 0, supervise.stderr());
  const rows = [...top.stdout().matchAll(/^ *\d+ (\S+) +\S+ +\S+ +\S+$/gm)].map(([, name]) => name);
  assert.deepEqual(
    [...new Set(rows)].filter((name) => name !== "COMM"),
    [comm],
  );
  const { programs } = JSON.parse(summary.stdout()) as { programs: { program: string }[] };
  assert.deepEqual(
    programs.map(({ program }) => program),
    [comm],
  );
  assert.equal(alert.stdout(), "");
  assert.match(supervise.stderr(), /^ *\d+ +\d+ runs on +\S*sleep$/m);
});

test("processes of several numbers and of a program's name are traced together, to their end", async () => {
  const children = [1, 2].map(() => spawn(work, ["calls", "300"], { stdio: ["pipe", "ignore", "ignore"] }));
  const other = spawn(work, ["calls", "300"], { stdio: ["pipe", "ignore", "ignore"] });
  const summary = start("summary", "-p", children.map(({ pid }) => pid).join(","));
  const named = start("summary", "--pid", comm);
  await until("the handlers", () => summary.stderr() !== "" && named.stderr() !== "");
  for (const child of [...children, other]) child.stdin?.end();
  for (const [program, count] of [
    [summary, 600],
    [named, 900],
  ] as const) {
    assert.equal(await program.code, 0, program.stderr());
    const { programs } = JSON.parse(program.stdout()) as { programs: { calls: { name: string; count: number }[] }[] };
    assert.equal(programs[0].calls.find(({ name }) => name === "getppid")?.count, count);
  }
});

test("what is wrong on a program's command line is said as strobe says it", async () => {
  const wrong: readonly (readonly [words: readonly string[], said: string])[] = [
    [["top", "--screns=2"], "unrecognized option '--screns' (did you mean --screens?)"],
    [["top", "--", "--rows=3"], "unrecognized option '--rows'"],
    [["top", "--by=name"], '--by takes one of calls, read, written, not "name"'],
    [["top", "cat"], 'top takes options alone, not "cat"'],
    [["alert", "--above=many"], '--above takes a number, not "many"'],
    [["alert", "--every=soon"], '--every takes a time (10s, 500ms, 2m), not "soon"'],
    [["summary", "-f", "json"], "summary takes no -f"],
    [
      ["summary", "-p", "no-such-thread"],
      "failed to parse pid: invalid integer: no-such-thread (-p takes numbers of processes and names of programs, and none of this name runs)",
    ],
    [["supervise", "--comm=x", "true"], "supervise takes no --comm"],
    [["supervise"], "supervise needs a command to run: strobe supervise make test"],
    [["request"], "request needs a server: -p of one that runs, or the command that starts one"],
    [
      ["request", "-c", "true", "true"],
      '"true" begins a command that is started and traced, and -c says another process',
    ],
  ];
  for (const [[tool, ...args], said] of wrong) {
    const program = start(tool, ...args);
    assert.equal(await program.code, 1);
    assert.equal(program.stderr(), `strobe: ${said}\n(--help shows the options)\n`);
  }
});

test("--help shows a program's first comment, its options, and those of strobe's that it takes", async () => {
  const program = start("supervise", "--help");
  assert.equal(await program.code, 0, program.stderr());
  assert.match(program.stdout(), /^supervise: what does a command do, with all the programs that it starts\?\n/);
  assert.match(program.stdout(), /^ {6}--for TIME /m);
  assert.doesNotMatch(program.stdout(), /--pid/);
});

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

async function connected(port: number): Promise<void> {
  await sleep(300);
  const socket = connect(port, "127.0.0.1");
  await new Promise((done, failed) => socket.once("connect", done).once("error", failed)).finally(() =>
    socket.destroy(),
  );
}

test("every ready program is documented and tested", () => {
  const programs = readdirSync("tools")
    .filter((name) => name.endsWith(".ts"))
    .map((name) => name.replace(/\.ts$/, ""))
    .sort();
  const documentation = readFileSync("docs/tools.md", "utf8");
  assert.deepEqual([...ran].sort(), programs);
  for (const name of programs) assert.match(documentation, new RegExp(`^### ${name}$`, "m"));
});
