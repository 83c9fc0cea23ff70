// Pairs of events that the kernel finds by itself (histograms of two events, a synthetic event): what comes of them is what
// comes of both handlers on eBPF, and nothing is left.
import assert from "node:assert/strict";
import { after } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { tryOnKernels, type Trial } from "./trials.ts";
import { workSource } from "./workload.ts";

const folder = temporaryFolder();
after(() => folder.remove());

const quoted = (script: string): string => `'${script.replaceAll("'", `'\\''`)}'`;

const start = "tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @start[tid] = nsecs; }";
const end = "end { clear(@start); }";
const pair = (then: string, predicate = "@start[tid]"): string =>
  `${start} tracepoint:syscalls:sys_exit_getppid /${predicate}/ { ${then} delete(@start, tid); } ${end}`;

/** Counted by the kernel to the end. */
const counted: readonly string[] = [
  pair("@n = count();"),
  pair("@[args.ret == 0] = count(); @sum = sum(args.__syscall_nr);"),
  pair("$took = nsecs - @start[tid]; @[tid == pid] = count(); @more = sum(args.__syscall_nr);"),
  pair("@n[args.__syscall_nr, tid == pid] = count();", "args.__syscall_nr == 110 && @start[tid]"),
];

/** The kernel finds the pairs, the handler runs over each. */
const paired: readonly string[] = [
  pair("$took = nsecs - @start[tid]; @[comm, $took > 0, $took < 60000000000] = count();"),
  pair('@last = args.ret == 0; @lines++; if (@lines == 100) { printf("%d\\n", @lines); }'),
  pair("@[nsecs >= @start[tid]] = count();"),
  pair("$us = (nsecs - @start[tid]) / 1000; @[$us < 60000000] = count(); @h = lhist($us, 0, 60000000, 60000000);"),
];

const run = (engine: string, script: string): string =>
  `strobe -q --engine ${engine} -c '/bin/work 100' -e ${quoted(script)} | grep . | sort`;

/** Each call of another key. */
const seeksSource = `#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  for (long i = 1; i <= atol(argv[1]); i++) lseek(0, 1000000 + i, SEEK_SET);
  return 0;
}
`;
const seeks = `tracepoint:syscalls:sys_enter_lseek { @start[args.offset] = nsecs; }
tracepoint:syscalls:sys_exit_lseek /@start[args.ret]/ { @n = count(); delete(@start, args.ret); } ${end}`;
const farSeeks = seeks.replace("lseek {", "lseek /args.offset > 1000900/ {");

const power = (text: string): number => {
  const [, digits, unit] = /^(\d+)([KMGT]?)$/.exec(text) ?? [];
  return Number(digits) * 1024 ** ["", "K", "M", "G", "T"].indexOf(unit);
};

tryOnKernels({
  verb: "pairs events as handlers on eBPF do",
  own: true,
  on: ["6.1", "6.12", "7", "own"],
  files: () => ({
    "/bin/work": compileC(folder.path, "work", workSource, ["-O1", "-static"]),
    "/bin/seeks": compileC(folder.path, "seeks", seeksSource, ["-O1", "-static"]),
  }),
  deadline: 900,
  trials: (): readonly Trial[] => [
    ...[...counted, ...paired].map((script): Trial => ({
      name: script.slice(start.length + 1, 150),
      script: `${run("bpf", script)}; echo ---; ${run("tracefs -v", script)}`,
      check: ({ stdout, stderr }) => {
        const [bpf, tracefs] = stdout.split("---\n");
        assert.match(bpf, /^@.*\b100$/m, stderr);
        assert.equal(tracefs, bpf, stderr);
        assert.match(stderr, /^the kernel pairs events for tracepoint:syscalls:sys_exit_getppid: /m);
        assert.equal(/^the kernel counts synthetic:/m.test(stderr), counted.includes(script), stderr);
      },
    })),
    {
      name: "powers of two of what has passed, against its sum",
      script: `strobe -q -v --engine tracefs -c '/bin/work 1000' -e ${quoted(pair("$d = nsecs - @start[tid]; @h = hist($d); @sum = sum($d); @n = count();"))}`,
      check: ({ stdout, stderr }) => {
        assert.match(stderr, /^the kernel counts synthetic:.*log2/m);
        const rows = [...stdout.matchAll(/^\[(\w+), (\w+)\) +(\d+) /gm)];
        const total = (at: (low: number, high: number) => number): number =>
          rows.reduce((sum, [, low, high, count]) => sum + at(power(low), power(high)) * Number(count), 0);
        const sum = Number(/^@sum: (\d+)$/m.exec(stdout)?.[1]);
        assert.match(stdout, /^@n: 1000$/m, stderr);
        assert.equal(
          total(() => 1),
          1000,
          stdout,
        );
        assert.ok(total((low) => low) <= sum && sum < total((_, high) => high), stdout);
      },
    },
    {
      name: "of arguments that the kernel takes for unsigned",
      script: ["bpf", "tracefs -v"]
        .map(
          (engine) =>
            `echo >/tmp/file; strobe -q --engine ${engine} -c '/bin/seeks 1000' -e ${quoted(farSeeks)} </tmp/file`,
        )
        .join("; "),
      check: ({ stdout, stderr }) => {
        assert.deepEqual(stdout.match(/^.+$/gm), ["@n: 100", "@n: 100"], stderr);
        assert.match(stderr, /^the kernel pairs events for tracepoint:syscalls:sys_exit_lseek: /m);
      },
    },
    {
      name: "of more keys than the kernel has room for, those that are lost are told",
      script: `echo >/tmp/file; strobe -q --engine tracefs -c '/bin/seeks 70000' -e ${quoted(seeks)} </tmp/file`,
      check: ({ stdout, stderr }) => {
        assert.match(stdout, /^@n: 65536$/m, stderr);
        assert.match(
          stderr,
          /^WARNING: lost 4464 events of tracepoint:syscalls:sys_exit_lseek \(the kernel finds pairs of 65536 keys in a session\)$/m,
        );
      },
    },
    {
      name: "--explain shows the lines",
      script: `strobe --engine tracefs --explain -c /bin/work -e ${quoted(pair("@n[args.ret] = count(); @h = hist(nsecs - @start[tid]);"))}`,
      check: ({ stdout, stderr }) =>
        assert.equal(
          stdout,
          `engine: tracefs: handlers run in strobe, over records of these events
processes: the command, and what they start
tracepoint:syscalls:sys_enter_getppid
  paired by the kernel: hist:keys=common_pid:strobe_pair_0_begun=common_timestamp:clock=boot:size=65536
tracepoint:syscalls:sys_exit_getppid
  paired by the kernel: hist:keys=common_pid:strobe_pair_0_a0=ret:strobe_pair_0_a1=common_timestamp-$strobe_pair_0_begun+1:clock=boot:size=65536:onmatch(syscalls.sys_enter_getppid).trace(strobe_pair_0,$strobe_pair_0_a0,$strobe_pair_0_a1)
  synthetic_events: strobe_pair_0 s64 a0; u64 a1
  counted by the kernel: hist:keys=a0,a1.log2,common_pid:vals=hitcount:size=16384
end
  by strobe itself
`,
          stderr,
        ),
    },
    {
      name: "what a killed strobe left is removed",
      script: `strobe -q --engine tracefs -e ${quoted(pair("@n = count();").replace("/pid == cpid/ ", ""))} & sleep 1; until grep -q strobe_ /sys/kernel/tracing/synthetic_events; do sleep 1; done; sleep 3; kill -9 $!; wait $!
grep -c strobe_ /sys/kernel/tracing/synthetic_events; strobe clean; cat /sys/kernel/tracing/synthetic_events; ls /sys/kernel/tracing/instances`,
      check: ({ stdout, stderr }) =>
        assert.match(
          stdout,
          /^1\nremoved instance strobe-\d+ of tracefs\nremoved instance strobe-\d+-lives of tracefs\nremoved event strobe_\d+_0 of tracefs\n$/,
          stderr,
        ),
    },
    {
      name: "nothing is left in tracefs",
      script:
        "ls /sys/kernel/tracing/instances; cat /sys/kernel/tracing/dynamic_events /sys/kernel/tracing/synthetic_events",
      check: ({ stdout }) => assert.equal(stdout, ""),
    },
  ],
});
