// What the kernel's refusals mean, and what to try
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only where the kernel refuses a call: behind what strobe was doing, the call and the error's name. */
export const refusalHints = {
  /** Where what is said of every call would mislead. */
  none: (): Reason => reason(""),
  keptFromRoot: (): Reason =>
    reason("root, but without CAP_BPF or CAP_PERFMON here, or kept from it by lockdown or a security policy"),
  needsRoot: (): Reason => reason("tracing needs root, or CAP_BPF and CAP_PERFMON"),
  openFiles: (): Reason => reason("raise the limit of open files (ulimit -n)"),
  memory: (): Reason => reason("a smaller map or ring buffer may fit (max_map_keys, perf_rb_pages)"),
  inUse: (): Reason => reason("somebody uses it"),
  readByOther: (): Reason => reason("somebody else reads it"),
  complaint: (text: string): Reason => reason(text),
  // tracefs
  tracepointsNeedRoot: (): Reason => reason("tracepoints can only be seen as root"),
  tracepointsNeedRead: (): Reason => reason("tracepoints are only shown to root, or with CAP_DAC_READ_SEARCH"),
  noSysfs: (): Reason => reason("sysfs must be mounted at /sys"),
  noFtrace: (): Reason => reason("this kernel was built without tracing (CONFIG_FTRACE)"),
  mountTracefs: (place: string): Reason => reason(`as root: mount -t tracefs tracefs ${place}`),
  notMounted: (place: string): Reason => reason(`tracefs is not mounted at ${place}`),
  noEventFile: (file: string): Reason =>
    reason(
      `this kernel has no ${file} (${file === "uprobe_events" ? "CONFIG_UPROBE_EVENTS" : "CONFIG_KPROBE_EVENTS"})`,
    ),
  noEventsOnEvents: (): Reason => reason("events on events need Linux 5.15 with CONFIG_EPROBE_EVENTS"),
  noEventsOnEntries: (): Reason => reason("events on functions' entries need Linux 6.5 with CONFIG_FPROBE_EVENTS"),
  noTraceableFunction: (): Reason => reason("ftrace can trace no function of that name"),
  waitedForUserSpace: (why: string): Reason => reason(`it waited for user space: ${why}`),
  notTracedAtBoot: (): Reason => reason("the kernel did not trace it: dmesg says why"),
  writtenByOthers: (file: string): Reason => reason(`${file} is not this user's to write`),
  otherFields: (): Reason => reason("there is a user event of this name with other fields"),
  // attaching
  noKprobes: (): Reason => reason("this kernel has no kprobes"),
  noUprobes: (): Reason => reason("this kernel has no uprobes (CONFIG_UPROBE_EVENTS)"),
  mustNotBeProbed: (): Reason =>
    reason(
      "the kernel has this place on its list of those that must not be probed (code of exceptions, of tracing, of probes themselves)",
    ),
  severalFunctions: (): Reason =>
    reason("several functions have this name: kprobe:0xADDRESS probes one of them (/proc/kallsyms has the addresses)"),
  insideInstruction: (): Reason => reason("the offset is inside an instruction, or behind the function's end"),
  functionGone: (): Reason => reason("the function is gone, or of a module that is not loaded"),
  otherFile: (): Reason => reason("another file has taken its place since it was read"),
  watchedAlready: (registers: number, used: string): Reason =>
    reason(`the processor watches ${registers} addresses at once, and those are in use: ${used}`),
  unalignedWatch: (length: number): Reason => reason(`an address must be a multiple of the length, ${length}`),
  // bpf(2)
  mapTooLarge: (): Reason => reason("keys are at most 512 bytes and the whole at most 4 GiB"),
  unknownMap: (): Reason => reason("this kernel does not know the map type or a flag, or a size is out of range"),
  mapFull: (): Reason => reason("the map is full"),
  tooComplex: (instructions: number): Reason =>
    reason(
      `the program is too long or too complex for the verifier (${instructions} instructions; the limit is a million visited)`,
    ),
  noMemory: (): Reason => reason("the machine, or the memory cgroup that strobe is in, has no memory left for it"),
  programsRefused: (): Reason =>
    reason(
      "this kernel refuses programs of this type here (a security policy, lockdown, or a missing capability: CAP_BPF and CAP_PERFMON)",
    ),
  verifierSays: (line: string): Reason => reason(`the verifier says: ${line}`),
  unknownProgram: (): Reason =>
    reason("this kernel does not know the program type, the attach type or one of the instructions"),
  programEnded: (): Reason => reason("it has ended"),
  noRawTracepoint: (): Reason => reason("there is no such raw tracepoint"),
  pinned: (path: string): Reason => reason(`remove it first: rm ${path}`),
  noPinPlace: (): Reason => reason("pins lie in a BPF file system: mount -t bpf bpf /sys/fs/bpf"),
  hasProgram: (): Reason => reason("the event has a program already"),
  fileMissing: (): Reason => reason("the file is missing"),
  noInstruction: (needs: string | undefined): Reason =>
    reason(`an offset is not an instruction of the file, or the kernel is older than ${needs}`),
  functionMissing: (): Reason => reason("a function is missing or cannot be traced"),
  // perf events
  noCounter: (): Reason => reason("this machine has no such hardware counter (virtual machines often have none)"),
  noSampling: (): Reason => reason("this machine's counters do not support sampling on that event"),
  processGone: (pid: number): Reason => reason(`process ${pid} has gone`),
  sampleRate: (most: string): Reason =>
    reason(`the kernel samples ${most} times a second at most (sysctl kernel.perf_event_max_sample_rate)`),
  noBreakpoint: (): Reason => reason("all of the processor's breakpoint registers are in use (x86-64 has four)"),
  noFreeCounter: (): Reason => reason("the hardware has no free counter"),
  // the service manager
  socketAddress: (): Reason => reason("expected a path, or @ and a name, of less than 108 bytes"),
};
