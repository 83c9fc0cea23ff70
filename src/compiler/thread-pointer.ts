// The current thread's pointer, to which the C library's data of the thread is relative: where the kernel keeps it
// (struct task_struct, its thread_struct's fsbase on x86-64).
import type { TypeScope } from "../language/type-scope.ts";
import { memberOffset } from "../language/layout.ts";

/** Its offset in task_struct; undefined on other architectures. */
export function threadPointer(types: TypeScope): number | undefined {
  const [thread, base] = [
    memberOffset(types.find("task_struct", "struct"), "thread"),
    memberOffset(types.find("thread_struct", "struct"), "fsbase"),
  ];
  return thread === undefined || base === undefined ? undefined : thread + base;
}
