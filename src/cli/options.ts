// What the command line means, after bpftrace's manual. Options may stand anywhere before `--`; what is left are the script's.
import type { HeaderField } from "../compiler/layouts/record-header.ts";
import type { CompiledScript } from "../api/compile.ts";
import type { Diagnostic, Source } from "../language/diagnostic.ts";
import type { Language, LibraryFile } from "../language/language.ts";
import { sql } from "../language/sql/language.ts";
import { lazy } from "../base/lazy.ts";
import type { ProcessFilter } from "../compiler/sites/process-filter.ts";
import { commandLine } from "../messages/on-demand.ts";
import { emitted, type Flag, type FlagName, flags, scripted, type Stage, stages, type Switches } from "./flags.ts";
import { readPid, UsageError } from "./usage-error.ts";
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
} from "./option-values.ts";
import { type Tool, wordsOf } from "./words-of.ts";

// Loaded where processes are chosen by more than one number.
const chosenProcesses = lazy<typeof import("./chosen-processes.ts")>(() => require("./chosen-processes.ts"));

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

  for (const word of wordsOf(argv, tool)) {
    if (word.kind === "flag") set(word.name, word.value);
    else if (word.kind === "own") named.set(word.name, word.value);
    else if (word.kind === "plain") words.push(word.text);
    else if (word.ofScript) for (const rest of word.words) readParameter(rest, words, named);
    else words.push(...word.words);
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

function readParameter(word: string, words: string[], named: Map<string, string | true>): void {
  const match = /^--([^=]+)(?:=(.*))?$/s.exec(word);
  if (match) named.set(match[1], match[2] ?? true);
  else words.push(word);
}
