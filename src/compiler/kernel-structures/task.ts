// What the kernel keeps of the current task (struct task_struct): its name, its numbers, and the thread pointer.
import type { TypeScope } from "../../language/type-scope.ts";
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import { kernelAtLeast, kernelFeatures, kernelHas } from "../../base/kernel-features.ts";
import { memberOffset } from "../../language/layout.ts";
import type { System, TaskOfCpu } from "../../machine/system.ts";

/**
 * Where a task_struct has its comm, if two words loaded from there are the name and then zeroes, as the helper gives
 * it: Linux fills up what follows the name since 5.17 (strscpy_pad in __set_task_comm).
 */
export function taskComm({ kernel, taskBtf }: Capabilities, types: TypeScope): number | undefined {
  if (!taskBtf || !kernelAtLeast(kernel, 5, 17)) return undefined;
  return memberOffset(types.find("task_struct", "struct"), "comm");
}

/** Where a task_struct has its numbers, the thread's and the process's: int, as the machine's first namespace has them. */
export function taskIds(
  { taskBtf }: Capabilities,
  types: TypeScope,
): { readonly pid: number; readonly tgid: number } | undefined {
  const task = types.find("task_struct", "struct");
  const [pid, tgid] = [memberOffset(task, "pid"), memberOffset(task, "tgid")];
  return !taskBtf || pid === undefined || tgid === undefined ? undefined : { pid, tgid };
}

/** Where what is asked of the current task is: pointers to follow from its task_struct on, then a place in what the last leads to. */
export interface TaskPath {
  readonly pointers: readonly number[];
  readonly at: number;
}

/** Offsets of members, each of a struct by its name: all but the last are pointers. */
function pathOf(
  types: TypeScope,
  members: readonly (readonly [struct: string, member: string])[],
): TaskPath | undefined {
  const offsets: number[] = [];
  for (const [struct, member] of members) {
    const offset = memberOffset(types.find(struct, "struct"), member);
    if (offset === undefined) return undefined;
    offsets.push(offset);
  }
  return { pointers: offsets.slice(0, -1), at: offsets.at(-1)! };
}

/**
 * Where its user and group are: kuid_t and kgid_t of 4 bytes each, which are the numbers that the machine's first namespace has
 * (make_kuid() of include/linux/uidgid.h), as bpf_get_current_uid_gid() gives them.
 */
export function taskUser(
  { taskBtf }: Capabilities,
  types: TypeScope,
): { readonly uid: TaskPath; readonly gid: TaskPath } | undefined {
  if (!taskBtf) return undefined;
  const [uid, gid] = ["uid", "gid"].map((member) =>
    pathOf(types, [
      ["task_struct", "cred"],
      ["cred", member],
    ]),
  );
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/** Where the id of its cgroup of version 2 is, 8 bytes: as bpf_get_current_cgroup_id() goes there. */
export function taskCgroup({ taskBtf }: Capabilities, types: TypeScope): TaskPath | undefined {
  if (!taskBtf) return undefined;
  return pathOf(types, [
    ["task_struct", "cgroups"],
    ["css_set", "dfl_cgrp"],
    ["cgroup", "kn"],
    ["kernfs_node", "id"],
  ]);
}

/**
 * How handlers get at the current task: by a call, which costs some 20 ns where returns are guarded; by a helper that the
 * verifier writes as a read; or, on x86-64 between the kernels of both, by such a read of strobe's own.
 */
export type WayToTask = "call" | "verifier" | TaskOfCpu;

export function wayToTask({ kernel, taskBtf, arm64 }: Capabilities, system: System): WayToTask {
  if (!taskBtf) return "call";
  if (kernelHas(kernel, kernelFeatures.taskWithoutCall)) return "verifier";
  if (arm64 || !kernelHas(kernel, kernelFeatures.cpuWithoutCall)) return "call";
  return system.taskOfCpu?.() ?? "call";
}

/**
 * The current thread's pointer, to which the C library's data of the thread is relative: its offset in task_struct (its
 * thread_struct's fsbase); undefined on other architectures than x86-64.
 */
export function threadPointer(types: TypeScope): number | undefined {
  const [thread, base] = [
    memberOffset(types.find("task_struct", "struct"), "thread"),
    memberOffset(types.find("thread_struct", "struct"), "fsbase"),
  ];
  return thread === undefined || base === undefined ? undefined : thread + base;
}
