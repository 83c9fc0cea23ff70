// Of which program or process a probe point is, and what keeps all others out.
import { Failure } from "../../base/failure.ts";
import { systemtap } from "../../messages/systemtap.ts";
import type { Span } from "../diagnostic.ts";
import type { FileIdentity, MachineGiven } from "../language.ts";
import type { Expression } from "../program.ts";
import type { PointGiven, Reading } from "./place.ts";
import type { Component, Point } from "./syntax.ts";
import * as tree from "./tree.ts";

function isProcess(id: Expression, span: Span): Expression {
  return tree.binary("==", tree.toLong(tree.builtin("pid", span)), id, span);
}

/** Whether the current process runs a file: by its number, and by its device where that is a disk's. */
function isProgram({ inode, device }: FileIdentity, span: Span): Expression {
  const path = ["mm", "exe_file", "f_inode"];
  const file = path.reduce<Expression>((of, name) => tree.member(of, name, span), tree.builtin("curtask", span));
  const is = (value: Expression, wanted: bigint): Expression =>
    tree.binary("==", tree.toLong(value), tree.integer(wanted, span), span);
  const same = is(tree.member(file, "i_ino", span), inode);
  if (device === undefined) return same;
  return tree.binary("&&", same, is(tree.member(tree.member(file, "i_sb", span), "s_dev", span), device), span);
}

/** The same, in processes that run a file. */
export function ofProgram(
  path: string,
  { text, span }: Point,
  machine: MachineGiven | undefined,
  place: Reading,
): Reading {
  const program = machine?.fileIdentity?.(path);
  if (program instanceof Failure)
    return { problem: systemtap.pointNotSupported(text, program.reason, "name the program by its path") };
  return program === undefined || typeof place === "string" || "problem" in place
    ? place
    : { ...place, guard: isProgram(program, span) };
}

/** Without a program: that of -c or -x; all processes where only their beginnings and ends are asked for. */
export function withProgram(
  first: Component,
  [of]: readonly Component[],
  { target, command = "" }: PointGiven,
): Component {
  if (first.argument !== undefined) return first;
  if (of !== undefined && lives.includes(of.name)) return { ...first, argument: "*" };
  if (typeof target === "number") return { ...first, argument: BigInt(target) };
  const [program] = /^[^\s"'\\$;&|<>()]+(?=\s|$)/.exec(command.trim()) ?? [];
  return program === undefined ? first : { ...first, argument: program };
}

/** The file of the program whose functions a point is about; undefined where none is given. */
export function programOf([first, ...rest]: readonly Component[], given: PointGiven): string | undefined {
  const [of] = rest;
  if (of?.name === "library" && typeof of.argument === "string") return of.argument;
  const { argument } = withProgram(first, rest, given);
  return typeof argument === "bigint" ? `/proc/${argument}/exe` : argument;
}

const lives = ["begin", "end", "thread"];

/** What only one process may run: that of the point, or of -c or -x where the point has none. */
export function guardOf({ argument }: Component, { target }: PointGiven, span: Span): { readonly guard?: Expression } {
  if (typeof argument === "bigint") return { guard: isProcess(tree.integer(argument, span), span) };
  if (argument !== undefined || target === undefined) return {};
  const id = target === "command" ? tree.toLong(tree.builtin("cpid", span)) : tree.integer(target, span);
  return { guard: isProcess(id, span) };
}
