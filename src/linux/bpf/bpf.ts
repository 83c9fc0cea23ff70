// bpf(2): maps and programs. Descriptors are plain numbers that the caller owns.
import {
  attr,
  bpf,
  bpfError,
  BTF_LOAD,
  MAP_CREATE,
  MAP_DELETE_ELEM,
  MAP_GET_NEXT_KEY,
  MAP_LOOKUP_ELEM,
  MAP_UPDATE_BATCH,
  MAP_UPDATE_ELEM,
  mustBpf,
  PROG_LOAD,
  PROG_TEST_RUN,
} from "./bpf-call.ts";
import {
  E2BIG,
  EACCES,
  EAGAIN,
  EFAULT,
  EINTR,
  EINVAL,
  EMFILE,
  ENFILE,
  ENOENT,
  ENOMEM,
  ENOSPC,
  EPERM,
  errnoName,
  type LinuxError,
} from "../error.ts";
import { addressOf, closeFd, cString, withoutSignals } from "../ffi.ts";
import { missingToTrace } from "../processes/privileges.ts";
import { subprogramBtf, type SubprogramEntry } from "./subprogram-btf.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

export * from "./bpf-links.ts";
export * from "./bpf-objects.ts";

export interface MapOptions {
  readonly name: string;
  /** bpf_map_type number. */
  readonly type: number;
  readonly keySize: number;
  readonly valueSize: number;
  readonly entries: number;
  readonly flags?: number;
}

/** Creates a map; the caller owns the descriptor. */
export function createMap(options: MapOptions): number {
  attr.clear();
  attr.u32(0, options.type);
  attr.u32(4, options.keySize);
  attr.u32(8, options.valueSize);
  attr.u32(12, options.entries);
  attr.u32(16, options.flags ?? 0);
  attr.name(28, options.name);
  const fd = bpf(MAP_CREATE);
  if (fd >= 0) return fd;
  const size = `type ${options.type}, ${options.keySize}-byte keys, ${options.valueSize}-byte values, ${options.entries} entries`;
  const hint = fd === -E2BIG ? refusalHints().mapTooLarge() : fd === -EINVAL ? refusalHints().unknownMap() : undefined;
  throw bpfError(MAP_CREATE, fd, attempts().createMap(options.name, size), hint);
}

export interface ProgramOptions {
  readonly name: string;
  /** bpf_prog_type number. */
  readonly type: number;
  /** 8 bytes an instruction, relocated. */
  readonly code: Uint8Array;
  readonly license: string;
  readonly expectedAttachType?: number;
  readonly attachBtfId?: number;
  /** The module's BTF (bpf-objects' openModuleBtf), or the BPF program that the function is of; absent for vmlinux. */
  readonly attachBtfObjectFd?: number;
  /** prog_flags: BPF_F_SLEEPABLE is 16. */
  readonly flags?: number;
  /** Bytes of the first try at a log. */
  readonly logSize?: number;
  /** 1 short, 2 every instruction, 4 statistics. */
  readonly logLevel?: number;
  /** Wants the verifier's log of a program that it accepts, too: every instruction, with what is known there. */
  readonly onLog?: (log: string) => void;
  readonly kernelVersion?: number;
  /**
   * Where functions begin: the verifier wants type information of those used as map callbacks. Without them none is
   * sent.
   */
  readonly subprograms?: readonly SubprogramEntry[];
}

const largestLog = 64 << 20;
/** The verifier's last words and its statistics (BPF_LOG_STATS). */
const LOG_STATISTICS = 4;

/** What the machine has none left of, whatever the verifier thinks of the program. */
const shortages: ReadonlySet<number> = new Set([EAGAIN, EINTR, EMFILE, ENFILE, ENOMEM]);

/**
 * Loads a program; the caller owns the descriptor. A refusal is a LinuxError, with the verifier's `log` if that
 * refused.
 */
export function loadProgram(options: ProgramOptions): number {
  const subprograms = options.subprograms;
  const info = subprograms?.some(({ start }) => start > 0) ? subprogramBtf(subprograms) : undefined;
  const btf = info ? loadBtf(info.btf) : -1;
  try {
    const prepare = (): void => prepareLoad(options, btf, info?.functions);
    prepare();
    const { onLog, name } = options;
    const refused = (code: number, log?: string): LinuxError => {
      const hint = loadHint(options, code, log ?? "");
      return bpfError(PROG_LOAD, code, attempts().loadProgram(name), hint, {
        program: name,
        ...(log === undefined ? {} : { log }),
      });
    };
    let result = onLog ? -ENOSPC : verified();
    if (result >= 0) return result;
    let refusal = result;
    let log = "";
    // A log of a million instructions says no more than that, and takes many seconds.
    if (
      options.logLevel === undefined &&
      (result === -E2BIG || ((result === -EFAULT || result === -ENOMEM) && hasTooManyWays(prepare)))
    ) {
      throw refused(-E2BIG, log);
    }
    for (let size = options.logSize ?? 1 << 20; !shortages.has(-refusal); size *= 4) {
      const buffer = Buffer.alloc(Math.min(size, largestLog));
      prepare();
      attr.u32(24, options.logLevel ?? (onLog ? 6 : 1));
      attr.u32(28, buffer.length);
      attr.pointer(32, buffer);
      result = verified();
      if (result >= 0 && !onLog) return result;
      const end = buffer.indexOf(0);
      log = buffer.toString("utf8", 0, end < 0 ? buffer.length : end);
      onLog?.(log);
      if (result >= 0) return result;
      if (onLog || shortages.has(-result)) refusal = result;
      if (result !== -ENOSPC || size >= largestLog) break;
    }
    // The log had no room; the program may still be fine.
    if (onLog && result === -ENOSPC) {
      prepare();
      refusal = verified();
      if (refusal >= 0) return refusal;
    }
    throw shortages.has(-refusal) ? refused(refusal) : refused(refusal, log);
  } finally {
    closeFd(btf);
  }
}

/**
 * The verifier has a limit to the ways that it has yet to walk, too, and says so in its log only: it fails with EFAULT,
 * and with ENOMEM since it tells why a way could not be noted (seen on 6.18).
 */
function hasTooManyWays(prepare: () => void): boolean {
  const buffer = Buffer.alloc(1 << 16);
  prepare();
  attr.u32(24, LOG_STATISTICS);
  attr.u32(28, buffer.length);
  attr.pointer(32, buffer);
  return verified() < 0 && buffer.includes("jumps is too complex");
}

/**
 * EAGAIN: a signal arrived while the verifier ran. Children that end and Node's own signals make that real for long
 * programs, and its profiler (--cpu-prof) sends one every millisecond: what is tried again takes none.
 */
function verified(): number {
  const result = bpf(PROG_LOAD);
  return result === -EAGAIN ? withoutSignals(() => bpf(PROG_LOAD)) : result;
}

function prepareLoad(options: ProgramOptions, btf: number, functions: Uint32Array | undefined): void {
  attr.clear();
  attr.u32(0, options.type);
  attr.u32(4, options.code.length / 8);
  attr.pointer(8, options.code);
  attr.pointer(16, cString(options.license));
  attr.u32(40, options.kernelVersion ?? 0);
  attr.u32(44, options.flags ?? 0);
  attr.name(48, options.name);
  attr.u32(68, options.expectedAttachType ?? 0);
  if (functions) {
    attr.u32(72, btf);
    attr.u32(76, 8);
    attr.pointer(80, functions);
    attr.u32(88, functions.length / 2);
  }
  attr.u32(108, options.attachBtfId ?? 0);
  attr.u32(112, options.attachBtfObjectFd ?? 0);
}

function loadHint(options: ProgramOptions, result: number, log: string): Reason | undefined {
  if (result === -E2BIG || log.includes("BPF program is too large")) {
    return refusalHints().tooComplex(options.code.length / 8);
  }
  if (result === -ENOMEM) return refusalHints().noMemory();
  if (result === -EPERM && log === "") {
    return missingToTrace().length === 0 ? refusalHints().programsRefused() : undefined;
  }
  if ((result === -EACCES || result === -EINVAL) && log !== "") {
    return refusalHints().verifierSays(lastWords(log));
  }
  if (result === -EINVAL) return refusalHints().unknownProgram();
  return undefined;
}

/** The line of a verifier log that says what was wrong: the last before the statistics. */
function lastWords(log: string): string {
  const lines = log.trimEnd().split("\n");
  while (lines.length > 1 && /^(processed \d+ insns|verification time|stack depth|$)/.test(lines.at(-1) ?? ""))
    lines.pop();
  return lines.at(-1) ?? "";
}

/** Hands type information to the kernel; the caller owns the descriptor. */
export function loadBtf(btf: Uint8Array): number {
  attr.clear();
  attr.pointer(0, btf);
  attr.u32(16, btf.length);
  return mustBpf(BTF_LOAD, () => attempts().loadTypes());
}

// Keys and values of single operations go through memory whose address is known: no allocation, no BigInt.
let arena = new Uint8Array(0);
let arenaAddress = 0;
/** Where the value lies: behind the key. */
let valueAt = 0;
function arenaFor(size: number): void {
  if (arena.length >= size) return;
  arena = new Uint8Array(Math.max(8192, size));
  arenaAddress = addressOf(arena);
}

function element(fd: number, key: Uint8Array, room: number): void {
  valueAt = (key.length + 7) & ~7;
  arenaFor(valueAt + room);
  arena.set(key, 0);
  attr.clear();
  attr.u32(0, fd);
  attr.address(8, arenaAddress);
  attr.address(16, arenaAddress + valueAt);
}

/**
 * A copy of an entry's value; undefined when there is none. `valueSize` is what the system call gives: for per-CPU maps
 * the value's size rounded up to 8, times the possible CPUs.
 */
export function mapLookup(fd: number, key: Uint8Array, valueSize: number): Uint8Array | undefined {
  element(fd, key, valueSize);
  const result = bpf(MAP_LOOKUP_ELEM);
  if (result >= 0) return arena.slice(valueAt, valueAt + valueSize);
  if (result === -ENOENT) return undefined;
  throw bpfError(MAP_LOOKUP_ELEM, result, attempts().readEntry());
}

/** Flags: 0 any, 1 only new, 2 only existing. */
export function mapUpdate(fd: number, key: Uint8Array, value: Uint8Array, flags = 0): void {
  element(fd, key, value.length);
  arena.set(value, valueAt);
  attr.u32(24, flags);
  const result = bpf(MAP_UPDATE_ELEM);
  if (result < 0)
    throw bpfError(
      MAP_UPDATE_ELEM,
      result,
      attempts().writeEntry(),
      result === -E2BIG ? refusalHints().mapFull() : undefined,
    );
}

/** Writes so many entries, whose keys and values lie one after the other, in one call (of hash maps: Linux 5.6). */
export function mapUpdateMany(fd: number, count: number, keys: ArrayBufferView, values: ArrayBufferView): void {
  attr.clear();
  attr.pointer(16, keys);
  attr.pointer(24, values);
  attr.u32(32, count);
  attr.u32(36, fd);
  const result = bpf(MAP_UPDATE_BATCH);
  if (result < 0)
    throw bpfError(
      MAP_UPDATE_BATCH,
      result,
      attempts().writeEntries(),
      result === -E2BIG ? refusalHints().mapFull() : undefined,
    );
}

/** Whether there was such an entry. */
export function mapDelete(fd: number, key: Uint8Array): boolean {
  element(fd, key, 0);
  attr.address(16, 0);
  const result = bpf(MAP_DELETE_ELEM);
  if (result >= 0) return true;
  if (result === -ENOENT) return false;
  throw bpfError(MAP_DELETE_ELEM, result, attempts().deleteEntry());
}

/** The key after `key` (the first after null); undefined at the end. */
export function mapNextKey(fd: number, key: Uint8Array | null, keySize: number): Uint8Array | undefined {
  element(fd, key ?? arena.subarray(0, 0), keySize);
  if (key === null) attr.address(8, 0);
  const result = bpf(MAP_GET_NEXT_KEY);
  if (result >= 0) return arena.slice(valueAt, valueAt + keySize);
  if (result === -ENOENT) return undefined;
  throw bpfError(MAP_GET_NEXT_KEY, result, attempts().walkMap());
}

export interface TestRunOptions {
  /** Packet bytes, for program types that take them. */
  readonly dataIn?: Uint8Array;
  /** The context, for program types that take one (raw tracepoints: u64 arguments). */
  readonly ctxIn?: Uint8Array;
  readonly repeat?: number;
}

/**
 * Runs a program once here, or `repeat` times (network types only). `durationNs` is the mean; raw tracepoints give 0.
 */
export function testRun(
  fd: number,
  options: TestRunOptions = {},
): { retval: number; durationNs: number; dataOut: Uint8Array } {
  const dataOut = new Uint8Array(options.dataIn ? options.dataIn.length + 256 : 0);
  attr.clear();
  attr.u32(0, fd);
  if (options.dataIn) {
    attr.u32(8, options.dataIn.length);
    attr.u32(12, dataOut.length);
    attr.pointer(16, options.dataIn);
    attr.pointer(24, dataOut);
  }
  attr.u32(32, options.repeat ?? 0);
  if (options.ctxIn) {
    attr.u32(40, options.ctxIn.length);
    attr.pointer(48, options.ctxIn);
  }
  mustBpf(PROG_TEST_RUN, () => attempts().testProgram());
  return { retval: attr.read32(4), durationNs: attr.read32(36), dataOut: dataOut.subarray(0, attr.read32(12)) };
}

/** "EPERM" when loading such a program is refused, undefined when it loads: for feature probes. */
export function loadRefusal(type: number, code: Uint8Array, more: Partial<ProgramOptions> = {}): string | undefined {
  attr.clear();
  prepareLoad({ name: "probe", type, code, license: "Dual MIT/GPL", ...more }, -1, undefined);
  const result = verified();
  if (result < 0) return errnoName(-result);
  closeFd(result);
  return undefined;
}
