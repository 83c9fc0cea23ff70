// top: which processes make the most system calls, and how much do they read and write, now?
//
// A screen a second, of what was done in that second; Ctrl-C ends it. Where output is no terminal, screens come one
// below the other.
//   strobe run tools/top.ts
//   strobe run tools/top.ts --by=written --every=5s --top=10   the ten that write the most
//   strobe run tools/top.ts --screens=3      three screens, then the end
// Cost: moderate; a handler for every system call, and one more for every read and write.
import { comm, map, pid, programOptions, trace, tracepoint } from "strobe";

const columns = ["calls", "read", "written"] as const;
const { values, tracing, top } = programOptions(
  {
    by: { fallback: "calls", choices: columns, about: "the column whose largest values come first" },
    every: { fallback: "1s", time: true, about: "the time of a screen" },
    screens: { fallback: 0, about: "so many screens, then the end; 0: until Ctrl-C" },
  },
  { top: true },
);

const self = process.pid;
const calls = map<[pid: number, comm: string], "count">({ entries: 16_384 });
const read = map<number, "sum">({ entries: 16_384 });
const written = map<number, "sum">({ entries: 16_384 });

const reads = ["read", "pread64", "readv", "recvfrom", "recvmsg"].map((call) =>
  tracepoint(`syscalls:sys_exit_${call}`, {
    filter: (args) => args.ret > 0 && pid !== self,
    handler: (args) => read.at(pid).sum(args.ret),
  }),
);
const writes = ["write", "pwrite64", "writev", "sendto", "sendmsg"].map((call) =>
  tracepoint(`syscalls:sys_exit_${call}`, {
    filter: (args) => args.ret > 0 && pid !== self,
    handler: (args) => written.at(pid).sum(args.ret),
  }),
);
const session = await trace(
  tracepoint("raw_syscalls:sys_enter", { filter: () => pid !== self, handler: () => calls.at(pid, comm).count() }),
  ...reads,
  ...writes,
  tracing,
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => session.stop());

let screens = 0;
let since = performance.now();
for await (const snapshot of calls.every(values.every, { clear: true })) {
  const [bytesRead, bytesWritten] = [read.snapshot(), written.snapshot()];
  read.clear();
  written.clear();
  const seconds = (performance.now() - since) / 1000;
  since = performance.now();
  const rows = [...snapshot].map(([[id, name], count]) => ({
    pid: id,
    name,
    calls: count,
    read: bytesRead.get(id) ?? 0,
    written: bytesWritten.get(id) ?? 0,
  }));
  rows.sort((a, b) => b[values.by] - a[values.by]);
  const lines = rows
    .slice(0, top ?? 20)
    .map(
      (row) =>
        `${String(row.pid).padStart(7)} ${row.name.padEnd(16)} ${columns.map((column) => perSecond(row[column] / seconds).padStart(10)).join(" ")}`,
    );
  const total = rows.reduce((sum, row) => sum + row.calls, 0);
  if (process.stdout.isTTY) process.stdout.write("\x1b[H\x1b[J");
  console.log(
    `${new Date().toTimeString().slice(0, 8)}  ${rows.length} processes, ${perSecond(total / seconds)} system calls a second\n` +
      `    PID COMM                ${columns
        .map((column) => `${column.toUpperCase()}/S`.padStart(10))
        .join(" ")
        .trimStart()}\n${lines.join("\n")}\n`,
  );
  if (++screens === values.screens) break;
}
session.stop();
await session.ended;

function perSecond(value: number): string {
  const [scaled, unit] =
    value >= 1e9
      ? [value / 1e9, "G"]
      : value >= 1e6
        ? [value / 1e6, "M"]
        : value >= 1e4
          ? [value / 1e3, "k"]
          : [value, ""];
  return `${scaled.toFixed(unit === "" ? 0 : 1)}${unit}`;
}
