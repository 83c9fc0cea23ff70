// D's own variables: what each is in the tree.
import { dDescriptions } from "../../messages/d-descriptions.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression } from "../program.ts";
import { unknownType, type ProbePart } from "../types.ts";
import { attributesOfVariable, isLess, spelledAttributes } from "./attributes.ts";
import { needs } from "./helpers.ts";
import { registerNumber } from "./registers.ts";
import { readText, translate, type ReadExpression } from "./translators.ts";
import { isNumber, named, type Known } from "./types.ts";
import type { Unit } from "./unit.ts";

interface OwnVariable {
  readonly known?: Known;
  readonly doc: string;
  readonly value: (span: Span, unit: Unit, read: ReadExpression) => Expression;
}

const builtin = nodes.builtin;

const number = (name: string, known: Exclude<Known, "string">, doc: string): OwnVariable => ({
  known,
  doc,
  value: (span, unit) => unit.cast(known, builtin(name, span)),
});

const words = (name: string, doc: string): OwnVariable => ({
  known: "string",
  doc,
  value: (span) => builtin(name, span),
});

const part = (name: ProbePart, doc: string): OwnVariable => ({
  known: "string",
  doc,
  value: (span, unit) => partHere(name, span, unit),
});

/** A part of the name of the probe that fired; ERROR's clauses run in the one that failed. */
export function partHere(name: ProbePart, span: Span, { clause }: Unit): Expression {
  if (clause.provider !== "error") return probePart(name, span);
  const error = {
    provider: "dtrace",
    module: "",
    function: "",
    name: "ERROR",
    place: ":ERROR",
    id: "3",
    flow: "| :ERROR",
    event: "ERROR",
    group: "dtrace",
    mark: ":ERROR",
  };
  return nodes.text(error[name], span);
}

function probePart(name: ProbePart, span: Span): Expression {
  return nodes.call("probe_part", [builtin("probe", span), nodes.word(name, span)], span);
}

const clock = (name: string, doc: string): OwnVariable => ({
  known: "int64",
  doc,
  value: (span, unit) => unit.cast("int64", nodes.call("nsecs", [nodes.word(name, span)], span)),
});

const constant = (value: bigint, known: Exclude<Known, "string">, doc: string): OwnVariable => ({
  known,
  doc,
  value: (span) => nodes.integer(value, span),
});

/** D text, as it is read where the variable stands. */
const textual =
  (text: string): OwnVariable["value"] =>
  (span, unit, read) =>
    readText(unit, text, span, read);

function frame(stack: "kstack" | "ustack", span: Span, unit: Unit): Expression {
  const two = nodes.call(stack, [nodes.integer(2, span)], span);
  return unit.cast("uint64", nodes.call("stack_frame", [two, nodes.integer(1, span)], span));
}

const variables: Readonly<Record<string, OwnVariable>> = {
  // ── who ──
  pid: number("pid", "int32", "Id of the current process."),
  tid: number("tid", "int32", "Id of the current thread."),
  ppid: number("ppid", "int32", "Id of the parent process."),
  uid: number("uid", "uint32", "User id of the current process."),
  gid: number("gid", "uint32", "Group id of the current process."),
  execname: words("comm", "Name of the current thread."),
  execargs: {
    known: "string",
    doc: "The process's arguments, with spaces between.",
    value: textual("__arguments(curthread)"),
  },
  cwd: { known: "string", doc: "The process's working directory.", value: textual("d_path(&curthread->fs->pwd)") },
  root: { known: "string", doc: "The process's root directory.", value: textual("d_path(&curthread->fs->root)") },
  curthread: {
    doc: "The current task's struct task_struct.",
    value: (span, unit) => unit.pointing(builtin("curtask", span), { ...named("task_struct", span, 1), tag: "struct" }),
  },
  zonename: { known: "string", doc: "Always `global`.", value: (span) => nodes.text("global", span) },

  // ── when and where ──
  timestamp: clock("monotonic", "Nanoseconds since boot."),
  walltimestamp: clock("wall", "Nanoseconds since 1970."),
  cpu: number("cpu", "int32", "Number of the processor."),
  vtimestamp: {
    known: "int64",
    doc: "Nanoseconds that the current thread has been on a processor, since tracing began.",
    value: (span, unit, read) => {
      needs(unit, "vtimestamp");
      const text = `__since[cpu] == 0 ? (__since[cpu] = timestamp, __spent[(uint64_t)curthread])
        : __spent[(uint64_t)curthread] + (timestamp - __since[cpu])`;
      return textual(text)(span, unit, read);
    },
  },
  ipl: constant(0n, "uint32", "The interrupt priority level, which Linux does not have: 0."),
  caller: {
    known: "uint64",
    doc: "Where the kernel's function that the probe is in was called from; 0 where it was not.",
    value: (span, unit) => frame("kstack", span, unit),
  },
  ucaller: {
    known: "uint64",
    doc: "The same, of the process's function.",
    value: (span, unit) => frame("ustack", span, unit),
  },
  stackdepth: {
    known: "uint32",
    doc: "Frames of the kernel's stack.",
    // Clauses of `dtrace` run in strobe itself, outside the kernel.
    value: (span, unit) =>
      unit.clause.provider === "dtrace"
        ? unit.cast("uint32", nodes.integer(0, span))
        : unit.cast("uint32", nodes.call("len", [builtin("kstack", span)], span)),
  },
  ustackdepth: {
    known: "uint32",
    doc: "Frames of the process's stack.",
    value: (span, unit) => unit.cast("uint32", nodes.call("len", [builtin("ustack", span)], span)),
  },

  // ── what fired ──
  id: {
    known: "uint32",
    doc: "The probe's id.",
    value: (span, unit) => unit.cast("uint32", probeNumber(span, unit)),
  },
  epid: {
    known: "uint32",
    doc: "Number of the clause and the probe: of a clause of one probe the next number, from 1 on.",
    value: (span, { clause: { number: own = 0, several } }) => {
      const clause = nodes.integer(own, span);
      return several !== true
        ? clause
        : nodes.binary("+", clause, nodes.binary("<<", probeIndex(span), nodes.integer(16, span), span), span);
    },
  },
  probeprov: part("provider", "The probe's provider."),
  probemod: part("module", "The probe's module."),
  probefunc: part("function", "The probe's function."),
  probename: part("name", "The probe's name."),
  args: { doc: "The probe's arguments, with their types.", value: (span) => builtin("args", span) },
  errno: {
    known: "int32",
    doc: "What a system call failed with; 0 where it did not.",
    value: (span, unit) => errno(span, unit),
  },
};

/** The probe's id, as partOfName() has it. */
function probeNumber(span: Span, unit: Unit): Expression {
  const fixed = unit.clause.provider === "error" ? "ERROR" : unit.clause.name;
  const first = ["dtrace", "error"].includes(unit.clause.provider)
    ? ["BEGIN", "END", "ERROR"].indexOf(fixed ?? "")
    : -1;
  return numberOf(first, span);
}

/** Of the probe that fired; of those of `dtrace` by their place among them, from 0 on. */
export function numberOf(first: number, span: Span): Expression {
  if (first >= 0) return nodes.integer(first + 1, span);
  return nodes.binary("+", probeIndex(span), nodes.integer(4, span), span);
}

/** Of the probe's name among those of the script, from 0. */
function probeIndex(span: Span): Expression {
  return nodes.cast(named("uint32", span), builtin("probe", span), span);
}

/** Of a system call that returns: its result where that is negative and no address. */
function errno(span: Span, unit: Unit): Expression {
  if (unit.clause.provider !== "syscall" || !unit.clause.returns) return nodes.integer(0, span);
  const result = (): Expression => unit.cast("int64", builtin("arg0", span));
  const failed = nodes.binary(
    "&&",
    nodes.binary("<", result(), nodes.integer(0, span), span),
    nodes.binary(">=", result(), nodes.integer(-4095, span), span),
    span,
  );
  const negated: Expression = { kind: "unary", operator: "-", operand: result(), span, type: unknownType };
  return unit.cast("int32", nodes.conditional(failed, negated, nodes.integer(0, span), span));
}

/** `read`: reads an expression of D. */
export function builtinVariable(name: string, span: Span, unit: Unit, read: ReadExpression): Expression | undefined {
  if (/^arg[0-9]$/.test(name)) return unit.cast("int64", argument(name, span, unit));
  switch (name) {
    case "curpsinfo":
      return translate(unit, "psinfo_t", builtin("curtask", span), span);
    case "curlwpsinfo":
      return translate(unit, "lwpsinfo_t", builtin("curtask", span), span);
    case "curcpu":
      return translate(unit, "cpuinfo_t", builtin("cpu", span), span);
    default:
  }
  if (name === "regs" || name === "uregs" || name === "locals" || name === "fds") return nodes.word(name, span);
  const register = registerNumber(name);
  if (register !== undefined) return unit.typed(nodes.integer(register, span), "int32");
  if (!Object.hasOwn(variables, name)) return undefined;
  const { least } = unit.options;
  const asked = attributesOfVariable(name);
  if (least !== undefined && isLess(asked, least))
    unit.cursor.fail(dDescriptions.tooUnstable(`scalar ${name}`, spelledAttributes(asked)), span);
  const { known, value } = variables[name];
  const e = value(span, unit, read);
  // Knows its own type already.
  return isNumber(known) && e.kind === "cast" ? e : unit.typed(e, known);
}

/** What ERROR's arg1, arg4 and arg5 are. */
export const faultVariables = { probe: "fault probe#0", kind: "fault kind#0", address: "fault address#0" } as const;

/** As DTrace calls the function that a clause, counted from 1, becomes. */
export function clauseName(number: number): string {
  return `dt_clause_${number - 1}`;
}

/** DTrace's numbers for what can fail. */
export const faultNumbers = [
  ["read", 1],
  ["division", 4],
  ["index", 1],
  ["full", 9],
] as const;

/** Of ERROR: the probe, the clause and the place in it, what failed, and where. */
function ofError(name: string, span: Span): Expression {
  if (name === "arg1") return nodes.variable(faultVariables.probe, span);
  if (name === "arg4") return nodes.variable(faultVariables.kind, span);
  if (name === "arg5") return nodes.variable(faultVariables.address, span);
  return nodes.integer(0, span);
}

/** Of `profile`: where the processor was, in the kernel (arg0) or in a program (arg1); 0 where it was in the other. */
function interrupted(name: string, span: Span): Expression {
  const zero = nodes.integer(0, span);
  const at = (): Expression =>
    nodes.cast(named("int64", span), nodes.call("reg", [nodes.text("ip", span)], span), span);
  const inKernel = nodes.binary("<", at(), zero, span);
  if (name === "arg0") return nodes.conditional(inKernel, at(), zero, span);
  return name === "arg1" ? nodes.conditional(inKernel, zero, at(), span) : zero;
}

/** fbt's and pid's `return` have the offset in arg0, and the value in arg1; a call's has the value in both. */
function argument(name: string, span: Span, { clause }: Unit): Expression {
  if (clause.provider === "error") return ofError(name, span);
  const areAll = (kind: string): boolean =>
    clause.provider === "profile" && clause.names?.every((each) => each.startsWith(kind)) === true;
  if (areAll("profile-")) return interrupted(name, span);
  // A tick is strobe's own: it interrupts nothing.
  if (areAll("tick-")) return nodes.integer(0, span);
  if (clause.provider === "dtrace") return nodes.integer(0, span);
  if (!clause.returns) return builtin(name, span);
  if (clause.provider === "syscall") return builtin("arg0", span);
  return name === "arg1" ? builtin("retval", span) : nodes.integer(0, span);
}

/** `locals->x`: a variable at an instruction, by debug information. */
export function memberOf(object: Expression, name: string, span: Span): Expression | undefined {
  return object.kind === "identifier" && object.name === "locals"
    ? nodes.call("var", [nodes.text(name, span)], span)
    : undefined;
}

export function isBuiltIn(name: string): boolean {
  return (
    Object.hasOwn(variables, name) || /^arg[0-9]$/.test(name) || ["curpsinfo", "curlwpsinfo", "curcpu"].includes(name)
  );
}

/** Of a variable that D has. */
export function variableDoc(name: string): string {
  return variables[name].doc;
}

export function variableNames(): readonly string[] {
  return Object.keys(variables);
}
