// osnoise and timerlat where the kernel has them (our own does): the same samples as an instance made by hand, and what is
// said when a threshold is passed.
import assert from "node:assert/strict";
import { tryOnKernels, type Trial } from "./trials.ts";

const tracing = "/sys/kernel/tracing";
const settings = `cd ${tracing}/osnoise; echo $(cat period_us runtime_us stop_tracing_us stop_tracing_total_us timerlat_period_us print_stack ../tracing_thresh)`;
const usual = "1000000 1000000 0 0 1000 0 0\n";

const trials: readonly Trial[] = [
  {
    name: "what they are told in the beginning",
    script: settings,
    check: ({ stdout, stderr }) => assert.equal(stdout, usual, stderr),
  },
  {
    name: "timerlat's samples, each as by hand",
    script: `cd ${tracing}; mkdir instances/other; echo 20000 >instances/other/buffer_size_kb; echo timerlat >instances/other/current_tracer
strobe -q --engine tracefs -c 'sleep 1' -e 'tracepoint:ftrace:timerlat { printf("%d %d %d %d\\n", cpu, args.seqnum, args.context, args.timer_latency); }' | grep . | sort >/tmp/ours
echo 0 >instances/other/tracing_on
sed -n 's/.*\\[0*\\([0-9][0-9]*\\)\\].*#\\([0-9]*\\) *context *\\([a-z]*\\) *timer_latency *\\([0-9]*\\) ns.*/\\1 \\2 \\3 \\4/p' instances/other/trace | sed 's/ irq / 0 /; s/ thread / 1 /; s/^ / 0 /' | sort >/tmp/theirs
rmdir instances/other
awk '{ n[$1 " " $3]++; if (!(($1 " " $3) in least) || $2 < least[$1 " " $3]) least[$1 " " $3] = $2; if ($2 > most[$1 " " $3]) most[$1 " " $3] = $2 }
END { for (k in n) if (n[k] != most[k] - least[k] + 1) print "gap in", k; else if (n[k] < 50) print "few of", k }' /tmp/ours
sort /tmp/ours /tmp/theirs | uniq -d | wc -l; wc -l </tmp/ours`,
    check: ({ stdout, stderr }) => {
      const [both, ours, ...more] = stdout.trim().split("\n");
      assert.deepEqual(more, [], stdout);
      assert.equal(both, ours, stderr);
    },
  },
  {
    name: "timerlat as a table",
    script: "strobe timerlat -q --for 2s",
    check: ({ stdout, stderr }) => {
      const [unit, head, ...rows] = stdout.trim().split("\n");
      assert.equal(unit, "times in microseconds", stderr);
      assert.match(head, /^CPU +COUNT +IRQ CUR +MIN +AVG +MAX +THR CUR +MIN +AVG +MAX$/, stderr);
      assert.equal(rows.length, 2, stdout);
      for (const row of rows) {
        const [, count, last, least, average, most, , fewest, mean, longest] = row.trim().split(/\s+/).map(Number);
        assert.ok(count > 100 && least <= average && average <= most && last <= most, row);
        assert.ok(fewest <= mean && mean <= longest && least <= fewest, row);
      }
    },
  },
  {
    name: "timerlat's threshold: who it was, and the stack",
    script: `strobe timerlat -q --stop 1; ${settings}`,
    check: ({ stdout, stderr }) => {
      assert.match(stdout, /^CPU \d: the thread was \d+\.\d{3} us late$/m, stderr);
      // The interrupt may have come before the tracer looked at it.
      const interrupt = stdout.split("\n").filter((line) => line.includes("interrupt was"));
      assert.ok(
        interrupt.every((line) => /^ {2}the timer's interrupt was \d+\.\d{3} us late$/.test(line)),
        stdout,
      );
      assert.match(stdout, /^ {2}at the interrupt:\n +\w+\+\d+\n/m);
      assert.ok(stdout.endsWith(usual), stdout);
    },
  },
  {
    name: "what led to it, as a recording",
    script: `strobe timerlat -q --stop 1 --save /tmp/last.dat >/dev/null; strobe replay /tmp/last.dat -q -e 'tracepoint:sched:sched_switch { @switches = count(); } tracepoint:osnoise:irq_noise { @noises = count(); }'; ls ${tracing}/instances; ${settings}`,
    check: ({ stdout, stderr }) => {
      assert.match(stderr, /^\/tmp\/last\.dat: the last \d+ events$/m);
      assert.match(stdout.trimStart(), /^@noises: [1-9]\d*\n@switches: [1-9]\d*\n/);
      assert.ok(stdout.endsWith(usual), stdout);
    },
  },
  {
    name: "timerlat's distribution",
    script: "strobe timerlat -q --hist --bucket 50 --for 1s",
    check: ({ stdout, stderr }) => assert.match(stdout, /^@irq_us\[[01]\]:.*^@thread_us\[[01]\]:/ms, stderr),
  },
  {
    name: "osnoise's samples, each as by hand",
    script: `cd ${tracing}; mkdir instances/other; echo 100000 >osnoise/runtime_us; echo 200000 >osnoise/period_us; echo osnoise >instances/other/current_tracer
strobe -q --engine tracefs -c 'sleep 2' -e 'tracepoint:ftrace:osnoise { printf("%d %d %d %d %d\\n", args.runtime, args.noise, args.max_sample, args.irq_count, args.softirq_count); }' | grep . | sort >/tmp/ours
echo 0 >instances/other/tracing_on
awk '/^ *osnoise\\/[0-9]/ { for (i = 1; i <= NF; i++) if ($i ~ /^[0-9.]+:$/) { print $(i+1), $(i+2), $(i+4), $(i+7), $(i+8) } }' instances/other/trace | sort >/tmp/theirs
rmdir instances/other; echo 1000000 >osnoise/period_us; echo 1000000 >osnoise/runtime_us
sort /tmp/ours /tmp/theirs | uniq -d | wc -l; sort -u /tmp/ours | wc -l; head -3 /tmp/ours /tmp/theirs >&2`,
    check: ({ stdout, stderr }) => {
      const [both, ours] = stdout.trim().split("\n");
      assert.equal(both, ours, stderr);
      assert.ok(Number(ours) > 5, stdout + stderr);
    },
  },
  {
    name: "noise as a table",
    script: `strobe noise -q --period 200000 --runtime 100000 --for 3s; ${settings}`,
    check: ({ stdout, stderr }) => {
      const [unit, head, ...rows] = stdout.trim().split("\n");
      assert.equal(unit, "times in microseconds", stderr);
      assert.match(head, /^CPU +PERIODS +RUNTIME +NOISE/, stderr);
      assert.equal(`${rows.pop()}\n`, usual);
      const cpus = rows.filter((row) => row !== "").map((row) => row.trim().split(/\s+/).map(Number));
      assert.equal(cpus.length, 2, stdout);
      for (const [, periods, runtime, noise, free, most, single, , , interrupts] of cpus) {
        assert.ok(periods > 5 && runtime >= periods * 90_000 && noise < runtime, stdout);
        assert.ok(free > 0 && free <= 100 && most <= noise && single <= most && interrupts > 0, stdout);
      }
    },
  },
  {
    name: "noise's threshold: by whom",
    script: `strobe noise -q --stop 2; ${settings}`,
    check: ({ stdout, stderr }) => {
      assert.match(stdout, /^CPU \d was taken for \d+\.\d{3} us$/m, stderr);
      assert.ok(stdout.endsWith(usual), stdout);
    },
  },
  {
    name: "noise's threshold of a period",
    script: `strobe noise -q --period 200000 --runtime 100000 --stop-total 1; ${settings}`,
    check: ({ stdout, stderr }) => {
      assert.match(stdout, /^CPU \d was taken for \d+ us of a period\ntimes in microseconds$/m, stderr);
      assert.ok(stdout.endsWith(usual), stdout);
    },
  },
  {
    name: "osnoise's events on eBPF",
    script: `strobe -e 'tracepoint:osnoise:irq_noise { @ = count(); }' --for 1s`,
    check: ({ stderr }) =>
      assert.match(
        stderr,
        /tracepoint:osnoise:irq_noise fires while the tracer osnoise or timerlat runs, and on eBPF strobe starts neither/,
      ),
  },
  {
    name: "hwlat's samples in a script",
    script: `strobe -q --engine tracefs --for 3s -e 'tracepoint:ftrace:hwlat { @ = count(); @least = min(args.duration); }' | grep .`,
    check: ({ stdout, stderr }) => assert.match(stdout, /^@: [1-9]\d*\n@least: \d+\n$/, stderr),
  },
  {
    name: "what cannot be is refused, and nothing is changed",
    script: `strobe timerlat --cpus all; strobe noise --period 1000 --runtime 2000; strobe timerlat --cpus 77; strobe --engine tracefs -e 'tracepoint:ftrace:timerlat, tracepoint:ftrace:hwlat { @ = count(); }'; ${settings}; ls ${tracing}/instances`,
    check: ({ stdout, stderr }) => {
      assert.equal(stdout, usual, stderr);
      assert.match(stderr, /--cpus takes numbers and ranges such as 0-3,8, not "all"/);
      assert.match(stderr, /--runtime is a part of the period: 2000 is more than 1000/);
      assert.match(stderr, /cannot write osnoise\/cpus of tracefs/);
      assert.match(stderr, /the kernel runs one tracer at a time, and the script has events of timerlat and hwlat/);
    },
  },
  {
    name: "a killed one is cleaned up by the next",
    script: `strobe noise -q --period 300000 & first=$!; while [ "$(cat ${tracing}/osnoise/period_us)" != 300000 ]; do sleep 0.1; done; sleep 1
kill -KILL $first; wait $first; strobe clean >/dev/null; ${settings}; ls ${tracing}/instances; cat ${tracing}/current_tracer`,
    check: ({ stdout, stderr }) => assert.equal(stdout, `${usual}nop\n`, stderr),
  },
];

tryOnKernels({
  verb: "measures latencies by its own tracers",
  on: ["own"],
  own: true,
  files: () => ({}),
  deadline: 900,
  trials: () => trials,
});
