// Words of other tracers, which people bring along: what strobe has for them.
import { builtinsFor } from "./builtins/table.ts";
import type { Rules } from "./rules.ts";

/** Whose word it is, and the builtin that does the same; or what to do instead. */
type Meaning = readonly [whose: string, canonical: string] | string;

const dtrace = "DTrace's";
const systemtap = "SystemTap's";
const perf = "perf probe's";

export const words: Readonly<Record<string, Meaning>> = {
  quantize: `${dtrace} quantize is hist here, shist where values may be negative`,
  lquantize: [dtrace, "lhist"],
  llquantize: `${dtrace} llquantize() is hist(value, bits) here`,
  stddev: `${dtrace} stddev() has none here: stats() gives count, average and total, hist() the distribution`,
  printa: [dtrace, "print"],
  trace: `${dtrace} trace() is print() or printf() here`,
  tracemem: [dtrace, "buf"],
  execname: ["DTrace's and SystemTap's", "comm"],
  timestamp: [dtrace, "nsecs"],
  vtimestamp: `${dtrace} vtimestamp has none here: curtask.se.sum_exec_runtime is the thread's time on a CPU`,
  walltimestamp: `${dtrace} walltimestamp is nsecs(wall) here; strftime() formats it`,
  copyinstr: [dtrace, "str"],
  copyin: [dtrace, "buf"],
  stringof: [dtrace, "str"],
  curthread: [dtrace, "curtask"],
  probefunc: [dtrace, "func"],
  probename: [dtrace, "probe"],
  stack: [dtrace, "kstack"],
  ustackdepth: `${dtrace} ustackdepth has none here: ustack is the stack itself`,
  user_string: [systemtap, "str"],
  kernel_string: [systemtap, "str"],
  gettimeofday_ns: `${systemtap} gettimeofday_ns() is nsecs(wall) here`,
  gettimeofday_us: `${systemtap} gettimeofday_us() is nsecs(wall) / 1000 here`,
  gettimeofday_ms: `${systemtap} gettimeofday_ms() is nsecs(wall) / 1000000 here`,
  gettimeofday_s: `${systemtap} gettimeofday_s() is nsecs(wall) / 1000000000 here`,
  local_clock_ns: [systemtap, "nsecs"],
  print_backtrace: `${systemtap} print_backtrace() is print(kstack) here`,
  print_ubacktrace: `${systemtap} print_ubacktrace() is print(ustack) here`,
  pp: [systemtap, "probe"],
  println: `${systemtap} println() is print() here`,
  hist_log: `${systemtap} @hist_log is hist here`,
  hist_linear: `${systemtap} @hist_linear is lhist here`,
  tapset: `${systemtap} tapsets are built in: strobe stap runs scripts that use them`,
  jstack: `${dtrace} jstack() is ustack here: it has the functions of Node and Python, too`,
  fds: `${dtrace} fds[] has none here: curtask.files.fdt.fd is the table of the thread's files`,
  printk: "the kernel's printk is printf here",
  trace_printk: "ftrace's trace_printk is printf here",
  common_pid: [perf, "tid"],
  bpf_get_current_pid_tgid: `BCC's bpf_get_current_pid_tgid() is pid and tid here`,
  bpf_get_current_comm: ["BCC's", "comm"],
  bpf_ktime_get_ns: ["BCC's", "nsecs"],
  bpf_trace_printk: ["BCC's", "printf"],
};

/** What stands in this language for a name of another tracer: a help text. */
export function otherToolsWord(name: string, rules: Rules): string | undefined {
  const meaning = Object.hasOwn(words, name) ? words[name] : undefined;
  if (meaning === undefined || typeof meaning === "string") return meaning;
  const [whose, canonical] = meaning;
  return `${whose} ${name} is ${builtinsFor(rules).spelled(canonical)} here`;
}
