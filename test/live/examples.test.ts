// The programs of examples/, run as each says at its top, against commands of known deeds: what they print has the
// shape that they show, and the numbers that the command decides are exact.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bpfObjects, command, compileC, nothingLeft, startStrobe, temporaryFolder } from "../support/strobe.ts";

interface Example {
  readonly question: string;
  /** After `sudo`. */
  readonly command: string;
  /** Lines that it shows, `…` for any others. */
  readonly shown: readonly string[];
}

const folder = temporaryFolder();
const names = readdirSync("examples").filter((name) => /\.(bt|ts)$/.test(name));
const examples = new Map(names.map((name) => [name, exampleOf(name)]));
let objects = "";

before(() => {
  objects = bpfObjects();
  const wrapper = join(folder.path, "strobe");
  writeFileSync(wrapper, `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`);
  chmodSync(wrapper, 0o755);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

function exampleOf(name: string): Example {
  const [comment] = /^(?:\/\/.*\n)+/.exec(readFileSync(join("examples", name), "utf8")) ?? [""];
  const lines = comment.split("\n").map((line) => line.replace(/^\/\/ ?/, ""));
  const indented = lines.filter((line) => line.startsWith("    ")).map((line) => line.slice(4));
  const [first, ...shown] = indented;
  assert.match(lines[0], /^(?:Which|How|Where) .*\?/, `${name} begins with a question`);
  assert.match(first, /^sudo strobe /, `${name} shows how it is run`);
  assert.ok(first.includes(`examples/${name}`), `${name} runs itself`);
  assert.ok(shown.length > 0, `${name} shows what it prints`);
  return { question: /^.*?\?/.exec(lines.join(" "))![0], command: first.slice("sudo ".length), shown };
}

/** Runs an example's own command by a shell: what it prints, line by line. */
async function run(name: string): Promise<string[]> {
  const child = spawn("sh", ["-c", examples.get(name)!.command], {
    detached: true, // a process group of its own, which the deadline ends
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${folder.path}:${process.env["PATH"]}`, LC_ALL: "C" },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (data: string) => (stdout += data));
  child.stderr.setEncoding("utf8").on("data", (data: string) => (stderr += data));
  const deadline = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), 30_000);
  const code = await new Promise<number | null>((done) => child.on("close", done));
  clearTimeout(deadline);
  assert.ok(code === 0 || name === "files-opened.bt", `${code}: ${stderr}`);
  return checked(name, stdout);
}

/** That all the lines an example shows are there, whatever the numbers and bars in them. */
function checked(name: string, stdout: string): string[] {
  const shape = (line: string): string =>
    line
      .replace(/\d+/g, "0")
      .replace(/\|[@ ]*\|/, "")
      .replace(/\s+/g, " ")
      .trim();
  const lines = stdout.split("\n").filter((line) => line !== "");
  const shapes = lines.map(shape);
  // Which awk a machine has, and so its functions, is its own affair.
  if (name === "cpu-stacks.bt") return lines;
  for (const shown of examples.get(name)!.shown.filter((line) => line !== "" && line !== "…")) {
    const wanted = shape(shown.replace(/ ?…$/, ""));
    const whole = !shown.endsWith("…") && !shown.endsWith("[");
    assert.ok(
      shapes.some((line) => (whole ? line === wanted : line.startsWith(wanted))),
      `${name} shows \`${shown}\`, and printed\n${stdout}`,
    );
  }
  return lines;
}

test("there are ten, and the page and the README name them with their questions", () => {
  assert.equal(names.length, 10);
  const page = readFileSync("examples/README.md", "utf8");
  for (const [name, { question }] of examples)
    assert.ok(page.includes(`| [\`${name}\`](${name}) | ${question} |`), `examples/README.md: ${name}`);
  assert.ok(readFileSync("README.md", "utf8").includes("(examples/README.md)"));
});

test("files-opened.bt: each path once, with its error", async () => {
  const lines = await run("files-opened.bt");
  assert.equal(lines.filter((line) => line === "/etc/passwd").length, 1);
  assert.equal(lines.filter((line) => line === "/no/such/file: No such file or directory").length, 1);
});

test("read-latency.bt: as many reads as dd makes", async () => {
  const lines = await run("read-latency.bt");
  assert.match(
    lines.find((line) => line.startsWith("[4K, 8K)"))!,
    /\s500 \|/,
  );
});

test("system-calls.bt: as many writes as dd makes", async () => {
  const lines = await run("system-calls.bt");
  assert.ok(lines.includes("@calls[write]: 300"));
});

test("malloc-sizes.bt: sizes and stacks", async () => {
  const lines = await run("malloc-sizes.bt");
  assert.ok(lines.some((line) => /^\s+malloc\+\d+$/.test(line)));
});

test("function-latency.bt: a function's calls, each of two milliseconds and more", async () => {
  const server = compileC(
    folder.path,
    "server",
    `
    #include <unistd.h>
    __attribute__((noinline)) void handle(int n) { usleep(2000 + n); __asm__ volatile("" ::: "memory"); }
    int main(void) { char c; read(0, &c, 1); for (int i = 0; i < 40; i++) handle(i); return 0; }
    `,
  );
  const workload = spawn(server, { stdio: ["pipe", "ignore", "inherit"] });
  const running = startStrobe(["-p", String(workload.pid), "examples/function-latency.bt", server, "handle"]);
  try {
    await running.attached;
  } finally {
    workload.stdin.end();
  }
  const { stdout, code } = await running.outcome;
  assert.equal(code, 0);
  const [, average, total] = /@calls: { .count = 40, .average = (\d+), .total = (\d+) }/.exec(stdout) ?? [];
  assert.ok(Number(average) >= 2000 && Number(total) >= 80_000, stdout);
  checked("function-latency.bt", stdout);
});

test("cpu-stacks.bt: a line a stack, with how often it was there", async () => {
  const lines = await run("cpu-stacks.bt");
  assert.ok(lines.length > 0);
  assert.ok(lines.every((line) => /^\S+ \d+$/.test(line)));
});

test("programs-started.bt: each program with its status, as they end", async () => {
  const lines = await run("programs-started.bt");
  assert.deepEqual(
    lines.slice(1).map((line) => {
      const [status, , program] = line.trim().split(/\s+/);
      return `${program} ${status}`;
    }),
    ["ls 0", "grep 1", "sh 1"],
  );
});

test("slow-reads.ts: the one read that waits", async () => {
  const lines = await run("slow-reads.ts");
  assert.ok(lines.some((line) => /^cat: fd 0, \d+ ms, 0 bytes$/.test(line)));
});

test("bytes-written.ts: as many bytes as dd writes", async () => {
  const lines = await run("bytes-written.ts");
  assert.ok(lines.includes("dd    307200 bytes in 300 calls"));
  assert.ok(lines.some((line) => line.startsWith("cat   307200 bytes in ")));
});

test("own-probes.ts: each job once", async () => {
  const lines = await run("own-probes.ts");
  assert.match(lines[0], /^small: 3 jobs, \d+ µs each$/);
  assert.match(lines[1], /^large: 1 jobs, \d+ µs each$/);
});
