// System calls' tracepoints on one program: the raw sys_enter and sys_exit fire for every call, and the handler looks
// at the call's number first. Cheaper to attach, to fire and above all to leave than a perf event a call. Calls of
// 32-bit programs are numbered differently and are taken for the calls of that number.
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Argument, Context, Fetch } from "../../language/context.ts";
import { memberOffset } from "../../language/layout.ts";
import { i32, i64, u64, type IntegerBits } from "../../language/types.ts";
import { BPF_TRACE_RAW_TP } from "../../linux/bpf/bpf.ts";
import { declaredType } from "../../machine/kernel/declared-type.ts";
import { hostMachine, registersOf } from "../../machine/contexts/registers.ts";
import { rawContext } from "./rawtracepoint.ts";
import { groupBy, type Variant } from "../resolution.ts";
import { systemCallNumber } from "../../machine/kernel/syscall-numbers.ts";
import type { System, TracepointField } from "../../machine/system.ts";

/** Every such program runs on every call of the machine: with more kinds of arguments, perf events cost less. */
const MOST_PROGRAMS = 8;

/** In the record, fields take 8 bytes each behind the common header and the number. */
const FIRST_ARGUMENT = 16;

/** sys_enter(struct pt_regs *regs, long id); sys_exit(struct pt_regs *regs, long ret) */
const REGISTERS: Fetch = { kind: "context", offset: 0, size: 8, signed: false };
const SECOND: Fetch = { kind: "context", offset: 8, size: 8, signed: true };

/** How events of calls begin, on their way in and out. */
const before = { enter: "sys_enter_", exit: "sys_exit_" } as const;

export function isSystemCall({ category, name }: Event): boolean {
  return category === "syscalls" && (name.startsWith(before.enter) || name.startsWith(before.exit));
}

/** `served`: the events that the variants cover; the others need a perf event. */
export function systemCallVariants(
  events: readonly Event[],
  system: System,
  reads: boolean,
): { variants: Variant[]; served: readonly Event[] } {
  const variants: Variant[] = [];
  const served: Event[] = [];
  if (events.length === 0) return { variants, served };
  for (const way of ["enter", "exit"] as const) {
    const raw = system.rawTracepoint(`sys_${way}`);
    if (raw === undefined || !system.capabilities.btf) continue;
    const start = before[way];
    const calls = events.flatMap((event) => {
      const number = event.name.startsWith(start)
        ? systemCallNumber(event.name.slice(start.length), hostMachine)
        : undefined;
      const format = number === undefined || !reads ? undefined : system.tracepoint(event.category, event.name);
      return number === undefined || (reads && format === undefined)
        ? []
        : [{ event, number, fields: format?.fields ?? [] }];
    });
    const groups = groupBy(calls, ({ fields }) => (reads ? JSON.stringify(fields) : ""));
    if (groups.size > MOST_PROGRAMS) continue;
    for (const group of groups.values()) {
      const sites = group.map(({ event, number }): SiteRef => ({
        name: `tracepoint:${event.category}:${event.name}`,
        match: BigInt(number),
        data: { kind: "bound" } satisfies TracepointSite,
      }));
      variants.push({
        context: callContext(way, raw.btfId, reads ? group[0].fields : undefined, system),
        provider: "tracepoint",
        sites,
      });
      served.push(...group.map(({ event }) => event));
    }
  }
  return { variants, served };
}

/**
 * raw_syscalls:sys_enter and sys_exit, both called before the event's record is made: for a script that reads no more than the
 * call's number and its result, the raw tracepoint's own arguments tell these. For more, `bound`: a BTF-typed program reads the
 * registers. Undefined where the record has to be read.
 */
export function rawCallContext(
  { category, name }: Event,
  system: System,
  uses: ReadonlySet<string>,
): { readonly context: Context; readonly bound: boolean } | undefined {
  if (category !== "raw_syscalls" || (name !== "sys_enter" && name !== "sys_exit")) return undefined;
  const read = [...uses].filter((use) => use.startsWith("args."));
  if (read.length === 0) return undefined;
  const few = ["args.id", ...(name === "sys_exit" ? ["args.ret"] : [])];
  if (read.every((use) => few.includes(use)))
    return { context: { ...rawContext("tracepoint", system), args: rawArguments(name, "kernel") }, bound: false };
  const raw = system.capabilities.btf ? system.rawTracepoint(name) : undefined;
  if (raw === undefined || !read.every((use) => [...few, "args.args", "args.*"].includes(use))) return undefined;
  const more = name === "sys_enter" ? [registerArguments(system)] : [];
  return {
    context: {
      provider: "tracepoint",
      program: { type: "tracing", load: { attachType: BPF_TRACE_RAW_TP, btfId: raw.btfId }, cookie: false },
      kernelTypes: true,
      args: [...rawArguments(name, "typed"), ...more],
      defaultSpace: "kernel",
      stacks: true,
    },
    bound: true,
  };
}

function rawArguments(name: "sys_enter" | "sys_exit", space: "kernel" | "typed"): readonly Argument[] {
  if (name === "sys_enter") return [{ name: "id", type: i64, fetch: SECOND }];
  const { offset, size } = registersOf(hostMachine).systemCallNumber;
  return [
    { name: "id", type: i64, fetch: { kind: "pointed", base: REGISTERS, offset, size, signed: true, space } },
    { name: "ret", type: i64, fetch: SECOND },
  ];
}

/** The six of a call, as the kernel takes them for the event's record (syscall_get_arguments of asm/syscall.h). */
function registerArguments(system: System): Argument {
  const file = registersOf(hostMachine);
  const compat = compatMask(system);
  return {
    name: "args",
    type: { kind: "array", element: u64, length: file.systemCallArguments.length },
    fetch: { kind: "constant", value: 0n },
    pieces: file.systemCallArguments.map((_, i) => {
      const own = registerArgument(i);
      return { kind: "value", offset: i * 8, size: 8, fetch: compat === undefined ? own : chosen(own, compat, i) };
    }),
  };
}

/** Where calls of 32 bits have theirs on x86-64. */
const compatArguments = ["bx", "cx", "dx", "si", "di", "bp"];
/** TS_COMPAT of arch/x86/include/asm/thread_info.h, a bit of the task's thread_info.status. */
const compatBit = 1n;

/** All ones where the call is one of 32 bits, else 0; undefined where the machine has none. */
function compatMask(system: System): Fetch | undefined {
  if (hostMachine !== "x86-64") return undefined;
  const task = system.types.find("task_struct", "struct");
  const [info, status] = [
    memberOffset(task, "thread_info"),
    memberOffset(system.types.find("thread_info", "struct"), "status"),
  ];
  if (info === undefined || status === undefined) return undefined;
  const word: Fetch = {
    kind: "pointed",
    base: { kind: "task" },
    offset: info + status,
    size: 4,
    signed: false,
    space: "typed",
  };
  const one: Fetch = { kind: "constant", value: 1n };
  const bit: Fetch = {
    kind: "binary",
    operator: "&",
    left: { kind: "binary", operator: ">>>", left: word, right: { kind: "constant", value: compatBit } },
    right: one,
  };
  return { kind: "binary", operator: "-", left: { kind: "constant", value: 0n }, right: bit };
}

/** own ^ ((own ^ other) & mask) */
function chosen(own: Fetch, mask: Fetch, index: number): Fetch {
  const offset = registersOf(hostMachine).offsets.get(compatArguments[index])!;
  const other: Fetch = { kind: "pointed", base: REGISTERS, offset, size: 8, signed: false, space: "typed" };
  const differing: Fetch = { kind: "binary", operator: "^", left: own, right: other };
  return {
    kind: "binary",
    operator: "^",
    left: own,
    right: { kind: "binary", operator: "&", left: differing, right: mask },
  };
}

function callContext(
  way: "enter" | "exit",
  btfId: number,
  fields: readonly TracepointField[] | undefined,
  system: System,
): Context {
  const file = registersOf(hostMachine);
  const atExit: Fetch = {
    kind: "pointed",
    base: REGISTERS,
    offset: file.systemCallNumber.offset,
    size: file.systemCallNumber.size,
    signed: true,
    space: "typed",
  };
  const number = way === "enter" ? SECOND : atExit;
  return {
    provider: "tracepoint",
    program: { type: "tracing", load: { attachType: BPF_TRACE_RAW_TP, btfId }, dispatch: number, cookie: false },
    kernelTypes: true,
    ...(fields ? { args: fields.map((field) => callArgument(field, way, number, system)) } : {}),
    numbered: way === "exit" ? [SECOND] : file.systemCallArguments.map((_, i) => registerArgument(i)),
    defaultSpace: "user",
    stacks: true,
  };
}

/** All of the register that a call's argument is in. */
function registerArgument(index: number): Fetch {
  const file = registersOf(hostMachine);
  const offset = file.offsets.get(file.systemCallArguments[index]);
  if (offset === undefined) return { kind: "constant", value: 0n };
  return { kind: "pointed", base: REGISTERS, offset, size: 8, signed: false, space: "typed" };
}

/** The same in the record of a call's event. */
export function recordedArguments({ name }: Event): readonly Fetch[] {
  const count = name.startsWith(before.exit) ? 1 : registersOf(hostMachine).systemCallArguments.length;
  return Array.from({ length: count }, (_, i) => ({
    kind: "context",
    offset: FIRST_ARGUMENT + 8 * i,
    size: 8,
    signed: false,
  }));
}

function callArgument(field: TracepointField, way: "enter" | "exit", number: Fetch, system: System): Argument {
  const { name } = field;
  if (name === "__syscall_nr") return { name, type: i32, fetch: { kind: "narrow", of: number, size: 4, signed: true } };
  if (way === "exit") return { name, type: i64, fetch: SECOND };
  const file = registersOf(hostMachine);
  const register = file.systemCallArguments[(field.offset - FIRST_ARGUMENT) / 8];
  const offset = register === undefined ? undefined : file.offsets.get(register);
  if (offset === undefined) return { name, type: i64, fetch: { kind: "constant", value: 0n } };
  // The format gives every argument a whole register; how much of it counts is the C type's to say: an int's upper half
  // is junk.
  const type = declaredType(field.declaration, 0, field.signed, "user", system.types);
  const signed = type.kind === "integer" && type.signed;
  const size = type.kind === "integer" ? bytesOfInteger(type.bits) : 8;
  return { name, type, fetch: { kind: "pointed", base: REGISTERS, offset, size, signed, space: "typed" } };
}

function bytesOfInteger(bits: IntegerBits): 1 | 2 | 4 | 8 {
  switch (bits) {
    case 8:
      return 1;
    case 16:
      return 2;
    case 32:
      return 4;
    case 64:
      return 8;
  }
}

export type TracepointSite =
  | { readonly kind: "perf"; readonly id: number }
  | { readonly kind: "raw"; readonly event: string }
  /** The program was bound when it was loaded. */
  | { readonly kind: "bound" }
  /** So it was, and the event is a program's (user-events.ts). */
  | { readonly kind: "user"; readonly id: number };

export interface Event {
  readonly category: string;
  readonly name: string;
}
