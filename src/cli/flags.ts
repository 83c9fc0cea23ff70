// The table of the command's flags: how they are written, what they take, what the help says of them.
import { headerFields } from "../compiler/layouts/record-header.ts";
import { languages } from "../language/registry.ts";
import { formats } from "../output/formats.ts";

export interface Flag {
  readonly short?: string;
  readonly long?: string;
  /** The value's name in the help; absent for a switch. */
  readonly value?: string;
  /** The value that it has when none follows; absent where one must. */
  readonly otherwise?: string;
  readonly group: "What to run" | "What to trace" | "Output" | "Safety" | "Troubleshooting";
  readonly doc: string;
  /** A switch that decides how the script is compiled: handed on as the library's option of this name. */
  readonly script?: true;
}

/** Languages that have scripts, and those that a script is translated to. */
export const scripted = languages.filter(({ parse }) => parse !== undefined);
export const emitted = languages.filter(({ translate }) => translate !== undefined);

export const stages = ["tree", "ir", "asm", "verifier", "all"] as const;
export type Stage = (typeof stages)[number];

/** By the name that `Options` knows a flag by. */
export const flags = {
  execute: { short: "e", value: "PROGRAM", group: "What to run", doc: "run this program" },
  sql: {
    long: "sql",
    value: "QUESTION",
    group: "What to run",
    doc: "answer a question in SQL: SELECT … FROM event [JOIN event ON …] [WHERE …]",
  },
  list: {
    short: "l",
    long: "list",
    group: "What to run",
    doc: "list probes: all, or those of a pattern or a script (with -v also their arguments)",
  },
  info: { long: "info", group: "What to run", doc: "what this kernel and machine offer" },
  headerFolder: {
    short: "I",
    value: "DIR",
    group: "What to run",
    doc: "look for headers that are included in this folder, too",
  },
  header: { long: "include", value: "FILE", group: "What to run", doc: "include this header before the script" },
  language: {
    long: "lang",
    value: "LANGUAGE",
    group: "What to run",
    doc: `the script's language, where its name does not tell: ${scripted.map(({ name }) => name).join(", ")}`,
  },
  emit: {
    long: "emit",
    value: "LANGUAGE",
    group: "What to run",
    doc: `translate the script, with its parameters, and leave: ${emitted.map(({ aliases }) => aliases[0]).join(", ")}`,
  },
  fmt: { long: "fmt", group: "What to run", doc: "print the script as strobe fmt lays it out, and leave" },
  test: { long: "test", group: "What to run", doc: "run the script's test: probes, and say which fail" },
  bench: { long: "bench", group: "What to run", doc: "run the script's bench: probes, and say what each takes" },
  mode: {
    long: "mode",
    value: "MODE",
    group: "What to run",
    doc: "another way to say --test, --bench or --fmt: test, bench, format",
  },
  help: { short: "h", long: "help", group: "What to run", doc: "this text" },
  version: { short: "V", long: "version", group: "What to run", doc: "strobe's version" },
  pid: {
    short: "p",
    long: "pid",
    value: "PIDS",
    group: "What to trace",
    doc: "trace these processes only: numbers or programs' names, with commas; ends when they have ended",
  },
  comm: { long: "comm", value: "NAMES", group: "What to trace", doc: "only threads of these names" },
  user: {
    long: "user",
    value: "USERS",
    group: "What to trace",
    doc: "only processes of these users: names or numbers",
  },
  cgroup: {
    long: "cgroup",
    value: "PATHS",
    group: "What to trace",
    doc: "only processes in these cgroups, or below them",
  },
  command: {
    short: "c",
    long: "cmd",
    value: "COMMAND",
    group: "What to trace",
    doc: "start this command and end with it; its pid is cpid",
  },
  follow: {
    long: "follow",
    group: "What to trace",
    doc: "with -p or -c: that process, the children it has and those it starts, and no other",
    script: true,
  },
  duration: {
    long: "for",
    value: "TIME",
    group: "What to trace",
    doc: "end after this time, counted from when the probes are attached: 10 (seconds), 500ms, 10s, 5m, 1h",
  },
  probeFilter: {
    long: "probe-filter",
    value: "REGEX",
    group: "What to trace",
    doc: "attach only probes whose names match (begin and end always run)",
  },
  target: {
    long: "target",
    value: "PID",
    group: "What to trace",
    doc: "what target() gives in scripts of SystemTap's",
  },
  engine: {
    long: "engine",
    value: "ENGINE",
    group: "What to trace",
    doc: "what handlers run on: bpf, or tracefs (the kernel's own events, without BPF); tracefs where BPF is refused",
  },
  recording: {
    long: "in",
    value: "FILE",
    group: "What to trace",
    doc: "run over a recording (strobe record) instead of this machine; with -l: what it holds",
  },
  from: {
    long: "from",
    value: "TIME",
    group: "What to trace",
    doc: "of a recording only events from this time on, since its beginning (2s, 1500ms)",
  },
  to: { long: "to", value: "TIME", group: "What to trace", doc: "of a recording only events before this time" },
  vmlinux: {
    long: "vmlinux",
    value: "FILE",
    group: "What to trace",
    doc: "the running kernel's binary with its debug information, for lines and variables",
  },
  debuginfo: {
    long: "debuginfo",
    value: "DIR",
    group: "What to trace",
    doc: "look for debug files in this folder, too (from the binary on where it is relative); several with : in between",
  },
  types: {
    long: "types",
    value: "FILE",
    group: "What to trace",
    doc: "show values of the types that FILE describes as it says; several with : in between",
  },
  output: { short: "o", long: "output", value: "FILE", group: "Output", doc: "write the script's output to FILE" },
  format: {
    short: "f",
    value: "FORMAT",
    group: "Output",
    doc: `${formats.map(({ name, doc }) => `${name}: ${doc}`).join("; ")}; several, each FORMAT=FILE but for one`,
  },
  stamp: {
    long: "stamp",
    value: "FIELDS",
    group: "Output",
    doc: `say of each event when and where it was: ${headerFields.join(",")}, or some of them`,
  },
  time: { long: "time", group: "Output", doc: "say of each event when it was: --stamp time" },
  ascii: {
    long: "ascii",
    group: "Output",
    doc: "histograms on a terminal as they are in files (NO_COLOR or TERM=dumb: no colours, and no live line either)",
  },
  top: {
    long: "top",
    value: "NUMBER",
    group: "Output",
    doc: "of maps so many of the largest values, where the script says no number of its own",
  },
  buffering: { short: "B", value: "MODE", group: "Output", doc: "line (the default), full or none" },
  quiet: { short: "q", long: "quiet", group: "Output", doc: "no messages but errors" },
  noWarnings: { long: "no-warnings", group: "Output", doc: "no warnings" },
  warnings: {
    short: "k",
    long: "warnings",
    group: "Output",
    doc: "say where reads of memory and look-ups in maps failed, and how often",
    script: true,
  },
  stats: {
    long: "stats",
    group: "Output",
    doc: "say what the handlers cost: runs, nanoseconds, share of the CPUs",
    script: true,
  },
  verbose: {
    short: "v",
    long: "verbose",
    group: "Output",
    doc: "say what is done: programs, maps, the verifier's log",
  },
  maxOverhead: {
    long: "max-overhead",
    value: "PERCENT",
    group: "Safety",
    doc: "handlers may take so much of the machine's CPU time (2%): what costs more is held back or detached",
  },
  unsafe: {
    long: "unsafe",
    group: "Safety",
    doc: "allow what changes the system: system(), signal(), …",
    script: true,
  },
  explain: {
    long: "explain",
    group: "Troubleshooting",
    doc: "say which engine runs the script and where its handlers run, on tracefs with the events' lines, and leave",
  },
  dryRun: { long: "dry-run", group: "Troubleshooting", doc: "compile, load and attach, then leave" },
  debug: {
    short: "d",
    long: "debug",
    value: "STAGE",
    otherwise: "all",
    group: "Troubleshooting",
    doc: `print stages of the compilation and leave: ${stages.join(", ")}`,
  },
} as const satisfies Record<string, Flag>;

export type FlagName = keyof typeof flags;
export type Switches = Readonly<
  Partial<{ [Name in FlagName as (typeof flags)[Name] extends { readonly script: true } ? Name : never]: true }>
>;

/** As it is written on a command line. */
export function flagText(name: FlagName): string {
  const { short, long } = flags[name] as Flag;
  return long === undefined ? `-${short}` : `--${long}`;
}
