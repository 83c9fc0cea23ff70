// What strobe asks of kernels: since which version each is there, and what a kernel must be built with.
import { Failure, type Reason } from "./failure.ts";

/** `[6, 18]` of Linux 6.18. */
export type KernelVersion = readonly [major: number, minor: number];

export interface KernelFeature {
  /** As `--info` lists it; behind it can stand "is missing". */
  readonly name: string;
  /** The first version that has it. Distributions backport: where it can be tried, trying it decides. */
  readonly since?: KernelVersion;
  /** The option that the kernel must be built with. */
  readonly config?: string;
}

/** Versions are those of the kernel's git history: the first release with the commit that added each. */
export const kernelFeatures = {
  baseline: { name: "what every session needs", since: [5, 15] },
  typeInformation: { name: "BTF of the kernel", config: "CONFIG_DEBUG_INFO_BTF" },
  kprobes: { name: "kprobes", config: "CONFIG_KPROBE_EVENTS" },
  uprobes: { name: "uprobes", config: "CONFIG_UPROBE_EVENTS" },
  resultOverride: { name: "overriding a function's result", config: "CONFIG_BPF_KPROBE_OVERRIDE" },
  multipleKprobes: { name: "kprobe-multi links", since: [5, 18], config: "CONFIG_FPROBE" },
  multipleUprobes: { name: "uprobe-multi links", since: [6, 6] },
  kprobeSessions: { name: "kprobe sessions", since: [6, 10] },
  perfLinks: { name: "links of perf events", since: [5, 15] },
  rawTracepointCookies: { name: "cookies on raw tracepoints", since: [6, 10] },
  ringBuffer: { name: "ring buffer", since: [5, 8] },
  currentTask: { name: "current task as a BTF pointer", since: [5, 11] },
  // x86-64: the verifier writes the read of the CPU's number, and that of the current task, in place of the calls.
  cpuWithoutCall: { name: "the CPU's number without a call", since: [6, 10] },
  taskWithoutCall: { name: "the current task without a call", since: [7, 0] },
  calledLoops: { name: "bpf_loop", since: [5, 17] },
  findMapping: { name: "bpf_find_vma", since: [5, 17] },
  mapLoops: { name: "bpf_for_each_map_elem", since: [5, 13] },
  mayGoto: { name: "may_goto", since: [6, 9] },
  endsOfProcesses: { name: "the last thread's mark in sched_process_exit", since: [6, 16] },
  eventsOnEvents: { name: "events on events", since: [5, 15], config: "CONFIG_EPROBE_EVENTS" },
  // Linux 6.1 takes one byte of such a pointer (get_event_field of kernel/trace/trace_eprobe.c), 6.12 all of it.
  textPointersOfEvents: { name: "pointers to texts in events on events", since: [6, 12] },
  // Linux 5.16 has all the words of them; compared with eBPF from this one on.
  pairsOfEvents: { name: "pairs of events in histograms", since: [6, 1], config: "CONFIG_SYNTH_EVENTS" },
  userEvents: { name: "user events", since: [6, 4], config: "CONFIG_USER_EVENTS" },
  userEventFormats: {
    name: "user events of one name with several formats",
    since: [6, 9],
    config: "CONFIG_USER_EVENTS",
  },
  // Before, perf hands BPF the registers that the caller had in user space, whose kernel stack is empty.
  systemCallStacks: { name: "kernel stacks at events of system calls", since: [6, 12] },
  markerCopies: { name: "instances that take a copy of trace_marker", since: [6, 16] },
  signedDivision: { name: "cpu v4 instructions (signed division)", since: [6, 6] },
} as const satisfies Record<string, KernelFeature>;

/** Whether a kernel is of a version, or newer: `kernelAtLeast(capabilities.kernel, 6, 9)`. */
export function kernelAtLeast([major, minor]: KernelVersion, wantedMajor: number, wantedMinor: number): boolean {
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

/** Whether a kernel's version has a feature: for what cannot be tried. */
export function kernelHas(kernel: KernelVersion, { since }: { readonly since: KernelVersion }): boolean {
  return kernelAtLeast(kernel, ...since);
}

/** "6.18.44-fc" → [6, 18]; [0, 0] of anything else. */
export function kernelVersion(text: string): KernelVersion {
  const match = /^(\d+)\.(\d+)/.exec(text);
  return [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
}

/** The kernel lacks a feature: which, since when there is such a thing, and what strobe tried. */
export class MissingFeature extends Failure {
  readonly feature: KernelFeature;
  /** What the kernel answered: "EINVAL". Absent where its version, or what it shows of itself, decided. */
  readonly tried?: string;

  constructor(feature: KernelFeature, tried?: string) {
    const needs = needsOf(feature);
    super(`${feature.name}: not in this kernel${needs === undefined ? "" : `, needs ${needs}`}` as Reason);
    this.feature = feature;
    if (tried !== undefined) this.tried = tried;
  }
}

/** "Linux 5.18 with CONFIG_FPROBE" */
export function needsOf({ since, config }: KernelFeature): string | undefined {
  if (since === undefined) return config;
  return `Linux ${since.join(".")}${config === undefined ? "" : ` with ${config}`}`;
}
