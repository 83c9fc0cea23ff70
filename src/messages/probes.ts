// Probes: what their parts mean on this machine.
import { says, saysOf, type Message, type Shown } from "./message.ts";

export const probes = {
  /**
   * @on linux-6.1
   * @example tracepoint:syscalls:sys_enter_openat /ctx != 0/ { @[kstack] = count(); }
   */
  kernelStacksEmpty: (probe: Shown): Message =>
    says(
      "feature",
      `kernel stacks at ${probe} are empty on this kernel`,
      "they need Linux 6.12, or a script without ctx that reads the arguments of at most eight kinds of calls",
    ),
  /**
   * Of what the kernel's own tracers write.
   * @tested test/live/tracers.test.ts
   */
  writtenByTracers: (probe: Shown): Message =>
    says("feature", `no BPF program runs at ${probe}: the kernel's tracers write it`, "--engine tracefs takes it"),
  /**
   * Only on the tracefs engine: of ftrace's own events that no other buffer gets.
   * @tested test/live/tracers.test.ts
   */
  notInInstances: (probe: Shown, help: string | undefined): Message =>
    says("feature", `the kernel writes ${probe} into its top-level buffer alone, which strobe leaves to others`, help),
  /**
   * Only where the kernel has the tracer.
   * @tested test/guest/latency-tracers.test.ts
   */
  osnoiseNeedsTracer: (probe: Shown): Message =>
    says(
      "feature",
      `${probe} fires while the tracer osnoise or timerlat runs, and on eBPF strobe starts neither`,
      "--engine tracefs does",
    ),
  /** @example begin:a { exit(); } */
  probeTypeRequiresArgumentsFound: (name: Shown, count: Shown): Message =>
    says("syntax", `${name} probe type requires 0 arguments, found ${count}`, `write \`${name} { … }\``),
  /** @example rawtracepoint:f { x } */
  thereNoRawTracepoint: (event: Shown, help?: string): Message =>
    saysOf({ kind: "probes" }, says("name", `no such raw tracepoint: \`${event}\``, help)),
  /** @example i:m:10 { } */
  Message: (reason: Shown, text: Shown): Message => says("arguments", `${reason}, in \`${text}\``),
  /** @example tracepoint:sched_switch { } */
  tracepointCategoryName: (category: Shown, name: Shown): Message =>
    says("syntax", "a tracepoint has a category and a name", `did you mean \`tracepoint:${category}:${name}\`?`),
  /**
   * @on without-btf
   * @example user_events:app_request { }
   */
  userEventsNeedTrampolines: (): Message =>
    says(
      "feature",
      "user events can only be traced where the kernel has fentry",
      "it needs CONFIG_DEBUG_INFO_BTF and CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS; perf and tracefs show the events without",
    ),
  /**
   * @on bare
   * @example user_events:app_request { }
   */
  kernelHasNoUserEvents: (needs?: Shown): Message =>
    says("feature", "this kernel has no user events", `they need ${needs}`),
  /**
   * Only on the tracefs engine.
   * @tested src/providers/resolve.test.ts
   */
  noEventsOnEvents: (needs?: Shown): Message =>
    says("feature", "this kernel has no events on events", `they need ${needs}; eBPF has them: --engine bpf`),
  /** @example user_events:app:requests { } */
  noUserEvent: (name: Shown, help?: string): Message =>
    says(
      "name",
      `no user event \`${name}\``,
      help ?? "it is there while a program has it registered: start the program first",
    ),
  /**
   * @on bare
   * @example t:*:*exec { }
   */
  noTracepointsCanSeenMachine: (): Message =>
    says(
      "feature",
      "no tracepoints are visible on this machine",
      "tracefs must be readable at /sys/kernel/tracing; this needs root",
    ),
  /** @example tracepoint:sched:*nothing* { } */
  noTracepointMatches: (text: Shown, help?: string): Message =>
    saysOf({ kind: "probes" }, says("name", `no tracepoint matches \`${text}\``, help)),
  /** @example tracepoint:scehd:sched_switch { } */
  thereNoTracepointsCategory: (category: Shown, help?: string): Message =>
    saysOf({ kind: "probes" }, says("name", `no tracepoints of the category \`${category}\``, help)),
  /** @example tracepoint:sched:sched_swich { } */
  noMatchesTracepoint: (category: Shown, name: Shown, help?: string): Message =>
    saysOf({ kind: "probes" }, says("name", `no matches for tracepoint ${category}:${name}`, help)),
  /** Only languages that know of options by name can ask for one that there is not. */
  takesNoOption: (kind: Shown, option: Shown, known: readonly string[]): Message =>
    says(
      "arguments",
      `${kind} takes no option \`${option}\``,
      known.length === 0 ? undefined : `its options: ${known.join(", ")}`,
    ),
  /** @example ret: { } */
  doesNotSayWhatProbe: (text: Shown, usage: Shown): Message =>
    says("syntax", `\`${text}\` does not say what to probe`, `a probe of this kind is written \`${usage}\``),
  /** @example plt: { } */
  probeTypeRequiresArgumentFound: (provider: Shown, wanted: Shown, what: Shown, found: Shown, usage: Shown): Message =>
    says(
      "syntax",
      `${provider} probe type requires ${wanted} argument${what}, found ${found}`,
      `a probe of this kind is written \`${usage}\``,
    ),
  /** Of a file in which bytes are not what its format says. */
  damagedFile: (message: Shown): Message =>
    says("name", `${message}`, "the file is damaged or cut short: build it again, or copy it anew"),
  /** @example kpro*:f { } */
  kindsByWildcard: (kind: string): Message =>
    says("name", `invalid probe type: ${kind}`, "wildcards over kinds of probes are for listings (-l)"),
  /** @example krobe:f { } */
  unknownKind: (kind: string, help: string | undefined): Message => says("name", `invalid probe type: ${kind}`, help),
};
