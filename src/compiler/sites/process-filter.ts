// `-p`, `--comm`, `--user`, `--cgroup`: handlers that leave at once in any other process.
import type { Expression, Probe } from "../../language/program.ts";
import { unknownType } from "../../language/types.ts";

/** A process is let through that is one of each of these. */
export interface ProcessFilter {
  readonly pids?: readonly number[] | undefined;
  /** Names of threads, as `comm` gives them: at most 15 bytes. */
  readonly comms?: readonly string[] | undefined;
  /** Ids of users. */
  readonly users?: readonly number[] | undefined;
  /** Of version 2, with all that are below them. */
  readonly cgroups?: readonly CgroupRef[] | undefined;
}

export interface CgroupRef {
  /** In decimals: plans are kept by what they were made with, as JSON. */
  readonly id: string;
  /** How deep it lies; the root is 0. */
  readonly level: number;
}

/** Nobody wrote what is made here. */
const node = { span: { start: 0, end: 0 }, type: unknownType };

/** The process that an event is of. */
export const currentPid: Expression = { kind: "builtin", name: "pid", ...node };

/** It is the process of the command of `-c`. */
export const isCommand: Expression = equal(currentPid, { kind: "builtin", name: "cpid", ...node });

/** What has to hold, a condition for each part of the filter: of the current process, or of a task's. */
export function isOneOf({ pids, comms, users, cgroups }: ProcessFilter = {}, task?: Expression): readonly Expression[] {
  const builtin = (name: string, ...members: readonly string[]): Expression =>
    task === undefined ? { kind: "builtin", name, ...node } : taskMember(task, ...members);
  const isIn = ({ id, level }: CgroupRef): Expression => {
    if (task === undefined)
      return equal({ kind: "call", name: "cgroup", args: [integer(level)], ...node }, integer(id));
    // struct cgroup of include/linux/cgroup-defs.h: as bpf_get_current_ancestor_cgroup_id() goes through it, since Linux 6.1.
    const own = taskMember(task, "cgroups", "dfl_cgrp");
    const isDeep: Expression = {
      kind: "binary",
      operator: ">=",
      left: taskMember(own, "level"),
      right: integer(level),
      ...node,
    };
    const above: Expression = { kind: "index", object: taskMember(own, "ancestors"), index: integer(level), ...node };
    return joined("&&", [isDeep, equal(taskMember(above, "kn", "id"), integer(id))]);
  };
  return [
    pids?.map((pid) => equal(builtin("pid", "tgid"), integer(pid))),
    comms?.map((name) => equal(builtin("comm", "comm"), { kind: "string", value: name, ...node })),
    users?.map((uid) => equal(builtin("uid", "cred", "uid", "val"), integer(uid))),
    cgroups?.map(isIn),
  ].flatMap((choices) => (choices === undefined ? [] : [joined("||", choices)]));
}

/** `task.cred.uid` */
export function taskMember(task: Expression, ...names: readonly string[]): Expression {
  return names.reduce<Expression>(
    (object, name) => ({ kind: "member", object, name, nameSpan: node.span, ...node }),
    task,
  );
}

/** A probe whose handler runs where all of these hold, beside what guards it already. */
export function amongProcesses(probe: Probe, conditions: readonly Expression[]): Probe {
  if (conditions.length === 0) return probe;
  const all = [...(probe.guard === undefined ? [] : [probe.guard]), ...conditions];
  return { ...probe, guard: { ...joined("&&", all), span: probe.span } };
}

export function joined(operator: "&&" | "||", parts: readonly Expression[]): Expression {
  return parts.reduce((left, right) => ({ kind: "binary", operator, left, right, ...node }));
}

function equal(left: Expression, right: Expression): Expression {
  return { kind: "binary", operator: "==", left, right, ...node };
}

function integer(value: number | string): Expression {
  return { kind: "integer", value: BigInt(value), ...node };
}
