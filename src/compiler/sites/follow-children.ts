// `--follow`: the traced process and the children it starts, whatever they become (those it has: session/live/existing-children.ts). The kernel keeps the set of their
// pids itself, so that a child is traced from its first instruction on.
import type { Block, Expression, Probe, Program, Statement } from "../../language/program.ts";
import { unknownType } from "../../language/types.ts";
import { begin } from "../../providers/kinds/begin-end.ts";
import { rawtracepoint } from "../../providers/kinds/rawtracepoint.ts";
import { tracepoint } from "../../providers/kinds/tracepoint.ts";
import type { Provider } from "../../providers/provider.ts";
import { currentPid } from "./process-filter.ts";

/** Nobody can write this name, and whoever prints maps leaves it out. */
export const followedMap = ".followed";
/** Processes at a time. */
const most = 1 << 16;

/** Nobody wrote what is made here. */
const span = { start: 0, end: 0 };
const node = { span, type: unknownType };

/**
 * The script with what keeps the set in front, so that it is attached first. `pid`: of the process; the command's
 * unless given. `asEvents`: handlers run over records of the kernel's events, which tell no more of a task that ends while it
 * is among the chosen ones; numbers of processes that are gone give way to others.
 */
export function followingChildren(
  program: Program,
  pid: number | undefined,
  asEvents: boolean,
): { readonly program: Program; readonly own: ReadonlySet<Probe> } {
  const first: Expression = pid === undefined ? { kind: "builtin", name: "cpid", ...node } : literal(BigInt(pid));
  const start: Probe = { ...probeOf(begin), body: block(add(first)), span };
  const newTask: Probe = {
    ...probeOf(tracepoint, "task", "task_newtask"),
    predicate: {
      kind: "binary",
      operator: "&&",
      left: isFollowed(currentPid),
      right: { kind: "binary", operator: "==", left: threadFlag(), right: literal(0n), ...node },
      ...node,
    },
    body: block(add(number(member("args", "pid")))),
    span,
  };
  const tasks: readonly Probe[] = [
    // A thread that starts names its own process again.
    {
      ...probeOf(rawtracepoint, "sched_process_fork"),
      predicate: isFollowed(number(member("args", "parent", "tgid"))),
      body: block(add(number(member("args", "child", "tgid")))),
    },
    // The last of a process's threads is its first.
    {
      ...probeOf(rawtracepoint, "sched_process_free"),
      predicate: {
        kind: "binary",
        operator: "==",
        left: member("args", "p", "pid"),
        right: member("args", "p", "tgid"),
        ...node,
      },
      body: block({
        kind: "expression",
        expression: { kind: "call", name: "delete", args: [followed(), number(member("args", "p", "tgid"))], ...node },
        span,
      }),
    },
  ];
  const probes = [start, ...(asEvents ? [newTask] : tasks)];
  return {
    program: {
      ...program,
      maps: [...program.maps, { name: followedMap, storage: asEvents ? "lruhash" : "hash", entries: most, span }],
      probes: [...probes, ...program.probes],
    },
    own: new Set(probes),
  };
}

function probeOf({ name }: Provider, ...parts: readonly string[]): Pick<Probe, "specs" | "span"> {
  return { specs: [{ provider: name, parts, text: [name, ...parts].join(":"), span }], span };
}

function literal(value: bigint): Expression {
  return { kind: "integer", value, ...node };
}

/** CLONE_THREAD of include/uapi/linux/sched.h, as task_newtask tells of it. */
function threadFlag(): Expression {
  return {
    kind: "binary",
    operator: "&",
    left: number(member("args", "clone_flags")),
    right: literal(0x10000n),
    ...node,
  };
}

function block(statement: Statement): Block {
  return { kind: "block", statements: [statement], span };
}

function followed(...keys: readonly Expression[]): Extract<Expression, { kind: "map" }> {
  return { kind: "map", name: followedMap, keys, ...node };
}

function add(pid: Expression): Statement {
  return { kind: "assign", target: followed(pid), operator: null, value: literal(1n), span };
}

/** Whether a process is one of the set. */
export function isFollowed(pid: Expression): Expression {
  return { kind: "call", name: "has_key", args: [followed(), pid], ...node };
}

/** `args.parent.tgid` */
function member(builtin: string, ...names: readonly string[]): Expression {
  return names.reduce<Expression>((object, name) => ({ kind: "member", object, name, nameSpan: span, ...node }), {
    kind: "builtin",
    name: builtin,
    ...node,
  });
}

/** As the `pid` builtin is. */
function number(of: Expression): Expression {
  return { kind: "cast", to: { name: "uint64", pointers: 0, dimensions: [], span }, operand: of, ...node };
}
