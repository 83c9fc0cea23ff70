// Kinds of probes of other tracers, which people bring along.

/** How to write what they mean. */
const kinds: readonly (readonly [pattern: RegExp, help: string])[] = [
  [/^syscall$/, "DTrace's and SystemTap's syscall probes are `tracepoint:syscalls:sys_enter_NAME` and `sys_exit_NAME`"],
  [/^(?:fbt|rawfbt)$/, "DTrace's fbt probes are `kprobe:FUNCTION` and `kretprobe:FUNCTION`"],
  [/^tick-\d+/, "DTrace's tick probes are `interval:s:1`, `interval:ms:100`, `interval:hz:10`"],
  [/^profile-\d+/, "DTrace's profile probes are `profile:hz:99`, `profile:ms:10`"],
  [/^pid\d+$/, "DTrace's pid probes are `uprobe:PATH:FUNCTION` and `uretprobe:PATH:FUNCTION`, with the option -p PID"],
  [
    /^(?:io|proc|sched|ip|tcp|udp|lockstat)$/,
    "DTrace's stable providers are tracepoints: `strobe -l 'tracepoint:*'` lists them",
  ],
  [/^timer$/, "SystemTap's timers are `interval:s:1` and `profile:hz:99`"],
  [/^process$/, "SystemTap's process probes are `uprobe:PATH:FUNCTION`, `usdt:PATH:NAME`"],
];

/** What stands for a kind of another tracer: a help text. */
export function otherToolsKind(kind: string): string | undefined {
  return kinds.find(([pattern]) => pattern.test(kind))?.[1];
}
