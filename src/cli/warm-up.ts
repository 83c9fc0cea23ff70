// What is compiled for the start-up cache beyond what the first run used itself: see launch.ts.
import { compileScript } from "../api/compile.ts";
import { openScript } from "../api/open.ts";
import { TextConsumer } from "../output/text.ts";

/** Between them they go through most of the parser, the checker, the providers and both generators. */
const typicalScripts = [
  `begin { printf("%-10s %5d\\n", "text", 1); @start = nsecs; }
  tracepoint:syscalls:sys_enter_openat /pid != 0/ { printf("%d %s %s\\n", pid, comm, str(args.filename)); @opens[comm, pid] = count(); }
  tracepoint:syscalls:sys_exit_read /args.ret > 0/ { @bytes = hist(args.ret); @sizes[comm] = lhist(args.ret, 0, 100, 10); @total = sum(args.ret); }
  interval:s:1 { print(@bytes); clear(@bytes); time("%H:%M:%S "); }
  end { clear(@start); print(@opens, 5); }`,
  `tracepoint:raw_syscalls:sys_enter { @start[tid] = nsecs; @calls[args.id] = count(); }
  tracepoint:raw_syscalls:sys_exit /@start[tid]/ { $us = (nsecs - @start[tid]) / 1000; @us[comm] = hist($us); @avg = avg($us); @max = max($us); delete(@start, tid); }`,
  `tracepoint:sched:sched_switch { printf("%s %d %s\\n", comm, curtask.real_parent.tgid, str(args.next_comm)); @[kstack, ustack] = count(); exit(); }
  rawtracepoint:sched_wakeup { $t = (struct task_struct *)arg0; if ($t->pid > 1) { @woken[$t->comm] = stats($t->prio); } else { @n++; } }`,
  `kprobe:vfs_read { @a[tid] = (arg0, arg2); } kretprobe:vfs_read { $i = 0; while ($i < 3) { $i++; } for ($kv : @a) { print($kv.0); } printf("%x\\n", retval); }
  profile:hz:99 { @[kstack(3)] = count(); } software:page-faults:100 { @[comm] = count(); }`,
];

/**
 * Its handler is for a process that is not gone yet: nothing happens while it is attached, which is for some
 * milliseconds.
 */
const attached = `begin { @start[1] = nsecs; }
  tracepoint:sched:sched_process_exit /pid == $1/ { printf("%s %d\\n", comm, pid); @[comm] = count(); if (has_key(@start, tid)) { @us = hist(nsecs - @start[tid]); } }
  interval:ms:1 { exit(); }
  end { clear(@start); }`;

/** Compiles typical scripts for this machine, and attaches one that says nothing. */
export async function warmUp(): Promise<void> {
  for (const text of typicalScripts) {
    try {
      compileScript({ name: "warm-up", text }, { env: {} });
    } catch {
      // A machine without some of these probes: what was compiled until here counts.
    }
  }
  try {
    const source = { name: "warm-up", text: attached };
    const options = { env: {}, positional: [String(process.pid)] };
    const consumer = new TextConsumer({
      output: 1,
      messages: 2,
      quiet: true,
      silent: true,
      noWarnings: true,
      buffering: "full",
    });
    const session = await openScript(source, compileScript(source, options), { ...options, consumer });
    await session.ended;
  } catch {
    // Not allowed to: then neither was what ran before.
  }
}
