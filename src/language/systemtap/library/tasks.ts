// Whose handler it is: processes, threads, tasks of the kernel.
import type { Span } from "../../diagnostic.ts";
import type { Expression } from "../../program.ts";
import { number, words, type LibraryFunction } from "./function.ts";
import * as tree from "../tree.ts";

const { call, integer, member, toLong } = tree;

const task = (span: Span, operand: Expression): Expression => ({
  kind: "cast",
  to: { name: "task_struct", tag: "struct", pointers: 1, dimensions: [], span },
  operand: call("kptr", [operand], span),
  span,
  type: operand.type,
});

const ofTask = (path: readonly string[], doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "long",
  doc,
  value: ([of], span) => toLong(path.reduce((object, name) => member(object, name, span), task(span, of))),
});

export const tasks: Readonly<Record<string, LibraryFunction>> = {
  pid: number("pid", "Id of the current process."),
  tid: number("tid", "Id of the current thread."),
  ppid: number("ppid", "Id of the parent process."),
  uid: number("uid", "User id of the current thread."),
  gid: number("gid", "Group id of the current thread."),
  cpu: number("cpu", "Number of the processor."),
  execname: words("comm", "Name of the current thread."),
  pexecname: words("pcomm", "Name of the parent process."),
  target: {
    parameters: [],
    result: "long",
    doc: "Id of the process given with -x or started with -c; else 0.",
    value: (_, span, unit) => unit.target(span),
  },
  user_mode: number("usermode", "1 where user code was interrupted, else 0."),
  task_current: { ...number("curtask", "Address of the current task's struct task_struct."), pointsTo: "task_struct" },
  task_pid: ofTask(["tgid"], "Process id of a task."),
  task_tid: ofTask(["pid"], "Thread id of a task."),
  task_parent: { ...ofTask(["real_parent"], "Address of a task's parent."), pointsTo: "task_struct" },
  task_prio: {
    parameters: ["long"],
    result: "long",
    doc: "Priority of a task as /proc/PID/stat has it: 0 to 39 of ordinary ones, less of real-time ones.",
    value: ([of], span) => tree.binary("-", toLong(member(task(span, of), "prio", span)), integer(100, span), span),
  },
  task_execname: {
    parameters: ["long"],
    result: "string",
    doc: "Name of a task.",
    value: ([of], span) => call("str", [member(task(span, of), "comm", span)], span),
  },
};
