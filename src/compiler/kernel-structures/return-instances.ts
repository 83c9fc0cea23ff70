// A uretprobe replaces the return address on the program's stack; the kernel keeps the right one in a list of its own.
// Where, is asked of the kernel's types (struct return_instance, kernel/events/uprobes.c).
import type { TypeScope } from "../../language/type-scope.ts";
import { memberOffset } from "../../language/layout.ts";

/** Offsets: of the list's first in task->utask, and in an element. */
export interface ReturnInstances {
  readonly utask: number;
  readonly first: number;
  /** Where on the stack the return address was replaced. */
  readonly stack: number;
  readonly address: number;
  readonly next: number;
}

/** undefined where the kernel has no user probes. */
export function returnInstances(types: TypeScope): ReturnInstances | undefined {
  const task = types.find("task_struct", "struct");
  const list = types.find("uprobe_task", "struct");
  const element = types.find("return_instance", "struct");
  const [utask, first] = [memberOffset(task, "utask"), memberOffset(list, "return_instances")];
  const [stack, address, next] = [
    memberOffset(element, "stack"),
    memberOffset(element, "orig_ret_vaddr"),
    memberOffset(element, "next"),
  ];
  if (utask === undefined || first === undefined || stack === undefined || address === undefined || next === undefined)
    return undefined;
  return { utask, first, stack, address, next };
}
