// Tracepoints whose handlers run in a process that need not be the one that the event is about: what `-p` and
// `--follow`, which ask for the current process, leave out.

const wakes = "only where the process wakes or moves a thread, not where one of its own is woken";

/** Of sched, signal and oom, by event. */
const events: ReadonlyMap<string, string> = new Map([
  ["sched_switch", "only where a thread of the process leaves the CPU, not where one gets it"],
  ...[
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_waking",
    "sched_migrate_task",
    "sched_stat_wait",
    "sched_stat_sleep",
    "sched_stat_iowait",
    "sched_stat_blocked",
  ].map((name) => [name, wakes] as const),
  ["signal_generate", "only where the process sends a signal, not where it is sent one"],
  ["mark_victim", "only where the process asked for the memory, not where it is the victim"],
]);

/** Categories of what happens in interrupts and in the kernel's own threads. */
const interrupting: ReadonlySet<string> = new Set([
  "ata",
  "block",
  "hrtimer",
  "hwmon",
  "ipi",
  "irq",
  "irq_vectors",
  "msr",
  "napi",
  "net",
  "nmi",
  "nvme",
  "power",
  "qdisc",
  "rcu",
  "scsi",
  "skb",
  "sock",
  "tcp",
  "thermal",
  "timer",
  "udp",
  "workqueue",
  "writeback",
  "xdp",
]);

/**
 * How events are seen of one process; undefined where handlers run in the process itself. `category`: the
 * tracepoint's, where the kernel has one of that name.
 */
export function seenOfOneProcess(name: string, category?: string): string | undefined {
  const event = events.get(name);
  if (event !== undefined) return event;
  return category !== undefined && interrupting.has(category)
    ? "only where it runs in the process, not in an interrupt or in a thread of the kernel"
    : undefined;
}
