// The tracefs engine on other kernels, where there are kprobes: equal answers by eBPF and by tracefs.
import assert from "node:assert/strict";
import { after } from "node:test";
import { compileC, temporaryFolder } from "../support/strobe.ts";
import { engineRows, refusedOnTracefs } from "./engine-rows.ts";
import { tryOnKernels, type Trial } from "./trials.ts";
import { sleepersSource, workSource } from "./workload.ts";

const folder = temporaryFolder();
after(() => folder.remove());

const mine = "pid == cpid && arg2 == 512";

const scripts: readonly string[] = [
  `kprobe:vfs_read /${mine}/ { @[comm] = count(); @sum = sum(arg2); }`,
  `kprobe:vfs_read /${mine}/ { @[arg2, str(((struct file *)arg0).f_path.dentry.d_name.name)] = count(); }`,
  `kprobe:vfs_read /pid == cpid && args.count == 512/ { @[str(args.file.f_path.dentry.d_name.name), args.file.f_inode.i_mode, func] = count(); }`,
  `kretprobe:vfs_read /pid == cpid && (int64)retval == 512/ { @[retval] = count(); }`,
  `kretprobe:vfs_read /pid == cpid && args.count == 512/ { @[args.count == retval, probe] = count(); }`,
  `kprobe:vfs_write /pid == cpid && arg2 == 64/ { @start[tid] = nsecs; }
   kretprobe:vfs_write /@start[tid]/ { @took[nsecs > @start[tid]] = count(); delete(@start, tid); }`,
  `tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @ = count(); }`,
  `tracepoint:raw_syscalls:sys_enter /pid == cpid && args.id == 110/ { @[args.id, comm] = count(); }`,
  `uprobe:/bin/work:leaf_add { @sum = sum(arg0 + arg1); @ = count(); } uretprobe:/bin/work:leaf_sub { @r = sum(retval); }`,
  `uprobe:/bin/work:leaf_text { @[str(arg0)] = count(); }`,
];

/** By events of ftrace's own probes (Linux 6.5). */
const onFunctions: readonly string[] = [
  `fentry:vfs_read /pid == cpid && args.count == 512/ { @[str(args.file.f_path.dentry.d_name.name), args.file.f_inode.i_mode] = count(); }`,
  `fexit:vfs_read /pid == cpid && (int64)retval == 512/ { @[retval, func] = count(); }`,
];
const hasFprobes = (kernel: string): boolean => kernel !== "6.1";

/** What the kernel's own histograms count. */
const counted: readonly string[] = [
  `tracepoint:syscalls:sys_enter_write /pid == cpid/ { @[tid == pid, args.fd] = sum(args.count); @n = count(); @mean = avg(args.count); }`,
  `tracepoint:raw_syscalls:sys_enter /pid == cpid && args.id == 110/ { @[args.id] = count(); @h = hist(args.id); @l = lhist(args.id, 0, 200, 10); @most = max(args.id); @i++; }`,
  `kprobe:vfs_read /pid == cpid && arg2 == 512/ { @[arg2] = count(); @sum = sum(arg2); @s = stats(arg2); }`,
  `kprobe:vfs_write /pid == cpid/ { if (arg2 == 64) { @[probe] = count(); } else if (arg2 < 64) { @less = count(); } else { @more[tid] = count(); } } end { printf("%d\\n", @less); clear(@more); }`,
  `kretprobe:vfs_read /pid == cpid && (int64)retval == 512/ { @[retval, cpu < 100] = sum(-(int64)retval); @spread = variance(retval); }`,
  `uprobe:/bin/work:leaf_add { @sum = sum(arg0); @even = sum(arg0 & 1 ? 0 : arg0); } uretprobe:/bin/work:leaf_sub /pid == cpid/ { @r = sum((int32)retval); }`,
  `tracepoint:syscalls:sys_enter_getppid /pid == cpid/ { @all = count(); } tracepoint:syscalls:sys_exit_getppid /pid == cpid/ { @[args.ret == 0] = count(); }`,
];

/** Some four hundred events. */
const everyCall = "tracepoint:syscalls:sys_enter_* /pid == cpid/ { @[probe] = count(); }";

const definitions = `cd /sys/kernel/tracing
strobe events add 'tracepoint:raw_syscalls:sys_enter /args.id == 110 && comm == "work"/ { nr = args.id; who = comm }' 'fentry:vfs_read { count = args.count; name = str(args.file.f_path.dentry.d_name.name) }' 'fexit:vfs_read { retval }'
strobe events list | tr -s ' ' | cut -d' ' -f1,2 | sort
strobe events enable 'strobe:*' | wc -l; /bin/work 100; strobe events disable 'strobe:*' | wc -l
grep -c 'sys_enter: .* nr=110 who="work"' trace; grep -c 'vfs_read: .* count=512 name="zero"' trace
grep -c 'vfs_read__return: .* retval=\\(512\\|0x200\\)$' trace
strobe events remove 'strobe:*' | wc -l; echo >trace`;

const quoted = (script: string): string => `'${script.replaceAll("'", `'\\''`)}'`;

const sorted = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .sort();

const run = (engine: string, script: string, command = "/bin/work 100"): string =>
  `strobe -q --engine ${engine} -c '${command}' -e ${quoted(script)} | grep . | sort`;

tryOnKernels({
  comparison: "engines",
  verb: "answers on tracefs as on eBPF",
  own: true,
  files: () => ({
    "/bin/work": compileC(folder.path, "work", workSource, ["-O1", "-g", "-static"]),
    "/bin/sleepers": compileC(folder.path, "sleepers", sleepersSource),
  }),
  deadline: 1800,
  trials: (kernel): readonly Trial[] => [
    ...(hasFprobes(kernel)
      ? [
          {
            name: "events on events and on functions, by hand",
            script: definitions,
            check: ({ stdout, stderr }) =>
              assert.equal(
                stdout,
                `strobe:sys_enter
strobe:vfs_read
strobe:vfs_read__return
strobe:sys_enter eprobe
strobe:vfs_read fprobe
strobe:vfs_read__return fprobe
3
3
100
100
100
3
`,
                stderr,
              ),
          } satisfies Trial,
        ]
      : []),
    ...[...scripts, ...(hasFprobes(kernel) ? onFunctions : [])].map((script): Trial => ({
      name: script.replace(/\s+/g, " ").slice(0, 90),
      script: `${run("bpf", script)}; echo ---; ${run("tracefs", script)}`,
      check: ({ stdout, stderr }) => {
        const [bpf, tracefs] = stdout.split("---\n");
        assert.match(bpf, /^@/m, stderr);
        assert.equal(tracefs, bpf, stderr);
      },
    })),
    ...counted.map((script): Trial => ({
      name: `the kernel counts: ${script.replace(/\s+/g, " ").slice(0, 90)}`,
      script: `${run("bpf", script)}; echo ---; ${run("tracefs -v", script)}`,
      check: ({ stdout, stderr }) => {
        const [bpf, tracefs] = stdout.split("---\n");
        assert.match(bpf, /^@/m, stderr);
        assert.equal(tracefs, bpf, stderr);
        assert.match(stderr, /^the kernel counts .* hist:keys=/m);
        assert.doesNotMatch(stderr, /^enabled /m);
      },
    })),
    {
      name: "--explain shows the kernel's histograms",
      script: `strobe --engine tracefs --explain -e ${quoted(counted[0])} -c /bin/work`,
      check: ({ stdout, stderr }) =>
        assert.equal(
          stdout,
          `engine: tracefs: handlers run in strobe, over records of these events
processes: the command, and what they start
tracepoint:syscalls:sys_enter_write
  counted by the kernel: hist:keys=fd,common_pid:vals=hitcount,count:size=16384
`,
          stderr,
        ),
    },
    ...engineRows.map(({ name, script, command, output, on }): Trial => ({
      name: `docs/kernels.md: ${name}`,
      script: run("tracefs", script, command),
      check: ({ stdout, stderr }) => {
        const engines = on(kernel);
        if (engines === "both" || engines === "tracefs")
          assert.deepEqual(sorted(stdout.trim().replaceAll(/\+\d+/g, "+N")), sorted(output), stderr);
        else if (engines === "eBPF") assert.match(stderr, refusedOnTracefs);
      },
    })),
    {
      name: "histograms of hundreds of events have room together",
      script: `strobe --engine tracefs --explain -e ${quoted(everyCall)} -c /bin/work | grep -o 'size=[0-9]*' | sort | uniq -c | awk '{ print $2, $1 }'
echo "size=512 $(ls -d /sys/kernel/tracing/events/syscalls/sys_enter_* | wc -l)"
strobe -q --engine tracefs -c '/bin/work 100' -e ${quoted(everyCall)} | grep getppid`,
      check: ({ stdout, stderr }) =>
        // 298 of them where a kernel is configured as ours, 340 as Debian's.
        assert.match(stdout, /^(size=512 [23]\d\d\n)\1@\[tracepoint:syscalls:sys_enter_getppid\]: 100\n$/, stderr),
    },
    {
      name: "a kretprobe's room, and what it missed",
      script: `strobe -q --engine tracefs -c '/bin/sleepers 40' -e 'kretprobe:hrtimer_nanosleep:maxactive=64 /comm == "sleepers"/ { @ = count(); }'
strobe -q --engine tracefs -c '/bin/sleepers 40' -e 'kretprobe:hrtimer_nanosleep:maxactive=5 /comm == "sleepers"/ { @ = count(); }'`,
      check: ({ stdout, stderr }) => {
        const [all, some] = stdout.trim().split(/\n+/);
        assert.equal(all, "@: 40", stderr);
        assert.match(some, /^@: [45]$/, stderr);
        // Before 6.7 the kernel does not tell.
        if (kernel !== "6.1") assert.match(stderr, /missed 3[56] events \(more calls were under way/);
      },
    },
    {
      name: "nothing is left in tracefs",
      always: true,
      script: "ls /sys/kernel/tracing/instances; cat /sys/kernel/tracing/dynamic_events",
      check: ({ stdout }) => assert.equal(stdout, ""),
    },
  ],
});
