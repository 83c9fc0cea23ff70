// The name of the current task, read where the kernel keeps it (struct task_struct).
import type { Capabilities } from "../linux/kernel/capabilities.ts";
import type { TypeScope } from "../language/type-scope.ts";
import { kernelAtLeast } from "../language/kernel-version.ts";
import { memberOffset } from "../language/layout.ts";

/**
 * Where a task_struct has its comm, if two words loaded from there are the name and then zeroes, as the helper gives
 * it: Linux fills up what follows the name since 5.17 (strscpy_pad in __set_task_comm).
 */
export function taskComm({ kernel, taskBtf }: Capabilities, types: TypeScope): number | undefined {
  if (!taskBtf || !kernelAtLeast(kernel, 5, 17)) return undefined;
  return memberOffset(types.find("task_struct", "struct"), "comm");
}
