// What must end with a message or a report on every kernel, and never with a hang or a complaint of the kernel.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { complaint, runGuest } from "./guest.ts";
import { kernels } from "./kernels.ts";
import { filesToRun, only } from "./tested-kernels.ts";
import { tryOnKernels, type Trial } from "./trials.ts";
import { sleepersSource, workSource } from "./workload.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** Without multi links each function costs a perf event: hundreds are enough there. */
const wildcard = (kernel: string): { readonly pattern: string; readonly least: number } =>
  kernel === "6.1" ? { pattern: "vfs_*", least: 50 } : { pattern: "[a-f]*", least: 10_000 };

/** Starts a trace, and waits until it is attached. */
function background(script: string): string {
  return `rm -f /tmp/trace; strobe -q -o /tmp/trace -e '${script} interval:ms:50 { if (!@ready) { @ready = 1; printf("ready\\n"); } } end { clear(@ready); }' &
      until grep -q ready /tmp/trace 2>/dev/null; do sleep 0.1; done`;
}

const trialsOf = (kernel: string): readonly Trial[] => [
  {
    // The tasks are still in the function when the probe is gone, and return to where its trampoline was.
    name: "a kretprobe of a function that is left after the probe",
    script: `${background('kretprobe:hrtimer_nanosleep /comm == "sleepers"/ { @ = count(); } kprobe:hrtimer_nanosleep /comm == "sleepers"/ { printf("in\\n"); exit(); }')}
      /bin/sleepers 20; wait; cat /tmp/trace; strobe -e 'kprobe:vfs_read { exit(); }' 2>/dev/null; echo alive`,
    check: ({ stdout, code }) => {
      assert.equal(code, 0);
      assert.match(stdout, /^ready\nin\n[^@]*alive\n$/);
    },
  },
  {
    name: "a function that is never left",
    script: `strobe -e 'kretprobe:do_exit { @ = count(); } interval:ms:500 { exit(); }'; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do /bin/true; done; echo alive`,
    check: ({ stdout, stderr, code }) => {
      assert.equal(code, 0, stderr);
      assert.match(stdout, /alive\n$/);
    },
  },
  {
    name: "thousands of functions by a wildcard",
    deadline: 1500,
    script: `strobe -v -e 'config = { max_probes = 100000 } kprobe:${wildcard(kernel).pattern} { @all = count(); } kprobe:vfs_read /pid == cpid/ { @work = count(); } end { clear(@all); }' -c '/bin/work 10'`,
    check: ({ stdout, stderr, code }) => {
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^@work: \d\d$/m, stderr);
      const attached = Number(/^Attached (\d+) probes$/m.exec(stderr)?.[1]);
      assert.ok(attached >= wildcard(kernel).least, `${attached} functions\n${stderr.slice(0, 3000)}`);
    },
  },
  {
    // The kernel looks the probe's number up by where the function begins, which is not where it is traced.
    name: "functions of a wildcard, by the names of their probes",
    script: `strobe -q -c '/bin/work 100' -e 'kprobe:vfs_r* /pid == cpid && arg2 == 512/ { @[func, probe] = count(); }'`,
    check: ({ stdout, stderr, code }) => {
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^@\[vfs_read, kprobe:vfs_read\]: 100$/m, stderr);
    },
  },
  {
    // Before 6.10 the verifier keeps fewer bounds.
    name: "histograms of values of few bits",
    script: `strobe -q -c '/bin/work 100' -e 'tracepoint:raw_syscalls:sys_enter /pid == cpid && args.id == 0 && args.args[2] == 512/ { @a = hist((uint8)args.args[2]); @b = hist((uint16)args.args[2]); @c = hist((uint32)args.args[2], 2); @s = shist((uint16)args.args[2]); exit(); }' | grep -c '|@'`,
    check: ({ stdout, stderr }) => {
      assert.equal(stdout, "4\n", stderr);
    },
  },
  {
    name: "handlers that call what they trace",
    script: `strobe -c '/bin/work 100' -e 'config = { missing_probes = "ignore" } kprobe:__htab_map_lookup_elem,kprobe:bpf_get_current_comm,kprobe:bpf_probe_read_kernel,kprobe:copy_from_kernel_nofault,
      kprobe:bpf_get_stackid,kprobe:bpf_ringbuf_reserve,kprobe:htab_map_update_elem { @[comm, probe, kstack(2)] = count(); @b[tid] = sum(((struct task_struct *)curtask).pid); }
      kprobe:vfs_read /pid == cpid && arg2 == 512/ { @reads = count(); printf(""); } end { clear(@); clear(@b); }'`,
    check: ({ stdout, stderr, code }) => {
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^@reads: 100$/m, stderr);
    },
  },
  {
    name: "some probes that cannot be attached",
    script: `strobe -c '/bin/work 100' -e 'config = { missing_probes = "warn" } kprobe:do_int3,kprobe:vfs_read /pid == cpid && arg2 == 512/ { @ = count(); }'`,
    check: ({ stdout, stderr, code }) => {
      assert.equal(code, 0, stderr);
      assert.equal(stdout.trim(), "@: 100", stderr);
      assert.match(stderr, /^Attached 1 probe$/m);
      assert.match(
        stderr,
        /^WARNING: could not attach kprobe:do_int3: .*EINVAL.*on its list of those that must not be probed/m,
      );
    },
  },
  ...["kprobe:dummy:dummy_xmit", "kprobe:dummy:dummy_*", "kretprobe:dummy:dummy_xmit", "fentry:dummy:dummy_xmit"].map(
    (probe): Trial => ({
      name: `a module that is unloaded under ${probe}`,
      // The kernel lets it go, or says that it is in use; either way the trace goes on and ends.
      script: `insmod /modules/dummy.ko 2>/dev/null; ip link set dummy0 up
      ${background(`${probe} { @ = count(); } interval:ms:100 { @ticks++; if (@ticks == 20) { printf("still here\\n"); exit(); } }`)}
      rmmod dummy 2>/dev/null && echo unloaded || echo in use; wait $!; echo "ended with $?"; cat /tmp/trace
      rmmod dummy 2>/dev/null; grep -c '^dummy ' /proc/modules`,
      check: ({ stdout, stderr }) => {
        // Whether the kernel let it go or not, nothing of the trace holds it any more at the end.
        assert.match(stdout, /^(unloaded|in use)\nended with 0\nready\n(.*\n)*still here\n[^]*\n0\n$/, stderr);
      },
    }),
  ),
  {
    name: "plans are kept for the modules that are loaded, and not where events were added",
    deadline: 2000,
    script: `kept() { strobe -v -c '/bin/work 100' -e 'kprobe:vfs_read /comm == "work" && arg2 == 512/ { @ = count(); }' 2>&1 | grep -E 'plan was kept|^@'; }
      insmod /modules/dummy.ko 2>/dev/null; kept; kept; rmmod dummy; insmod /modules/dummy.ko; kept; kept; rmmod dummy
      echo 'p:added vfs_read' > /sys/kernel/tracing/kprobe_events; kept; echo > /sys/kernel/tracing/kprobe_events`,
    check: ({ stdout, stderr }) => {
      const [compiled, kept] = ["@: 100\n", "the script has run before: its plan was kept\n@: 100\n"];
      assert.equal(stdout, compiled + kept + compiled + kept + compiled, stderr);
    },
  },
  {
    name: "after all that, tracing works and nothing is left",
    script: `strobe -q -c '/bin/work 100' -e 'kprobe:vfs_read /pid == cpid && arg2 == 512/ { @ = count(); }'; cat /sys/kernel/tracing/kprobe_events /sys/kernel/debug/kprobes/list 2>/dev/null`,
    check: ({ stdout, stderr }) => assert.equal(stdout.trim(), "@: 100", stderr),
  },
];

tryOnKernels({
  // A minute or two, but for a machine that has no CPU to spare.
  verb: "survives",
  trials: trialsOf,
  deadline: 6000,
  modules: ["dummy"],
  files: () => ({
    "/bin/work": compileC(folder.path, "work", workSource, ["-O1", "-no-pie"]),
    "/bin/sleepers": compileC(folder.path, "sleepers", sleepersSource),
  }),
});

test("a power cut in mid-trace loses nothing that was printed", { timeout: 2_000_000 }, async (t) => {
  const kernel = kernels.find(({ name }) => name === (only ?? "6.12"));
  const files = kernel === undefined ? `there is no kernel ${only}` : filesToRun(kernel);
  if (typeof files === "string") return t.skip(files);
  const guest = await runGuest({
    kernel: files,
    deadline: 1800,
    cutAt: /^event 5$/m,
    jobs: [
      {
        script:
          "strobe -q -o /dev/ttyS1 -e 'kprobe:vfs_read { @ = count(); } interval:ms:100 { @n++; printf(\"event %d\\n\", @n); }'",
      },
    ],
  });
  assert.equal(guest.complete, false);
  assert.deepEqual(guest.jobs, []);
  assert.deepEqual(
    guest.lines.filter((line) => line.startsWith("event")).slice(0, 5),
    [1, 2, 3, 4, 5].map((i) => `event ${i}`),
  );
  assert.doesNotMatch(guest.console, complaint);
});
