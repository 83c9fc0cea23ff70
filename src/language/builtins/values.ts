// Builtins about where and when a probe fired. Nearly all may be written with or without a pair of parentheses.
import type { BuiltinSpec } from "./signature.ts";
import { boolType, u32, u64 } from "../types.ts";

export const valueBuiltins: readonly BuiltinSpec[] = [
  // ── what fired ──
  { name: "args", spelling: { typescript: [] }, form: "both", arity: [0, 0], signature: "args", placement: "kernel", doc: "All arguments of the probe, as a struct: args.name." },
  { name: "vars", form: "both", arity: [0, 0], signature: "vars", placement: "kernel", doc: "Parameters and locals of the traced program in scope, as a struct: vars.name." },
  // Stands for arg0, arg1, …: `findBuiltin` knows the numbered names.
  { name: "argN", form: "value", signature: "arg0, arg1, …", placement: "kernel", type: u64, doc: "The Nth argument of the traced function, a bare 64-bit value." },
  { name: "ctx", form: "both", arity: [0, 0], signature: "ctx", placement: "kernel", doc: "Pointer to the probe's raw context." },
  { name: "func", form: "both", arity: [0, 0], signature: "func", placement: "kernel", doc: "Name of the function being traced." },
  { name: "probe", spelling: { typescript: ["probeName"] }, form: "both", arity: [0, 0], signature: "probe", placement: "both", doc: "Full name of the probe that fired." },
  { name: "probetype", form: "both", arity: [0, 0], signature: "probetype", placement: "both", doc: "Kind of the probe that fired: kprobe, tracepoint, special." },
  { name: "retval", form: "both", arity: [0, 0], signature: "retval", placement: "kernel", doc: "Value that the traced function returns." },
  { name: "usermode", form: "both", arity: [0, 0], signature: "usermode", placement: "kernel", type: { kind: "integer", bits: 8, signed: false }, doc: "1 when the interrupted code ran in user mode, else 0." },

  // ── who ran ──
  { name: "cgroup", form: "both", arity: [0, 0], signature: "cgroup", placement: "kernel", type: u64, doc: "Id of the current process's cgroup (version 2)." },
  { name: "comm", form: "both", arity: [0, 1], signature: "comm, comm(pid)", placement: "both", type: { kind: "string", capacity: 16 }, doc: "Name of the current thread, or of the process with a given id, looked up when printed." },
  { name: "cpid", form: "both", arity: [0, 0], signature: "cpid", placement: "both", type: u32, doc: "Process id of the command started with -c." },
  { name: "has_cpid", form: "both", arity: [0, 0], signature: "has_cpid", placement: "both", type: boolType, doc: "Whether a command was started with -c." },
  { name: "curtask", form: "both", arity: [0, 0], signature: "curtask", placement: "kernel", doc: "Pointer to the current task's struct task_struct." },
  { name: "gid", form: "both", arity: [0, 0], signature: "gid", placement: "both", type: u64, doc: "Group id of the current thread." },
  { name: "goid", form: "both", arity: [0, 0], signature: "goid", placement: "kernel", type: u64, doc: "Id of the goroutine, in functions of Go programs." },
  { name: "leader_comm", form: "both", arity: [0, 1], signature: "leader_comm, leader_comm(task)", placement: "kernel", type: { kind: "string", capacity: 16 }, doc: "Name of a task's thread group leader." },
  { name: "leader_tid", form: "both", arity: [0, 1], signature: "leader_tid, leader_tid(task)", placement: "kernel", doc: "Thread id of a task's thread group leader." },
  { name: "pcomm", form: "both", arity: [0, 1], signature: "pcomm, pcomm(task)", placement: "kernel", type: { kind: "string", capacity: 16 }, doc: "Name of a task's real parent." },
  { name: "pid", form: "both", arity: [0, 1], signature: "pid, pid(curr_ns | init)", placement: "both", type: u32, doc: "Id of the current process: in a container, the container's; `pid(init)` is the kernel's." },
  { name: "ppid", form: "both", arity: [0, 1], signature: "ppid, ppid(task)", placement: "kernel", doc: "Id of a task's real parent." },
  { name: "tid", form: "both", arity: [0, 1], signature: "tid, tid(curr_ns | init)", placement: "both", type: u32, doc: "Id of the current thread: in a container, the container's; `tid(init)` is the kernel's." },
  { name: "uid", form: "both", arity: [0, 0], signature: "uid", placement: "both", type: u64, doc: "User id of the current thread." },
  { name: "username", form: "both", arity: [0, 0], signature: "username", placement: "both", type: { kind: "named", of: "username" }, doc: "Name of the current thread's user." },

  // ── where and when ──
  { name: "cpu", form: "both", arity: [0, 0], signature: "cpu", placement: "both", type: u32, doc: "Number of the processor that runs the handler." },
  { name: "elapsed", form: "both", arity: [0, 0], signature: "elapsed", placement: "both", type: u64, doc: "Nanoseconds since tracing began." },
  { name: "jiffies", form: "both", arity: [0, 0], signature: "jiffies", placement: "kernel", type: u64, kernel: "5.9", doc: "The kernel's tick counter." },
  { name: "ncpus", form: "both", arity: [0, 0], signature: "ncpus", placement: "both", type: u64, doc: "Number of processors." },
  { name: "nsecs", form: "both", arity: [0, 1], signature: "nsecs, nsecs(boot | monotonic | tai | sw_tai)", placement: "both", type: u64, doc: "A clock in nanoseconds; since boot unless another is named." },
  { name: "numaid", form: "both", arity: [0, 0], signature: "numaid", placement: "both", type: u32, doc: "Number of the memory node that runs the handler." },
  { name: "rand", form: "both", arity: [0, 0], signature: "rand", placement: "both", type: u32, doc: "A pseudo-random number." },

  // ── the session ──
  { name: "config", form: "both", arity: [0, 0], signature: "config", placement: "both", doc: "The settings in force, as a record: config.max_strlen." },
];
