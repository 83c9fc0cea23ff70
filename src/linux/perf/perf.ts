// perf_event_open(2) and its ioctls.
import { readFileSync } from "node:fs";
import { check, EINVAL, LinuxError } from "../error.ts";
import { addressOf, boundToThread, syscall, SYS } from "../ffi.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

export const PERF_TYPE_HARDWARE = 0;
export const PERF_TYPE_SOFTWARE = 1;
export const PERF_TYPE_TRACEPOINT = 2;
export const PERF_TYPE_BREAKPOINT = 5;

export const PERF_COUNT_SW_DUMMY = 9;
export const PERF_COUNT_SW_BPF_OUTPUT = 10;

const IOC_SET_BPF = 0x40042408;
const IOC_DISABLE = 0x2401;
const FLAG_FD_CLOEXEC = 8;
/** PERF_ATTR_SIZE_VER5: all the fields we set. */
const ATTR_SIZE = 112;

export interface PerfEventOptions {
  /** A PERF_TYPE_ number, or a dynamic PMU's from tracefs.pmuType(). */
  readonly type: number;
  readonly config: bigint | number;
  /**
   * A number, or memory whose address is passed (the zero-terminated path of a uprobe PMU). Breakpoints: the address.
   */
  readonly config1?: bigint | number | Uint8Array;
  /** What people know it by, where that is not what `config1` says. */
  readonly named?: string;
  /** Breakpoints: the length. */
  readonly config2?: bigint | number;
  readonly samplePeriod?: bigint | number;
  /** Samples a second; instead of a period. */
  readonly sampleFrequency?: bigint | number;
  /** -1: every process (then `cpu` must name one). */
  readonly pid: number;
  /** -1: any CPU (then `pid` must name a process). */
  readonly cpu: number;
  readonly exclude?: {
    readonly user?: boolean;
    readonly kernel?: boolean;
    readonly hypervisor?: boolean;
    readonly idle?: boolean;
  };
  /** HW_BREAKPOINT_ bits: 1 read, 2 write, 4 execute. */
  readonly bpType?: number;
  /** wakeup_events */
  readonly wakeup?: number;
  /** wakeup_watermark: bytes in the ring; instead of `wakeup`, and of half the ring. */
  readonly watermark?: number;
  readonly disabled?: boolean;
  /** Children of the process are traced too; `threads`: new threads, but no new processes. */
  readonly inherit?: boolean | "threads";
  /** Gone when the process executes another program (Linux 5.13). */
  readonly removeOnExec?: boolean;
  /** What programs hand out goes to the event's ring. */
  readonly rawSamples?: boolean;
  /**
   * Records of mappings of code, exec, fork and exit go to the event's ring (perf-records.ts), with CLOCK_MONOTONIC
   * times.
   */
  readonly processRecords?: boolean;
}

/** Bits of struct perf_event_attr, in its two words of flags. */
const attrMmap = 1 << 8;
const attrComm = 1 << 9;
const attrTask = 1 << 13;
const attrWatermark = 1 << 14;
const attrSampleIdAll = 1 << 18;
const attrMmap2 = 1 << 23;
const attrCommExec = 1 << 24;
const attrUseClockid = 1 << 25;
const attrBuildId = 1 << 2;
const attrInheritThread = 1 << 3;
const attrRemoveOnExec = 1 << 4;
const processRecordFlags = attrMmap | attrComm | attrTask | attrSampleIdAll | attrMmap2 | attrCommExec | attrUseClockid;
const PERF_SAMPLE_TIME = 4;
const PERF_SAMPLE_RAW = 1 << 10;
const CLOCK_MONOTONIC = 1;

/** Opens a perf event; the caller owns the descriptor. */
export function openPerfEvent(options: PerfEventOptions): number {
  const attr = new Uint8Array(ATTR_SIZE);
  const view = new DataView(attr.buffer);
  view.setUint32(0, options.type, true);
  view.setUint32(4, ATTR_SIZE, true);
  view.setBigUint64(8, wide(options.config), true);
  view.setBigUint64(16, wide(options.sampleFrequency ?? options.samplePeriod ?? 0), true);
  const exclude = options.exclude ?? {};
  view.setUint32(
    40,
    (options.disabled ? 1 : 0) |
      (options.inherit ? 1 << 1 : 0) |
      (exclude.user ? 1 << 4 : 0) |
      (exclude.kernel ? 1 << 5 : 0) |
      (exclude.hypervisor ? 1 << 6 : 0) |
      (exclude.idle ? 1 << 7 : 0) |
      (options.sampleFrequency === undefined ? 0 : 1 << 10) |
      (options.processRecords ? processRecordFlags : 0) |
      (options.watermark === undefined ? 0 : attrWatermark),
    true,
  );
  view.setUint32(
    44,
    (options.inherit === "threads" ? attrInheritThread : 0) |
      (options.processRecords ? attrBuildId : 0) |
      (options.removeOnExec ? attrRemoveOnExec : 0),
    true,
  );
  view.setUint32(48, options.watermark ?? options.wakeup ?? 0, true);
  view.setUint32(52, options.bpType ?? 0, true);
  const config1 = options.config1 ?? 0;
  view.setBigUint64(56, config1 instanceof Uint8Array ? BigInt(addressOf(config1)) : wide(config1), true);
  view.setBigUint64(64, wide(options.config2 ?? 0), true);
  if (options.rawSamples) view.setBigUint64(24, BigInt(PERF_SAMPLE_RAW), true);
  if (options.processRecords) {
    view.setBigUint64(24, BigInt(PERF_SAMPLE_TIME), true);
    view.setUint32(92, CLOCK_MONOTONIC, true);
  }
  const fd = syscall(SYS.perfEventOpen, attr, options.pid, options.cpu, -1, FLAG_FD_CLOEXEC);
  if (fd >= 0) return boundToThread(fd);
  const doing = attempts().openPerfEvent(options.type, options.config, pathOf(options));
  const hint = perfHint(-fd, options);
  throw new LinuxError({ call: "perf_event_open", code: -fd, doing, ...(hint === undefined ? {} : { hint }) });
}

function wide(value: bigint | number): bigint {
  return BigInt.asUintN(64, BigInt(value));
}

function pathOf({ config1, named }: PerfEventOptions): string {
  const text = config1 instanceof Uint8Array ? Buffer.from(config1).toString("utf8").replace(/\0.*$/s, "") : undefined;
  return text === undefined ? "" : `, ${named ?? text}`;
}

function perfHint(code: number, options: PerfEventOptions): Reason | undefined {
  if (code === 2 && options.type === PERF_TYPE_HARDWARE) return refusalHints().noCounter();
  if (code === 95 && options.type === PERF_TYPE_HARDWARE) return refusalHints().noSampling();
  if (code === 3) return refusalHints().processGone(options.pid);
  if (code === EINVAL && options.sampleFrequency !== undefined) {
    const most = readFileSync("/proc/sys/kernel/perf_event_max_sample_rate", "latin1").trim();
    if (options.sampleFrequency > Number(most)) return refusalHints().sampleRate(most);
  }
  if (code === 28)
    return options.type === PERF_TYPE_BREAKPOINT ? refusalHints().noBreakpoint() : refusalHints().noFreeCounter();
  return undefined;
}

/** The event happens no more; what is no perf event stays as it is. */
export function disablePerfEvent(descriptor: number): void {
  syscall(SYS.ioctl, descriptor, IOC_DISABLE, 0);
}

/** Runs a loaded program on each event (PERF_EVENT_IOC_SET_BPF). */
export function perfAttach(perfFd: number, progFd: number): void {
  check(syscall(SYS.ioctl, perfFd, IOC_SET_BPF, progFd), "ioctl(PERF_EVENT_IOC_SET_BPF)", () =>
    attempts().attachToPerfEvent(),
  );
}

/** Numbers of the CPUs that are online now. */
export function onlineCpus(): number[] {
  return cpuList("online");
}

let possible = 0;
/** How many copies a per-CPU map has: CPUs that could ever be plugged in. */
export function possibleCpus(): number {
  if (possible === 0) {
    possible = Math.max(...cpuList("possible")) + 1;
  }
  return possible;
}

function cpuList(name: "online" | "possible"): number[] {
  const file = `/sys/devices/system/cpu/${name}`;
  try {
    return parseCpuList(readFileSync(file, "latin1"));
  } catch (error) {
    throw new LinuxError({
      call: "open",
      code: -((error as NodeJS.ErrnoException).errno ?? 0),
      doing: attempts().readFile(file),
      hint: refusalHints().noSysfs(),
    });
  }
}

/** "0-3,8" → [0, 1, 2, 3, 8] */
export function parseCpuList(text: string): number[] {
  const cpus: number[] = [];
  for (const part of text.trim().split(",")) {
    const [first, last] = part.split("-").map(Number);
    if (first === undefined || Number.isNaN(first)) continue;
    for (let cpu = first; cpu <= (last ?? first); cpu++) cpus.push(cpu);
  }
  return cpus;
}
