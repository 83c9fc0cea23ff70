// The functions of SystemTap's library that strobe has: what each takes and gives, and what it is in the tree that all
// languages share. Numbers are 64 bits and signed wherever they come from.
import type { Span } from "../diagnostic.ts";
import type { HostTextName } from "../host-texts.ts";
import type { Expression, Statement, TypeName } from "../program.ts";
import { unknownType, type SymbolPart } from "../types.ts";
import { doubles } from "./doubles.ts";
import type { CallingUnit, LibraryFunction } from "./library-function.ts";
import type { ValueType } from "./syntax.ts";
import * as tree from "./tree.ts";

/** Those whose arguments may be of any type: printing.ts knows them. */
export const printers: ReadonlySet<string> = new Set([
  "print",
  "println",
  "printd",
  "printdln",
  "printf",
  "sprint",
  "sprintln",
  "sprintd",
  "sprintdln",
  "sprintf",
  "log",
  "warn",
  "error",
]);

const { builtin, call, integer, member, toLong } = tree;

/** A builtin value as a number. */
const number = (name: string, doc: string): LibraryFunction => ({
  parameters: [],
  result: "long",
  doc,
  value: (_, span) => toLong(builtin(name, span)),
});

const words = (name: string, doc: string): LibraryFunction => ({
  parameters: [],
  result: "string",
  doc,
  value: (_, span) => builtin(name, span),
});

/** A clock, divided. */
const clock = (which: string, unit: number, doc: string): LibraryFunction => ({
  parameters: [],
  result: "long",
  doc,
  value(_, span) {
    const now = toLong(call("nsecs", [tree.word(which, span)], span));
    return unit === 1 ? now : tree.binary("/", now, integer(unit, span), span);
  },
});

const pointer = (name: string, span: Span): TypeName => ({ name, pointers: 1, dimensions: [], span });

/** A value, or another where memory cannot be read that it needs. */
function instead(value: Expression, otherwise: Expression, span: Span, unit: CallingUnit): Expression {
  const read = tree.variable(unit.fresh("read"), span);
  const nothing = otherwise.kind === "integer" ? integer(0, span) : tree.text("", span);
  const type = otherwise.kind === "integer" ? tree.longType(span) : undefined;
  return {
    kind: "block-expression",
    statements: [
      tree.declare(read.name, nothing, type),
      {
        kind: "try",
        kinds: ["read"],
        body: tree.block([tree.assign(read, value, span)], span),
        handler: tree.block([tree.assign(read, otherwise, span)], span),
        span,
      },
    ],
    value: read,
    span,
    type: value.type,
  };
}

function loaded(space: "uptr" | "kptr", type: string, address: Expression, span: Span): Expression {
  return toLong({
    kind: "unary",
    operator: "*",
    operand: call(space, [{ kind: "cast", to: pointer(type, span), operand: address, span, type: address.type }], span),
    span,
    type: address.type,
  });
}

/** What lies at an address of the kernel's. */
const load = (type: string, doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "long",
  doc,
  value: ([address], span) => loaded("kptr", type, address, span),
});

/** What lies at an address of the process's; 0 where that cannot be read. */
const loadUser = (type: string, doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "long",
  doc,
  value: ([address], span, unit) => instead(loaded("uptr", type, address, span), integer(0, span), span, unit),
});

const userNumbers: readonly (readonly [name: string, type: string, words: string])[] = [
  // Kernels are compiled with -funsigned-char since 6.2, and SystemTap's modules with them.
  ["char", "uint8", "A char"],
  ["short", "int16", "A short"],
  ["ushort", "uint16", "An unsigned short"],
  ["int", "int32", "An int"],
  ["uint", "uint32", "An unsigned int"],
  ["long", "int64", "A long"],
  ["ulong", "uint64", "An unsigned long"],
  ["int8", "int8", "8 bits"],
  ["uint8", "uint8", "8 unsigned bits"],
  ["int16", "int16", "16 bits"],
  ["uint16", "uint16", "16 unsigned bits"],
  ["int32", "int32", "32 bits"],
  ["uint32", "uint32", "32 unsigned bits"],
  ["int64", "int64", "64 bits"],
  ["uint64", "uint64", "64 bits"],
];

/** Each as 0 and as an error where it cannot be read. */
const ofUser: Readonly<Record<string, LibraryFunction>> = Object.fromEntries(
  userNumbers.flatMap(([name, type, words]) => [
    [`user_${name}`, loadUser(type, `${words} at a user address.`)],
    [
      `user_${name}_error`,
      {
        parameters: ["long"],
        result: "long",
        doc: `${words} at a user address; an error where that cannot be read.`,
        value: ([address], span) => loaded("uptr", type, address, span),
      } satisfies LibraryFunction,
    ],
  ]),
);

type Space = "uptr" | "kptr";

function textIn(space: Space, address: Expression, length: Expression | undefined, span: Span): Expression {
  if (length === undefined) return call("str", [addressed(space, address)], span);
  // With the text's end.
  return call("str", [addressed(space, address), tree.binary("+", length, integer(1, span), span)], span);
}

/** Of so many bytes at most. */
const textOfSize = (space: Space, doc: string): LibraryFunction => ({
  parameters: ["long", "long"],
  result: "string",
  doc,
  value: ([address, length], span) => textIn(space, address, length, span),
});

/** Another text where it cannot be read. */
const textOr = (space: Space, doc: string): LibraryFunction => ({
  parameters: ["long", "string"],
  least: 1,
  result: "string",
  doc,
  value([address, otherwise], span, unit) {
    const text = textIn(space, address, undefined, span);
    return otherwise === undefined ? text : instead(text, otherwise, span, unit);
  },
});

const textOfSizeOr = (space: Space, doc: string): LibraryFunction => ({
  parameters: ["long", "long", "string"],
  least: 2,
  result: "string",
  doc,
  value([address, length, otherwise], span, unit) {
    const text = textIn(space, address, length, span);
    return otherwise === undefined ? text : instead(text, otherwise, span, unit);
  },
});

function addressed(space: Space, address: Expression): Expression {
  return call(space, [address], address.span);
}

/** Text at an address in quotes; the address where it cannot be read. */
const quotedAt = (space: Space, doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "string",
  doc,
  value([address], span, unit) {
    const quote = tree.text('"', span);
    const text = tree.hostText("escapedText", [textIn(space, address, undefined, span)], span);
    const quoted = call("str_concat", [call("str_concat", [quote, text], span), quote], span);
    return instead(quoted, call("hex_text", [address], span), span, unit);
  },
});

/** Of a text or a number that has a name when it is printed. */
const named = (of: string, parameters: readonly ValueType[], doc: string): LibraryFunction => ({
  parameters,
  result: "string",
  doc,
  text: (args, span) => ({ format: "%s", args: [call(of, args, span)] }),
});

/** What the host does: handlers of events that use it are captured. */
const computed = (
  name: HostTextName,
  parameters: readonly ValueType[],
  result: ValueType,
  doc: string,
): LibraryFunction => ({
  parameters,
  result,
  doc,
  value: (args, span) => tree.hostText(name, args, span),
});

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

const drawn = (of: "kstack" | "ustack", span: Span, style = "systemtap"): Expression =>
  call(of, [tree.word(style, span)], span);

const stack = (of: "kstack" | "ustack", doc: string, style?: string): LibraryFunction => ({
  parameters: [],
  doc,
  does: (_, span) => [tree.statement(call("printf", [tree.text("%s", span), drawn(of, span, style)], span))],
});

const stackText = (of: "kstack" | "ustack", doc: string): LibraryFunction => ({
  parameters: [],
  result: "string",
  doc,
  value: (_, span) => drawn(of, span),
});

const shows = (doc: string): LibraryFunction => ({
  parameters: ["string"],
  doc,
  does: ([of], span) => [tree.statement(call("printf", [tree.text("%s", span), of], span))],
});

const writes = (text: string, doc: string): LibraryFunction => ({
  parameters: [],
  doc,
  does: (_, span) => [tree.statement(call("printf", [tree.text(text, span)], span))],
});

const argument = (doc: string, cut?: string): LibraryFunction => ({
  ofProbe: true,
  parameters: ["long"],
  result: "long",
  doc,
  value([which], span, unit) {
    const count = which.kind === "integer" ? which.value : 0n;
    if (count < 1n || count > 12n) return unit.refuseArgument(which.span);
    const value = builtin(`arg${count - 1n}`, span);
    return toLong(
      cut === undefined
        ? value
        : {
            kind: "cast",
            to: { name: cut, pointers: 0, dimensions: [], span },
            operand: value,
            span,
            type: value.type,
          },
    );
  },
});

/** Of a register of 32 bits, and of one that SystemTap's names lead to: what the kernel's struct pt_regs calls it. */
function registerOf(name: string): { readonly name: string; readonly narrow: boolean } | undefined {
  if (/^r(?:8|9|1[0-5])$/.test(name)) return { name, narrow: false };
  const [, size = "", of = ""] = /^([re]?)(ax|bx|cx|dx|si|di|bp|sp|ip)$/.exec(name) ?? [];
  if (of !== "") return { name: of, narrow: size === "e" };
  if (name === "flags" || name === "eflags") return { name: "flags", narrow: true };
  if (/^x?[cs]s$/.test(name)) return { name: name.slice(-2), narrow: true };
  if (/^orig_[re]?ax$/.test(name)) return { name: "orig_ax", narrow: name === "orig_eax" };
  return undefined;
}

const register = (narrow: "int32" | "uint32", doc: string): LibraryFunction => ({
  ofProbe: true,
  parameters: ["string"],
  result: "long",
  doc,
  value([name], span, unit) {
    const found = name.kind === "string" ? registerOf(name.value) : undefined;
    if (found === undefined) return unit.refuseRegister(name.span);
    const value = call("reg", [tree.text(found.name, span)], span);
    return toLong(found.narrow ? tree.cast(tree.typeName(narrow, span), value) : value);
  },
});

/** Of a symbol: what SystemTap's own functions of addresses tell of it. */
const ofSymbol = (of: "ksym" | "usym", part: SymbolPart, doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "string",
  doc,
  text: ([address], span) => ({
    format: "%s",
    args: [call(`${of}_part`, [address, tree.word(part, span)], span)],
  }),
});

/** Where the function returns to: on the stack at its entry, reached at its return. */
function callerAddress(span: Span, { where: { returns, space } }: CallingUnit): Expression {
  const at = (of: string): Expression => call("reg", [tree.text(of, span)], span);
  return returns ? toLong(at("ip")) : loaded(space === "kernel" ? "kptr" : "uptr", "int64", at("sp"), span);
}

/** So many frames behind the first; all of -1. */
const framesBehind = (of: "kstack" | "ustack", doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "string",
  doc,
  value([count], span, unit) {
    if (count.kind === "integer" && count.value === -1n) return drawn(of, span);
    if (count.kind !== "integer" || count.value < 0n || count.value > 126n) return unit.refuseFrames(count.span);
    return call(of, [tree.word("systemtap", span), integer(count.value + 1n, span)], span);
  },
});

/** A stack as it is. */
const asItIs = (doc: string): LibraryFunction => ({
  parameters: ["string"],
  result: "string",
  doc,
  value: ([of]) => of,
});

/** Bytes at an address; an error where they cannot be read. */
const bytesAt = (space: Space, of: HostTextName, doc: string): LibraryFunction => ({
  parameters: ["long", "long", "long"],
  result: "string",
  doc,
  value: ([address, size, more], span) =>
    tree.hostText(of, [call("buf", [addressed(space, address), size], span), more], span),
});

const mostSpeculations = 256;

const speculated = (name: "commit" | "discard", doc: string): LibraryFunction => ({
  parameters: ["long"],
  doc,
  does: ([id], span) => [tree.statement(tree.hostText(name, [id], span))],
});

const functionName: LibraryFunction = { ...words("func", "Name of the function that was probed."), ofProbe: true };

const functions: Readonly<Record<string, LibraryFunction>> = {
  // ── who ──
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
  task_current: number("curtask", "Address of the current task's struct task_struct."),
  task_pid: ofTask(["tgid"], "Process id of a task."),
  task_tid: ofTask(["pid"], "Thread id of a task."),
  task_parent: ofTask(["real_parent"], "Address of a task's parent."),
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

  // ── when ──
  gettimeofday_ns: clock("wall", 1, "Nanoseconds since 1970."),
  gettimeofday_us: clock("wall", 1_000, "Microseconds since 1970."),
  gettimeofday_ms: clock("wall", 1_000_000, "Milliseconds since 1970."),
  gettimeofday_s: clock("wall", 1_000_000_000, "Seconds since 1970."),
  ktime_get_ns: clock("monotonic", 1, "Nanoseconds since boot, without suspension."),
  local_clock_ns: clock("monotonic", 1, "The same."),
  local_clock_us: clock("monotonic", 1_000, "Microseconds since boot, without suspension."),
  local_clock_ms: clock("monotonic", 1_000_000, "Milliseconds since boot, without suspension."),
  local_clock_s: clock("monotonic", 1_000_000_000, "Seconds since boot, without suspension."),
  cpu_clock_ns: {
    ...clock("monotonic", 1, "Nanoseconds since boot, the same on every processor."),
    parameters: ["long"],
  },
  cpu_clock_us: {
    ...clock("monotonic", 1_000, "Microseconds since boot, the same on every processor."),
    parameters: ["long"],
  },
  cpu_clock_ms: {
    ...clock("monotonic", 1_000_000, "Milliseconds since boot, the same on every processor."),
    parameters: ["long"],
  },
  cpu_clock_s: {
    ...clock("monotonic", 1_000_000_000, "Seconds since boot, the same on every processor."),
    parameters: ["long"],
  },
  jiffies: number("jiffies", "The kernel's tick counter."),
  ctime: {
    parameters: ["long"],
    least: 0,
    result: "string",
    doc: "Seconds since 1970 as text, in UTC: `Mon Nov 23 01:30:00 2026`.",
    text: ([seconds], span) => ({ format: "%s", args: [calendar(seconds, span, "utc")] }),
    value: ([seconds], span) => tree.hostText("dateText", [seconds ?? now(span)], span),
  },
  tz_ctime: {
    parameters: ["long"],
    result: "string",
    doc: "The same in the local time zone, which stands behind it.",
    text: ([seconds], span) => ({ format: "%s", args: [calendar(seconds, span, "wall", " %Z")] }),
  },

  // ── where ──
  probefunc: functionName,
  ppfunc: functionName,
  pfunc: functionName,
  pp: {
    ofProbe: true,
    parameters: [],
    result: "string",
    doc: "The probe point that fired.",
    value: (_, span, unit) => unit.point(span),
  },
  pn: {
    ofProbe: true,
    parameters: [],
    result: "string",
    doc: "The probe point as the script has it.",
    value: (_, span, unit) => unit.point(span),
  },
  probe_type: {
    ofProbe: true,
    parameters: [],
    result: "string",
    doc: "What SystemTap calls the kind of the probe: `begin_end`.",
    value: (_, span, unit) => unit.kindOfProbe(span),
  },
  is_return: {
    ofProbe: true,
    parameters: [],
    result: "long",
    doc: "1 in a `.return` probe, else 0.",
    value: (_, span, unit) => integer(unit.where.returns ? 1 : 0, span),
  },
  returnval: {
    ...number("retval", "What the probed function returns."),
    ofProbe: true,
    value: (_, span, { where: { result } }) =>
      toLong(result === undefined ? builtin("retval", span) : member(builtin("args", span), result, span)),
  },
  int_arg: argument("The Nth argument of the function, from 1, as an int.", "int32"),
  uint_arg: argument("The Nth argument of the function, from 1, as an unsigned int.", "uint32"),
  long_arg: argument("The Nth argument of the function, from 1."),
  ulong_arg: argument("The Nth argument of the function, from 1."),
  longlong_arg: argument("The Nth argument of the function, from 1."),
  ulonglong_arg: argument("The Nth argument of the function, from 1."),
  s32_arg: argument("The Nth argument of the function, from 1, as 32 bits.", "int32"),
  u32_arg: argument("The Nth argument of the function, from 1, as 32 unsigned bits.", "uint32"),
  s64_arg: argument("The Nth argument of the function, from 1."),
  u64_arg: argument("The Nth argument of the function, from 1."),
  pointer_arg: argument("The Nth argument of the function, from 1."),
  symname: ofSymbol("ksym", "name", "Name of the kernel function that an address lies in."),
  symdata: ofSymbol("ksym", "name", "The same."),
  usymname: ofSymbol("usym", "name", "Name of the user function that an address lies in."),
  usymdata: ofSymbol("usym", "name", "The same."),
  register: register("int32", "A register by its name, as the probe found it; of 32 bits with their sign."),
  u_register: register("uint32", "A register by its name, as the probe found it; of 32 bits without a sign."),
  registers_valid: {
    ofProbe: true,
    parameters: [],
    result: "long",
    doc: "1 where register() gives something, else 0.",
    value: (_, span) =>
      tree.conditional(
        {
          kind: "presence",
          asks: "sense",
          of: call("reg", [tree.text("ip", span)], span),
          span,
          type: unknownType,
        },
        integer(1, span),
        integer(0, span),
        span,
      ),
  },
  caller_addr: {
    ofProbe: true,
    parameters: [],
    result: "long",
    doc: "Address that the probed function returns to.",
    value: (_, span, unit) => callerAddress(span, unit),
  },
  caller: {
    ofProbe: true,
    parameters: [],
    result: "string",
    doc: "Name and address of where the probed function returns to.",
    text: (_, span, unit) => ({
      format: "%s 0x%x",
      args: [
        call(unit.where.space === "kernel" ? "ksym" : "usym", [callerAddress(span, unit)], span),
        callerAddress(span, unit),
      ],
    }),
  },
  callers: framesBehind("kstack", "So many frames of the kernel's call stack behind the first, or all (-1)."),
  ucallers: framesBehind("ustack", "So many frames of the process's call stack behind the first, or all (-1)."),
  sprint_stack: asItIs("A stack as text."),
  sprint_syms: asItIs("A stack as text."),
  sprint_ustack: asItIs("A stack as text."),
  sprint_usyms: asItIs("A stack as text."),
  print_backtrace_fileline: stack("kstack", "Prints the kernel's call stack."),
  print_ubacktrace_fileline: stack(
    "ustack",
    "Prints the process's call stack, with places in the source where they are known.",
  ),
  print_ubacktrace_brief: stack("ustack", "Prints the process's call stack, by names.", "systemtap_brief"),
  symfile: ofSymbol("ksym", "file", "File of the source of an address, or the address."),
  symline: ofSymbol("ksym", "line", "Line of the source of an address, or the address."),
  symfileline: ofSymbol("ksym", "file and line", "File and line of the source of an address, or the address."),
  usymfile: ofSymbol("usym", "file", "File of the source of a user address, or the address."),
  usymline: ofSymbol("usym", "line", "Line of the source of a user address, or the address."),
  usymfileline: ofSymbol("usym", "file and line", "File and line of the source of a user address, or the address."),
  __load_average: {
    parameters: ["long"],
    result: "long",
    doc: "One of the kernel's three load averages, times 2048.",
    value: ([index], span) =>
      loaded(
        "kptr",
        "int64",
        tree.binary(
          "+",
          toLong(call("kaddr", [tree.text("avenrun", span)], span)),
          tree.binary("*", index, integer(8, span), span),
          span,
        ),
        span,
      ),
  },
  modname: ofSymbol("ksym", "owner", "Name of the module that an address lies in, `kernel` for the kernel itself."),
  umodname: ofSymbol("usym", "owner", "Name of the file that a user address lies in, without its folders."),
  addr: {
    ofProbe: true,
    parameters: [],
    result: "long",
    doc: "Address of the instruction.",
    value: (_, span) => toLong(call("reg", [tree.text("ip", span)], span)),
  },
  uaddr: {
    ofProbe: true,
    parameters: [],
    result: "long",
    doc: "Address of the instruction.",
    value: (_, span) => toLong(call("reg", [tree.text("ip", span)], span)),
  },
  print_backtrace: stack("kstack", "Prints the kernel's call stack."),
  print_ubacktrace: stack("ustack", "Prints the process's call stack."),
  backtrace: stackText("kstack", "The kernel's call stack."),
  ubacktrace: stackText("ustack", "The process's call stack."),
  sprint_backtrace: stackText("kstack", "The kernel's call stack."),
  sprint_ubacktrace: stackText("ustack", "The process's call stack."),
  print_stack: shows("Prints a stack."),
  print_syms: shows("Prints a stack."),
  print_ustack: shows("Prints a stack."),
  print_usyms: shows("Prints a stack."),
  thread_indent: {
    parameters: ["long"],
    result: "string",
    doc: "Microseconds since the thread's first call, its name and id, and spaces; the number is added to those.",
    text: ([delta], span, unit) => unit.indent(delta, span),
  },

  // ── objects: strobe's own ──
  follow: {
    parameters: ["long"],
    doc: "Remembers an object by its address, of a program's also by its process (strobe's own).",
    does: ([object], span) => [tree.statement(call("follow", [object], span))],
  },
  followed: {
    parameters: ["long"],
    result: "long",
    doc: "Whether an address is one that follow() was given, and unfollow() not since (strobe's own).",
    value: ([object], span) => tree.cast(tree.typeName("int64", span), call("followed", [object], span), span),
  },
  unfollow: {
    parameters: ["long"],
    doc: "Forgets an object, where it is freed (strobe's own).",
    does: ([object], span) => [tree.statement(call("unfollow", [object], span))],
  },

  // ── memory ──
  user_string: textOr("uptr", "Text at a user address; another where that cannot be read."),
  user_string2: textOr("uptr", "The same."),
  user_string_n: textOfSizeOr("uptr", "Text at a user address, of so many bytes at most."),
  user_string_n2: textOfSizeOr("uptr", "The same."),
  user_string_quoted: quotedAt("uptr", "Text at a user address, in quotes; the address where that cannot be read."),
  user_string_nofault: {
    parameters: ["long"],
    result: "string",
    doc: "Text at a user address; empty where that cannot be read.",
    value: ([address], span, unit) =>
      instead(textIn("uptr", address, undefined, span), tree.text("", span), span, unit),
  },
  user_string_warn: {
    parameters: ["long"],
    result: "string",
    doc: "Text at a user address; empty where that cannot be read, with a warning.",
    value([address], span, unit) {
      const warning = "user string copy fault -14 at 0x%lx [man error::fault]";
      const warned: Expression = {
        kind: "block-expression",
        statements: [tree.statement(call("warnf", [tree.text(warning, span), address], span))],
        value: tree.text("", span),
        span,
        type: address.type,
      };
      return instead(textIn("uptr", address, undefined, span), warned, span, unit);
    },
  },
  kernel_string: textOr("kptr", "Text at a kernel address; another where that cannot be read."),
  kernel_string2: textOr("kptr", "The same."),
  kernel_string_n: textOfSize("kptr", "Text at a kernel address, of so many bytes at most."),
  kernel_string_quoted: quotedAt("kptr", "Text at a kernel address, in quotes; the address where that cannot be read."),
  ...ofUser,
  kernel_char: load("uint8", "A char at a kernel address."),
  kernel_short: load("int16", "A short at a kernel address."),
  kernel_int: load("int32", "An int at a kernel address."),
  kernel_long: load("int64", "A long at a kernel address."),
  kernel_pointer: load("int64", "A pointer at a kernel address."),

  // ── text ──
  strlen: {
    parameters: ["string"],
    result: "long",
    doc: "Bytes of a text.",
    value: (args, span) => toLong(call("strlen", args, span)),
  },
  isinstr: {
    parameters: ["string", "string"],
    result: "long",
    doc: "1 where the second text is part of the first, else 0.",
    value: (args, span) => tree.conditional(call("strcontains", args, span), integer(1, span), integer(0, span), span),
  },
  strpos: {
    parameters: ["string", "string"],
    result: "long",
    doc: "Where the second text first is in the first, or -1.",
    value: (args, span) => toLong(call("strstr", args, span)),
  },
  substr: computed("bytesOfText", ["string", "long", "long"], "string", "Bytes of a text, from one on, so many."),
  stringat: computed("byteOfText", ["string", "long"], "long", "The byte of a text at a place, from 0."),
  __word: computed("wordOfList", ["string", "long"], "string", "Of words with commas between, the one with a number."),
  __flags: computed("flagNames", ["long", "string"], "string", "Names of the flags that a number has."),
  __escaped: computed("escapedText", ["string"], "string", "A text with escapes."),
  strtol: computed("parsedNumber", ["string", "long"], "long", "The number that a text begins with, to a base."),
  tokenize: computed(
    "nextToken",
    ["string", "string"],
    "string",
    "The text's first part between any of the delimiters; of an empty text, the next one of the text before.",
  ),
  str_replace: computed(
    "replacedText",
    ["string", "string", "string"],
    "string",
    "A text with all occurrences of the second replaced by the third.",
  ),
  matched: {
    parameters: ["long"],
    result: "string",
    doc: "What the last `=~` found: all of it (0), or a group; an error where there is no such group.",
    value([group], span) {
      const groups = tree.hostText("matchedGroups", [], span);
      const words = tree.text("Attempted to get nonexistent subexpression %d", span);
      const missing: Statement = {
        kind: "if",
        condition: tree.binary(
          "&&",
          tree.binary("!=", groups, integer(0, span), span),
          tree.binary(">=", group, groups, span),
          span,
        ),
        then: tree.block([{ kind: "throw", value: tree.hostText("formattedText", [words, group], span), span }], span),
        span,
      };
      return {
        kind: "block-expression",
        statements: [missing],
        value: tree.hostText("matchedPart", [group], span),
        span,
        type: group.type,
      };
    },
  },
  __escaped_characters: computed("escapedCharacters", ["string"], "string", "A text with escapes for characters too."),
  __user_bytes: bytesAt("uptr", "quotedBytes", "Bytes at a user address in quotes, as text of so many bytes."),
  __kernel_bytes: bytesAt("kptr", "quotedBytes", "Bytes at a kernel address in quotes, as text of so many bytes."),
  __user_characters: bytesAt("uptr", "charactersOfBytes", "Bytes at a user address as characters of so many bytes."),
  __kernel_characters: bytesAt(
    "kptr",
    "charactersOfBytes",
    "Bytes at a kernel address as characters of so many bytes.",
  ),
  tz_gmtoff: computed("zoneOffset", [], "long", "Seconds that the local time zone is west of UTC."),
  tz_name: {
    parameters: [],
    result: "string",
    doc: "Name of the local time zone.",
    text: (_, span) => ({
      format: "%s",
      args: [
        call(
          "strftime",
          [tree.text("%Z", span), call("nsecs", [tree.word("wall", span)], span), tree.word("wall", span)],
          span,
        ),
      ],
    }),
  },
  ngroups: computed("matchedGroups", [], "long", "How many groups the last `=~` found, all of it included."),
  syscall_name: named("syscall_name", ["long"], "Name of a system call."),
  ip_ntop: named("ntop", ["long"], "An IPv4 address as text."),

  // ── numbers ──
  randint: {
    parameters: ["long"],
    result: "long",
    doc: "A random number from 0 to one less than the given.",
    value: ([most], span) => tree.binary("%", toLong(builtin("rand", span)), most, span),
  },
  MAJOR: {
    parameters: ["long"],
    result: "long",
    doc: "Major number of a device.",
    value: ([device], span) => tree.binary(">>", device, integer(20, span), span),
  },
  MINOR: {
    parameters: ["long"],
    result: "long",
    doc: "Minor number of a device.",
    value: ([device], span) => tree.binary("&", device, integer(0xfffff, span), span),
  },
  MKDEV: {
    parameters: ["long", "long"],
    result: "long",
    doc: "A device's number.",
    value: ([major, minor], span) => tree.binary("|", tree.binary("<<", major, integer(20, span), span), minor, span),
  },

  ...doubles,

  // ── what is printed for the time being ──
  speculation: {
    parameters: [],
    result: "long",
    doc: "A new speculation: what is kept for it waits; 0 where there are 256 already.",
    value: (_, span) => tree.hostText("speculation", [integer(mostSpeculations, span), integer(0, span)], span),
  },
  speculate: {
    parameters: ["long", "string"],
    doc: "Keeps a text for a speculation.",
    does: ([id, text], span) => [
      tree.statement(tree.hostText("speculate", [id], span)),
      tree.statement(call("printf", [tree.text("%s", span), text], span)),
      tree.statement(tree.hostText("speculated", [], span)),
    ],
  },
  commit: speculated("commit", "Prints what is kept for a speculation."),
  discard: speculated("discard", "Forgets what is kept for a speculation."),

  // ── doing ──
  exit: {
    parameters: [],
    doc: "Ends tracing; end probes still run.",
    does: (_, span, unit) => [unit.exit(span)],
  },
  abort: {
    parameters: [],
    doc: "Ends tracing at once: nothing more of the handler runs; end probes do.",
    does: (_, span, unit) => [unit.abort(span)],
  },
  system: {
    parameters: ["string"],
    doc: "Runs a shell command.",
    does: ([command], span) => [tree.statement(call("system", [tree.text("%s", span), command], span))],
  },
  raise: {
    parameters: ["long"],
    doc: "Sends a signal to the current process.",
    does: ([signal], span) => [tree.statement(call("signal", [signal], span))],
  },
  ansi_clear_screen: writes("\x1b[1;1H\x1b[J", "Clears the terminal."),
  ansi_new_line: writes("\n", "Moves to a new line of the terminal."),
  ansi_reset_color: writes("\x1b[0;0m", "The terminal's own colour."),
  ansi_cursor_hide: writes("\x1b[>5I", "Hides the terminal's cursor."),
  ansi_cursor_show: writes("\x1b[>5h", "Shows the terminal's cursor."),
  ansi_cursor_move: {
    parameters: ["long", "long"],
    doc: "Moves the terminal's cursor to a column and a row.",
    does: ([x, y], span) => [tree.statement(call("printf", [tree.text("\x1b[%d;%dH", span), y, x], span))],
  },
};

/** In seconds since 1970. */
function now(span: Span): Expression {
  const wall = call("nsecs", [tree.word("wall", span)], span);
  return tree.binary("/", toLong(wall), integer(1_000_000_000, span), span);
}

/** Seconds since 1970 as a date; now without any. */
function calendar(seconds: Expression | undefined, span: Span, zone: "utc" | "wall", behind = ""): Expression {
  const time =
    seconds === undefined
      ? call("nsecs", [tree.word("wall", span)], span)
      : tree.binary("*", seconds, integer(1_000_000_000, span), span);
  return call("strftime", [tree.text(`%a %b %e %H:%M:%S %Y${behind}`, span), time, tree.word(zone, span)], span);
}

export function libraryFunction(name: string): LibraryFunction | undefined {
  return Object.hasOwn(functions, name) ? functions[name] : undefined;
}

export function libraryNames(): readonly string[] {
  return Object.keys(functions);
}
