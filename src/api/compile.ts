import { library } from "../messages/on-demand.ts";
import { existsSync } from "node:fs";
import { machine as architecture, release } from "node:os";
import { Failure } from "../base/failure.ts";
import { lazy } from "../base/lazy.ts";
import { scripts } from "../messages/scripts.ts";
import type { Diagnostic, Source } from "../language/diagnostic.ts";
import type { Given, Language, LibraryFile, MachineGiven, Parsed } from "../language/language.ts";
import type { Program } from "../language/program.ts";
import { languageOf } from "../language/registry.ts";
import { compile, type Compiled, type ScriptFlags } from "../compiler/compile.ts";
import { kernelConfiguration } from "../linux/kernel/configuration.ts";
import type { LiveSystem } from "../machine/live-system.ts";
import { thisMachine } from "./machine.ts";
import type { MachineOptions } from "./search-paths.ts";
import { spellingOf } from "../providers/registry.ts";

/** With `follow`, `unsafe`, `stamp` and the other flags that the compiler takes as they are. */
export interface ScriptOptions extends MachineOptions, ScriptFlags {
  /** What the script is written in; as its name and first line tell unless given. */
  readonly language?: Language | undefined;
  /** `$1`, `$2`, … */
  readonly positional?: readonly string[] | undefined;
  /** What getopt() finds: `--name=value`, or `--name` alone for true. */
  readonly named?: ReadonlyMap<string, string | true> | Readonly<Record<string, string | true>> | undefined;
  /** Trace this process only. */
  readonly pid?: number | undefined;
  /** The command that the session will start. */
  readonly command?: string | undefined;
  /** What a script is told that it is about (SystemTap's target()); that process unless it says. */
  readonly target?: number | undefined;
  /** Settings of the language's own, by name (DTrace's `-x`); "" where one has no value. */
  readonly languageSettings?: ReadonlyMap<string, string> | undefined;
  /** Names that are defined for the language's preprocessor, and what they stand for. */
  readonly definitions?: ReadonlyMap<string, string> | undefined;
  /** Files of definitions that the script may use (SystemTap's `-I`). */
  readonly library?: readonly LibraryFile[] | undefined;
  /** Config variables: BPFTRACE_MAX_STRLEN and its kin. The process's own environment unless given. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * What the handlers may take of the machine's CPU time, all CPUs together: 0.02 is 2 %. A handler that takes more is
   * left out for some of its events; a probe that does so without its handler is detached. Each is told as trouble.
   */
  readonly maxOverhead?: number | undefined;
  /** Measures what the handlers cost. */
  readonly stats?: boolean | undefined;
  /** What handlers run on: BPF where the kernel allows it, else tracefs, unless given. */
  readonly engine?: "bpf" | "tracefs" | undefined;
  /** The events are those that the kernel makes while it starts (`strobe boot`). */
  readonly atBoot?: boolean | undefined;
}

export interface CompiledScript extends Omit<Compiled, "diagnostics"> {
  readonly program: Program;
  /** Of the parser, the providers and the checker, in the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /** What it was compiled for. */
  readonly machine: LiveSystem;
}

// Loaded when a script names a process's files.
const binaries = lazy<typeof import("../machine/binaries/live-binary.ts")>(() =>
  require("../machine/binaries/live-binary.ts"),
);
const children = lazy<typeof import("../linux/processes/child.ts")>(() => require("../linux/processes/child.ts"));

// Loaded when a script asks for what a program's file is or has.
const programs = lazy<typeof import("./program-files.ts")>(() => require("./program-files.ts"));

const asked: MachineGiven = {
  get release() {
    return release();
  },
  get arch() {
    return architecture();
  },
  kernelAddress(symbol) {
    return thisMachine().symbolAddress(symbol);
  },
  hasModule: (name) => existsSync(`/sys/module/${name}`),
  hasType: (name, tag) => thisMachine().types.find(name, tag) !== undefined,
  fileIdentity: (path) => programs().fileIdentity(path),
  calledFunctions: (path, callers) => programs().functionsCalled(path, callers),
  labels: (path, functions) => programs().labels(path, functions),
  mappedFile(pid, name) {
    return binaries().mappedFileNamed(pid, name);
  },
  config(name) {
    const all = kernelConfiguration();
    return all instanceof Failure ? all : all.get(name);
  },
};

/** Reads a script, with what the command line gives it. @throws RangeError for a language that has no scripts */
export function parseScript(source: Source, given: Given, language: Language): Parsed {
  if (language.parse === undefined) throw new RangeError(library().noScripts(language.title).message);
  return language.parse(source, { machine: asked, ...given, probes: spellingOf });
}

/** Compiles a script for this machine. There is a plan unless a diagnostic is an error. */
export function compileScript(source: Source, options: ScriptOptions = {}): CompiledScript {
  const { positional = [], env = process.env, maxOverhead, stats, ...flags } = options;
  const named = options.named instanceof Map ? options.named : new Map(Object.entries(options.named ?? {}));
  const language = options.language ?? languageOf(source.name, source.text);
  const target = options.target ?? (flags.command === undefined ? flags.pid : "command");
  const { languageSettings: settings, definitions, library } = options;
  const program = flags.command === undefined ? undefined : children().programOf(flags.command);
  const given: Given = {
    positional,
    named,
    ...(target === undefined ? {} : { target }),
    ...(program === undefined ? {} : { command: program }),
    ...(settings === undefined ? {} : { settings }),
    ...(definitions === undefined ? {} : { definitions }),
    ...(library === undefined ? {} : { library }),
  };
  const parsed = parseScript(source, given, language);
  const machine = thisMachine(options);
  const compiled = compile(parsed.program, machine, {
    ...flags,
    env,
    parameters: named,
    governed: maxOverhead !== undefined,
    measured: stats,
  });
  const { told = (span) => span } = parsed;
  const diagnostics = [...parsed.diagnostics, ...unknownOptions(parsed.program, named), ...compiled.diagnostics]
    .map((one) => ({ ...one, span: told(one.span) }))
    .sort((a, b) => a.span.start - b.span.start);
  const wrong = diagnostics.some(({ severity }) => severity === "error");
  return { ...compiled, plan: wrong ? undefined : compiled.plan, program: parsed.program, diagnostics, machine };
}

/** Options that were given to the script, and that it asks nothing about. */
function unknownOptions({ options = [], probes }: Program, named: ReadonlyMap<string, string | true>): Diagnostic[] {
  const start = probes.at(0)?.span.start ?? 0;
  return [...named.keys()]
    .filter((name) => !options.some((option) => option.name === name))
    .map((name) => ({
      severity: "error",
      span: { start, end: start },
      ...scripts.scriptAsksNoOption(name, options.map((option) => `--${option.name}`).join(", "), options.length === 0),
    }));
}
