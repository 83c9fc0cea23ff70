// Calls into libc through koffi: one variadic-free view of syscall(2), and mapped memory as ArrayBuffers.
import { closeSync, existsSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { check } from "./error.ts";
import { fromPackage, ownFile } from "./packages.ts";
import { timedPoll, type PollHandle } from "./timed-poll.ts";
import { attempts } from "../messages/on-demand.ts";
import { InternalError } from "../base/internal-error.ts";

/** The part of koffi that strobe uses (its own declarations are in node_modules/koffi/index.d.ts). */
interface Native {
  load(path: string | null): {
    func(name: string, result: string, parameters: readonly string[]): unknown;
    unload(): void;
  };
  address(view: ArrayBufferView): bigint;
  view(address: number, length: number): ArrayBuffer;
  errno(): number;
  readonly node: { poll(fd: number, callback: (status: number) => void): PollHandle };
}
interface ForeignFunction {
  (...args: number[]): number;
  async(...args: [...number[], (error: unknown, result: number) => void]): void;
}
let native: Native | undefined;
let systemCall: ForeignFunction | undefined;

/** Where npm puts packages, from dist: of a checkout, and beside strobe as a package. */
const packageFolders = ["../node_modules/", "../../"];

function koffi(): Native {
  return (native ??= loadKoffi());
}

function loadKoffi(): Native {
  const { arch } = process;
  // The addon itself: koffi's JavaScript wrapper costs another 5 to 8 ms of start-up and adds nothing that we use.
  const addon = `@koromix/koffi-linux-${arch}/linux_${arch}/koffi.node`;
  try {
    const path = beside(addon);
    if (path === undefined) return fromPackage(() => require(addon)) as Native;
    const loaded = { exports: {} };
    process.dlopen(loaded, path);
    return loaded.exports as Native;
  } catch {
    // musl, other layouts of the package, a koffi built from source.
    return fromPackage(() => require("koffi")) as Native;
  }
}

/** A package's file where npm most likely put it: Node takes a millisecond to find it. */
function beside(name: string): string | undefined {
  // Not beside a program that has Node, and the addon, in it.
  if (!ownFile.endsWith("js")) return undefined;
  return packageFolders.map((folder) => join(dirname(ownFile), folder, name)).find((path) => existsSync(path));
}

function libcSyscall(): ForeignFunction {
  // Numbers only: all that we pass fits 53 bits (addresses of user space have 47), and is marshalled fastest.
  return (systemCall ??= koffi()
    .load(null)
    .func("syscall", "long", ["long", "long", "long", "long", "long", "long", "long"]) as ForeignFunction);
}

/** A C function of a text and numbers that gives a text. */
export type TextFunction = (text: string, ...numbers: number[]) => string | null;

/**
 * A function of a shared library: `char *name(const char *, long…)`, with so many longs, whose result is malloc'ed for
 * the caller (it is copied and freed). @throws when there is no such library or function
 */
export function textFunction(library: string, name: string, longs: number): TextFunction {
  const parameters = ["str", ...Array.from({ length: longs }, () => "long")];
  // "!": free it.
  return koffi().load(library).func(name, "str!", parameters) as TextFunction;
}

/** A C function of numbers and addresses. */
export type NumberFunction = (...numbers: number[]) => number;

/**
 * A function of a shared library: `int name(long…)`, with so many. @throws when there is no such library or function
 */
export function numberFunction(library: string, name: string, longs: number): NumberFunction {
  return koffi()
    .load(library)
    .func(
      name,
      "int",
      Array.from({ length: longs }, () => "long"),
    ) as NumberFunction;
}

/** A shared object in this process. */
export interface SharedObject {
  /**
   * A function without a result. Integers are numbers or bigints; a text goes in as zero-terminated UTF-8, null as 0.
   */
  procedure(
    name: string,
    parameters: readonly ("int64_t" | "uint64_t" | "str")[],
  ): (...values: (number | bigint | string | null)[]) => void;
  /** Memory whose address a function of the object tells. It is gone with the object. */
  memory(addressFunction: string, length: number): ArrayBuffer;
  unload(): void;
}

/** Loads a shared object from a file, as dlopen(3) does. @throws when the loader refuses it */
export function loadSharedObject(path: string): SharedObject {
  const library = koffi().load(path);
  return {
    procedure: (name, parameters) => library.func(name, "void", parameters) as ReturnType<SharedObject["procedure"]>,
    memory: (name, length) =>
      koffi().view(Number((library.func(name, "int64_t", []) as () => number | bigint)()), length),
    unload: () => library.unload(),
  };
}

/** System call numbers, by architecture. */
export interface SystemCallNumbers {
  readonly bpf: number;
  readonly perfEventOpen: number;
  readonly close: number;
  readonly mmap: number;
  readonly munmap: number;
  readonly ioctl: number;
  readonly mount: number;
  readonly clockGettime: number;
  readonly nameToHandleAt: number;
  readonly openByHandleAt: number;
  readonly exitGroup: number;
  readonly ppoll: number;
  readonly dup3: number;
  readonly fcntl: number;
  readonly write: number;
  readonly pipe2: number;
  readonly tee: number;
  readonly read: number;
  readonly epollCreate1: number;
  readonly epollCtl: number;
}
export const SYS: SystemCallNumbers =
  process.arch === "arm64"
    ? {
        bpf: 280,
        perfEventOpen: 241,
        close: 57,
        mmap: 222,
        munmap: 215,
        ioctl: 29,
        mount: 40,
        clockGettime: 113,
        nameToHandleAt: 264,
        openByHandleAt: 265,
        exitGroup: 94,
        ppoll: 73,
        dup3: 24,
        fcntl: 25,
        write: 64,
        pipe2: 59,
        tee: 77,
        read: 63,
        epollCreate1: 20,
        epollCtl: 21,
      }
    : {
        bpf: 321,
        perfEventOpen: 298,
        close: 3,
        mmap: 9,
        munmap: 11,
        ioctl: 16,
        mount: 165,
        clockGettime: 228,
        nameToHandleAt: 303,
        openByHandleAt: 304,
        exitGroup: 231,
        ppoll: 271,
        dup3: 292,
        fcntl: 72,
        write: 1,
        pipe2: 293,
        tee: 276,
        read: 0,
        epollCreate1: 291,
        epollCtl: 233,
      };

/** A number, or memory to pass the address of. */
export type SystemCallArgument = number | Uint8Array;

/** Calls the kernel. Gives the call's result, or the negative errno; never throws for a refusal. */
export function syscall(
  number: number,
  a: SystemCallArgument = 0,
  b: SystemCallArgument = 0,
  c: SystemCallArgument = 0,
  d: SystemCallArgument = 0,
  e: SystemCallArgument = 0,
  f: SystemCallArgument = 0,
): number {
  const call = systemCall ?? libcSyscall();
  const result = call(number, plain(a), plain(b), plain(c), plain(d), plain(e), plain(f));
  return result === -1 ? -koffi().errno() : result;
}

function plain(argument: SystemCallArgument): number {
  return typeof argument === "number" ? argument : addressOf(argument);
}

/** Where the memory of a view is. It stays there, but only as long as somebody holds the view. */
export function addressOf(view: ArrayBufferView): number {
  return Number(koffi().address(view));
}

/**
 * Ends the process at once, in the kernel: nothing of Node or the C library is taken down first, which takes
 * milliseconds (the addon alone flushes standard output to the disk). Returns only where no call of the kernel was made
 * before.
 */
export function exitNow(code: number): void {
  systemCall?.(SYS.exitGroup, code, 0, 0, 0, 0, 0);
}

const RT_SIGACTION = process.arch === "arm64" ? 134 : 13;
const SA_RESTART = 0x1000_0000n;

/**
 * Lets a signal that Node listens to end a call of the kernel that waits, with EINTR: libuv has such calls begin anew.
 */
export function interruptsCalls(signal: number): void {
  // struct sigaction as the kernel has it: handler, flags, restorer, mask
  const action = new BigUint64Array(4);
  const bytes = new Uint8Array(action.buffer);
  if (syscall(RT_SIGACTION, signal, 0, bytes, 8) < 0) return;
  action[1] &= ~SA_RESTART;
  syscall(RT_SIGACTION, signal, bytes, 0, 8);
}

const RT_SIGPROCMASK = process.arch === "arm64" ? 135 : 14;
const SIG_SETMASK = 2;

/** What `work` gives while this thread takes no signals: they come afterwards. */
export function withoutSignals<T>(work: () => T): T {
  const all = new BigUint64Array([0xffff_ffff_ffff_ffffn]);
  const before = new Uint8Array(8);
  const blocked = syscall(RT_SIGPROCMASK, SIG_SETMASK, new Uint8Array(all.buffer), before, 8) >= 0;
  try {
    return work();
  } finally {
    if (blocked) syscall(RT_SIGPROCMASK, SIG_SETMASK, before, 0, 8);
  }
}

const TCGETS = 0x5401;

/** isatty(3): Node's takes milliseconds, which it spends on a stream. */
export function isTerminal(fd: number): boolean {
  // struct termios has 36 bytes.
  return syscall(SYS.ioctl, fd, TCGETS, new Uint8Array(64)) >= 0;
}

/** Whether terminals take more than text: https://no-color.org, terminfo(5)'s `dumb`. */
export function decorates(): boolean {
  return !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
}

/** Zero-terminated bytes of a string. */
export function cString(text: string): Uint8Array {
  return Buffer.from(`${text}\0`, "utf8");
}

const PROT_NONE = 0;
export const PROT_READ = 1;
export const PROT_WRITE = 2;
const MAP_SHARED = 1;
/** The kernel's BTF may only be mapped so. */
export const MAP_PRIVATE = 2;

const MAP_FIXED = 0x10;
const MAP_ANONYMOUS = 0x20;
const MAP_NORESERVE = 0x4000;

const mappings = new WeakMap<ArrayBuffer, number>();

/** Maps a descriptor's memory, shared with the kernel. */
export function mmap(fd: number, length: number, prot: number, offset: number, flags = MAP_SHARED): ArrayBuffer {
  const address = check(syscall(SYS.mmap, 0, length, prot, flags, fd, offset), "mmap", () =>
    fd < 0 ? attempts().mapMemory(length) : attempts().mapMap(length),
  );
  const buffer = koffi().view(address, length);
  mappings.set(buffer, address);
  return buffer;
}

/** Zeroed memory of the process's own that stays where it is, whatever thread asked for it, until it is unmapped. */
export function ownMemory(length: number): ArrayBuffer {
  return mmap(-1, length, PROT_READ | PROT_WRITE, 0, MAP_PRIVATE | MAP_ANONYMOUS);
}

/** Addresses for `mapInto`: to touch them before crashes the process. */
export function reserve(length: number): ArrayBuffer {
  const address = check(
    syscall(SYS.mmap, 0, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
    "mmap",
    () => attempts().reserveAddresses(length),
  );
  const buffer = koffi().view(address, length);
  mappings.set(buffer, address);
  return buffer;
}

/**
 * Maps a descriptor's memory from `at` on, shared with the kernel, to the same part of what was reserved: views of that
 * are views of this.
 */
export function mapInto(reserved: ArrayBuffer, at: number, fd: number, length: number, prot: number): void {
  const address = mappings.get(reserved);
  if (address === undefined) throw new InternalError("nothing is reserved there");
  check(syscall(SYS.mmap, address + at, length, prot, MAP_SHARED | MAP_FIXED, fd, at), "mmap", () =>
    attempts().mapMap(length),
  );
}

/** Unmaps. Whoever still reads a view of it crashes the process: owners drop their views first. */
export function munmap(buffer: ArrayBuffer): void {
  const address = mappings.get(buffer);
  if (address === undefined) return;
  mappings.delete(buffer);
  syscall(SYS.munmap, address, buffer.byteLength);
}

/** Closes a descriptor; errors are of no use to anyone. */
export function closeFd(fd: number): void {
  if (fd >= 0) syscall(SYS.close, unbound(fd));
}

const bound = new Set<number>();

/**
 * What a descriptor is from now on: in a worker thread, one that Node closes when it ends the thread, in whose midst
 * that may be. (It closes what it opened itself there, so the descriptor takes such a one's number.) Elsewhere it stays
 * as it is.
 */
export function boundToThread(fd: number): number {
  if (fd < 0 || !inWorker()) return fd;
  const place = openSync("/dev/null", "r");
  const moved = syscall(SYS.dup3, fd, place, O_CLOEXEC);
  syscall(SYS.close, fd);
  bound.add(place);
  return check(moved, "dup3", () => attempts().bindDescriptor());
}

/** The descriptor as the kernel gave it, for closing. */
function unbound(fd: number): number {
  if (!bound.delete(fd)) return fd;
  const free = syscall(SYS.fcntl, fd, F_DUPFD_CLOEXEC);
  closeSync(fd);
  return free;
}

let pageBytes = 0;
/** Bytes of a page: 4096 on x86-64, up to 65536 on arm64. */
export function pageSize(): number {
  return (pageBytes ||=
    process.arch === "x64" ? 4096 : (koffi().load(null).func("getpagesize", "int", []) as ForeignFunction)());
}

/** Watches a descriptor: `callback` runs outside of any promise turn, see ring.ts. */
export function pollDescriptor(fd: number, callback: (status: number) => void): PollHandle {
  if (inWorker()) return timedPoll(() => isReadable(fd), callback);
  return koffi().node.poll(fd, callback);
}

/**
 * Whether this is a worker thread, where Node has changing the folder disabled, and marks it so. (`node:worker_threads`
 * takes some milliseconds to load, of every start.)
 */
function inWorker(): boolean {
  return (process.chdir as { readonly disabled?: boolean }).disabled === true;
}

let loopDescriptor: number | undefined;

/**
 * What Node's event loop waits on in the main thread: readable when it has something to do, other than for a timer's
 * sake. (libuv's backend descriptor, of epoll(7). What is watched only since the loop's last turn is not in it yet.)
 */
export function eventLoopDescriptor(): number {
  if (loopDescriptor !== undefined) return loopDescriptor;
  const libuv = koffi().load(null);
  const loop = (libuv.func("uv_default_loop", "int64_t", []) as ForeignFunction)();
  loopDescriptor = (libuv.func("uv_backend_fd", "int", ["int64_t"]) as ForeignFunction)(loop);
  return loopDescriptor;
}

const POLLIN = 1;
const O_CLOEXEC = 0o2000000;
const F_DUPFD_CLOEXEC = 1030;

function isReadable(fd: number): boolean {
  // struct pollfd: the descriptor, what is asked, what is so.
  const asked = Int32Array.of(fd, POLLIN);
  const noTime = new BigInt64Array(2);
  return syscall(SYS.ppoll, new Uint8Array(asked.buffer), 1, new Uint8Array(noTime.buffer)) > 0;
}

/** A system call on one of libuv's threads, for calls that wait. Numbers only. */
export function syscallAsync(number: number, a: number, b = 0, c = 0): Promise<number> {
  return new Promise((resolve) => {
    libcSyscall().async(number, a, b, c, 0, 0, 0, (_error, result) => resolve(result));
  });
}

/** More than libuv has threads, fewer than the 256 calls that koffi keeps under way. */
const CLOSING_AT_ONCE = 64;

/**
 * Closes many descriptors at once, from libuv's threads: closing a perf event waits for the kernel (about 70 ms each
 * for a tracepoint), and the waits overlap as far as the kernel lets them.
 */
export async function closeAllParallel(fds: readonly number[]): Promise<void> {
  const single = fds[0];
  if (fds.length <= 1) {
    if (single !== undefined) closeFd(single);
    return;
  }
  const left = fds.map(unbound).values();
  const closeOnes = async (): Promise<void> => {
    for (const fd of left) await syscallAsync(SYS.close, fd);
  };
  await Promise.all(Array.from({ length: Math.min(fds.length, CLOSING_AT_ONCE) }, closeOnes));
}
