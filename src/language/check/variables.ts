// Variables of the traced program: `var("x")`, `vars`, `vars.x`, and what all arguments look like as one record.
import { expressions } from "../../messages/expressions.ts";
import { statements } from "../../messages/statements.ts";
import { absentType } from "../absent.ts";
import type { Argument, ProgramVariables } from "../context.ts";
import type { Span } from "../diagnostic.ts";
import { nearest } from "../nearest.ts";
import type { Call, Expression } from "../program.ts";
import type { RecordType, Type } from "../types.ts";
import { unknownType } from "../types.ts";
import { notRecorded, placeType, where } from "./place-types.ts";
import type { Body } from "./pass.ts";
import { didYouMean, needsKernel, report } from "./pass.ts";
import { Failure } from "../../base/failure.ts";

/** All arguments, or all variables in scope, as one value. Text that a struct keeps elsewhere is shown as text. */
export function argumentsType(args: readonly Argument[]): RecordType {
  return { kind: "record", fields: args.map((argument) => ({ name: argument.name, type: fieldType(argument) })) };
}

function fieldType({ type, absent }: Argument): Type {
  if (absent !== undefined) return absentType;
  return placeType(type);
}

/** What an argument or a variable is in an expression; a diagnostic when it is nowhere. */
export function argumentType(argument: Argument, span: Span, body: Body): Type {
  if (argument.absent !== undefined) return report(body, span, expressions.absent(argument.name, argument.absent));
  return placeType(argument.type);
}

/** `help`: what else can be done where none are known. */
function variablesOf(
  what: string,
  span: Span,
  body: Body,
  help?: string,
  symbol?: string,
): ProgramVariables | undefined {
  const { context } = body;
  const variables = context === undefined || context === "host" ? undefined : context.variables;
  if (variables !== undefined && !(variables instanceof Failure)) return variables;
  if (variables === undefined)
    report(body, span, notRecorded(what, body) ?? statements.notAvailable(what, where(body)));
  else report(body, span, statements.notKnownHere(what, variables.reason, help, symbol));
  return undefined;
}

/** `var("x")`, `var("x@file.c")`, `var("ns::x")` */
export function checkVariableCall(call: Call, body: Body): Expression {
  const [name] = call.args;
  needsKernel(body, "var()", call.span);
  if (name.kind !== "string")
    return { ...call, type: report(body, name.span, statements.varExpectsNameStringLiteral()) };
  return variable(call, name.value, name.span, body);
}

/** `vars.x` is `var("x")`. */
export function checkVariableMember(name: string, nameSpan: Span, span: Span, body: Body): Expression {
  const literal: Expression = {
    kind: "string",
    value: name,
    span: nameSpan,
    type: { kind: "string", capacity: Buffer.byteLength(name) + 1 },
  };
  return variable({ kind: "call", name: "var", args: [literal], span, type: unknownType }, name, nameSpan, body);
}

function variable(call: Call, name: string, span: Span, body: Body): Expression {
  const literal: Expression = {
    kind: "string",
    value: name,
    span,
    type: { kind: "string", capacity: Buffer.byteLength(name) + 1 },
  };
  const checked = { ...call, args: [literal] };
  const kernels = inKernel(body);
  const variables = variablesOf(
    "var()",
    call.span,
    body,
    kernels ? untyped(name, body) : undefined,
    kernels && body.pass.options.facts?.kernelAddress(name) === undefined ? name : undefined,
  );
  if (variables === undefined) return { ...checked, type: unknownType };
  const found = variables.find(name);
  if (found instanceof Failure)
    return { ...checked, type: report(body, span, statements.variableOutOfReach(found.reason)) };
  if (found === undefined) {
    const near = didYouMean(nearest(name, variables.names()));
    return {
      ...checked,
      type: report(body, span, statements.seesNoVariable(body.sites[0]?.name ?? "the probe", name, near)),
    };
  }
  return { ...checked, type: argumentType(found, span, body) };
}

function inKernel({ context }: Body): boolean {
  return context !== undefined && context !== "host" && !context.inProgram;
}

/** A global of the kernel without debug information has at most an address. */
function untyped(name: string, body: Body): string {
  const { facts } = body.pass.options;
  if (facts?.kernelAddress(name) !== undefined)
    return `/proc/kallsyms has its address: *(uint64 *)kaddr("${name}") reads it as a number`;
  return (
    facts?.addressesHidden?.() ?? `/proc/kallsyms has no \`${name}\` either: it has data with CONFIG_KALLSYMS_ALL only`
  );
}

/**
 * What a variable points to, where the pointer itself was optimised away and that was not: so that `args.p->x` and
 * `*var("p")` are known all the same. undefined for anything else.
 */
export function behindLostPointer(node: Expression, body: Body): Expression | undefined {
  const name = variableNamed(node);
  const { context } = body;
  const variables = name === undefined || context === undefined || context === "host" ? undefined : context.variables;
  if (name === undefined || variables === undefined || variables instanceof Failure) return undefined;
  const pointer = variables.find(name);
  if (pointer === undefined || pointer instanceof Failure || pointer.absent === undefined) return undefined;
  const target = variables.find(`*${name}`);
  if (target === undefined || target instanceof Failure || target.absent !== undefined) return undefined;
  return variable(
    { kind: "call", name: "var", args: [], span: node.span, type: unknownType },
    `*${name}`,
    node.span,
    body,
  );
}

/** The name in `args.x`, `vars.x` and `var("x")`. */
function variableNamed(node: Expression): string | undefined {
  if (node.kind === "member")
    return node.object.kind === "builtin" && (node.object.name === "args" || node.object.name === "vars")
      ? node.name
      : undefined;
  const [first] = node.kind === "call" && node.name === "var" ? node.args : [];
  return first?.kind === "string" ? first.value : undefined;
}

/** `vars` */
export function checkVariables(span: Span, body: Body): Type {
  const variables = variablesOf("vars", span, body);
  return variables === undefined ? unknownType : argumentsType(variables.inScope);
}

/** A recording has what its pointers lead to as void: that is nowhere in it. */
export function isBehindRecorded(type: Type, body: Body): boolean {
  return body.pass.options.recorded === true && type.kind === "pointer" && type.target.kind === "void";
}
