// The command line, after bpftrace's manual. Options may stand anywhere before `--`; what is left are the script's.
import { headerFields, type HeaderField } from "../compiler/layouts/record-header.ts";
import type { CompiledScript } from "../api/compile.ts";
import type { Diagnostic, Source } from "../language/diagnostic.ts";
import type { Language, LibraryFile } from "../language/language.ts";
import type { ScriptOption } from "../language/program.ts";
import { languages } from "../language/registry.ts";
import { sql } from "../language/sql/language.ts";
import { lazy } from "../base/lazy.ts";
import type { ProcessFilter } from "../compiler/sites/process-filter.ts";
import { commandLine } from "../messages/on-demand.ts";
import { readPid, UsageError } from "./usage-error.ts";
import { formats } from "../output/formats.ts";
import type { Buffering } from "../output/printer.ts";
import type { KeptWish } from "../session/tracefs/running-tracer.ts";
import {
  type ChosenFormat,
  oneOf,
  oneToOutput,
  readCount,
  readFormat,
  readLanguage,
  readPattern,
  readRunTime,
  readShare,
  readStamp,
  readable,
} from "./option-values.ts";

// Loaded where processes are chosen by more than one number.
const chosenProcesses = lazy<typeof import("./chosen-processes.ts")>(() => require("./chosen-processes.ts"));
// Loaded where an option is not known.
const otherTools = lazy<typeof import("./other-tools.ts")>(() => require("./other-tools.ts"));

interface Flag {
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
const scripted = languages.filter(({ parse }) => parse !== undefined);
const emitted = languages.filter(({ translate }) => translate !== undefined);

export const stages = ["tree", "ir", "asm", "verifier", "all"] as const;
export type Stage = (typeof stages)[number];
/** bpftrace's names for them. */
const otherStages: Readonly<Record<string, Stage>> = {
  parse: "tree",
  ast: "tree",
  types: "tree",
  codegen: "ir",
  "codegen-opt": "ir",
  dis: "asm",
  libbpf: "verifier",
};

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
type Switches = Readonly<
  Partial<{ [Name in FlagName as (typeof flags)[Name] extends { readonly script: true } ? Name : never]: true }>
>;

/**
 * bpftrace's, for what strobe does anyway or has no need of: understood, and without effect. With what looks at a
 * value, where one is taken.
 */
const withoutEffect: Readonly<Record<string, ((value: string) => void) | undefined>> = {
  // Semaphores are always counted by file.
  "usdt-file-activation": undefined,
  // Tables for unwinding are made of every process that is met.
  "dwarf-pid": (value) => void readPid("--dwarf-pid", value),
  // Features are probed when they are needed, and functions asked of the kernel itself.
  "no-feature": (value) => {
    for (const one of value.split(",")) oneOf("--no-feature", one, ["kprobe_multi", "kprobe_session", "uprobe_multi"]);
  },
  "traceable-functions": readable,
  // There is no LLVM.
  "verify-llvm-ir": undefined,
};

/** What other tracers call a flag. */
const otherNames: Readonly<Record<string, string>> = { timeout: "for", duration: "for" };

/** bpftrace's that strobe cannot do: why. */
const refusedOptions: Readonly<Record<string, string>> = {
  "emit-elf": "strobe makes its programs in memory: -d asm shows them",
  "emit-llvm": "there is no LLVM: -d ir shows the intermediate code",
};

/** bpftrace's other way to say what is done. */
const modes: Readonly<Record<string, "test" | "bench" | "fmt">> = { test: "test", bench: "bench", format: "fmt" };

export interface Options {
  readonly execute?: string | undefined;
  readonly list: boolean;
  readonly info: boolean;
  readonly headers: { readonly folders: readonly string[]; readonly files: readonly string[] };
  /** Undefined: as the script's name and first line tell. */
  readonly language?: Language | undefined;
  /** What the script is translated to. */
  readonly emit?: Language | undefined;
  readonly fmt: boolean;
  readonly suite?: "test" | "bench" | undefined;
  readonly help: boolean;
  readonly version: boolean;
  readonly pid?: number | undefined;
  /** What else chooses among processes; several of -p as well. */
  readonly only?: ProcessFilter | undefined;
  readonly command?: string | undefined;
  /** Milliseconds. */
  readonly duration?: number | undefined;
  readonly target?: number | undefined;
  readonly probeFilter?: RegExp | undefined;
  readonly engine?: "bpf" | "tracefs" | undefined;
  readonly explain: boolean;
  /** A recording's path, and the part of it. */
  readonly recording?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly vmlinux?: string | undefined;
  readonly debuginfo?: readonly string[] | undefined;
  readonly types?: readonly string[] | undefined;
  readonly output?: string | undefined;
  /** One at least. */
  readonly formats: readonly ChosenFormat[];
  /** What events are stamped with, in this order. */
  readonly stamp?: readonly HeaderField[] | undefined;
  readonly top?: number | undefined;
  readonly ascii: boolean;
  readonly buffering: Buffering;
  readonly quiet: boolean;
  /** False: says nothing of how many probes are attached, nor that it is at work. */
  readonly announces: boolean;
  readonly noWarnings: boolean;
  /** 0.02: 2 %. */
  readonly maxOverhead?: number | undefined;
  readonly verbose: boolean;
  readonly dryRun: boolean;
  readonly debug: readonly Stage[];
  /** Instead of a script's path among the words: a tool. */
  readonly script?: Source | undefined;
  /** What is no option: the script's path (or pattern) and its positional parameters. */
  readonly words: readonly string[];
  /** `--name=value` behind `--`: the script's own. */
  readonly named: ReadonlyMap<string, string | true>;
  /** Those switches of the table that are `script`, as far as they were given. */
  readonly switches: Switches;
  /** The flags that there were. */
  readonly given: ReadonlySet<FlagName>;
  /** What stands behind the script's own text. */
  readonly appended?: string | undefined;
  /** The output goes behind what its file has. */
  readonly appends?: true;
  /** See OpenOptions; of `strobe boot --collect`. */
  readonly boot?: "instances" | "top-level";
  readonly bootLive?: boolean;
  /** See OpenOptions; of `strobe noise` and its kin. */
  readonly kept?: KeptWish;
  readonly tracerSettings?: readonly (readonly [file: string, text: string])[];
  /** Settings of the script's language, and what its preprocessor knows by name. */
  readonly settings?: ReadonlyMap<string, string>;
  readonly library?: readonly LibraryFile[];
  readonly definitions?: ReadonlyMap<string, string>;
  readonly voice?: Voice;
}

/** How a command of another name talks about its script. */
export interface Voice {
  /** Lines for standard error. */
  wrong(source: Source, errors: readonly Diagnostic[]): string;
  /** Once the script is compiled; false: it shall not run. */
  compiled(script: CompiledScript): boolean;
}

/** A script that strobe brings along, and what it asks for (`getopt`); or a program with its options. */
export interface Tool {
  readonly source: Source;
  readonly options: readonly ScriptOption[];
  /** Words from the first that is no option on are a command with its own options. */
  readonly endsAtWord?: boolean;
}

/**
 * Reads the words behind the command's name. `tool`: what they are for, whose own options need no lone `--` before them.
 * @throws UsageError
 */
export function readOptions(argv: readonly string[], tool?: Tool): Options {
  const values = new Map<FlagName, string>();
  const debug: Stage[] = [];
  const headers = { folders: new Array<string>(), files: new Array<string>() };
  const words: string[] = [];
  const debuginfo: string[] = [];
  const types: string[] = [];
  const chosen: ChosenFormat[] = [];
  const named = new Map<string, string | true>();

  const given = new Set<FlagName>();

  const set = (name: FlagName, value: string) => {
    given.add(name);
    if (name === "debug")
      debug.push(
        ...value
          .split(",")
          .map((word) =>
            Object.hasOwn(otherStages, word)
              ? otherStages[word]
              : oneOf("-d", word, stages, `invalid option for -d: ${word}`),
          ),
      );
    else if (name === "headerFolder") headers.folders.push(value);
    else if (name === "header") headers.files.push(value);
    else if (name === "format") chosen.push(readFormat(value));
    else if (name === "types") types.push(...value.split(":").filter((file) => file !== ""));
    else if (name === "debuginfo") debuginfo.push(...value.split(":").filter((folder) => folder !== ""));
    else if (name === "mode") values.set(modes[oneOf("--mode", value, Object.keys(modes))], "");
    else values.set(name, value);
  };

  for (let at = 0; at < argv.length; at++) {
    const word = argv[at];
    if (word === "--") {
      if (tool?.endsAtWord === true) words.push(...argv.slice(at + 1));
      else for (const rest of argv.slice(at + 1)) readParameter(rest, words, named);
      break;
    }
    if (word.startsWith("--")) {
      const [, start, equals, given] = /^--([^=]*)(=?)(.*)$/s.exec(word) ?? [];
      const own = tool?.options.find((option) => option.name === start);
      if (own !== undefined) {
        if (!equals && own.takes !== "truth" && argv[at + 1] === undefined)
          throw new UsageError(commandLine().requiresArgument(start));
        named.set(start, equals ? given : own.takes === "truth" ? true : argv[++at]);
        continue;
      }
      const text = wholeName(start, tool);
      const name = flagNamed("long", text);
      const refused = refusedOptions[text];
      if (refused !== undefined) throw new UsageError(commandLine().refusedOption(text, refused));
      const check = withoutEffect[text];
      if (name === undefined ? check === undefined : !takesValue(name)) {
        if (equals) throw new UsageError(commandLine().takesNoValue(text));
        if (name !== undefined) set(name, "");
        continue;
      }
      const next = equals ? given : name === undefined ? argv[at + 1] : following(name, argv[at + 1]);
      if (!equals && next === argv[at + 1]) at++;
      if (next === undefined) throw new UsageError(commandLine().requiresArgument(text));
      if (name !== undefined) set(name, next);
      else check?.(next);
    } else if (word.startsWith("-") && word !== "-") {
      for (let letter = 1; letter < word.length; letter++) {
        const name = flagNamed("short", word[letter]);
        if (!name) throw new UsageError(commandLine().unknownLetter(word[letter], elsewhere(`-${word[letter]}`)));
        if (!takesValue(name)) {
          set(name, "");
          continue;
        }
        const attached = word.slice(letter + 1);
        const next = attached !== "" ? attached : following(name, argv[at + 1]);
        if (attached === "" && next === argv[at + 1]) at++;
        if (next === undefined) throw new UsageError(commandLine().letterRequiresArgument(word[letter]));
        set(name, next);
        break;
      }
    } else if (tool?.endsAtWord === true) {
      words.push(...argv.slice(at));
      break;
    } else {
      words.push(word);
    }
  }

  const has = (name: FlagName) => values.has(name);
  if (has("pid") && has("command")) throw new UsageError(commandLine().commandAndPid("trace"));
  if (has("sql") && (has("execute") || has("language")))
    throw new UsageError(commandLine().sqlAndScript(has("execute") ? "-e" : "--lang"));
  if (has("follow") && !has("pid") && !has("command")) throw new UsageError(commandLine().followNeedsProcess());
  return {
    execute: values.get("execute") ?? values.get("sql"),
    list: has("list"),
    info: has("info"),
    headers,
    language: values.has("sql")
      ? sql
      : values.has("language")
        ? readLanguage("--lang", values.get("language") ?? "", scripted)
        : undefined,
    emit: values.has("emit") ? readLanguage("--emit", values.get("emit") ?? "", emitted) : undefined,
    fmt: has("fmt"),
    suite: has("test") ? "test" : has("bench") ? "bench" : undefined,
    help: has("help"),
    version: has("version"),
    ...chooses(values),
    command: values.get("command"),
    duration: values.has("duration") ? readRunTime(values.get("duration") ?? "") : undefined,
    target: values.has("target") ? readPid("--target", values.get("target") ?? "") : undefined,
    probeFilter: values.has("probeFilter") ? readPattern(values.get("probeFilter") ?? "") : undefined,
    engine: values.has("engine")
      ? oneOf("--engine", values.get("engine") ?? "", ["bpf", "tracefs"] as const)
      : undefined,
    recording: values.get("recording"),
    from: values.get("from"),
    to: values.get("to"),
    vmlinux: values.get("vmlinux"),
    debuginfo: debuginfo.length === 0 ? undefined : debuginfo,
    types: types.length === 0 ? undefined : types,
    output: values.get("output"),
    formats: chosen.length === 0 ? [readFormat("text")] : oneToOutput(chosen, has("output")),
    stamp: has("stamp") || has("time") ? readStamp(values.get("stamp") ?? "time", has("time")) : undefined,
    ascii: has("ascii"),
    top: values.has("top") ? readCount("--top", values.get("top") ?? "") : undefined,
    buffering: oneOf(
      "-B",
      values.get("buffering") ?? "line",
      ["line", "full", "none"] as const,
      "-B must be either 'line', 'full', or 'none'",
    ),
    quiet: has("quiet"),
    announces: !has("quiet"),
    noWarnings: has("noWarnings"),
    maxOverhead: values.has("maxOverhead") ? readShare(values.get("maxOverhead") ?? "") : undefined,
    verbose: has("verbose"),
    explain: has("explain"),
    dryRun: has("dryRun"),
    debug,
    script: tool?.source,
    words,
    named,
    given,
    switches: Object.fromEntries(
      (Object.keys(flags) as FlagName[])
        .filter((name) => (flags[name] as Flag).script === true && has(name))
        .map((name) => [name, true]),
    ),
  };
}

/** -p, --comm, --user, --cgroup. @throws UsageError */
function chooses(values: ReadonlyMap<FlagName, string>): Pick<Options, "pid" | "only"> {
  const [pid, comm, user, cgroup] = (["pid", "comm", "user", "cgroup"] as const).map((name) => values.get(name));
  if (comm === undefined && user === undefined && cgroup === undefined && (pid === undefined || /^-?\d+$/.test(pid)))
    return pid === undefined ? {} : { pid: readPid("-p", pid) };
  return chosenProcesses().readFilter({ pid, comm, user, cgroup }, values.has("follow"));
}

function flagNamed(kind: "short" | "long", text: string): FlagName | undefined {
  return (Object.keys(flags) as FlagName[]).find((name) => (flags[name] as Flag)[kind] === text);
}

/** GNU's way: the start of a long option's name will do where only one begins so. @throws UsageError */
function wholeName(start: string, tool: Tool | undefined): string {
  if (Object.hasOwn(otherNames, start)) return otherNames[start];
  const names = [
    ...Object.values(flags).flatMap((flag: Flag) => flag.long ?? []),
    ...Object.keys(withoutEffect),
    ...Object.keys(refusedOptions),
  ];
  const meant = names.includes(start) ? [start] : names.filter((name) => start !== "" && name.startsWith(start));
  if (meant.length === 0) {
    const own = tool?.options.map(({ name }) => name) ?? [];
    const instead = elsewhere(`--${start}`) ?? otherTools().nearestOption(start, [...own, ...names]);
    const parameters = tool === undefined ? "the script's own parameters go behind a lone --" : undefined;
    throw new UsageError(commandLine().unknownOption(`--${start}`, instead ?? parameters));
  }
  if (meant.length > 1) throw new UsageError(commandLine().ambiguousOption(start, meant));
  return meant[0];
}

/** As it is written on a command line. */
export function flagText(name: FlagName): string {
  const { short, long } = flags[name] as Flag;
  return long === undefined ? `-${short}` : `--${long}`;
}

/** What another tool's option of this name is here. */
function elsewhere(option: string): string | undefined {
  return otherTools().otherToolsOption(option);
}

function takesValue(name: FlagName): boolean {
  return (flags[name] as Flag).value !== undefined;
}

/** The next word as a flag's value; where the value may be left out, only if it is no option. */
function following(name: FlagName, next: string | undefined): string | undefined {
  const { otherwise } = flags[name] as Flag;
  return otherwise !== undefined && (next === undefined || next.startsWith("-")) ? otherwise : next;
}

function readParameter(word: string, words: string[], named: Map<string, string | true>): void {
  const match = /^--([^=]+)(?:=(.*))?$/s.exec(word);
  if (match) named.set(match[1], match[2] ?? true);
  else words.push(word);
}
