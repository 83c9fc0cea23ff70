// D beside DTrace: `node bench/dtrace.mjs DTRACE`, where DTRACE is the real command, as a shell takes it.
// Start: from the shell to the prompt of a script that ends at once, with the CPU time and the peak memory of the command.
// An event: what a system call takes longer in the traced program, the least of many short runs, which nothing interrupts.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [dtrace, rounds = "3"] = process.argv.slice(2);
const strobe = fileURLToPath(new URL("../dist/strobe.js", import.meta.url));
const tools = [
  { name: "strobe", command: `${process.execPath} ${strobe} dtrace` },
  ...(dtrace === undefined ? [] : [{ name: "DTrace 2.0.7", command: dtrace }]),
];

const source = `
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
int main(int argc, char **argv) {
  long least = 1L << 62;
  for (int round = 0; round < 300; round++) {
    long start = now();
    for (int i = 0; i < 500; i++) syscall(SYS_getppid);
    long took = now() - start;
    if (took < least) least = took;
  }
  FILE *out = fopen(argv[1], "w");
  fprintf(out, "%.1f\\n", least / 500.0);
  return fclose(out);
}
`;

const events = [
  ["count", "@ = count();"],
  ["count by a key", "@[execname] = count();"],
  ["quantize", "@ = quantize(timestamp);"],
  ["printf", 'printf("%d %s\\n", pid, execname);'],
];

const folder = mkdtempSync(join(tmpdir(), "strobe-bench-"));
try {
  writeFileSync(join(folder, "calls.c"), source);
  run(`gcc -O2 -static -o calls calls.c`);
  run("./calls plain");
  const plain = Number(run("cat plain"));
  console.log(`| | ${tools.map(({ name }) => name).join(" | ")} |\n| --- |${tools.map(() => " ---: |").join("")}`);
  const starts = tools.map(({ command }) => least(() => timed(`${command} -qn 'BEGIN { exit(0); }'`)));
  row(
    "start, seconds",
    starts.map(({ seconds }) => seconds.toFixed(2)),
  );
  row(
    "start, CPU seconds",
    starts.map(({ cpu }) => cpu.toFixed(2)),
  );
  row(
    "peak memory, MB",
    starts.map(({ memory }) => String(Math.round(memory / 1024))),
  );
  for (const [name, body] of events) {
    writeFileSync(join(folder, "t.d"), `syscall::getppid:entry /pid == $target/ { ${body} }\n`);
    const costs = tools.map(({ command }) => {
      run(`${command} -qs t.d -c './calls traced' >lines 2>/dev/null`);
      return Number(run("cat traced")) - plain;
    });
    row(
      `${name}, ns an event`,
      costs.map((cost) => String(Math.round(cost))),
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function row(name, cells) {
  console.log(`| ${name} | ${cells.join(" | ")} |`);
}

function run(command) {
  const { stdout, stderr, status } = spawnSync("sh", ["-c", command], {
    cwd: folder,
    encoding: "utf8",
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
  return stdout;
}

/** By wait4() of a shell's own: Python has it. */
function timed(command) {
  const script = `import os, sys, time
start = time.monotonic()
pid = os.fork()
if pid == 0:
    os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
    os.execvp("sh", ["sh", "-c", "exec " + sys.argv[1]])
_, status, used = os.wait4(pid, 0)
print(time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss, status)`;
  const { stdout } = spawnSync("python3", ["-c", script, command], { cwd: folder, encoding: "utf8" });
  const [seconds, cpu, memory, status] = stdout.split(" ").map(Number);
  if (status !== 0) throw new Error(`${command}: status ${status}`);
  return { seconds, cpu, memory };
}

function least(measure) {
  const all = Array.from({ length: Number(rounds) }, measure);
  const of = (part) => Math.min(...all.map((one) => one[part]));
  return { seconds: of("seconds"), cpu: of("cpu"), memory: of("memory") };
}
