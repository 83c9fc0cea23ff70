// Starting a tracer, waiting until it traces, and reading what it used.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

const ticksPerSecond = 100;

/**
 * A tracer at work. `ready` resolves when it says that its probes are attached, `ended` with its exit code.
 * Standard output goes to `output` (a descriptor, or "pipe").
 */
export function startTracer(peer, args, { output = "ignore", environment = {} } = {}) {
  const [program, ...words] = peer.command;
  const started = performance.now();
  const child = spawn(program, [...words, ...args], {
    stdio: ["ignore", output, "pipe"],
    env: { ...process.env, ...environment },
  });
  let messages = "";
  const ready = new Promise((resolve, reject) => {
    child.stderr.on("data", (data) => {
      messages += data;
      if (/Attached \d+ probe/.test(messages)) resolve(performance.now() - started);
    });
    child.on("exit", () => reject(new Error(`${peer.name} ended before it attached:\n${messages}`)));
    child.on("error", reject);
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  ready.catch(() => {});
  return { child, ready, ended, started, messages: () => messages, pid: () => tracerPid(child.pid) };
}

/** Ends a tracer as Ctrl-C does and waits for it. */
export async function stopTracer(tracer) {
  process.kill(tracer.pid(), "SIGINT");
  await tracer.ended;
}

/** The tracer itself, when it was started through chroot or the like (which execs: the same pid). */
function tracerPid(pid) {
  return pid;
}

/** CPU seconds (user and system, all threads), and resident kilobytes now and at the peak, of a live process. */
export function usage(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    residentKilobytes: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0),
    peakKilobytes: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0),
  };
}

/** Runs a program to its end and gives its standard output. */
export function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
    });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(text) : reject(new Error(`${program} ended with ${code}`))));
  });
}
