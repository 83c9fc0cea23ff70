// supervise: what does a command do, with all the programs that it starts?
//
// Runs a command from its first instruction to its end, and reports: the programs with their exit status, the files
// that were written and those that were missing, and the system calls with the time that they took. The exit code is
// the command's.
//   strobe run tools/supervise.ts make test
//   strobe run tools/supervise.ts --output=report.txt sh -c 'ls /missing; true'
// Cost: four handlers for each system call of the command's processes; those of others only pass a look into a map.
import { writeFileSync } from "node:fs";
import {
  cpid,
  curtask,
  event,
  map,
  nsecs,
  pid,
  ppid,
  programOptions,
  str,
  syscallName,
  threadLocal,
  tid,
  trace,
  tracepoint,
} from "strobe";

const { words, tracing, output, top, refuse } = programOptions({}, { processes: "command", output: true, top: true });
if (words.length === 0) refuse("supervise needs a command to run: strobe supervise make test");

/** The command's processes, by pid. */
const family = map<number, number>({ entries: 65_536 });
const entered = threadLocal<number>();
const path = threadLocal<number>();
const flags = threadLocal<number>();
const times = map<[call: string], "stats">();
const programs = event<{ pid: number; parent: number; name: string }>();
const exits = event<{ pid: number; status: number }>();
const opens = event<{ pid: number; path: string; flags: number; result: number }>();

function ours(): boolean {
  return pid === cpid || family.has(pid);
}

const began = performance.now();
const session = await trace(
  tracepoint("sched:sched_process_fork", { filter: () => ours(), handler: (args) => family.set(args.child_pid, 1) }),
  tracepoint("sched:sched_process_exec", {
    filter: () => ours(),
    handler: (args) => programs.emit({ pid, parent: ppid, name: str(args.filename) }),
  }),
  tracepoint("sched:sched_process_exit", {
    filter: () => ours() && pid === tid,
    handler: () => exits.emit({ pid, status: curtask.exit_code }),
  }),
  tracepoint("raw_syscalls:sys_enter", { filter: () => ours(), handler: () => entered.set(nsecs) }),
  tracepoint("raw_syscalls:sys_exit", {
    filter: () => entered.has(),
    handler: ({ id }) => {
      times.at(syscallName(id)).stats(nsecs - entered.value);
      entered.delete();
    },
  }),
  tracepoint("syscalls:sys_enter_openat", {
    filter: () => ours(),
    handler: (args) => {
      path.set(args.filename);
      flags.set(args.flags);
    },
  }),
  tracepoint("syscalls:sys_exit_openat", {
    filter: () => path.has(),
    handler: ({ ret }) => {
      opens.emit({ pid, path: str(path.value), flags: flags.value, result: ret });
      path.delete();
    },
  }),
  tracing,
);
const [started, ended, opened] = await Promise.all([collect(programs), collect(exits), collect(opens)]);
await session.ended;

const status = new Map(ended.map((one) => [one.pid, one.status]));
const names = new Map(started.map((one) => [one.pid, one.name]));
const lines = [
  `${words.join(" ")}: ${((performance.now() - began) / 1000).toFixed(1)} s, ${names.size} processes ran a program`,
  "",
  "PROGRAMS",
  "    PID    PPID ENDED            PROGRAM",
];
for (const { pid, parent, name } of started)
  lines.push(`${String(pid).padStart(7)} ${String(parent).padStart(7)} ${outcome(status.get(pid)).padEnd(16)} ${name}`);
const writable = 3;
section(
  "FILES WRITTEN",
  opened.filter(({ flags, result }) => result >= 0 && (flags & writable) !== 0),
);
section(
  "FILES MISSING",
  opened.filter(({ result }) => result === -2),
);
lines.push("", "SYSTEM CALLS", "  COUNT    TOTAL MS  CALL");
for (const [call, { count, total }] of [...times].sort(([, a], [, b]) => b.total - a.total).slice(0, top ?? 15)) {
  lines.push(`${String(count).padStart(7)} ${(total / 1e6).toFixed(3).padStart(11)}  ${call}`);
}
const text = `${lines.join("\n")}\n`;
if (output === undefined) process.stderr.write(`\n${text}`);
else writeFileSync(output, text);
const own = status.get(session.childPid ?? 0) ?? 0;
process.exitCode = (own & 0x7f) === 0 ? own >> 8 : 128 + (own & 0x7f);

async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of events) all.push(one);
  return all;
}

/** As wait(2) has it: a signal in the low bits, else the exit status above them. */
function outcome(code: number | undefined): string {
  if (code === undefined) return "runs on";
  return (code & 0x7f) === 0 ? `status ${code >> 8}` : `signal ${code & 0x7f}`;
}

function section(title: string, files: readonly { readonly pid: number; readonly path: string }[]): void {
  const counts = new Map<string, number>();
  for (const { pid, path } of files) {
    const line = `${path} (${names.get(pid) ?? pid})`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  lines.push(
    "",
    title,
    ...[...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([line, count]) => `${String(count).padStart(7)} ${line}`),
  );
}
