import { closeSync } from "node:fs";
import type { MistakeShape } from "../language/render-diagnostic.ts";
import { openScript, type Openable } from "../api/open.ts";
import type { Source } from "../language/diagnostic.ts";
import { ScriptError } from "../language/diagnostic.ts";
import type { Language } from "../language/language.ts";
import type { Printer } from "../output/printer.ts";
import { LinuxError } from "../linux/error.ts";
import { interruptsCalls } from "../linux/ffi.ts";
import { isPending } from "../linux/processes/pending-signals.ts";
import { takeRefusals } from "../linux/refused-files.ts";
import { OutputClosed, OutputStuck } from "../output/sink.ts";
import type { Session } from "../session/session.ts";
import { storeState } from "../store/place.ts";
import { openOutput, print, tell } from "./files.ts";
import { spokenIn } from "./option-values.ts";
import type { Options } from "./options.ts";
import { compileOptions, readScript } from "./script.ts";
import { ScriptPlan } from "./script-plan.ts";
import { StatusLine } from "./status.ts";
import { lazy } from "../base/lazy.ts";

const helpText = lazy<typeof import("./script-help.ts")>(() => require("./script-help.ts"));

// Loaded for what is wrong with a script.
const rendering = lazy<typeof import("../language/render-diagnostic.ts")>(() =>
  require("../language/render-diagnostic.ts"),
);

// Loaded for the first message.
const errorTexts = lazy<typeof import("./errors.ts")>(() => require("./errors.ts"));

// Loaded to know what a script asks for.
const compiling = lazy<typeof import("../api/compile.ts")>(() => require("../api/compile.ts"));
// Loaded for several formats.
const several = lazy<typeof import("../output/several.ts")>(() => require("../output/several.ts"));

// Loaded for a service manager that waits.
const serviceManager = lazy<typeof import("../linux/processes/service-manager.ts")>(() =>
  require("../linux/processes/service-manager.ts"),
);

const standardOutput = 1;
const standardError = 2;

/** Compiles and runs a script to its end; gives the exit code. `build`: see KeptPlan. */
export async function run(options: Options, build: string | undefined): Promise<number> {
  const { source, positional, language } = readScript(options);
  const { named } = options;
  if (named.get("help") === true && helped(source, positional, language)) return 0;
  const given = { language, positional, named, ...compileOptions(options) };
  // What was kept does not tell which probes were found.
  const keeps = options.debug.length === 0 && !options.explain && options.voice === undefined;
  const script = new ScriptPlan(source, given, keeps ? build : undefined);
  if (script.known === undefined) {
    const compiled = script.compile();
    showDiagnostics(compiled.program.source, compiled, options, compiled.program.rules.mistakes);
    if (!compiled.plan) return 1;
    if (options.voice?.compiled(compiled) === false) return 0;

    if (options.explain) {
      const { explanation } = await import("./stages.ts");
      print(explanation(compiled, compiled.plan));
      return 0;
    }
    const shown = options.debug.filter((stage) => stage !== "verifier");
    if (shown.length > 0) {
      const { stagesText } = await import("./stages.ts");
      print(stagesText(compiled, compiled.plan, shown));
      return 0;
    }
  } else if (script.known.said !== undefined) showDiagnostics(script.known.said.source, script.openable, options);
  return trace(script, { ...options, formats: spokenIn(language, options.formats) });
}

/** From attaching to the end: by itself, by a signal, or because nobody reads any more. */
async function trace(script: ScriptPlan, options: Options): Promise<number> {
  const opened: number[] = [];
  const consumer = printerOf(options, opened);
  const log = options.verbose || options.debug.includes("verifier") ? (line: string) => tell(`${line}\n`) : undefined;
  let session: Session | undefined;
  /** Before it is open: `begin` may run commands. */
  let opening: Session | undefined;
  let stopped = options.dryRun;
  let status: StatusLine | undefined;
  let end: NodeJS.Timeout | undefined;
  // One that comes while probes are being attached counts as well.
  onSignal(() => {
    stopped = true;
    consumer.hurry();
    (session ?? opening)?.stop();
  });
  try {
    if (script.known !== undefined) log?.("the script has run before: its plan was kept");
    if (options.verbose) {
      sayNothingKept();
      for (const line of script.plan?.placements ?? []) tell(`${line}\n`);
      sayUnfitting(script);
    }
    session = await openScript(script.source, script.openable, {
      ...script.options,
      consumer,
      top: options.top,
      log,
      dryRun: options.dryRun,
      boot: options.boot,
      bootLive: options.bootLive,
      tracerSettings: options.tracerSettings,
      kept: options.kept,
      verifierLog: options.debug.includes("verifier"),
      interrupted: () => isPending(stopNumbers),
      recompile: (way) => script.compile(way),
      loaded(one) {
        opening = one;
      },
    });
    status = !options.announces
      ? undefined
      : StatusLine.start(
          consumer,
          () => session?.stats()?.share,
          () => session?.largestMaps(),
        );
    if (stopped) session.stop();
    if (options.duration !== undefined) end = setTimeout(() => session?.stop(), options.duration);
    tellState("READY=1", options);
    const { exitCode } = await session.ended;
    tellState("STOPPING=1", options);
    consumer.end();
    if (exitCode === 0) script.keep();
    return exitCode;
  } catch (error) {
    if (session === undefined) script.forget();
    // Nobody reads any more: what head(1) does to those before it in a pipe.
    if (!(error instanceof OutputClosed)) throw error;
    if (error instanceof OutputStuck) tell(`WARNING: ${error.message}\n`);
    script.keep();
    return 0;
  } finally {
    clearTimeout(end);
    status?.[Symbol.dispose]();
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** To systemd, where it waits for that (`Type=notify`): that everything is attached, and that it is no more. */
function tellState(state: string, { dryRun }: Options): void {
  const socket = process.env["NOTIFY_SOCKET"];
  if (socket === undefined || dryRun) return;
  try {
    serviceManager().tellServiceManager(socket, state);
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
    tell(`WARNING: ${error.message}\n`);
  }
}

function sayNothingKept(): void {
  const { path, problem } = storeState();
  if (problem !== undefined) process.stderr.write(`nothing is kept between runs in ${path}: ${problem}\n`);
}

function sayUnfitting(script: ScriptPlan): void {
  for (const name of script.unfittingTypes)
    tell(`${name}: no description of this name fits; it is shown as its members\n`);
}

/** `opened`: takes the descriptors of the files that are opened for it. */
export function printerOf(
  { formats, output, buffering, announces, noWarnings, dryRun, appends, ascii }: Options,
  opened: number[],
): Printer {
  const open = (path: string): number => {
    const descriptor = openOutput(path, appends);
    opened.push(descriptor);
    return descriptor;
  };
  // Messages are said once: by the one whose lines are read as they come.
  const speaker = Math.max(
    0,
    formats.findIndex(({ file }) => file === undefined),
  );
  const printers = formats.map(({ format, file }, i) => {
    const path = format.inKernel === undefined ? (file ?? output) : undefined;
    return format.open(
      {
        output: path === undefined ? standardOutput : open(path),
        buffering,
        quiet: !announces,
        noWarnings,
        silent: dryRun,
        ascii,
        ...(i === speaker ? { messages: standardError } : {}),
      },
      file,
    );
  });
  return printers.length === 1 ? printers[0] : new (several().SeveralPrinters)(printers);
}

const stopSignals = [
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGTERM", 15],
] as const;
export const stopNumbers: ReadonlySet<number> = new Set(stopSignals.map(([, number]) => number));

export function onSignal(stop: () => void): void {
  for (const [signal, number] of stopSignals) {
    process.on(signal, stop);
    // Also a write that a full pipe does not take.
    interruptsCalls(number);
  }
  // Else Node would open its debugger, to anybody on this machine.
  process.on("SIGUSR1", () => {});
}

/** `-- --help`, unless the script has an option of that name itself. */
function helped(source: Source, positional: readonly string[], language: Language): boolean {
  const { options = [] } = compiling().parseScript(source, { positional }, language).program;
  if (options.some(({ name }) => name === "help")) return false;
  const { scriptHelp } = helpText();
  print(scriptHelp(source.name === "-e" ? "the program" : source.name, options));
  return true;
}

export function showDiagnostics(
  source: Source,
  { diagnostics, plan }: Pick<Openable, "diagnostics" | "plan">,
  options: Options,
  mistakes?: MistakeShape,
): void {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (options.voice !== undefined) {
    tell(options.voice.wrong(source, errors));
    return;
  }
  if (!plan && errors.length === 0) throw new ScriptError(source, diagnostics);
  const warnings =
    options.quiet || options.noWarnings ? [] : diagnostics.filter(({ severity }) => severity === "warning");
  const shown = errors.length > 0 ? diagnostics.filter((d) => errors.includes(d) || warnings.includes(d)) : warnings;
  for (const diagnostic of shown.slice(0, mostShown))
    process.stderr.write(
      rendering().renderDiagnostic(source, diagnostic, { color: errorTexts().useColor(), mistakes }),
    );
  // Where nothing is wrong, the trace tells them.
  if (errors.length > 0) for (const refused of takeRefusals()) tell(`WARNING: ${refused}\n`);
  if (shown.length > mostShown)
    process.stderr.write(`strobe: ${shown.length - mostShown} more messages are not shown\n`);
}

/** Scripts that programs write can be wrong in thousands of places. */
const mostShown = 100;
