// The functions of SystemTap's library that strobe has: what each takes and gives, and what it is in the tree that all
// languages share. Numbers are 64 bits and signed wherever they come from.
import type { Span } from "../diagnostic.ts";
import type { HostTextName } from "../host-texts.ts";
import type { Expression, Statement, TypeName } from "../program.ts";
import type { ValueType } from "./syntax.ts";
import * as tree from "./tree.ts";

/** Text that is put together where it is printed: a format of the tree's printf(), and its arguments. */
export interface Text {
  readonly format: string;
  readonly args: readonly Expression[];
}

/** What functions ask of the handler that they are called in. */
export interface CallingUnit {
  readonly where: { readonly returns: boolean };
  target(span: Span): Expression;
  point(span: Span): Expression;
  indent(delta: Expression, span: Span): Text;
  refuseArgument(span: Span): Expression;
}

/** `value`, `text` or `does`: text is printed, and a value where there is one. */
export interface LibraryFunction {
  readonly parameters: readonly ValueType[];
  /** How many there must be; all unless it says. */
  readonly least?: number;
  /** Nothing where it is absent. */
  readonly result?: ValueType;
  readonly doc: string;
  readonly value?: (args: readonly Expression[], span: Span, unit: CallingUnit) => Expression;
  readonly text?: (args: readonly Expression[], span: Span, unit: CallingUnit) => Text;
  readonly does?: (args: readonly Expression[], span: Span, unit: CallingUnit) => readonly Statement[];
}

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

/** What lies at an address: `space` is uptr or kptr. */
const load = (space: "uptr" | "kptr", type: string, doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "long",
  doc,
  value: ([address], span) =>
    toLong({
      kind: "unary",
      operator: "*",
      operand: call(
        space,
        [{ kind: "cast", to: pointer(type, span), operand: address, span, type: address.type }],
        span,
      ),
      span,
      type: address.type,
    }),
});

/** Text at an address, of so many bytes at most. */
const textAt = (space: "uptr" | "kptr", parameters: readonly ValueType[], doc: string): LibraryFunction => ({
  parameters,
  least: 1,
  result: "string",
  doc,
  value: ([address, length], span) =>
    call(
      "str",
      [addressed(space, address), ...(length !== undefined && parameters[1] === "long" ? [length] : [])],
      span,
    ),
});

/** What a program has says itself where it is, and may be the text: `char comm[16]`. */
function addressed(space: "uptr" | "kptr", address: Expression): Expression {
  if (address.kind === "cast" && ["member", "index"].includes(address.operand.kind)) return address.operand;
  return call(space, [address], address.span);
}

const quotedAt = (space: "uptr" | "kptr", doc: string): LibraryFunction => ({
  parameters: ["long"],
  result: "string",
  doc,
  text: ([address], span) => ({ format: '"%s"', args: [call("str", [addressed(space, address)], span)] }),
  value: ([address], span) => {
    const quote = tree.text('"', span);
    const text = call("str", [addressed(space, address)], span);
    return call("str_concat", [call("str_concat", [quote, text], span), quote], span);
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

const stack = (of: "kstack" | "ustack", doc: string): LibraryFunction => ({
  parameters: [],
  doc,
  does: (_, span) => [tree.statement(call("printf", [tree.text("%s", span), builtin(of, span)], span))],
});

const stackText = (of: "kstack" | "ustack", doc: string): LibraryFunction => ({
  parameters: [],
  result: "string",
  doc,
  value: (_, span) => builtin(of, span),
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

const functionName = words("func", "Name of the function that was probed.");

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
  task_prio: ofTask(["prio"], "Priority of a task, as the kernel has it."),
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
    parameters: [],
    result: "string",
    doc: "The probe point that fired.",
    value: (_, span, unit) => unit.point(span),
  },
  pn: {
    parameters: [],
    result: "string",
    doc: "The probe point as the script has it.",
    value: (_, span, unit) => unit.point(span),
  },
  is_return: {
    parameters: [],
    result: "long",
    doc: "1 in a `.return` probe, else 0.",
    value: (_, span, unit) => integer(unit.where.returns ? 1 : 0, span),
  },
  returnval: number("retval", "What the probed function returns."),
  int_arg: argument("The Nth argument of the function, from 1, as an int.", "int32"),
  uint_arg: argument("The Nth argument of the function, from 1, as an unsigned int.", "uint32"),
  long_arg: argument("The Nth argument of the function, from 1."),
  ulong_arg: argument("The Nth argument of the function, from 1."),
  pointer_arg: argument("The Nth argument of the function, from 1."),
  symname: named("ksym", ["long"], "Name of the kernel function that an address lies in."),
  symdata: named("ksym", ["long"], "The same."),
  usymname: named("usym", ["long"], "Name of the user function that an address lies in."),
  usymdata: named("usym", ["long"], "The same."),
  addr: {
    parameters: [],
    result: "long",
    doc: "Address of the instruction.",
    value: (_, span) => toLong(call("reg", [tree.text("ip", span)], span)),
  },
  uaddr: {
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

  // ── memory ──
  user_string: textAt("uptr", ["long", "string"], "Text at a user address."),
  user_string_warn: textAt("uptr", ["long"], "Text at a user address."),
  user_string_n: textAt("uptr", ["long", "long"], "Text at a user address, of so many bytes at most."),
  user_string_quoted: quotedAt("uptr", "Text at a user address, in quotes."),
  kernel_string: textAt("kptr", ["long", "string"], "Text at a kernel address."),
  kernel_string_n: textAt("kptr", ["long", "long"], "Text at a kernel address, of so many bytes at most."),
  kernel_string_quoted: quotedAt("kptr", "Text at a kernel address, in quotes."),
  user_char: load("uptr", "int8", "A char at a user address."),
  user_short: load("uptr", "int16", "A short at a user address."),
  user_ushort: load("uptr", "uint16", "An unsigned short at a user address."),
  user_int: load("uptr", "int32", "An int at a user address."),
  user_uint: load("uptr", "uint32", "An unsigned int at a user address."),
  user_long: load("uptr", "int64", "A long at a user address."),
  user_int8: load("uptr", "int8", "8 bits at a user address."),
  user_uint8: load("uptr", "uint8", "8 unsigned bits at a user address."),
  user_int16: load("uptr", "int16", "16 bits at a user address."),
  user_uint16: load("uptr", "uint16", "16 unsigned bits at a user address."),
  user_int32: load("uptr", "int32", "32 bits at a user address."),
  user_uint32: load("uptr", "uint32", "32 unsigned bits at a user address."),
  user_int64: load("uptr", "int64", "64 bits at a user address."),
  user_uint64: load("uptr", "uint64", "64 bits at a user address."),
  kernel_char: load("kptr", "int8", "A char at a kernel address."),
  kernel_short: load("kptr", "int16", "A short at a kernel address."),
  kernel_int: load("kptr", "int32", "An int at a kernel address."),
  kernel_long: load("kptr", "int64", "A long at a kernel address."),
  kernel_pointer: load("kptr", "int64", "A pointer at a kernel address."),

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
  matched: computed("matchedPart", ["long"], "string", "What the last `=~` found: all of it (0), or a group."),
  ngroups: computed("matchedGroups", [], "long", "How many groups the last `=~` found, all of it included."),
  errno_str: named("strerror", ["long"], "Words for an error number."),
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

  // ── doing ──
  exit: {
    parameters: [],
    doc: "Ends tracing; end probes still run.",
    does: (_, span) => [tree.statement(call("exit", [], span))],
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
  ansi_clear_screen: writes("\x1b[H\x1b[J", "Clears the terminal."),
  ansi_new_line: writes("\x1b[1D\n", "Moves to a new line of the terminal."),
  ansi_reset_color: writes("\x1b[0;0m", "The terminal's own colour."),
  ansi_cursor_hide: writes("\x1b[?25l", "Hides the terminal's cursor."),
  ansi_cursor_show: writes("\x1b[?25h", "Shows the terminal's cursor."),
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
