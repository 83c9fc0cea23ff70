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
import { hostName, kernelRelease } from "./running-kernel.ts";
import { pmuType, tracefsRoot } from "./tracefs.ts";
import { Failure, saidBy } from "../../base/failure.ts";
import {
  kernelFeatures as features,
  kernelHas,
  kernelVersion,
  MissingFeature,
  needsOf,
  type KernelFeature,
  type KernelVersion,
} from "../../base/kernel-features.ts";
import { lazy } from "../../base/lazy.ts";
import { machineReasons } from "../../messages/on-demand.ts";

const kallsyms = lazy<typeof import("./kallsyms.ts")>(() => require("./kallsyms.ts"));

export interface Feature {
  readonly name: string;
  /** A MissingFeature where the kernel lacks it; any other Failure where it is refused, or off. */
  readonly missing?: Failure;
  /** Since when, or how many. */
  readonly detail: string;
}

const KPROBE = 2;
const PERF_EVENT = 7;
const RAW_TRACEPOINT = 17;
const TRACING = 26;
const BPF_TRACE_FENTRY = 24;
const BPF_TRACE_ITER = 28;

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
    const found: Feature[] = [];
    const add = (name: string, missing: Failure | undefined, detail = ""): void => {
      found.push({ name, ...(missing === undefined ? {} : { missing }), detail });
    };
    const tried = (feature: KernelFeature, missing: Failure | undefined): void =>
      add(feature.name, missing, feature.since === undefined ? "" : `since Linux ${feature.since.join(".")}`);
    const release = kernelRelease();
    add(
      "kernel",
      kernelHas(kernel, features.baseline) ? undefined : new Failure(machineReasons().tooOld(release, tooOld)),
      release,
    );
    const privileges = missingToTrace();
    add(
      "privileges to trace",
      privileges.length === 0 ? undefined : new Failure(machineReasons().privilegesMissing(privileges.join(" and "))),
    );
    const hidden = kallsyms().Kallsyms.read().hidden;
    add("addresses of kernel symbols", hidden === undefined ? undefined : new Failure(hidden));
    add("CPUs", undefined, `${onlineCpus().length} online, ${cpus} possible`);
    const types = "/sys/kernel/btf/vmlinux";
    tried(
      features.typeInformation,
      existsSync(types) ? undefined : new MissingFeature(features.typeInformation, `${types} is missing`),
    );
    add("JIT compiler", jit());
    add("tracefs", attempt(tracefsRoot));
    for (const [name, type] of [
      ["raw tracepoint programs", RAW_TRACEPOINT],
      ["perf event programs", PERF_EVENT],
      ["tracepoint programs", 5],
      ["kprobe programs", KPROBE],
    ] as const) {
      tried({ name }, refusedAs({ name }, loadRefusal(type, nothing)));
    }
    tried(features.kprobes, kprobeRefusal());
    tried(
      features.uprobes,
      pmuType("uprobe") === undefined ? new MissingFeature(features.uprobes, "there is no uprobe PMU") : undefined,
    );
    add("fentry and fexit", tracingRefusal(BPF_TRACE_FENTRY));
    add("BTF raw tracepoints and iterators", tracingRefusal(BPF_TRACE_ITER));
    tried(features.multipleKprobes, multiRefusal("kprobe"));
    tried(features.multipleUprobes, multiRefusal("uprobe"));
    tried(
      features.rawTracepointCookies,
      attempt(() => tryRawTracepointCookie()),
    );
    tried(
      features.ringBuffer,
      attemptClose(() => createMap({ name: "probe", type: 27, keySize: 0, valueSize: 0, entries: 65536 })),
    );
    tried(features.currentTask, refusedAs(features.currentTask, loadRefusal(RAW_TRACEPOINT, currentTaskBtf)));
    tried(features.calledLoops, helperRefusal(features.calledLoops, 181));
    tried(features.mapLoops, helperRefusal(features.mapLoops, 164));
    tried(features.mayGoto, refusedAs(features.mayGoto, loadRefusal(RAW_TRACEPOINT, mayGoto)));
    tried(features.signedDivision, refusedAs(features.signedDivision, loadRefusal(RAW_TRACEPOINT, signedDivision)));
    add(
      "hardware counters",
      attemptClose(() => openPerfEvent({ ...anyCpu, type: PERF_TYPE_HARDWARE, config: 0, samplePeriod: 1_000_000 })),
    );
    add(
      "software counters",
      attemptClose(() => openPerfEvent({ ...anyCpu, type: PERF_TYPE_SOFTWARE, config: 0, samplePeriod: 1_000_000 })),
    );
    return found;
  }
}

const tooOld = `strobe needs ${needsOf(features.baseline)}`;

const anyCpu = { pid: -1, cpu: 0 } as const;

function probe(): Capabilities {
  const kernel = kernelVersion(kernelRelease());
  const btf = existsSync("/sys/kernel/btf/vmlinux");
  // A load of three instructions: distributions backport. Without the privilege to load, the version has to do.
  const supports = (program: Uint8Array, feature: { readonly since: KernelVersion }): boolean => {
    const refusal = loadRefusal(RAW_TRACEPOINT, program);
    return refusal === "EPERM" || refusal === "ENOSYS" ? kernelHas(kernel, feature) : refusal === undefined;
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
      return (jumps ??= supports(mayGoto, features.mayGoto));
    },
    get cpuV4() {
      return (signs ??= supports(signedDivision, features.signedDivision));
    },
    ringBuffer: kernelHas(kernel, features.ringBuffer),
    get hostname() {
      return hostName();
    },
    taskBtf: btf && kernelHas(kernel, features.currentTask),
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

/** What the errno of a refusal says of a feature. */
function refusedAs(feature: KernelFeature, errno: string | undefined): Failure | undefined {
  switch (errno) {
    case undefined:
      return undefined;
    case "EPERM":
    case "EACCES":
      return new Failure(machineReasons().refusedHere(errno));
    case "EOPNOTSUPP":
    case "EINVAL":
      return new MissingFeature(feature, errno);
    default:
      return new Failure(machineReasons().refusal(errno));
  }
}

/** A helper that is called without its arguments is refused either way; only the log tells whether it exists. */
function helperRefusal(feature: KernelFeature, helper: number): Failure | undefined {
  const log = loadLog(code(call(helper), exit));
  return /unknown func|invalid func/.test(log)
    ? new MissingFeature(feature, "the verifier does not know it")
    : undefined;
}

function loadLog(program: Uint8Array): string {
  try {
    closeFd(loadProgram({ name: "probe", type: RAW_TRACEPOINT, code: program, license: "Dual MIT/GPL" }));
    return "";
  } catch (error) {
    return error instanceof LinuxError ? (error.log ?? "") : "";
  }
}

function attempt(action: () => unknown): Failure | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (!(error instanceof LinuxError)) return new Failure(saidBy(error));
    return error.missing ?? new Failure(machineReasons().refusedDoing(error.errno, error.doing));
  }
}

function attemptClose(open: () => number): Failure | undefined {
  return attempt(() => closeFd(open()));
}

function jit(): Failure | undefined {
  try {
    return readFileSync("/proc/sys/net/core/bpf_jit_enable", "latin1").trim() === "0"
      ? new Failure(machineReasons().interpreted())
      : undefined;
  } catch {
    return undefined;
  }
}

function kprobeRefusal(): Failure | undefined {
  const type = pmuType("kprobe");
  if (type === undefined) return new MissingFeature(features.kprobes, "there is no kprobe PMU");
  return attemptClose(() => openPerfEvent({ ...anyCpu, type, config: 0, config1: cString("vfs_read") }));
}

/**
 * fentry programs bind at load: without a valid BTF id the kernel says EINVAL where it would take one, EPERM where not.
 */
function tracingRefusal(attachType: number): Failure | undefined {
  const refusal = loadRefusal(TRACING, nothing, { expectedAttachType: attachType, attachBtfId: 0x7fff_ffff });
  return refusal === "EPERM" || refusal === "EACCES" ? new Failure(machineReasons().refusedHere(refusal)) : undefined;
}

/** A multi link that names nothing is refused with EINVAL by kernels without it, otherwise differently. */
function multiRefusal(kind: "kprobe" | "uprobe"): Failure | undefined {
  const feature = kind === "kprobe" ? features.multipleKprobes : features.multipleUprobes;
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
    return error instanceof LinuxError ? refusedAs(feature, error.errno) : new Failure(saidBy(error));
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
    return error instanceof LinuxError ? refusedAs(feature, error.errno) : new Failure(saidBy(error));
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
