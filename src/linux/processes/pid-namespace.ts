// Whose numbers of processes /proc and the system calls give us: in a container they are not the kernel's own.
import { readlinkSync, statSync } from "node:fs";
import type { PidNamespace } from "../kernel/capabilities.ts";

/** PROC_PID_INIT_INO of include/linux/proc_ns.h: the namespace that the machine started with. */
const INITIAL = 0xeffffffc;
const file = "/proc/self/ns/pid";

/**
 * What bpf_get_ns_current_pid_tgid is asked with; undefined in the namespace that the machine started with, and without
 * /proc.
 */
export function pidNamespace(): PidNamespace | undefined {
  try {
    // Every start asks: the name tells as much as the rest, sooner.
    if (readlinkSync(file) === `pid:[${INITIAL}]`) return undefined;
    const { dev, ino } = statSync(file, { bigint: true });
    return { device: dev, inode: ino };
  } catch {
    return undefined;
  }
}
