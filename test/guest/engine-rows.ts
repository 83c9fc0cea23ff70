// Which engine runs what on which kernel: rows of docs/kernels.md. What they say of tracefs is tried on each
// (tracefs.test.ts); of eBPF by the table above them.

/** `both`, or the one engine that runs it. */
export type Engines = "both" | "eBPF" | "tracefs" | "";

export interface EngineRow {
  readonly name: string;
  readonly script: string;
  /** Over this command: `/bin/work 100` unless it says. */
  readonly command?: string;
  /** What it prints on tracefs, offsets in functions as `+N`. */
  readonly output: string;
  readonly on: (kernel: string) => Engines;
}

/** What strobe says where no event of tracefs is asked for, and where the kernel has no such events. */
export const refusedOnTracefs = /it needs BPF: --engine bpf|need Linux 6\.5 with CONFIG_FPROBE_EVENTS/;

const both = (): Engines => "both";
const bpf = (): Engines => "eBPF";

export const engineRows: readonly EngineRow[] = [
  {
    name: "tracepoint",
    script: "tracepoint:syscalls:sys_enter_read /pid == cpid && args.count == 512/ { @ = count(); }",
    output: "@: 100",
    on: both,
  },
  {
    name: "tracepoint: texts behind fields, in the script's order",
    command: "/bin/work 100 /dev/full",
    script:
      'tracepoint:syscalls:sys_enter_openat { @flags[tid] = args.flags; } tracepoint:syscalls:sys_enter_openat /pid == cpid && str(args.filename) == "/dev/full"/ { @[str(args.filename), @flags[tid]] = count(); } end { clear(@flags); }',
    output: "@[/dev/full, 2]: 100",
    // Before, events on events cut such pointers.
    on: (kernel) => (kernel === "6.1" ? "eBPF" : "both"),
  },
  {
    name: "eprobe: an event on an event, with conditions",
    command: "/bin/work 100 /dev/full",
    script:
      "eprobe:syscalls:sys_enter_openat /pid == cpid && args.flags == 2/ { @[args.flags, probe] = count(); } eprobe:sched:sched_process_exec /pid == cpid/ { @exec[str(args.filename), comm, args.pid == pid] = count(); } eprobe:syscalls:sys_enter_write /pid == cpid && args.count == 64/ { @sum[args.fd > 2] = sum(args.count); }",
    output: "@[2, eprobe:syscalls:sys_enter_openat]: 100\n@exec[/bin/work, work, true]: 1\n@sum[true]: 6400",
    on: both,
  },
  { name: "rawtracepoint", script: "rawtracepoint:sys_enter { @ = count(); }", output: "", on: bpf },
  {
    name: "kprobe, with members and texts of arguments",
    script:
      "kprobe:vfs_read /pid == cpid && args.count == 512/ { @[str(args.file.f_path.dentry.d_name.name)] = count(); }",
    output: "@[zero]: 100",
    on: both,
  },
  {
    name: "kprobe: function+offset",
    script: "kprobe:vfs_read+0 /pid == cpid && arg2 == 512/ { @ = count(); }",
    output: "@: 100",
    on: both,
  },
  {
    name: "kretprobe, with arguments of the entry",
    script: "kretprobe:vfs_read /pid == cpid && args.count == 512/ { @[args.count == retval] = count(); }",
    output: "@[true]: 100",
    on: both,
  },
  {
    name: "ret",
    script: "ret:ksys_read /pid == cpid && retval == 512/ { @ = sum(retval); }",
    output: "@: 51200",
    on: both,
  },
  {
    name: "fentry, fexit",
    script: "fexit:vfs_read /pid == cpid && (int64)retval == 512/ { @[func] = sum(args.count); }",
    output: "@[vfs_read]: 51200",
    // By events of ftrace's own probes (Linux 6.5), with arguments at the return from 6.9 on.
    on: (kernel) => (kernel === "6.1" ? "eBPF" : "both"),
  },
  {
    name: "uprobe, uretprobe",
    script: "uprobe:/bin/work:leaf_text { @[str(arg0)] = count(); } uretprobe:/bin/work:leaf_add { @n = count(); }",
    output: "@n: 100\n@[text]: 100",
    on: both,
  },
  {
    name: "kernel stacks",
    script: "kprobe:vfs_read /pid == cpid && arg2 == 512/ { @[kstack(1)] = count(); }",
    output: "@[\n    vfs_read+N\n]: 100",
    on: both,
  },
  { name: "profile", script: "profile:hz:99 { @ = count(); }", output: "", on: bpf },
  { name: "software, hardware", script: "software:page-faults:1 { @ = count(); }", output: "", on: bpf },
  { name: "iter", script: "iter:task { @ = count(); }", output: "", on: bpf },
  { name: "watchpoint", script: "watchpoint:0x1000:8:w { @ = count(); }", output: "", on: bpf },
  {
    name: "counts by the kernel itself, without a record of each event",
    script: "tracepoint:raw_syscalls:sys_enter /pid == cpid && args.id == 110/ { @[args.id] = count(); }",
    output: "@[110]: 100",
    on: both,
  },
  {
    name: "tracepoint:ftrace:timerlat, osnoise",
    command: "sleep 1",
    script: "tracepoint:ftrace:timerlat { @seen[args.timer_latency >= 0] = min(1); }",
    output: "@seen[true]: 1",
    on: (kernel) => (kernel === "own" ? "tracefs" : ""),
  },
];

export const enginesTable = (kernels: readonly string[]): string => `## By which engine

What runs on [the kernel's own events](engines.md) as well, without BPF. The guest suite tries each.

| | ${kernels.map((name) => (name === "own" ? "own kernel" : `Linux ${name}`)).join(" | ")} |
|---|${kernels.map(() => "---|").join("")}
${engineRows.map(({ name, on }) => `| ${name} | ${kernels.map(on).join(" | ")} |`).join("\n")}
`;
