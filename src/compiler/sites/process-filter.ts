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

/** What has to hold, a condition for each part of the filter. */
export function isOneOf({ pids, comms, users, cgroups }: ProcessFilter = {}): readonly Expression[] {
  const user: Expression = { kind: "builtin", name: "uid", ...node };
  const comm: Expression = { kind: "builtin", name: "comm", ...node };
  return [
    pids?.map((pid) => equal(currentPid, integer(pid))),
    comms?.map((name) => equal(comm, { kind: "string", value: name, ...node })),
    users?.map((uid) => equal(user, integer(uid))),
    cgroups?.map(({ id, level }) =>
      equal({ kind: "call", name: "cgroup", args: [integer(level)], ...node }, integer(id)),
    ),
  ].flatMap((choices) => (choices === undefined ? [] : [joined("||", choices)]));
}

/** A probe whose handler runs where all of these hold, beside what guards it already. */
export function amongProcesses(probe: Probe, conditions: readonly Expression[]): Probe {
  if (conditions.length === 0) return probe;
  const all = [...(probe.guard === undefined ? [] : [probe.guard]), ...conditions];
  return { ...probe, guard: { ...joined("&&", all), span: probe.span } };
}

function joined(operator: "&&" | "||", parts: readonly Expression[]): Expression {
  return parts.reduce((left, right) => ({ kind: "binary", operator, left, right, ...node }));
}

function equal(left: Expression, right: Expression): Expression {
  return { kind: "binary", operator: "==", left, right, ...node };
}

function integer(value: number | string): Expression {
  return { kind: "integer", value: BigInt(value), ...node };
}
