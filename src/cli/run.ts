import { closeSync } from "node:fs";
import type { CompiledScript } from "../api/compile.ts";
import { KeptPlan } from "../api/kept-plans.ts";
import { openScript, type Way } from "../api/open.ts";
import type { Source } from "../language/diagnostic.ts";
import { ScriptError } from "../language/diagnostic.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import type { SeenFile } from "../linux/seen-files.ts";
import { OutputClosed } from "../output/sink.ts";
import { TextConsumer } from "../output/text.ts";
import type { Session } from "../session/session.ts";
import { useColor } from "./errors.ts";
import { openOutput, print } from "./files.ts";
import type { Options } from "./options.ts";
import { readScript } from "./script.ts";
import { StatusLine } from "./status.ts";

// Loaded for a script whose plan is not known.
const compiling = () => require("../api/compile.ts") as typeof import("../api/compile.ts");
// Loaded for `-f json`.
const json = () => require("../output/json.ts") as typeof import("../output/json.ts");

const standardOutput = 1;
const standardError = 2;

/** Compiles and runs a script to its end; gives the exit code. `build`: see KeptPlan. */
export async function run(options: Options, build: string | undefined): Promise<number> {
  const { source, positional } = readScript(options);
  const { named, pid, command, follow, unsafe, maxOverhead, stats, warnings, probeFilter } = options;
  const script = { positional, named, pid, command, follow, unsafe, maxOverhead, stats, warnings, probeFilter };
  if (named.get("help") === true && helped(source, positional)) return 0;
  const kept = build === undefined || options.debug.length > 0 ? undefined : KeptPlan.of(build, source, script);
  const known = kept?.find();
  let compiled: CompiledScript | undefined;
  let files: readonly SeenFile[] | undefined;
  const compile = (way: Way = {}): CompiledScript => {
    compiled = compiling().compileScript(source, { ...script, ...way });
    files = compiling().thisMachine().madeOf();
    return compiled;
  };
  if (known === undefined) {
    compiled = compile();
    showDiagnostics(compiled, options);
    if (!compiled.plan) return 1;

    const shown = options.debug.filter((stage) => stage !== "verifier");
    if (shown.length > 0) {
      const { stagesText } = await import("./stages.ts");
      print(stagesText(compiled, compiled.plan, shown));
      return 0;
    }
  }

  const output = options.output === undefined ? standardOutput : openOutput(options.output);
  const consumer = options.format === "json"
    ? new (json().JsonConsumer)({ output, buffering: options.buffering, quiet: options.quiet, noWarnings: options.noWarnings })
    : new TextConsumer({
        output, messages: standardError, quiet: options.quiet, buffering: options.buffering, silent: options.dryRun,
        folded: options.format === "folded", noWarnings: options.noWarnings,
      });
  const log = options.verbose || options.debug.includes("verifier") ? (line: string) => void process.stderr.write(`${line}\n`) : undefined;
  // A signal that comes while probes are being attached counts as well.
  let session: Session | undefined;
  let stopped = options.dryRun;
  let status: StatusLine | undefined;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      stopped = true;
      session?.stop();
    });
  }
  // Else Node would open its debugger, to anybody on this machine.
  process.on("SIGUSR1", () => {});
  try {
    if (known !== undefined) log?.("the script has run before: its plan was kept");
    session = await openScript(source, compiled ?? { plan: known, diagnostics: [] }, {
      ...script, consumer, log, dryRun: options.dryRun, verifierLog: options.debug.includes("verifier"),
      recompile: compile,
    });
    status = options.quiet ? undefined : StatusLine.start(consumer, () => session?.stats()?.share);
    if (stopped) session.stop();
    const { exitCode } = await session.ended;
    consumer.end();
    if (exitCode === 0) keep(compiled, files, kept);
    return exitCode;
  } catch (error) {
    if (known !== undefined && session === undefined) kept?.forget();
    // Nobody reads any more: what head(1) does to those before it in a pipe.
    if (!(error instanceof OutputClosed)) throw error;
    keep(compiled, files, kept);
    return 0;
  } finally {
    status?.[Symbol.dispose]();
    if (output !== standardOutput) closeSync(output);
  }
}

/** `-- --help`, unless the script has an option of that name itself. */
function helped(source: Source, positional: readonly string[]): boolean {
  const { options = [] } = compiling().parseScript(source, { positional }).program;
  if (options.some(({ name }) => name === "help")) return false;
  const { scriptHelp } = require("./script-help.ts") as typeof import("./script-help.ts");
  print(scriptHelp(source.name === "-e" ? "the program" : source.name, options));
  return true;
}

function showDiagnostics({ diagnostics, program, plan }: CompiledScript, options: Options): void {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (!plan && errors.length === 0) throw new ScriptError(program.source, diagnostics);
  const warnings = options.quiet || options.noWarnings ? [] : diagnostics.filter(({ severity }) => severity === "warning");
  const shown = errors.length > 0 ? diagnostics.filter((d) => errors.includes(d) || warnings.includes(d)) : warnings;
  for (const diagnostic of shown) process.stderr.write(renderDiagnostic(program.source, diagnostic, { color: useColor() }));
}

/** What was found out, for the next time; of these files. */
function keep(compiled: CompiledScript | undefined, files: readonly SeenFile[] | undefined, kept: KeptPlan | undefined): void {
  if (compiled === undefined) return;
  compiling().thisMachine().keepTypes();
  const { plan, diagnostics, following } = compiled;
  // Warnings are to be seen every time.
  if (plan !== undefined && files !== undefined && following === undefined && diagnostics.length === 0) kept?.keep(plan, files);
}
