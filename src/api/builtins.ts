// The builtins of handlers, by the names of TypeScript. A row of the table each; a test sees that none is missing.
import type { CapturedStack, Enums, Pointer, StructNamed, Unchecked, bool } from "./declarations.ts";
import type { SpecialName } from "../language/typescript/specials.ts";
import { marker } from "./markers.ts";
import type { CastTo, CStruct, TypeLike } from "./own-types.ts";

/** Something with an address: a pointer, or a number that is one. */
type Address = Pointer | number | bigint | string | null;
/** A value, or with arguments a function. */
type Both<Value, Call> = Value & Call;

// `T` is what it is within a handler.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a cast at each of a hundred exports would say less
const builtin = <T>(name: string, canonical = name): T => marker(name, { kind: "builtin", name: canonical }) as T;

// ── what fired ──
/** The probe's raw context. */
export const ctx = builtin<Unchecked>("ctx");
/** The traced function's name. */
export const func = builtin<string>("func");
/** The full name of the probe that fired. */
export const probeName = builtin<string>("probeName", "probe");
/** The kind of the probe that fired. */
export const probetype = builtin<string>("probetype");
/** What the traced function returns. */
export const retval = builtin<Unchecked>("retval");
/** 1 when the interrupted code ran in user mode. */
export const usermode = builtin<u8>("usermode");
/** The variables in scope at a source line, as a record. */
export const vars = builtin<Unchecked>("vars");
/** A variable of the traced program, by name. */
export const variable = builtin<(name: string) => Unchecked>("variable", "var");

// ── who ran ──
/** Id of the current process's cgroup (version 2). */
export const cgroup = builtin<u64>("cgroup");
/** Name of the current thread, or of the process with an id. */
export const comm = builtin<Both<string, (pid: number) => string>>("comm");
/** Process id of the command that the trace started. */
export const cpid = builtin<u32>("cpid");
/** Whether the trace started a command. */
export const hasCpid = builtin<bool>("hasCpid", "has_cpid");
/** True: a handler whose filter has it is let through in any process, whichever are chosen. */
export const anyProcess = builtin<bool>("anyProcess", "any_process");
/** Whether the trace's `pid`, `only` and `follow` choose the current process, or that of a task. */
export const chosenProcess = builtin<Both<bool, (task: Unchecked) => bool>>("chosenProcess", "chosen_process");
/** The current task's `struct task_struct`. */
export const curtask = builtin<StructNamed<"task_struct">>("curtask");
export const uid = builtin<u64>("uid");
export const gid = builtin<u64>("gid");
/** Id of the current goroutine, in a program written in Go. */
export const goid = builtin<u64>("goid");
/** Name of the current thread's user. */
export const username = builtin<string>("username");
/** Id of the current process; in a namespace: pid("curr_ns"). */
export const pid = builtin<Both<u32, (namespace: "init" | "curr_ns") => u32>>("pid");
/** Id of the current thread. */
export const tid = builtin<Both<u32, (namespace: "init" | "curr_ns") => u32>>("tid");
/** Of the parent of the current process, or of a task. */
export const ppid = builtin<Both<u32, (task: Unchecked) => u32>>("ppid");
export const pcomm = builtin<Both<string, (task: Unchecked) => string>>("pcomm");
/** Of the thread group's leader, the current one's or a task's. */
export const leaderComm = builtin<Both<string, (task: Unchecked) => string>>("leaderComm", "leader_comm");
export const leaderTid = builtin<Both<u32, (task: Unchecked) => u32>>("leaderTid", "leader_tid");

// ── where and when ──
/** Number of the processor. */
export const cpu = builtin<u32>("cpu");
export const ncpus = builtin<u64>("ncpus");
/** Name of the machine; over a recording, of the one that the event is of. */
export const hostname = builtin<string>("hostname");
/** Number of the memory node. */
export const numaid = builtin<u32>("numaid");
/** Nanoseconds since boot, or of another clock: nsecs("monotonic"). */
export const nsecs = builtin<Both<u64, (clock: "boot" | "monotonic" | "tai" | "sw_tai" | "wall") => u64>>("nsecs");
/** Nanoseconds since tracing began. */
export const elapsed = builtin<u64>("elapsed");
/** The kernel's tick counter. */
export const jiffies = builtin<u64>("jiffies");
/** A pseudo-random number. */
export const rand = builtin<u32>("rand");
/** The settings in force: config.max_strlen. */
export const config = builtin<Unchecked>("config");
/** Bytes that str() reads unless told otherwise. */
export const defaultStrLength = builtin<u64>("defaultStrLength", "default_str_length");

// ── stacks ──
interface StackCall {
  (limit?: number): CapturedStack;
  (mode: "bpftrace" | "perf" | "raw" | "build_id", limit?: number): CapturedStack;
}
/** The kernel's call stack: `kstack`, `kstack(5)`, `kstack("perf", 5)`. */
export const kstack = builtin<Both<CapturedStack, StackCall>>("kstack");
/** The process's call stack, found through frame pointers. */
export const ustack = builtin<Both<CapturedStack, StackCall>>("ustack");
/** The process's call stack, found through unwinding tables. */
export const dwUstack = builtin<Both<CapturedStack, StackCall>>("dwUstack", "dw_ustack");

// ── text and bytes ──
/** The NUL-terminated text at a pointer. */
export const str = builtin<(pointer: Address, length?: number) => string>("str");
/** Text at a kernel address. */
export const kstr = builtin<(pointer: Address, length?: number) => string>("kstr");
/** Bytes at an address; a Uint8Array in Node. */
export const buf = builtin<(data: Address, length?: number) => Uint8Array>("buf");
/** The full path behind a `struct path`. */
export const path = builtin<(path: Unchecked, size?: number) => string>("path");
export const strlen = builtin<(text: Address) => u64>("strlen");
/** Bytes that a text or array can hold. */
export const strcap = builtin<(text: Address) => i64>("strcap");
/** 0 when the first characters are equal. */
export const strncmp = builtin<(a: Address, b: Address, length: number) => u64>("strncmp");
/** 0 when the bytes are equal, else the sign of the first difference. */
export const memcmp = builtin<(left: Address, right: Address, count: number) => i64>("memcmp");
export const strcontains = builtin<(haystack: Address, needle: Address) => bool>("strcontains");
/** Where a text first occurs in another, or -1. */
export const strstr = builtin<(haystack: Address, needle: Address) => i64>("strstr");
/** Two texts, one after the other. */
export const strConcat = builtin<(first: Address, second: Address) => string>("strConcat", "str_concat");
/**
 * A double without its fraction, rounded down, up, towards 0, or to the nearest (of two away from 0); of an integer,
 * itself.
 */
export const floor = builtin<(x: number) => number>("floor");
export const ceil = builtin<(x: number) => number>("ceil");
export const trunc = builtin<(x: number) => number>("trunc");
export const round = builtin<(x: number) => number>("round");
/** An integer with its bytes in reverse order: network byte order. */
export const bswap = builtin<(n: number) => number>("bswap");

// ── addresses ──
/** The same pointer, read as a kernel address. */
export const kptr = builtin<<T extends Address>(pointer: T) => T>("kptr");
/** The same pointer, read as a user address. */
export const uptr = builtin<<T extends Address>(pointer: T) => T>("uptr");
/** Address of a kernel symbol. */
export const kaddr = builtin<(symbol: string) => u64>("kaddr");
/** Address of a symbol of the traced program. */
export const uaddr = builtin<(symbol: string) => Pointer>("uaddr");
/** Address of a per-CPU kernel variable. */
export const percpuKaddr = builtin<(symbol: string, cpu?: number) => Pointer>("percpuKaddr", "percpu_kaddr");
/** A processor register. */
export const reg = builtin<(name: string) => u64>("reg");
/** The object that a pointer points into: containerOf(pointer, "task_struct", "tasks"). */
export const containerOf = builtin<
  <const D extends string | CStruct<unknown>>(
    pointer: Address,
    struct: D,
    member: string,
  ) => D extends string ? StructNamed<D> : CastTo<D>
>("containerOf", "container_of");
/** Whether a pointer is an error code of the kernel. */
export const isErr = builtin<(pointer: Address) => bool>("isErr", "is_err");
/** The kernel's lasting number for a socket. */
export const socketCookie = builtin<(socket: Unchecked) => u64>("socketCookie", "socket_cookie");

// ── numbers with a name: text in Node ──
/** Name of the kernel function that an address lies in. */
export const ksym = builtin<(address: Address) => string>("ksym");
/** Name of the user function that an address lies in. */
export const usym = builtin<(address: Address) => string>("usym");
/** An IPv4 or IPv6 address as text. */
export const ntop = builtin<(familyOrAddress: Address | object, address?: Address | object) => string>("ntop");
/** The bytes of an IPv4 or IPv6 address. */
export const pton = builtin<(address: string) => Unchecked>("pton");
/** A hardware address as text. */
export const macaddr = builtin<(bytes: Address | object) => string>("macaddr");
/** Id of the cgroup at a path. */
export const cgroupid = builtin<(path: string) => u64>("cgroupid");
/** Path of a cgroup. */
export const cgroupPath = builtin<(id: number, filter?: string) => string>("cgroupPath", "cgroup_path");
/** Words for an error number. */
export const strerror = builtin<(errno: number) => string>("strerror");
export const signalName = builtin<(signal: number) => string>("signalName", "signal_name");
export const syscallName = builtin<(number: number) => string>("syscallName", "syscall_name");
/** A point in time as text. */
export const strftime = builtin<(format: string, nanoseconds: number) => string>("strftime");

// ── questions, answered before the handler runs ──
export const isArray = builtin<(value: unknown) => bool>("isArray", "is_array");
export const isInteger = builtin<(value: unknown) => bool>("isInteger", "is_integer");
export const isLiteral = builtin<(value: unknown) => bool>("isLiteral", "is_literal");
export const isPtr = builtin<(value: unknown) => bool>("isPtr", "is_ptr");
export const isStr = builtin<(value: unknown) => bool>("isStr", "is_str");
export const isUnsignedInteger = builtin<(value: unknown) => bool>("isUnsignedInteger", "is_unsigned_integer");
export const kfuncAllowed = builtin<(name: string) => bool>("kfuncAllowed", "kfunc_allowed");
export const kfuncExist = builtin<(name: string) => bool>("kfuncExist", "kfunc_exist");

// ── output ──
type Formatted = (format: string, ...values: readonly unknown[]) => void;
/** Prints values by a format. */
export const printf = builtin<Formatted>("printf");
export const errorf = builtin<Formatted>("errorf");
export const warnf = builtin<Formatted>("warnf");
/** Prints the time of day. */
export const time = builtin<(format?: string) => void>("time");
/** Prints a file. */
export const cat = builtin<Formatted>("cat");
/** Prints an array of strings, as execve() has them, on one line. */
export const join = builtin<(strings: Unchecked, separator?: string) => void>("join");
/** Writes a packet to a capture file (pcap): 0, or a negative error. */
export const skboutput = builtin<(path: string, skb: Unchecked, length: number, offset: number) => i32>("skboutput");
/** Entries of a map, or frames of a stack. */
export const len = builtin<(of: object) => i64>("len");

// ── ending, failing ──
/** Ends the trace; end() probes still run. */
export const exit = builtin<(code?: number) => void>("exit");
/** Ends the trace with an error unless a condition holds. */
export const assert = builtin<(condition: unknown, message: string) => void>("assert");
export const staticAssert = builtin<(condition: unknown, message: string) => void>("staticAssert", "static_assert");
export const assertStr = builtin<(value: unknown) => void>("assertStr", "assert_str");
/** Refuses the handler when it could get here. */
export const fail = builtin<Formatted>("fail");

// ── acting on the system: needs { unsafe: true } ──
/** Sends a signal to the current process. */
export const signal = builtin<(signal: string | number) => void>("signal");
export const signalThread = builtin<(signal: string | number) => void>("signalThread", "signal_thread");
/** Makes the traced function return a value without running it. */
export const override = builtin<(value: number) => void>("override");
/** Writes into the current process's memory. */
export const writeUser = builtin<(destination: Address, source: Address, length: number) => bool>(
  "writeUser",
  "write_user",
);
/** Runs a shell command and prints its output. */
export const system = builtin<Formatted>("system");
/** Remembers an object by its address, of a program's also by its process: `followed` tells it from then on. */
export const follow = builtin<(object: Address) => void>("follow");
/** Whether an address is one that `follow` was given, and `unfollow` not since. */
export const followed = builtin<(object: Address) => bool>("followed");
/** Forgets an object: where it is freed, before its address becomes another's. */
export const unfollow = builtin<(object: Address) => void>("unfollow");
/** Watches an address by the probe `watchpoint:NAME:LENGTH:MODE`, from some time after on. */
export const watch = builtin<(name: string, address: Address) => void>("watch");
/** Removes a watchpoint. */
export const unwatch = builtin<(address: Address) => void>("unwatch");

// ── beyond the table ──
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as above
const special = <T>(name: SpecialName): T => marker(name, { kind: "special", name }) as T;

/** Prints a text, a value, a map, or an entry of one, and ends the line. */
export const print = special<(...values: readonly unknown[]) => void>("print");
/** Sends a record of no declared event: it is printed, or an event of the trace itself (the option `output`). */
export const emit = special<(value: object) => void>("emit");
/** Numbers from 0, or from the first, up to the last, without it: `for (const i of range(10))`. */
export const range = special<(fromOrTo: number, to?: number) => Iterable<number>>("range");
/**
 * The same address as a pointer to something else: cast(args.sk, "struct tcp_sock"), cast(args.data, header) of a
 * struct() of yours.
 */
export const cast = special<<const D extends TypeLike>(value: Address | object, type: D) => CastTo<D>>("cast");
/** What a pointer points to. */
export const deref = special<<T>(pointer: Pointer<T>) => T>("deref");
/** Where a variable that holds text, a tuple or a record is, or an entry of a map. */
export const addressOf = special<<T>(of: T) => Pointer<T>>("addressOf");
/** Bytes of a type, "struct sock", or of a value. */
export const sizeof = special<(of: unknown) => u64>("sizeof");
/** Bytes from a struct's start to a member. */
export const offsetof = special<(struct: TypeLike, member: string) => u64>("offsetof");
/** The kernel's enum constants: enums.TCP_LISTEN. */
export const enums = special<EnumNames>("enums");

// Types and casts of one name. The types are those of declarations.ts, said again: an export by name hides one by `*`.
export type u8 = number;
export type u16 = number;
export type u32 = number;
export type u64 = number;
export type i8 = number;
export type i16 = number;
export type i32 = number;
export type i64 = number;

/** Takes the low bits of a number, read as that type. */
type Truncation = (value: unknown) => number;
export const u8 = special<Truncation>("u8");
export const u16 = special<Truncation>("u16");
export const u32 = special<Truncation>("u32");
export const u64 = special<Truncation>("u64");
export const i8 = special<Truncation>("i8");
export const i16 = special<Truncation>("i16");
export const i32 = special<Truncation>("i32");
export const i64 = special<Truncation>("i64");

type EnumNames = keyof Enums extends never ? Readonly<Record<string, number>> : Enums;
