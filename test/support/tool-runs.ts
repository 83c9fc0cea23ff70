// Ready scripts, run by the built command while a workload runs, and what they print, read again.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { interrupt, startStrobe } from "./strobe.ts";

export const documentation = readFileSync("docs/tools.md", "utf8");

export interface Command {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Lets a workload go that waits for the end of its input. */
  release(): void;
  /** What it printed, once it has ended. */
  readonly output: Promise<string>;
}

export function start(command: string, args: readonly string[]): Command {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (data: string) => {
    text += data;
  });
  const deadline = setTimeout(() => child.kill("SIGKILL"), 300_000);
  const output = new Promise<string>((done, failed) => {
    child.on("error", failed);
    child.on("close", () => {
      clearTimeout(deadline);
      done(text);
    });
  });
  return { child, pid: child.pid ?? 0, release: () => child.stdin.end(), output };
}

/** A command from its start to its end. */
export async function run(
  command: string,
  ...args: string[]
): Promise<{ readonly pid: number; readonly output: string }> {
  const started = start(command, args);
  started.release();
  return { pid: started.pid, output: await started.output };
}

/**
 * Counts a process's waits for a CPU as a script without `-p` sees them, by the numbers in the events, until the result is
 * asked for. A hypervisor's agent may keep its own events from every tracer, perf and ftrace included: a thread that gets
 * the CPU from it is then seen by none, but for the kernel's own count of switches.
 * @param pid a process of one thread
 */
export async function waitsSeen(pid: number): Promise<() => Promise<number>> {
  const running = startStrobe([
    "-e",
    `rawtracepoint:sched_wakeup, rawtracepoint:sched_wakeup_new /args.p.pid == ${pid}/ { @waits = true; }
     tracepoint:sched:sched_switch {
       if (args.prev_pid == ${pid} && (args.prev_state & 0xff) == 0) { @waits = true; }
       if (args.next_pid == ${pid} && @waits) { @seen = count(); @waits = false; }
     }`,
  ]);
  await running.attached;
  return async () => {
    const { stdout, stderr } = await interrupt(running);
    return Number(/^@seen: (\d+)$/m.exec(stdout)?.[1] ?? 0) + missedIn(stderr);
  };
}

export interface Traced<T> {
  readonly result: T;
  readonly text: string;
  /** Without the empty ones. */
  readonly lines: readonly string[];
  /** Events that the kernel left out since the CPU was in another tracer's handler, as strobe said; none unless `mayMiss`. */
  readonly missed: number;
  /** Whether a text is a time of day within the trace. */
  during(time: string): boolean;
}

const missedEvents = /^WARNING: (?:raw)?tracepoint:\S+ missed (\d+) events? \(its handler was already running\)\n/gm;

/** Of events that a script asked for, as strobe said when it ended. */
export function missedIn(stderr: string): number {
  return [...stderr.matchAll(missedEvents)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Runs a script while `workload` runs. `args`: as behind a tool's name. `mayMiss`: the caller adds what was missed to what was seen. */
export async function traced<T>(
  script: string,
  args: readonly string[],
  workload: () => T | Promise<T>,
  { mayMiss = false }: { readonly mayMiss?: boolean } = {},
): Promise<Traced<T>> {
  const from = Date.now();
  const running = startStrobe([script, ...args]);
  let result: T;
  try {
    await running.attached;
    result = await workload();
  } finally {
    await interrupt(running);
  }
  const to = Date.now();
  const { stdout, stderr, code } = await running.outcome;
  const missed = missedIn(stderr);
  // Of all the machine's programs some begin, or end, while their stacks are taken, which is said.
  assert.match(
    mayMiss ? stderr.replaceAll(missedEvents, "") : stderr,
    /^Attached \d+ probes?\n(?:WARNING: (?:\d+ stacks? (?:ends? early|follows? frame pointers only)|addresses of \d+ process(?:es)? have no names|stacks that were taken before strobe knew what a process runs have no interpreted frames|\d+ interpreted functions? ha(?:s|ve) no name): .*\n)*$/,
  );
  assert.equal(code, 0);
  const lines = stdout.split("\n").filter((line) => line !== "");
  // What begins with a heading is shown with it.
  if (/^begin\b/m.test(readFileSync(`tools/${script}.bt`, "utf8"))) {
    const [, heading] = /^# strobe .*\n(.*)$/m.exec(documentOf(script)) ?? [];
    assert.equal(heading, lines[0], `docs/tools.md lacks the heading of ${script}`);
  }
  const seconds = new Set<string>();
  for (let time = from - 1000; time <= to + 1000; time += 1000) seconds.add(new Date(time).toTimeString().slice(0, 8));
  return { result, text: stdout, lines, missed, during: (time) => seconds.has(time) };
}

/** What is printed of a workload, by columns; only the lines that `own` chooses. */
export function rows({ lines }: Traced<unknown>, own: (columns: readonly string[]) => boolean): string[][] {
  return lines.map((line) => line.trim().split(/\s+/)).filter(own);
}

/** The buckets of one printed histogram: lower bound and count. */
export function histogram(text: string, name: string): { readonly from: number; readonly count: number }[] {
  const lines = text.split("\n");
  const first = lines.indexOf(`${name}:`);
  if (first < 0) return [];
  const found: { from: number; count: number }[] = [];
  for (const line of lines.slice(first + 1)) {
    const match = /^\[(\d+)([KMG]?)[\],].*?\s(\d+) \|[@ ]+\|$/.exec(line);
    if (!match) break;
    found.push({ from: Number(match[1]) * 1024 ** " KMG".indexOf(match[2] || " "), count: Number(match[3]) });
  }
  return found;
}

/** What a histogram counts at and above a value. */
export function counted(text: string, name: string, from = 0): number {
  return histogram(text, name)
    .filter((bucket) => bucket.from >= from)
    .reduce((sum, { count }) => sum + count, 0);
}

/** What docs/tools.md says of a script. */
export function documentOf(script: string): string {
  return documentation.split(/^## /m).find((part) => part.startsWith(`${script}\n`)) ?? "";
}

/** @throws AssertionError that says of what */
export function between(value: number, least: number, most: number, what: string): void {
  assert.ok(value >= least && value <= most, `${what}: ${value}, not between ${least} and ${most}`);
}
