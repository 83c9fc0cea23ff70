import { closeSync, openSync } from "node:fs";
import { compileScript, type CompiledScript } from "../api/compile.ts";
import { openScript } from "../api/open.ts";
import { ScriptError } from "../language/diagnostic.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { OutputClosed } from "../output/sink.ts";
import { TextConsumer } from "../output/text.ts";
import type { Session } from "../session/session.ts";
import { useColor } from "./errors.ts";
import type { Options } from "./options.ts";
import { readScript } from "./script.ts";
import { StatusLine } from "./status.ts";

// Loaded for `-f json`.
const json = () => require("../output/json.ts") as typeof import("../output/json.ts");

const standardOutput = 1;
const standardError = 2;

/** Compiles and runs a script to its end; gives the exit code. */
export async function run(options: Options): Promise<number> {
  const { source, positional } = readScript(options);
  const { named, pid, command, follow, unsafe, maxOverhead, stats, warnings, probeFilter } = options;
  const script = { positional, named, pid, command, follow, unsafe, maxOverhead, stats, warnings, probeFilter };
  const compiled = compileScript(source, script);
  showDiagnostics(compiled, options);
  if (!compiled.plan) return 1;

  const shown = options.debug.filter((stage) => stage !== "verifier");
  if (shown.length > 0) {
    const { stagesText } = await import("./stages.ts");
    process.stdout.write(stagesText(compiled, compiled.plan, shown));
    return 0;
  }

  const output = options.output === undefined ? standardOutput : openSync(options.output, "w");
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
  try {
    session = await openScript(source, compiled, { ...script, consumer, log, dryRun: options.dryRun, verifierLog: options.debug.includes("verifier") });
    status = options.quiet ? undefined : StatusLine.start(consumer, () => session?.stats()?.share);
    if (stopped) session.stop();
    const { exitCode } = await session.ended;
    consumer.end();
    return exitCode;
  } catch (error) {
    // Nobody reads any more: what head(1) does to those before it in a pipe.
    if (error instanceof OutputClosed) return 0;
    throw error;
  } finally {
    status?.[Symbol.dispose]();
    if (output !== standardOutput) closeSync(output);
  }
}

function showDiagnostics({ diagnostics, program, plan }: CompiledScript, options: Options): void {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (!plan && errors.length === 0) throw new ScriptError(program.source, diagnostics);
  const warnings = options.quiet || options.noWarnings ? [] : diagnostics.filter(({ severity }) => severity === "warning");
  const shown = errors.length > 0 ? diagnostics.filter((d) => errors.includes(d) || warnings.includes(d)) : warnings;
  for (const diagnostic of shown) process.stderr.write(renderDiagnostic(program.source, diagnostic, { color: useColor() }));
}
