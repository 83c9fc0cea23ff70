// Providers whose probes and arguments are the same on every kernel: which probes of the tree their probes are, and their
// arguments as D text over the arguments of those.

export interface StableProbe {
  readonly probes: readonly { readonly kind: string; readonly parts: readonly string[] }[];
  readonly args?: readonly string[];
  /** Only then does it fire. */
  readonly when?: string;
}

const raw = (event: string): StableProbe["probes"] => [{ kind: "rawtracepoint", parts: [event] }];
const kernel = (name: string): StableProbe["probes"] => [{ kind: "kprobe", parts: [name] }];
const calls = (way: "enter" | "exit", ...names: readonly string[]): StableProbe["probes"] =>
  names.map((name) => ({ kind: "tracepoint", parts: ["syscalls", `sys_${way}_${name}`] }));

const thread = (of: string): readonly string[] => [`xlate <lwpsinfo_t> (${of})`, `xlate <psinfo_t> (${of})`];

/** The first thing that a task runs, of its own accord. */
const begins = kernel("schedule_tail");

const proc: Readonly<Record<string, StableProbe>> = {
  create: { probes: raw("sched_process_fork"), args: ["xlate <psinfo_t> (args.child)"] },
  start: { probes: begins, when: "pid == tid" },
  exec: { probes: calls("enter", "execve", "execveat"), args: ["copyinstr((uintptr_t)args.filename)"] },
  "exec-failure": { probes: calls("exit", "execve", "execveat"), args: ["(int)args.ret"], when: "args.ret < 0" },
  "exec-success": { probes: raw("sched_process_exec") },
  // CLD_EXITED, CLD_DUMPED, CLD_KILLED of a process whose last thread ends.
  exit: {
    probes: raw("sched_process_exit"),
    args: ["(curthread->exit_code & 0x7f) == 0 ? 1 : (curthread->exit_code & 0x80) != 0 ? 3 : 2"],
    when: "curthread->signal->live.counter == 0",
  },
  "lwp-create": { probes: raw("sched_process_fork"), args: thread("args.child") },
  "lwp-start": { probes: begins },
  "lwp-exit": { probes: raw("sched_process_exit") },
  "signal-send": { probes: raw("signal_generate"), args: [...thread("args.task"), "(int)args.sig"] },
  // TRACE_SIGNAL_IGNORED
  "signal-discard": {
    probes: raw("signal_generate"),
    args: [...thread("args.task"), "(int)args.sig"],
    when: "args.result == 1",
  },
  "signal-handle": {
    probes: raw("signal_deliver"),
    args: ["(int)args.sig", "args.info", "args.ka->sa.sa_handler"],
  },
  "signal-clear": { probes: calls("exit", "rt_sigtimedwait"), args: ["(int)args.ret"], when: "args.ret > 0" },
};

const sched: Readonly<Record<string, StableProbe>> = {
  "on-cpu": { probes: kernel("finish_task_switch*") },
  "off-cpu": { probes: raw("sched_switch"), args: thread("args.next") },
  wakeup: { probes: raw("sched_wakeup"), args: thread("args.p") },
};

/** When a request is queued no file is known: the third argument is none. */
const io: Readonly<Record<string, StableProbe>> = {
  start: {
    probes: raw("block_bio_queue"),
    args: ["xlate <bufinfo_t> (args.bio)", "xlate <devinfo_t> (args.bio)", "xlate <fileinfo_t> ((struct file *)0)"],
  },
};

const providers: Readonly<Record<string, Readonly<Record<string, StableProbe>>>> = { proc, sched, io };

/** `proc:::exec`, all of them. */
export const stableProbes = (): readonly string[] =>
  Object.entries(providers).flatMap(([provider, all]) => Object.keys(all).map((name) => `${provider}:::${name}`));

export const isStableProvider = (name: string): boolean => Object.hasOwn(providers, name);

export function stableProbe(provider: string, name: string): StableProbe | undefined {
  const of = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  return of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined;
}
