// summary: what did programs ask of the kernel, how long did it take, and what failed? As JSON, at the end.
//
// For each program and system call: how often, how often in vain, the time in all, and how that was distributed. Ctrl-C
// ends it.
//   strobe run tools/summary.ts --for=10s --output=summary.json
//   strobe run tools/summary.ts --pid=1234 | jq '.programs[0].calls[:3]'
// Cost: moderate; two handlers for every system call.
import { writeFileSync } from "node:fs";
import { hostname, release } from "node:os";
import { comm, map, nsecs, pid, programOptions, syscallName, threadLocal, trace, tracepoint } from "strobe";

const { tracing, output, top } = programOptions({}, { output: true, top: true });
const self = process.pid;

const started = threadLocal<number>();
const times = map<[comm: string, call: string], "hist">({ entries: 16_384 });
const totals = map<[comm: string, call: string], "sum">({ entries: 16_384 });
const failures = map<[comm: string, call: string], "count">({ entries: 16_384 });

const session = await trace(
  tracepoint("raw_syscalls:sys_enter", { filter: () => pid !== self, handler: () => started.set(nsecs) }),
  tracepoint("raw_syscalls:sys_exit", {
    filter: () => started.has(),
    handler: ({ id, ret }) => {
      const took = nsecs - started.value;
      started.delete();
      times.at(comm, syscallName(id)).hist(took / 1000);
      totals.at(comm, syscallName(id)).sum(took);
      if (ret < 0 && ret >= -4095) failures.at(comm, syscallName(id)).count();
    },
  }),
  tracing,
);
const from = new Date();
console.error("Counting system calls");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => session.stop());
await session.ended;

interface CallSummary {
  name: string;
  count: number;
  failed: number;
  microseconds: number;
  histogram: { from: number; to: number | null; count: number }[];
}
const programs = new Map<string, CallSummary[]>();
const failed = failures.snapshot();
const total = totals.snapshot();
for (const [key, buckets] of times) {
  const [program, name] = key;
  const calls = programs.get(program) ?? [];
  programs.set(program, calls);
  calls.push({
    name,
    count: buckets.reduce((sum, { count }) => sum + count, 0),
    failed: failed.get(key) ?? 0,
    microseconds: Math.round((total.get(key) ?? 0) / 1000),
    histogram: buckets.map(({ low, high, count }) => ({ from: low ?? 0, to: high, count })),
  });
}
const sum = (calls: readonly CallSummary[]): number => calls.reduce((all, { microseconds }) => all + microseconds, 0);
const text = JSON.stringify(
  {
    host: hostname(),
    kernel: release(),
    from,
    to: new Date(),
    programs: [...programs]
      .sort(([, a], [, b]) => sum(b) - sum(a))
      .slice(0, top)
      .map(([program, calls]) => ({
        program,
        microseconds: sum(calls),
        calls: calls.sort((a, b) => b.microseconds - a.microseconds),
      })),
  },
  undefined,
  2,
);
if (output === undefined) console.log(text);
else writeFileSync(output, `${text}\n`);
