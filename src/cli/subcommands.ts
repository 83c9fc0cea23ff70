// `strobe WORD …`: what strobe does besides running a script. A script of that name is run as `./WORD`.

import { lazy } from "../base/lazy.ts";
import type { Options } from "./options.ts";
import type { Language } from "../language/language.ts";
import { languages } from "../language/registry.ts";

// Loaded for one of them.
const made = lazy<typeof import("./made/table.ts")>(() => require("./made/table.ts"));
const making = lazy<typeof import("./made/made-script.ts")>(() => require("./made/made-script.ts"));
const graphs = lazy<typeof import("./graph.ts")>(() => require("./graph.ts"));

const titles = (are: (one: Language) => boolean): string =>
  languages
    .filter(are)
    .map(({ title }) => title)
    .join(", ");

export interface Subcommand {
  /** What stands behind `strobe` in the help. */
  readonly usage: string;
  readonly doc: string;
  /** All there is to say of it, for `--help`; `usage` and `doc` unless there is more. */
  help?(): string;
  /** Gives the exit code, or what to run as a script of strobe's own. */
  run(argv: readonly string[]): Promise<number | Options>;
}

/** A question whose script strobe writes. */
function question(name: string, usage: string, doc: string): Record<string, Subcommand> {
  return {
    [name]: {
      usage: `${name} ${usage}`,
      doc,
      help: () => making().madeHelp(made().madeScripts[name]),
      run: async (argv) => making().openMade(made().madeScripts[name], argv),
    },
  };
}

export const subcommands: Readonly<Record<string, Subcommand>> = {
  run: {
    usage: "run [--dry-run] FILE.ts [arguments]",
    doc: "run a program with probes in TypeScript or JavaScript; --dry-run: up to its first trace(), whose probes are listed and not attached",
    run: async (argv) => (await import("./run-program.ts")).runProgram(argv),
  },
  tools: {
    usage: "tools",
    doc: "the tools that strobe brings along, by their questions: strobe NAME runs one",
    run: async () => (await import("./tools.ts")).listTools(),
  },
  check: {
    usage: "check [options] FILE…",
    doc: "say what is wrong with scripts, and with programs in TypeScript or JavaScript, without running them",
    run: async (argv) => (await import("./check.ts")).checkFiles(argv),
  },
  fmt: {
    usage: "fmt [--check] [FILE…]",
    doc: `lay out scripts in ${titles((one) => one.format !== undefined)} (standard input without a file)`,
    run: async (argv) => (await import("./format.ts")).formatFiles(argv),
  },
  stap: {
    usage: "stap [options] SCRIPT.stp [arguments]",
    doc: "run a script in SystemTap's language, by SystemTap's own options (a link named stap does the same)",
    run: async (argv) => (await import("./stap.ts")).stapOptions(argv),
  },
  dtrace: {
    usage: "dtrace [options] [arguments]",
    doc: "run D, by DTrace's own options (a link named dtrace does the same)",
    run: async (argv) => (await import("./dtrace.ts")).dtraceOptions(argv),
  },
  record: {
    usage:
      "record [-o FILE [--append]] [--for TIME] [-c CMD | -p PID] [--stack kernel,user] [--max-size SIZE] [--ring TIME [--when PROBE]] [--redact strings] [--stats] PROBES… | SCRIPT | -e PROGRAM",
    doc: "write events with all that is known of them into a file, to ask them later",
    run: async (argv) => (await import("./record.ts")).record(argv),
  },
  replay: {
    usage: "replay FILE [--from TIME] [--to TIME] [-e PROGRAM | SCRIPT | -l]",
    doc: "run a script over a recording",
    run: async (argv) => (await import("./replay.ts")).replay(argv),
  },
  cut: {
    usage: "cut FILE [--from TIME] [--to TIME] -o FILE",
    doc: "a part of a recording, by time, as a file of its own",
    run: async (argv) => (await import("./cut.ts")).cut(argv),
  },
  merge: {
    usage: "merge FILE FILE… -o FILE",
    doc: "recordings of several hosts as one, by one clock",
    run: async (argv) => (await import("./merge.ts")).merge(argv),
  },
  convert: {
    usage: "convert FILE -o FILE [-f FORMAT]",
    doc: "a recording for trace-cmd and KernelShark (trace.dat), as perf script's text (perf-script), or its stacks as speedscope, pprof, folded or svg",
    run: async (argv) => (await import("./convert.ts")).convert(argv),
  },
  info: {
    usage: "info FILE",
    doc: "what a recording holds",
    run: async (argv) => (await import("./replay.ts")).recordingInfo(argv),
  },
  events: {
    usage: "events [list | add 'PROBE { NAME = VALUE; … }' | remove | enable | disable EVENT…]",
    doc: "dynamic events of the kernel in probes' words, for perf, trace-cmd and others",
    run: async (argv) => (await import("./events.ts")).events(argv),
  },
  emit: {
    usage: "emit NAME FIELD=VALUE…",
    doc: "emit a user event, for whoever traces user_events:NAME",
    run: async (argv) => (await import("./user-event.ts")).emitUserEvent(argv),
  },
  ...question(
    "leaks",
    "[memory | mappings | files | slab | --kernel get=FUNCTION put=FUNCTION] [-p PID | -c COMMAND]",
    "what was taken and not given back, by the stack that took it",
  ),
  ...question(
    "follow",
    "'PROBE OBJECT' [FUNCTIONS…] [--value MEMBER] [--writes MEMBER:BYTES]",
    "what happens to an object: each call that gets it, until it is freed",
  ),
  ...question(
    "func",
    "[BINARY:]FUNCTION… [--lines | --hist] [--least TIME]",
    "how often functions are called, how long they take, and with which arguments",
  ),
  ...question(
    "noise",
    "[--hist] [--period US] [--threshold US] [--stop US] [--cpus LIST] [--for TIME]",
    "what takes CPUs from whoever runs there: hardware, interrupts, other threads",
  ),
  ...question(
    "timerlat",
    "[--hist] [--period US] [--stop US] [--stop-irq US] [--cpus LIST] [--for TIME]",
    "how late timers are, and the threads that they wake, and who made them late",
  ),
  graph: {
    usage: "graph FUNCTION… [--depth N] [--args] [--retval] [-p PID | -c COMMAND]",
    doc: "the calls of functions of the kernel and all that they call, by ftrace's function graph: without BPF",
    help: () => graphs().graphHelp(),
    run: async (argv) => graphs().graph(argv),
  },
  boot: {
    usage: "boot [--append-to INITRD | --cmdline | --check | --collect [--live]] SCRIPT | --flight",
    doc: "trace from the first steps of the kernel on: a boot configuration for a script, and its answers after boot",
    run: async (argv) => (await import("./boot.ts")).boot(argv),
  },
  clean: {
    usage: "clean",
    doc: "remove what strobes that were killed left in tracefs",
    run: async (argv) => (await import("./clean.ts")).clean(argv),
  },
  types: {
    usage: "types [-o FOLDER] [--binary PROGRAM] [--force]",
    doc: "declarations of this machine, for probes in TypeScript",
    run: async (argv) => (await import("./types.ts")).writeTypes(argv),
  },
  help: {
    usage: "help [WORD]",
    doc: "what a builtin, function, kind of probe, option, setting, tool or message is",
    run: async (argv) => (await import("./help-word.ts")).helpWord(argv, subcommands),
  },
  completion: {
    usage: "completion SHELL",
    doc: "what bash, zsh or fish needs to complete command lines: source <(strobe completion bash)",
    run: async (argv) => (await import("./completion.ts")).completionScript(argv),
  },
  lsp: {
    usage: "lsp",
    doc: `a language server for scripts in ${titles((one) => one.editing !== undefined)}, for editors`,
    // A bundle of its own: no trace needs it.
    run: () => (require(`${__dirname}/lsp.js`) as typeof import("../lsp/server.ts")).serve(),
  },
};
