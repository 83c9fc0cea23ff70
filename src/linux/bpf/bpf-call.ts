// bpf(2) itself: one attribute block, filled by offsets (union bpf_attr of include/uapi/linux/bpf.h), never allocated
// per call.
import type { MissingFeature } from "../../base/kernel-features.ts";
import { LinuxError, type Doing, type LinuxErrorDetails } from "../error.ts";
import { addressOf, boundToThread, syscall, SYS } from "../ffi.ts";
import type { Reason } from "../../base/failure.ts";

export const MAP_CREATE = 0;
export const MAP_LOOKUP_ELEM = 1;
export const MAP_UPDATE_ELEM = 2;
export const MAP_DELETE_ELEM = 3;
export const MAP_GET_NEXT_KEY = 4;
export const PROG_LOAD = 5;
export const OBJ_PIN = 6;
export const PROG_TEST_RUN = 10;
export const PROG_GET_NEXT_ID = 11;
export const MAP_GET_NEXT_ID = 12;
export const PROG_GET_FD_BY_ID = 13;
export const MAP_GET_FD_BY_ID = 14;
export const OBJ_GET_INFO_BY_FD = 15;
export const RAW_TRACEPOINT_OPEN = 17;
export const BTF_LOAD = 18;
export const BTF_GET_FD_BY_ID = 19;
export const BTF_GET_NEXT_ID = 23;
export const MAP_LOOKUP_BATCH = 24;
export const MAP_LOOKUP_AND_DELETE_BATCH = 25;
export const MAP_UPDATE_BATCH = 26;
export const LINK_CREATE = 28;
export const LINK_GET_FD_BY_ID = 30;
export const LINK_GET_NEXT_ID = 31;
export const ENABLE_STATS = 32;
export const ITER_CREATE = 33;

const names: Readonly<Record<number, string>> = {
  [MAP_CREATE]: "BPF_MAP_CREATE",
  [MAP_LOOKUP_ELEM]: "BPF_MAP_LOOKUP_ELEM",
  [MAP_UPDATE_ELEM]: "BPF_MAP_UPDATE_ELEM",
  [MAP_DELETE_ELEM]: "BPF_MAP_DELETE_ELEM",
  [MAP_GET_NEXT_KEY]: "BPF_MAP_GET_NEXT_KEY",
  [PROG_LOAD]: "BPF_PROG_LOAD",
  [OBJ_PIN]: "BPF_OBJ_PIN",
  [PROG_TEST_RUN]: "BPF_PROG_TEST_RUN",
  [OBJ_GET_INFO_BY_FD]: "BPF_OBJ_GET_INFO_BY_FD",
  [RAW_TRACEPOINT_OPEN]: "BPF_RAW_TRACEPOINT_OPEN",
  [BTF_LOAD]: "BPF_BTF_LOAD",
  [MAP_LOOKUP_BATCH]: "BPF_MAP_LOOKUP_BATCH",
  [MAP_LOOKUP_AND_DELETE_BATCH]: "BPF_MAP_LOOKUP_AND_DELETE_BATCH",
  [MAP_UPDATE_BATCH]: "BPF_MAP_UPDATE_BATCH",
  [LINK_CREATE]: "BPF_LINK_CREATE",
  [ENABLE_STATS]: "BPF_ENABLE_STATS",
  [ITER_CREATE]: "BPF_ITER_CREATE",
};

/** Those whose descriptors a session keeps. */
const makesDescriptor: ReadonlySet<number> = new Set([MAP_CREATE, PROG_LOAD, RAW_TRACEPOINT_OPEN, LINK_CREATE]);

// Every command's fields end before this; the rest of a larger block must be zero, which it is.
const ATTR_SIZE = 152;
const bytes = new Uint8Array(ATTR_SIZE);
const view = new DataView(bytes.buffer);
let address = 0;
// Memory that the block points to: held until the next command, so that it is not collected during this one.
const pinned: ArrayBufferView[] = [];

/** The attribute block of the command being made. */
export const attr = {
  /** Starts a command. */
  clear(): void {
    bytes.fill(0);
    pinned.length = 0;
  },
  u32(offset: number, value: number): void {
    view.setUint32(offset, value, true);
  },
  u64(offset: number, value: bigint | number): void {
    if (typeof value === "bigint") view.setBigUint64(offset, value, true);
    else this.address(offset, value);
  },
  /** A non-negative number below 2^53. */
  address(offset: number, value: number): void {
    view.setUint32(offset, value >>> 0, true);
    view.setUint32(offset + 4, Math.floor(value / 0x1_0000_0000), true);
  },
  pointer(offset: number, memory: ArrayBufferView): void {
    pinned.push(memory);
    if (memory.byteLength > 0) this.address(offset, addressOf(memory));
  },
  /** Holds memory that the block points to indirectly. */
  pin(memory: ArrayBufferView): void {
    pinned.push(memory);
  },
  /** A name of at most 15 characters of those that the kernel allows. */
  name(offset: number, text: string): void {
    for (let i = 0; i < text.length && i < 15; i++) {
      const code = text.charCodeAt(i);
      const allowed =
        (code >= 48 && code <= 57) ||
        (code >= 65 && code <= 90) ||
        (code >= 97 && code <= 122) ||
        code === 95 ||
        code === 46;
      bytes[offset + i] = allowed ? code : 95;
    }
  },
  /** What the kernel wrote back. */
  read32(offset: number): number {
    return view.getUint32(offset, true);
  },
};

/** Makes the call: the result, or a negative errno. */
export function bpf(command: number): number {
  address ||= addressOf(bytes);
  const result = syscall(SYS.bpf, command, address, ATTR_SIZE);
  return makesDescriptor.has(command) ? boundToThread(result) : result;
}

export function bpfError(
  command: number,
  result: number,
  doing: Reason,
  hint?: Reason | MissingFeature,
  { log, program }: Pick<LinuxErrorDetails, "log" | "program"> = {},
): LinuxError {
  return new LinuxError({
    call: `bpf(${names[command] ?? command})`,
    code: -result,
    doing,
    ...(hint === undefined ? {} : typeof hint === "string" ? { hint } : { missing: hint }),
    ...(log === undefined ? {} : { log }),
    ...(program === undefined ? {} : { program }),
  });
}

/** Makes the call or throws. */
export function mustBpf(command: number, doing: Doing, hint?: Reason): number {
  const result = bpf(command);
  if (result < 0) throw bpfError(command, result, doing(), hint);
  return result;
}
