// What tracefs refuses or has no room for, on other kernels: it is said, and nothing is left behind.
import assert from "node:assert/strict";
import { after } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { tryOnKernels, type Trial } from "./trials.ts";
import { workSource } from "./workload.ts";

const folder = temporaryFolder();
after(() => folder.remove());

const script = `kprobe:vfs_read /pid == cpid && arg2 == 512/ { @[comm] = count(); }`;
const run = `strobe -q --engine tracefs -c '/bin/work 100' -e '${script}' | grep .`;
const answer = "@[work]: 100\n";

const trials: readonly Trial[] = [
  {
    name: "a full buffer: what was lost and what was counted are all there was",
    script: `strobe --engine tracefs -c '/bin/work 60000' -e 'config = { perf_rb_pages = 8 } tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @[comm] = count(); }' >/tmp/full 2>/tmp/said
echo $(( $(sed -n 's/^@\\[work\\]: //p' /tmp/full) + $(sed -n 's/^WARNING: lost \\([0-9]*\\) events\\{0,1\\} of tracepoint:syscalls:sys_enter_getppid .*/\\1/p' /tmp/said | awk '{ n += $1 } END { print n + 0 }') )); cat /tmp/said >&2`,
    check: ({ stdout, stderr }) => assert.equal(stdout, "60000\n", stderr),
  },
  {
    name: "two at once take nothing from each other",
    script: `for one in 1 2; do (${run} >/tmp/of$one) & done; wait; cat /tmp/of1 /tmp/of2`,
    check: ({ stdout, stderr }) => assert.equal(stdout, answer + answer, stderr),
  },
  {
    name: "a read-only tracefs is told",
    script: `mount -o remount,ro /sys/kernel/tracing; strobe --engine tracefs -e '${script}' -c /bin/true; echo $?
strobe events add 'kprobe:vfs_read { n = arg2 }'; echo $?; mount -o remount,rw /sys/kernel/tracing`,
    check: ({ stdout, stderr }) => {
      assert.equal(stdout, "1\n1\n", stderr);
      assert.equal(stderr.match(/the file system is read-only \(EROFS\)/g)?.length, 2, stderr);
    },
  },
  {
    name: "a tracefs that is not mounted is mounted",
    script: `umount /sys/kernel/tracing; ${run}; grep -c '^tracefs /sys/kernel/tracing' /proc/mounts`,
    check: ({ stdout, stderr }) => assert.equal(stdout, `${answer}1\n`, stderr),
  },
  {
    name: "names that are taken",
    script: `strobe events add --name mine 'kprobe:vfs_read { n = arg2 }' && strobe events add --name mine 'kprobe:vfs_write { n = arg2 }'; echo $?
strobe events add 'kprobe:vfs_read { n = arg2 }' 'kprobe:vfs_read { n = arg1 }'; strobe events remove 'strobe:*' | wc -l`,
    check: ({ stdout, stderr }) => {
      assert.equal(stdout, "strobe:mine\n1\nstrobe:vfs_read\nstrobe:vfs_read_1\n3\n", stderr);
      assert.match(stderr, /there is an event strobe:mine already/);
    },
  },
  {
    name: "nothing is left",
    always: true,
    script: "ls /sys/kernel/tracing/instances; cat /sys/kernel/tracing/dynamic_events",
    check: ({ stdout }) => assert.equal(stdout, ""),
  },
];

/** An event on an event follows a pointer to a text from Linux 6.12 on; before, the kernel took one byte of the pointer. */
const textPointer = (kernel: string): Trial => ({
  always: true,
  name: "a text behind a pointer of an event's record",
  script: `echo >/tmp/opened; strobe -q --engine tracefs -c '/bin/cat /tmp/opened' -e 'tracepoint:syscalls:sys_enter_openat,tracepoint:syscalls:sys_enter_open /pid == cpid/ { @[str(args.filename)] = count(); }' | grep /tmp/; echo $?`,
  check: ({ stdout, stderr }) => {
    if (kernel !== "6.1") return assert.equal(stdout, "@[/tmp/opened]: 1\n0\n", stderr);
    assert.equal(stdout, "1\n");
    assert.match(
      stderr,
      /error: memory behind a field that points to a text \(that needs Linux 6\.12[^)]*\) cannot be fetched on tracefs/,
    );
  },
});

tryOnKernels({
  comparison: "engines",
  verb: "says what tracefs refuses",
  own: true,
  files: () => ({ "/bin/work": compileC(folder.path, "work", workSource, ["-O1", "-static"]) }),
  deadline: 900,
  trials: (kernel) => [textPointer(kernel), ...trials],
});
