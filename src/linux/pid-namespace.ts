// Whose numbers of processes /proc and the system calls give us: in a container they are not the kernel's own.
import { statSync } from "node:fs";

/** PROC_PID_INIT_INO of include/linux/proc_ns.h: the namespace that the machine started with. */
const INITIAL = 0xeffffffcn;

/** What bpf_get_ns_current_pid_tgid is asked with; undefined in the namespace that the machine started with, and without /proc. */
export function pidNamespace(): { readonly device: bigint; readonly inode: bigint } | undefined {
  const namespace = statSync("/proc/self/ns/pid", { bigint: true, throwIfNoEntry: false });
  return namespace === undefined || namespace.ino === INITIAL ? undefined : { device: namespace.dev, inode: namespace.ino };
}
