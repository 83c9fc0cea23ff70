// What keeps a run from beginning, or ends it
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only where a run cannot begin on this machine, or not with this command: behind `strobe: `. */
export const runReasons = {
  // commands (-c)
  emptyCommand: (): Reason => reason("the command is empty"),
  openQuotes: (quotes: string, command: string): Reason =>
    reason(`the command ends within ${quotes} quotes: ${command}`),
  noSuchCommand: (program: string): Reason =>
    reason(`cannot run "${program}": there is no such program, or it is not executable`),
  commandWithoutProc: (): Reason => reason("cannot run a command without /proc: mount -t proc proc /proc"),
  noProcess: (): Reason =>
    reason(
      "cannot start a process to run the command in; too many files or processes may be open here (ulimit -n, ulimit -u)",
    ),
  processesGone: (pids: string): Reason => reason(`failed to attach to pid ${pids}: no such process`),
  // what takes --unsafe, and the output
  systemUnsafe: (): Reason => reason("system() runs commands: it needs --unsafe"),
  freopenUnsafe: (): Reason => reason("freopen() writes files: it needs --unsafe"),
  onePlace: (): Reason => reason("this format of output has one place"),
  fileOfOther: (): Reason => reason("it belongs to another user"),
  // the kernel's types
  moduleWithoutTypes: (module: string): Reason =>
    reason(`the kernel module "${module}" has no type information (or was unloaded)`),
  noFunctionInTypes: (name: string): Reason => reason(`this kernel's type information has no function "${name}"`),
  noVariableInTypes: (name: string): Reason =>
    reason(`this kernel's type information has no per-CPU variable "${name}"`),
  // tracefs
  needsBpf: (flag: string): Reason => reason(`${flag} needs BPF: on tracefs handlers run in strobe itself`),
  otherPidNamespace: (): Reason =>
    reason(
      "tracefs tells processes by the kernel's own numbers, and strobe runs where they have others (a container's): start it in the initial pid namespace",
    ),
  oneTracer: (tracer: string, other: string): Reason =>
    reason(`the kernel runs one tracer at a time, and the script has events of ${tracer} and ${other}`),
  noTracer: (tracer: string): Reason =>
    reason(`this kernel was built without the tracer ${tracer} (CONFIG_${tracer.toUpperCase()}_TRACER)`),
  noGraph: (doing: Reason): Reason =>
    reason(`cannot ${doing}: this kernel was built without ftrace's function graph (CONFIG_FUNCTION_GRAPH_TRACER)`),
  noGraphArguments: (): Reason =>
    reason(
      "cannot tell arguments (--args): this kernel's function graph has none (Linux 6.15 with CONFIG_FUNCTION_TRACE_ARGS)",
    ),
  noGraphReturns: (): Reason =>
    reason(
      "cannot tell return values (--retval): this kernel's function graph has none (Linux 6.5 with CONFIG_FUNCTION_GRAPH_RETVAL)",
    ),
  graphInUse: (doing: Reason, user: Reason): Reason =>
    reason(`cannot ${doing}: ${user}, and the kernel has one choice of functions for all`),
  // boot
  configurationUnknown: (why: Reason): Reason => reason(`it cannot be told what the kernel has: ${why}`),
  bootConfigTooLong: (most: number, bytes: number): Reason =>
    reason(`a boot configuration has ${most} bytes at most, this one would have ${bytes}`),
  bootConfigLength: (): Reason => reason("its boot configuration is longer than it can be"),
  bootConfigSum: (): Reason => reason("its boot configuration is damaged (the sum is wrong)"),
  cutWhileRead: (): Reason => reason("it was cut while it was read"),
  noRegularFile: (): Reason => reason("it is no regular file"),
  notTraced: (instance: string): Reason =>
    reason(
      `nothing was traced at boot: tracefs has no instance ${instance} (the kernel takes a boot configuration with "bootconfig" on its command line, and shows it in /proc/bootconfig)`,
    ),
  otherScriptTraced: (probe: string, wanted: string, found: string): Reason =>
    reason(`another script was traced at boot: ${probe} would be "${wanted}", and it is "${found}"`),
  noEventTraced: (): Reason =>
    reason("none of the script's events was traced at boot: it was another script, or the kernel refused them (dmesg)"),
  noFlight: (instance: string): Reason =>
    reason(
      `tracefs has no instance ${instance}: start the kernel (Linux 6.12) with what strobe boot --flight prints on its command line`,
    ),
};

/** Only of `strobe graph`, where somebody else traces calls: the kernel has one choice of functions for all. */
export const graphUsers = {
  otherStrobe: (instance: string): Reason => reason(`another strobe traces calls (instance ${instance})`),
  instance: (name: string): Reason => reason(`the instance ${name} traces calls`),
  topLevel: (): Reason => reason("somebody else traces calls in the top-level buffer"),
  chosen: (): Reason => reason("set_graph_function has functions that somebody else chose"),
  topLevelTracer: (tracer: string | undefined): Reason =>
    reason(`the top-level buffer, the only one for it before Linux 6.11, has the tracer ${tracer}`),
  topLevelUsed: (): Reason => reason("somebody else uses the top-level buffer, the only one for it before Linux 6.11"),
};
