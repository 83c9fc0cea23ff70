// What is proved on every kernel: scripts over a workload that is known to the last call, and exactly what they print.
import { languageCases } from "../live/language-cases.ts";

export interface GuestCase {
  readonly script: string;
  /** A ready script of tools/ instead. */
  readonly tool?: string;
  readonly command?: string;
  readonly args?: readonly string[];
}

export interface CaseResult {
  readonly index: number;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

/** A line of docs/kernels.md. */
export interface ProbeCase extends GuestCase {
  readonly name: string;
  /** What it prints, without the blank lines around; or what that matches. */
  readonly output: string | RegExp;
  /** It fails, and says this. */
  readonly refusal?: RegExp;
  /** It works, and says this on stderr; else it says nothing there. */
  readonly warning?: RegExp;
}

const work = "/bin/work 1000";
/** Read by functions of two files that are both called type_show(). */
const types = [
  ...Array(3).fill("/sys/class/net/lo/type"),
  ...Array(2).fill("/sys/bus/event_source/devices/software/type"),
].join(" ");
const reads = "pid == cpid && arg2 == 512";

/**
 * The cases of a kernel; where a function's second instruction is, behind ftrace's call, differs by the landing pad of
 * newer ones.
 */
export function probeCases([major, minor]: readonly [number, number]): readonly ProbeCase[] {
  const atLeast = (wantedMajor: number, wantedMinor: number): boolean =>
    major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
  const second = atLeast(6, 12) ? 9 : 5;
  return [
    {
      name: "kprobe: function",
      command: work,
      script: `kprobe:vfs_read /${reads}/ { @ = count(); }`,
      output: "@: 1000",
    },
    {
      name: "kprobe: function+offset",
      command: work,
      script: `kprobe:vfs_read+${second} /${reads}/ { @ = count(); }`,
      output: "@: 1000",
    },
    {
      name: "kprobe: argN, and kernel structs",
      command: work,
      script: `kprobe:vfs_read /${reads}/ { @[arg2, str(((struct file *)arg0).f_path.dentry.d_name.name)] = count(); }`,
      output: "@[512, zero]: 1000",
    },
    {
      name: "kprobe: args by name",
      command: work,
      script:
        "kprobe:vfs_read /pid == cpid && args.count == 512/ { @[str(args.file.f_path.dentry.d_name.name)] = count(); }",
      output: "@[zero]: 1000",
    },
    // The kernel puts some kinds at the head of its list of what to run, others at its end.
    ...["kprobe", "kretprobe", "fentry", "fexit"].map((kind) => ({
      name: `${kind}: clauses at one place`,
      command: work,
      script: [1, 2, 3]
        .map(
          (n) =>
            `${kind}:vfs_read /pid == cpid && !@done/ { @order = @order * 10 + ${n};${n === 3 ? " @done = 1;" : ""} }`,
        )
        .join("\n"),
      output: "@done: 1\n@order: 123",
    })),
    {
      name: "kprobe: wildcard",
      command: work,
      script: `kprobe:vfs_r* /${reads}/ { @[func] = count(); }`,
      output: "@[vfs_read]: 1000",
    },
    {
      name: "kprobe: wildcard of hundreds",
      command: work,
      script:
        "kprobe:vfs_*,kprobe:tcp_s* { @all = count(); } kprobe:vfs_write /pid == cpid && arg2 == 64/ { @ = count(); } end { clear(@all); }",
      output: "@: 1000",
    },
    {
      name: "kprobe: of a module",
      command: "/bin/work 5 /dev/net/tun",
      script: "kprobe:tun:tun_chr_open /pid == cpid/ { @[func] = count(); }",
      output: "@[tun_chr_open]: 5",
    },
    ...[
      "kprobe:type_show",
      "kprobe:type_sho*",
      "kretprobe:type_show",
      "kretprobe:type_show:maxactive=5",
      "insn:type_show:0",
      "ret:type_show",
    ].map((probe): ProbeCase => ({
      name: `${probe}: several functions of one name`,
      command: `cat ${types}`,
      script: `${probe} /pid == cpid/ { @[func] = count(); }`,
      output: "@[type_show]: 5",
      ...(probe.includes("*") || !/^kr?e?t?probe/.test(probe)
        ? {}
        : { warning: /`type_show` is the name of \d+ functions: probing all of them\n/ }),
    })),
    {
      name: "kprobe and kretprobe: several functions of one name",
      command: `cat ${types}`,
      script: `kprobe:type_show /pid == cpid/ { @start[tid] = arg2; @entries = count(); }
        kretprobe:type_show /@start[tid]/ { @returns = count(); delete(@start, tid); }`,
      output: "@entries: 5\n@returns: 5",
      warning: /`type_show` is the name of \d+ functions: probing all of them\n/,
    },
    {
      name: "kprobe: an offset in one of several functions of a name",
      script: "kprobe:type_show+4 { }",
      output: "",
      refusal: /`type_show` is the name of \d+ functions, whose code differs[^]*choose among kprobe:0xffffffff/,
    },
    {
      name: "kprobe: kernel stacks",
      command: work,
      script: `kprobe:vfs_read /${reads}/ { @[kstack(3)] = count(); }`,
      output: /^@\[\s+vfs_read\+\d+\s[^]*sys_read\+\d+[^]*\]: 1000$/,
    },
    {
      name: "kprobe: user stacks",
      command: work,
      script: `kprobe:vfs_read /${reads}/ { @[ustack(1)] = count(); }`,
      output: /^@\[\s+__read\+\d+\s|^@\[\s+\w*read\w*\+\d+\s[^]*\]: 1000$/,
    },
    {
      name: "kprobe: a function that must not be probed",
      script: "kprobe:do_int3 { } interval:s:1 { exit(); }",
      output: "",
      refusal:
        /cannot probe kprobe:do_int3: .*EINVAL.*; the kernel has this place on its list of those that must not be probed/,
    },
    {
      name: "kprobe: inside an instruction",
      script: "kprobe:vfs_read+1 { } interval:s:1 { exit(); }",
      output: "",
      refusal: /cannot probe kprobe:vfs_read\+1: .*EILSEQ.*; the offset is inside an instruction/,
    },
    {
      name: "kprobe: recursion",
      script: "kprobe:htab_map_update_elem { @[tid] = count(); } interval:ms:300 { print(1); clear(@); exit(); }",
      output: "1",
    },
    {
      name: "kretprobe: functions that never return",
      script: "kretprobe:kthread_worker_fn { @ = count(); } interval:ms:100 { print(1); exit(); }",
      output: "1",
    },
    {
      name: "kretprobe: retval",
      command: work,
      script: "kretprobe:vfs_read /pid == cpid && retval == 512/ { @ = sum(retval); }",
      output: "@: 512000",
    },
    {
      name: "kretprobe: wildcard",
      command: work,
      script: "kretprobe:vfs_w* /pid == cpid && retval == 64/ { @[func] = count(); }",
      output: "@[vfs_write]: 1000",
    },
    {
      name: "kretprobe: of a module",
      command: "/bin/work 5 /dev/net/tun",
      script: "kretprobe:tun:tun_chr_open /pid == cpid/ { @[retval] = count(); }",
      output: "@[0]: 5",
    },
    {
      name: "kretprobe: more calls under way than it has room for",
      command: "/bin/sleepers 40",
      script: 'kretprobe:hrtimer_nanosleep /comm == "sleepers"/ { @ = count(); }',
      // Room for ten, which somebody else who sleeps may share. From 6.14 on nothing is missed; before 6.7 the kernel
      // does not tell.
      output: atLeast(6, 14) ? "@: 40" : /^@: (?:9|10)$/,
      ...(atLeast(6, 7) && !atLeast(6, 14)
        ? {
            warning:
              /^WARNING: kretprobe:hrtimer_nanosleep missed 3\d events \(more calls were under way .*maxactive=4096, or fexit.*\)\n$/,
          }
        : {}),
    },
    {
      name: "kretprobe: maxactive",
      command: "/bin/sleepers 40",
      script: 'kretprobe:hrtimer_nanosleep:maxactive=64 /comm == "sleepers"/ { @ = count(); }',
      output: "@: 40",
    },
    {
      name: "kprobe and kretprobe pair up",
      command: work,
      script: `kprobe:vfs_read /${reads}/ { @start[tid] = nsecs; }
        kretprobe:vfs_read /@start[tid]/ { @ = count(); @positive = min(nsecs - @start[tid] > 0 ? 1 : 0); delete(@start, tid); } end { clear(@start); }`,
      output: "@: 1000\n@positive: 1",
    },
    {
      name: "kprobe and kretprobe of many functions",
      command: work,
      script: `kprobe:vfs_w* /pid == cpid && arg2 == 64/ { @start[tid] = arg2; @entries[func] = count(); }
        kretprobe:vfs_w* /@start[tid]/ { @returns[func, retval == @start[tid]] = count(); delete(@start, tid); }`,
      output: "@entries[vfs_write]: 1000\n@returns[vfs_write, true]: 1000",
    },
    {
      name: "tools/kernel-calltree.bt",
      tool: "kernel-calltree",
      command: "/bin/work 3",
      script: "",
      args: ["[kv]*s_read"],
      // The kernel reads by itself as the program starts.
      output:
        /^THREAD +MICROSECONDS +FUNCTION\n(?:\d+ +> vfs_read\n\d+ +\d+ {2}< vfs_read\n|\d+ +> ksys_read\n\d+ +  > vfs_read\n\d+ +\d+ {4}< vfs_read\n\d+ +\d+ {2}< ksys_read(?:\n|$)){4,}$/,
    },
    {
      name: "tools/kernel-callees.bt",
      tool: "kernel-callees",
      command: work,
      script: "",
      args: ["vfs_read", "read*_zero"],
      output: /^@calls\[\w+\]: \{ \.count = 1000, \.average = \d+, \.total = \d+ \}$/,
    },
    {
      name: "insn: at an offset",
      command: work,
      script: `insn:vfs_read:0 /${reads.replace("arg2", 'reg("dx")')}/ { @[func] = count(); }`,
      output: "@[vfs_read]: 1000",
    },
    {
      name: "insn: every instruction",
      command: work,
      script: "insn:__x64_sys_getppid:* /pid == cpid/ { @[probe] = count(); }",
      output: /^@\[insn:__x64_sys_getppid:0\]: 1000\n(@\[insn:__x64_sys_getppid:\d+\]: 1000(\n|$)){5,}$/,
    },
    {
      name: "insn: inside an instruction",
      script: "insn:vfs_read:1 { }",
      output: "",
      refusal: /vfs_read:1 is inside an instruction, which begins at vfs_read:0/,
    },
    {
      name: "insn: a function that must not be probed",
      script: "insn:do_int3:* { } interval:s:1 { exit(); }",
      output: "",
      refusal: /cannot attach insn:do_int3:\*: .*EINVAL/,
    },
    {
      name: "ret: as often as kretprobe",
      command: work,
      script:
        "ret:ksys_read /pid == cpid && retval == 512/ { @ret = sum(retval); } kretprobe:ksys_read /pid == cpid && retval == 512/ { @trampoline = sum(retval); }",
      output: "@ret: 512000\n@trampoline: 512000",
    },
    {
      name: "kretprobe: arguments, as at the entry",
      command: work,
      script:
        "kretprobe:vfs_read /pid == cpid && args.count == 512/ { @[str(args.file.f_path.dentry.d_name.name), arg2, retval] = count(); }",
      output: "@[zero, 512, 512]: 1000",
    },
    {
      name: "kretprobe: arguments by number, of many functions",
      command: work,
      script: "kretprobe:vfs_w* /pid == cpid && arg2 == 64/ { @[func, retval] = count(); }",
      output: "@[vfs_write, 64]: 1000",
    },
    {
      name: "ret: arguments, as at the entry",
      command: work,
      script: "ret:ksys_read /pid == cpid && args.count == 512/ { @[arg2, retval] = count(); }",
      output: "@[512, 512]: 1000",
      // Somebody may be waiting in a read that began before.
      warning:
        /^(?:WARNING: ret:ksys_read missed \d events? \(returns of calls whose entry it did not see: it asks for their arguments\)\n)?$/,
    },
    {
      name: "uretprobe: arguments, as at the entry",
      command: work,
      script: "uretprobe:/bin/work:leaf_add /pid == cpid/ { @ = sum(arg1); }",
      output: "@: 10000",
    },
    {
      name: "ret: wildcard",
      command: work,
      script: "ret:vfs_w* /pid == cpid && retval == 64/ { @[func] = count(); }",
      output: "@[vfs_write]: 1000",
    },
    {
      name: "fentry: args",
      command: work,
      script:
        "fentry:vfs_read /pid == cpid && args.count == 512/ { @[str(args.file.f_path.dentry.d_name.name)] = count(); }",
      output: "@[zero]: 1000",
    },
    {
      name: "fexit: args and retval",
      command: work,
      script: "fexit:vfs_read /pid == cpid && args.count == 512/ { @[retval] = count(); }",
      output: "@[512]: 1000",
    },
    {
      name: "fentry: of a module",
      command: "/bin/work 5 /dev/net/tun",
      script: "fentry:tun:tun_chr_open /pid == cpid/ { @[func, str(args.file.f_path.dentry.d_name.name)] = count(); }",
      output: "@[tun_chr_open, tun]: 5",
    },
    {
      name: "fentry: wildcard",
      command: work,
      script: "fentry:vfs_wr* /pid == cpid/ { @[func] = count(); }",
      output: "@[vfs_write]: 1000",
    },
    {
      name: "rawtracepoint: BTF args",
      command: work,
      script: "rawtracepoint:sys_enter /pid == cpid && args.id == 110/ { @ = count(); }",
      output: "@: 1000",
    },
    {
      name: "rawtracepoint: argN",
      command: work,
      script: "rawtracepoint:sys_exit /pid == cpid && arg1 == 512/ { @ = count(); }",
      output: "@: 1000",
    },
    {
      name: "tracepoint",
      command: work,
      script: "tracepoint:syscalls:sys_enter_read /pid == cpid && args.count == 512/ { @ = count(); }",
      output: "@: 1000",
    },
    {
      name: "tracepoint: wildcard",
      command: work,
      script: "tracepoint:syscalls:sys_enter_* /pid == cpid/ { @[probe] = count(); }",
      output: /^@\[tracepoint:syscalls:sys_enter_getppid\]: 1000$/m,
    },
    {
      name: "tracepoint: scheduler",
      command: work,
      script: "tracepoint:sched:sched_process_exit /pid == cpid/ { @[args.comm] = count(); }",
      output: "@[work]: 1",
    },
    {
      name: "uprobe: argN",
      command: work,
      script: "uprobe:/bin/work:leaf_add /pid == cpid/ { @ = sum(arg1); }",
      output: "@: 10000",
    },
    {
      name: "uprobe: wildcard",
      command: work,
      script: "uprobe:/bin/work:leaf_* /pid == cpid/ { @[func] = count(); }",
      output: "@[leaf_add]: 1000\n@[leaf_sub]: 1000\n@[leaf_text]: 1000",
    },
    {
      name: "uprobe: of a library",
      command: work,
      script: "uprobe:libc:read /pid == cpid && arg2 == 512/ { @ = count(); }",
      output: "@: 1000",
    },
    {
      name: "uprobe: user stacks",
      command: work,
      script: "uprobe:/bin/work:leaf_sub /pid == cpid/ { @[ustack(1)] = count(); }",
      output: /^@\[\s+leaf_sub\+0\s+\]: 1000$/,
    },
    {
      name: "uprobe: user stacks without frame pointers",
      command: "/bin/frameless 1000",
      // Before Linux 5.17 the verifier walks every round of each, and some are too many.
      script: `uprobe:/bin/frameless:inner /pid == cpid/ {
        @[ustack(dwarf)] = count();
        ${atLeast(5, 17) ? [4, 5, 6, 100].map((frames) => `@n[len(ustack(dwarf, ${frames}))] = count();`).join(" ") : ""} }`,
      // The C library's own function between has a name only where its symbols are.
      output: new RegExp(
        `^@\\[\\s+inner\\+0\\s+middle\\+\\d+\\s+outer\\+\\d+\\s+main\\+\\d+\\s+(?:__libc_start_call_main\\+\\d+|\\[libc\\.so\\.6\\]\\+0x[0-9a-f]+)\\s+__libc_start_main\\+\\d+\\s+_start\\+\\d+\\s+\\]: 1000${
          atLeast(5, 17) ? [4, 5, 6, 7].map((frames) => `\\s+@n\\[${frames}\\]: 1000`).join("") : ""
        }$`,
      ),
    },
    {
      name: "uretprobe: retval",
      command: work,
      script: "uretprobe:/bin/work:leaf_sub /pid == cpid/ { @ = sum((int32)retval); }",
      output: "@: 498500",
    },
    { name: "usdt", command: "/bin/usdt", script: "usdt:/bin/usdt:demo:step { @ = sum(arg2); }", output: "@: 5010" },
    {
      name: "usdt: with a semaphore",
      command: "/bin/usdt",
      script: "usdt:/bin/usdt:demo:guarded { @ = sum(arg0); }",
      output: "@: 20",
    },
    { name: "profile", script: "profile:hz:99 { @ = count(); exit(); }", output: /^@: \d+$/ },
    { name: "interval", script: "interval:ms:20 { @++; if (@ == 3) { exit(); } }", output: "@: 3" },
    {
      name: "software",
      command: work,
      script: "software:page-faults:1 /pid == cpid/ { @ = count(); }",
      output: /^@: \d+$/,
    },
    {
      name: "iter",
      script: "iter:task { if (ctx.task.pid == ctx.task.tgid && ctx.task.tgid == pid) { @ = count(); } }",
      output: "@: 1",
    },
  ];
}

export const languageGuestCases: readonly ProbeCase[] = languageCases.map(({ name, script, output, stderr, args }) => ({
  name,
  script,
  output,
  ...(args === undefined ? {} : { args }),
  ...(stderr === undefined ? {} : { warning: exactly(stderr) }),
}));

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`);
}
