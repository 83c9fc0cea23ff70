// What start-up may take, in numbers that do not depend on how fast the machine is: bytes of the command, files that a
// one-liner opens, system calls until its first line. strobe counts them itself, beside those of an empty Node.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const deadline = { timeout: 300_000, skip: process.geteuid?.() !== 0 && "needs root" };
const command = resolve("dist/strobe.js");
const folder = temporaryFolder();
const oneLiners = {
  begin: 'begin { printf("hi\\n"); exit(); }',
  tracepoint: 'tracepoint:raw_syscalls:sys_enter { printf("%d\\n", args.id); exit(); }',
};
// What belongs to the person who runs the tests: options, certificates.
const { NODE_OPTIONS: _options, NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;

/** Raised on purpose only, with a reason in the commit: a person waits for each of these. */
const budget = {
  kilobytes: { command: 303, compiler: 574, rest: 1690 },
  starts: { "for the first time": { scripts: 3, files: 15, calls: 130 }, again: { scripts: 2, files: 11, calls: 115 } },
  builtins: 3,
  /** Of a count by comm, beyond the peak of an empty Node (39 MB): compiled, and again. */
  megabytes: { "for the first time": 30, again: 12 },
};

let objects = "";
before(async () => {
  if (deadline.skip) return;
  writeFileSync(join(folder.path, "empty.cjs"), 'process.stdout.write("hi\\n");');
  objects = bpfObjects();
  // The first run after a build keeps the compiled code, for the next.
  for (const script of Object.values(oneLiners)) assert.equal((await strobe(["-q", "-e", script], { env })).code, 0);
});
after(async () => {
  folder.remove();
  if (!deadline.skip) await nothingLeft(objects);
});

/** Calls that the scheduler and the garbage collector have their say in: how many there are differs by the machine. */
const byChance = new Set(
  ["brk", "futex", "madvise", "mmap", "mprotect", "munmap", "sched_yield"].concat(["epoll_pwait", "epoll_wait"]),
);

/** Of a Node with these arguments, up to its first line: system calls of the main thread, and files opened. */
async function startUp(
  args: readonly string[],
): Promise<{ readonly calls: number; readonly files: readonly string[] }> {
  const words = [process.execPath, ...args].map((word) => `'${word}'`).join(" ");
  const script = `
    tracepoint:raw_syscalls:sys_enter /tid == cpid && !@done/ { @calls[syscall_name(args.id)] = count(); }
    tracepoint:syscalls:sys_enter_openat /tid == cpid && !@done/ { printf("opens %s\\n", str(args.filename)); }
    tracepoint:syscalls:sys_enter_write /pid == cpid && args.fd == 1/ { @done = 1; }`;
  const { stdout, stderr, code } = await strobe(["-q", "-c", words, "-e", script], { env });
  assert.equal(code, 0, stderr);
  const calls = [...stdout.matchAll(/^@calls\[(\w+)\]: (\d+)$/gm)]
    .filter(([, name = ""]) => !byChance.has(name))
    .reduce((sum, [, , count]) => sum + Number(count), 0);
  const files = [...stdout.matchAll(/^opens (.+)$/gm)].map(([, path]) => path);
  assert.ok(calls > 100 && files.includes(args[0]), stdout);
  return { calls, files };
}

test("the command's files are no larger than their budgets", () => {
  for (const [name, most] of Object.entries(budget.kilobytes)) {
    const [file, ...others] = readdirSync("dist").filter((path) => path.startsWith(`${name}-`) && path.endsWith(".js"));
    assert.deepEqual(others, []);
    const kilobytes = statSync(join("dist", file)).size / 1024;
    assert.ok(kilobytes <= most, `${name}: ${kilobytes.toFixed(0)} kB of ${most}`);
  }
});

let scripts = 0;
for (const [name, script] of Object.entries(oneLiners)) {
  for (const [when, most] of Object.entries(budget.starts)) {
    test(`a one-liner on ${name} starts within its budget of files and system calls ${when}`, deadline, async () => {
      const text = when === "again" ? script : `${script} // ${process.pid} ${scripts++}`;
      const node = await startUp([join(folder.path, "empty.cjs")]);
      const own = await startUp([command, "-q", "-e", text]);
      const files = [...new Set(own.files)].filter((path) => !node.files.includes(path));
      // The launcher and the parts of the command that are needed: no other JavaScript is read.
      assert.equal(files.filter((path) => /\.[cm]?js$/.test(path)).length, most.scripts, files.join("\n"));
      assert.ok(files.length <= most.files, `${files.length} files:\n${files.join("\n")}`);
      const calls = own.calls - node.calls;
      assert.ok(calls <= most.calls, `${calls} system calls beyond Node's ${node.calls}, of ${most.calls}`);
    });
  }
}

test("a one-liner loads none of Node's own modules that it does not use", deadline, async () => {
  const report = join(folder.path, "report.cjs");
  writeFileSync(
    report,
    'process.on("exit", () => require("node:fs").writeFileSync(process.env.REPORT, process.moduleLoadList.join("\\n")));',
  );
  const loaded = (name: string): string[] =>
    readFileSync(join(folder.path, name), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("NativeModule "));
  const watched = (name: string): NodeJS.ProcessEnv => ({
    ...env,
    NODE_OPTIONS: `--require=${report}`,
    REPORT: join(folder.path, name),
  });
  const node = spawnSync(process.execPath, [join(folder.path, "empty.cjs")], {
    env: watched("node.txt"),
    timeout: 300_000,
  });
  assert.equal(node.status, 0);
  const { code, stderr } = await strobe(["-q", "-e", oneLiners.tracepoint], { env: watched("own.txt") });
  assert.equal(code, 0, stderr);
  const known = new Set(loaded("node.txt"));
  const own = loaded("own.txt")
    .map((line) => line.slice("NativeModule ".length))
    .filter((name) => !known.has(`NativeModule ${name}`));
  const wanted = own.filter((name) => !name.startsWith("internal/"));
  // Each of crypto, child_process, worker_threads takes as long as compiling the script does: getBuiltinModule() where
  // they are used.
  assert.deepEqual(
    wanted.filter((name) => name !== "vm"),
    [],
  );
  assert.ok(own.length <= budget.builtins, own.join("\n"));
});

test("a count by comm takes no more memory beyond Node's own than its budget", deadline, async () => {
  const report = join(folder.path, "peak.cjs");
  // What the resources of a process say also has what it was before it became Node.
  writeFileSync(
    report,
    `process.on("exit", () => {
      const fs = require("node:fs");
      fs.writeFileSync(process.env.REPORT, /VmHWM:\\s+(\\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"))[1]);
    });`,
  );
  const watched = { ...env, NODE_OPTIONS: `--require=${report}`, REPORT: join(folder.path, "peak.txt") };
  const peak = (): number => Number(readFileSync(watched.REPORT, "utf8")) / 1024;
  const node = spawnSync(process.execPath, [join(folder.path, "empty.cjs")], { env: watched, timeout: 300_000 });
  assert.equal(node.status, 0);
  const own = peak();
  const script = `tracepoint:raw_syscalls:sys_enter { @[comm] = count(); } // ${process.pid}`;
  for (const [when, most] of Object.entries(budget.megabytes)) {
    const { code, stderr } = await strobe(["-q", "--for", "300ms", "-e", script], { env: watched });
    assert.equal(code, 0, stderr);
    const beyond = peak() - own;
    assert.ok(
      beyond > 0 && beyond <= most,
      `${when}: ${beyond.toFixed(1)} MB beyond Node's ${own.toFixed(1)}, of ${most}`,
    );
  }
});
