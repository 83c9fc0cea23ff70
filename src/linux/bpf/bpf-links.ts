// Attaching programs by bpf(2): raw tracepoints and links. Closing the descriptor detaches.
import { kernelFeatures, MissingFeature, needsOf } from "../../base/kernel-features.ts";
import { attr, bpf, bpfError, ITER_CREATE, LINK_CREATE, mustBpf, OBJ_PIN, RAW_TRACEPOINT_OPEN } from "./bpf-call.ts";
import { EEXIST, EINVAL, ENOENT, EOPNOTSUPP, ENOTSUPP, EPERM, errnoName } from "../error.ts";
import { cString, addressOf } from "../ffi.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";

export const BPF_TRACE_RAW_TP = 23;
export const BPF_TRACE_FENTRY = 24;
export const BPF_TRACE_FEXIT = 25;
export const BPF_TRACE_ITER = 28;
export const BPF_PERF_EVENT = 41;
export const BPF_TRACE_KPROBE_MULTI = 42;
export const BPF_TRACE_UPROBE_MULTI = 48;
export const BPF_TRACE_KPROBE_SESSION = 56;

/** Flag of both multi links: the program runs when the function returns. */
const MULTI_RETURN = 1;

/**
 * Attaches to a raw tracepoint; `name` is null for tracing programs, which were bound at load. A cookie (Linux 6.10)
 * of 0 asks for nothing new of the kernel.
 */
export function rawTracepointOpen(name: string | null, progFd: number, cookie = 0n): number {
  attr.clear();
  if (name !== null) attr.pointer(0, cString(name));
  attr.u32(8, progFd);
  attr.u64(16, cookie);
  const fd = bpf(RAW_TRACEPOINT_OPEN);
  if (fd >= 0) return fd;
  const doing = name === null ? attempts().attachTracing() : attempts().attachRawTracepoint(name);
  const hint =
    fd === -ENOENT && name !== null
      ? refusalHints().noRawTracepoint()
      : fd === -EINVAL && cookie !== 0n
        ? new MissingFeature(kernelFeatures.rawTracepointCookies, "EINVAL")
        : undefined;
  throw bpfError(RAW_TRACEPOINT_OPEN, fd, doing, hint);
}

/** Makes a file of a link, in a BPF file system: it stays, with all that it needs, until the file is removed. */
export function pinObject(fd: number, path: string): void {
  attr.clear();
  attr.pointer(0, cString(path));
  attr.u32(8, fd);
  const result = bpf(OBJ_PIN);
  if (result >= 0) return;
  const hint =
    result === -EEXIST
      ? refusalHints().pinned(path)
      : result === -EPERM || result === -EINVAL || result === -ENOENT
        ? refusalHints().noPinPlace()
        : undefined;
  throw bpfError(OBJ_PIN, result, attempts().pinTo(path), hint);
}

function link(progFd: number, target: number, attachType: number): void {
  attr.clear();
  attr.u32(0, progFd);
  attr.u32(4, target);
  attr.u32(8, attachType);
}

/** Attaches to a perf event with a cookie (Linux 5.15). The perf event's descriptor must stay open. */
export function linkCreatePerfEvent(progFd: number, perfFd: number, cookie: bigint): number {
  link(progFd, perfFd, BPF_PERF_EVENT);
  attr.u64(16, cookie);
  const fd = bpf(LINK_CREATE);
  if (fd >= 0) return fd;
  throw bpfError(
    LINK_CREATE,
    fd,
    attempts().attachToPerfEvent(),
    fd === -EEXIST
      ? refusalHints().hasProgram()
      : fd === -EINVAL
        ? new MissingFeature(kernelFeatures.perfLinks, "EINVAL")
        : undefined,
  );
}

export interface UprobeMultiOptions {
  /** A descriptor of the file, so that nothing else can have its place meanwhile. */
  readonly file: number;
  /** What people know it by. */
  readonly path: string;
  readonly offsets: readonly bigint[];
  /** File offsets of USDT semaphores, one a site; 0 for none. */
  readonly refCtrOffsets?: readonly bigint[];
  readonly cookies?: readonly bigint[];
  readonly isReturn: boolean;
  readonly pid?: number;
}

/** Attaches to many places of one binary at once (Linux 6.6). */
export function linkCreateUprobeMulti(progFd: number, options: UprobeMultiOptions): number {
  link(progFd, 0, BPF_TRACE_UPROBE_MULTI);
  attr.pointer(16, cString(`/proc/self/fd/${options.file}`));
  attr.pointer(24, words(options.offsets));
  if (options.refCtrOffsets) attr.pointer(32, words(options.refCtrOffsets));
  if (options.cookies) attr.pointer(40, words(options.cookies));
  attr.u32(48, options.offsets.length);
  attr.u32(52, options.isReturn ? MULTI_RETURN : 0);
  attr.u32(56, options.pid ?? 0);
  const fd = bpf(LINK_CREATE);
  if (fd >= 0) return fd;
  const hint =
    fd === -ENOENT
      ? refusalHints().fileMissing()
      : fd === -EINVAL
        ? refusalHints().noInstruction(needsOf(kernelFeatures.multipleUprobes))
        : undefined;
  throw bpfError(LINK_CREATE, fd, attempts().attachToPlaces(options.offsets.length, options.path), hint);
}

export interface KprobeMultiOptions {
  /** Either symbols or addresses. */
  readonly symbols?: readonly string[];
  readonly addresses?: readonly bigint[];
  readonly cookies?: readonly bigint[];
  readonly isReturn: boolean;
  /** Entry and return in one program (Linux 6.10). */
  readonly session?: boolean;
}

/** Attaches to many kernel functions at once (Linux 5.18). */
export function linkCreateKprobeMulti(progFd: number, options: KprobeMultiOptions): number {
  const names = options.symbols && cStrings(options.symbols);
  const count = options.symbols?.length ?? options.addresses?.length ?? 0;
  link(progFd, 0, options.session ? BPF_TRACE_KPROBE_SESSION : BPF_TRACE_KPROBE_MULTI);
  attr.u32(16, options.isReturn ? MULTI_RETURN : 0);
  attr.u32(20, count);
  if (names) {
    attr.pointer(24, names.pointers);
    // Keeps the names in place during the call.
    attr.pin(names.text);
  } else if (options.addresses) {
    attr.pointer(32, words(options.addresses));
  }
  if (options.cookies) attr.pointer(40, words(options.cookies));
  const fd = bpf(LINK_CREATE);
  if (fd >= 0) return fd;
  const hint =
    fd === -ENOENT || fd === -3
      ? refusalHints().functionMissing()
      : fd === -EOPNOTSUPP || fd === -ENOTSUPP || fd === -EINVAL
        ? new MissingFeature(kernelFeatures.multipleKprobes, errnoName(-fd))
        : undefined;
  throw bpfError(LINK_CREATE, fd, attempts().attachToFunctions(count), hint);
}

/** Attaches an iterator; `info` is a bpf_iter_link_info (the map, cgroup or task to walk). */
export function linkCreateIter(progFd: number, info?: Uint8Array): number {
  link(progFd, 0, BPF_TRACE_ITER);
  if (info) {
    attr.pointer(16, info);
    attr.u32(24, info.length);
  }
  return mustBpf(LINK_CREATE, () => attempts().attachIterator());
}

/** A descriptor that runs the iterator as it is read. */
export function iterCreate(linkFd: number): number {
  attr.clear();
  attr.u32(0, linkFd);
  return mustBpf(ITER_CREATE, () => attempts().openIterator());
}

/** Zero-terminated texts behind one another, and a pointer to each. */
function cStrings(texts: readonly string[]): { readonly text: Uint8Array; readonly pointers: BigUint64Array } {
  const text = cString(texts.join("\0"));
  const pointers = new BigUint64Array(texts.length);
  let at = BigInt(addressOf(text));
  for (const [i, one] of texts.entries()) {
    pointers[i] = at;
    at += BigInt(Buffer.byteLength(one) + 1);
  }
  return { text, pointers };
}

function words(values: readonly bigint[]): BigUint64Array {
  return BigUint64Array.from(values);
}
