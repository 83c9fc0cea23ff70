// What this kernel offers. capabilities() is asked at every start, and tries only what is asked of it; report() really
// tries things.
import { existsSync, readFileSync } from "node:fs";
import {
  createMap,
  linkCreateKprobeMulti,
  linkCreateUprobeMulti,
  loadRefusal,
  rawTracepointOpen,
  loadProgram,
} from "../bpf/bpf.ts";
import { LinuxError } from "../error.ts";
import { closeFd, cString } from "../ffi.ts";
import { onlineCpus, openPerfEvent, PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE, possibleCpus } from "../perf/perf.ts";
import { pidNamespace } from "../processes/pid-namespace.ts";
import { missingToTrace } from "../processes/privileges.ts";
import type { Capabilities } from "./capabilities.ts";
import { kernelRelease } from "./running-kernel.ts";
import { pmuType, tracefsRoot } from "./tracefs.ts";
import { lazy } from "../../base/lazy.ts";

const kallsyms = lazy<typeof import("./kallsyms.ts")>(() => require("./kallsyms.ts"));

export interface Feature {
  readonly name: string;
  readonly available: boolean;
  /** Since when, or why not. */
  readonly detail: string;
}

const KPROBE = 2;
const PERF_EVENT = 7;
const RAW_TRACEPOINT = 17;
const TRACING = 26;
const BPF_TRACE_FENTRY = 24;

const move = (register: number, value: number): number[] => [0xb7, register, 0, 0, value, 0, 0, 0];
const call = (helper: number): number[] => [0x85, 0, 0, 0, helper & 255, helper >> 8, 0, 0];
const exit = [0x95, 0, 0, 0, 0, 0, 0, 0];
const code = (...instructions: number[][]): Uint8Array => Uint8Array.from(instructions.flat());

const nothing = code(move(0, 0), exit);
/** A jump that the kernel takes once its budget of iterations is spent (BPF_JCOND, +1). */
const mayGoto = code(move(0, 0), [0xe5, 0, 1, 0, 0, 0, 0, 0], move(0, 1), exit);
/** Signed division: the division opcode with offset 1. */
const signedDivision = code(move(0, 6), [0x37, 0, 1, 0, 2, 0, 0, 0], exit);
const currentTaskBtf = code(call(158), move(0, 0), exit);

export class Features {
  #capabilities: Capabilities | undefined;

  capabilities(): Capabilities {
    return (this.#capabilities ??= probe());
  }

  /** Tries each feature, for `--info`. Leaves nothing behind. */
  report(): Feature[] {
    const { kernel, cpus } = this.capabilities();
    const features: Feature[] = [];
    const add = (name: string, problem: string | undefined, detail = ""): void => {
      features.push({ name, available: problem === undefined, detail: problem ?? detail });
    };
    add("kernel", kernelAtLeast(kernel, 5, 15) ? undefined : `${kernelRelease()}: strobe needs 5.15`, kernelRelease());
    const missing = missingToTrace();
    add("privileges to trace", missing.length === 0 ? undefined : `${missing.join(" and ")} missing`);
    add("addresses of kernel symbols", kallsyms().Kallsyms.read().hidden);
    add("CPUs", undefined, `${onlineCpus().length} online, ${cpus} possible`);
    add(
      "BTF of the kernel",
      existsSync("/sys/kernel/btf/vmlinux") ? undefined : "/sys/kernel/btf/vmlinux is missing (CONFIG_DEBUG_INFO_BTF)",
    );
    add("JIT compiler", jit());
    add("tracefs", attempt(tracefsRoot));
    for (const [name, type] of [
      ["raw tracepoint programs", RAW_TRACEPOINT],
      ["perf event programs", PERF_EVENT],
      ["tracepoint programs", 5],
      ["kprobe programs", KPROBE],
    ] as const) {
      add(name, explain(loadRefusal(type, nothing)));
    }
    add("kprobes", kprobeRefusal());
    add("uprobes", pmuType("uprobe") === undefined ? "no uprobe PMU (CONFIG_UPROBE_EVENTS)" : undefined);
    add("fentry and fexit", tracingRefusal(BPF_TRACE_FENTRY));
    add(
      "BTF raw tracepoints and iterators",
      attempt(() => tryIterator()),
    );
    add("kprobe-multi links", multiRefusal("kprobe"), "since 5.18, where built with CONFIG_FPROBE");
    add("uprobe-multi links", multiRefusal("uprobe"), "since 6.6");
    add(
      "cookies on raw tracepoints",
      attempt(() => tryRawTracepointCookie()),
      "since 6.10",
    );
    add(
      "ring buffer",
      attemptClose(() => createMap({ name: "probe", type: 27, keySize: 0, valueSize: 0, entries: 65536 })),
      "since 5.8",
    );
    add("current task as a BTF pointer", explain(loadRefusal(RAW_TRACEPOINT, currentTaskBtf)), "since 5.11");
    add("bpf_loop", helperRefusal(181), "since 5.17");
    add("bpf_for_each_map_elem", helperRefusal(164), "since 5.13");
    add("may_goto", explain(loadRefusal(RAW_TRACEPOINT, mayGoto)), "since 6.9");
    add("cpu v4 instructions (signed division)", explain(loadRefusal(RAW_TRACEPOINT, signedDivision)), "since 6.6");
    add(
      "hardware counters",
      attemptClose(() => openPerfEvent({ ...anyCpu, type: PERF_TYPE_HARDWARE, config: 0, samplePeriod: 1_000_000 })),
    );
    add(
      "software counters",
      attemptClose(() => openPerfEvent({ ...anyCpu, type: PERF_TYPE_SOFTWARE, config: 0, samplePeriod: 1_000_000 })),
    );
    return features;
  }
}

const anyCpu = { pid: -1, cpu: 0 } as const;

function probe(): Capabilities {
  const kernel = kernelVersion(kernelRelease());
  const btf = existsSync("/sys/kernel/btf/vmlinux");
  // A load of three instructions: distributions backport. Without the privilege to load, the version has to do.
  const supports = (program: Uint8Array, major: number, minor: number): boolean => {
    const refusal = loadRefusal(RAW_TRACEPOINT, program);
    return refusal === "EPERM" || refusal === "ENOSYS" ? kernelAtLeast(kernel, major, minor) : refusal === undefined;
  };
  // Tried when first asked: few scripts do.
  let jumps: boolean | undefined;
  let signs: boolean | undefined;
  let cpus: number | undefined;
  let kprobes: boolean | undefined;
  let trampolines: boolean | undefined;
  return {
    kernel,
    btf,
    get mayGoto() {
      return (jumps ??= supports(mayGoto, 6, 9));
    },
    get cpuV4() {
      return (signs ??= supports(signedDivision, 6, 6));
    },
    ringBuffer: kernelAtLeast(kernel, 5, 8),
    taskBtf: btf && kernelAtLeast(kernel, 5, 11),
    arm64: process.arch === "arm64",
    pidNamespace: pidNamespace(),
    get cpus() {
      return (cpus ??= possibleCpus());
    },
    get kprobes() {
      return (kprobes ??= kprobeRefusal() === undefined || multiRefusal("kprobe") === undefined);
    },
    get trampolines() {
      return (trampolines ??= btf && tracingRefusal(BPF_TRACE_FENTRY) === undefined);
    },
  };
}

/** "6.18.44-fc" → [6, 18] */
export function kernelVersion(text: string): readonly [number, number] {
  const match = /^(\d+)\.(\d+)/.exec(text);
  return [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
}

/** As everybody else's in language/kernel-version.ts, which is on a higher floor. */
function kernelAtLeast(kernel: readonly [number, number], major: number, minor: number): boolean {
  return kernel[0] > major || (kernel[0] === major && kernel[1] >= minor);
}

function explain(errno: string | undefined): string | undefined {
  switch (errno) {
    case undefined:
      return undefined;
    case "EPERM":
    case "EACCES":
      return `${errno}: refused here`;
    case "EOPNOTSUPP":
    case "EINVAL":
      return "not in this kernel";
    default:
      return errno;
  }
}

/** A helper that is called without its arguments is refused either way; only the log tells whether it exists. */
function helperRefusal(helper: number): string | undefined {
  const log = loadLog(code(call(helper), exit));
  return /unknown func|invalid func/.test(log) ? "not in this kernel" : undefined;
}

function loadLog(program: Uint8Array): string {
  try {
    closeFd(loadProgram({ name: "probe", type: RAW_TRACEPOINT, code: program, license: "Dual MIT/GPL" }));
    return "";
  } catch (error) {
    return error instanceof LinuxError ? (error.log ?? "") : "";
  }
}

function attempt(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof LinuxError
      ? `${error.errno}: ${error.doing}`
      : String(error instanceof Error ? error.message : error);
  }
}
function attemptClose(open: () => number): string | undefined {
  return attempt(() => closeFd(open()));
}

function jit(): string | undefined {
  try {
    return readFileSync("/proc/sys/net/core/bpf_jit_enable", "latin1").trim() === "0"
      ? "off: programs are interpreted, several times slower"
      : undefined;
  } catch {
    return undefined;
  }
}

function kprobeRefusal(): string | undefined {
  const type = pmuType("kprobe");
  if (type === undefined) return "no kprobe PMU (CONFIG_KPROBE_EVENTS)";
  return attemptClose(() => openPerfEvent({ ...anyCpu, type, config: 0, config1: cString("vfs_read") }));
}

/**
 * fentry programs bind at load: without a valid BTF id the kernel says EINVAL where it would take one, EPERM where not.
 */
function tracingRefusal(attachType: number): string | undefined {
  const refusal = loadRefusal(TRACING, nothing, { expectedAttachType: attachType, attachBtfId: 0x7fff_ffff });
  return refusal === "EPERM" || refusal === "EACCES" ? `${refusal}: refused here` : undefined;
}
function tryIterator(): void {
  const refusal = loadRefusal(TRACING, nothing, { expectedAttachType: 28, attachBtfId: 0x7fff_ffff });
  if (refusal === "EPERM" || refusal === "EACCES") throw new Error(`${refusal}: refused here`);
}

/** A multi link that names nothing is refused with EINVAL by kernels without it, otherwise differently. */
function multiRefusal(kind: "kprobe" | "uprobe"): string | undefined {
  let program: number;
  try {
    program = loadProgram({
      name: "probe",
      type: KPROBE,
      code: nothing,
      license: "Dual MIT/GPL",
      expectedAttachType: kind === "kprobe" ? 42 : 48,
    });
  } catch (error) {
    return error instanceof LinuxError ? (explain(error.errno) ?? "") : String(error);
  }
  try {
    closeFd(
      kind === "kprobe"
        ? linkCreateKprobeMulti(program, { symbols: ["vfs_read"], isReturn: false })
        : linkCreateUprobeMulti(program, { path: "/", file: program, offsets: [0n], isReturn: false }),
    );
    return undefined;
  } catch (error) {
    // uprobe: a program is no regular file, which is EBADF where the link type exists.
    if (error instanceof LinuxError && kind === "uprobe" && error.errno === "EBADF") return undefined;
    return error instanceof LinuxError ? (explain(error.errno) ?? "") : String(error);
  } finally {
    closeFd(program);
  }
}

function tryRawTracepointCookie(): void {
  const program = loadProgram({ name: "probe", type: RAW_TRACEPOINT, code: nothing, license: "Dual MIT/GPL" });
  try {
    closeFd(rawTracepointOpen("sched_process_hang", program, 1n));
  } finally {
    closeFd(program);
  }
}
