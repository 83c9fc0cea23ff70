// `--test` and `--bench`: the script's test: and bench: probes, one after the other, each with the script's begin and
// end around it.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileScript, parseScript } from "../api/compile.ts";
import { openScript } from "../api/open.ts";
import { ScriptError, type Source } from "../language/diagnostic.ts";
import { RETURNED } from "../language/check/returned.ts";
import { TextConsumer } from "../output/text.ts";
import type { Measured } from "../providers/provider.ts";
import { decoder } from "../session/decode.ts";
import type { Consumer } from "../session/events.ts";
import { errorText, useColor } from "./errors.ts";
import type { Options } from "./options.ts";
import { readScript } from "./script.ts";

type Kind = "test" | "bench";

/** The exit code: 1 when a test failed. */
export async function runSuite(options: Options, kind: Kind): Promise<number> {
  const { source, positional, language } = readScript(options);
  const { program, diagnostics } = parseScript(source, { positional, named: options.named }, language);
  if (diagnostics.some(({ severity }) => severity === "error")) throw new ScriptError(source, diagnostics);
  const names = program.probes
    .flatMap(({ specs }) =>
      specs.filter(({ provider, parts }) => provider === kind && parts.length === 1).map(({ parts }) => parts[0]),
    )
    .filter((name) => options.probeFilter?.test(`${kind}:${name}`) ?? true);
  return kind === "test"
    ? runTests(source, positional, names, options)
    : runBenches(source, positional, names, options);
}

interface Ran {
  readonly failed: boolean;
  readonly measured: Measured | undefined;
  /** What the script printed, and what was said of it. */
  readonly output: string;
}

/** `-f json`: a line each. */
function tell(type: "test_result" | "benchmark_result", name: string, result: object): void {
  process.stdout.write(`${JSON.stringify({ type, data: { [name]: result } })}\n`);
}

async function runTests(
  source: Source,
  positional: readonly string[],
  names: readonly string[],
  options: Options,
): Promise<number> {
  const json = isJson(options);
  const tests = (count: number): string => `${count} ${count === 1 ? "test" : "tests"}`;
  if (!json) say("==========", `Running ${tests(names.length)}.`);
  const failed: string[] = [];
  for (const name of names) {
    if (!json) say(" RUN      ", name);
    const started = process.hrtime.bigint();
    const ran = await runOne(source, positional, { kind: "test", name }, options);
    const duration = Number((process.hrtime.bigint() - started) / 1000n);
    const took = `${name} (${duration} μs)`;
    if (json) {
      tell("test_result", name, { duration, passed: !ran.failed, output: ran.output });
      if (ran.failed) failed.push(name);
    } else if (ran.failed) {
      failed.push(name);
      process.stdout.write(ran.output);
      say("  FAILED  ", took, false);
    } else say("       OK ", took);
  }
  if (json) return failed.length === 0 ? 0 : 1;
  say("==========", `${tests(names.length)} ran.`);
  say("  PASSED  ", `${tests(names.length - failed.length)}.`);
  if (failed.length === 0) return 0;
  say("  FAILED  ", `${tests(failed.length)}, listed below:`, false);
  for (const name of failed) say("  FAILED  ", name, false);
  return 1;
}

function isJson({ formats }: Options): boolean {
  return formats[0].format.name === "json";
}

function say(mark: string, text: string, good = true): void {
  const shown = useColor() ? `\u001b[${good ? 32 : 31}m[${mark}]\u001b[0m` : `[${mark}]`;
  process.stdout.write(`${shown} ${text}\n`);
}

async function runBenches(
  source: Source,
  positional: readonly string[],
  names: readonly string[],
  options: Options,
): Promise<number> {
  const json = isJson(options);
  const row = (name: string, nanoseconds: string | number, runs: string | number): string =>
    `${name.padEnd(41)}${String(nanoseconds).padEnd(15)}${runs}\n`;
  if (!json) process.stdout.write(`${row("Benchmark", "Time(ns)", "Iterations")}${"-".repeat(66)}\n`);
  let exitCode = 0;
  for (const name of names) {
    const { failed, measured, output } = await runOne(source, positional, { kind: "bench", name }, options);
    if (measured === undefined || failed) {
      process.stderr.write(`${output}strobe: ${name} could not be measured\n`);
      exitCode = 1;
    } else if (json)
      tell("benchmark_result", name, { average: Math.round(measured.nanoseconds), iters: measured.runs });
    else process.stdout.write(row(name, Math.round(measured.nanoseconds), measured.runs));
  }
  return exitCode;
}

/** Runs one of them in a session of its own. What it prints is kept: it is only of interest when it fails. */
async function runOne(
  source: Source,
  positional: readonly string[],
  suite: { readonly kind: Kind; readonly name: string },
  options: Options,
): Promise<Ran> {
  const { language, named } = options;
  const { unsafe, warnings } = options.switches;
  const script = { language, positional, named, unsafe, warnings, suite };
  const folder = mkdtempSync(join(tmpdir(), "strobe-"));
  const file = join(folder, "output");
  const output = openSync(file, "w+");
  let measured: Measured | undefined;
  let failed = false;
  let trouble = "";
  try {
    const text = new TextConsumer({ output, messages: output, quiet: true, buffering: "full" });
    const consumer: Consumer = {
      ownsThread: true,
      handler(schema, memory, services) {
        const { action, fields } = schema;
        if (action.kind === "data" && action.name === RETURNED) {
          const [{ type, offset: at }] = fields;
          const decode = decoder(type);
          return (offset) => {
            failed ||= Number(decode(memory.view, memory.bytes, offset + at)) !== 0;
          };
        }
        const handle = text.handler(schema, memory, services);
        const isError = action.kind === "error" || (action.kind === "printf" && action.to === "error");
        return isError
          ? (offset) => {
              failed = true;
              handle(offset);
            }
          : handle;
      },
      map: (snapshot, shown) => text.map(snapshot, shown),
      text: (bytes, from) => text.text(bytes, from),
      trouble: (what) => text.trouble(what),
      attached: () => {
        /* not of interest here */
      },
      measured: (result) => {
        measured = result;
      },
      flush: () => text.flush(),
    };
    const compiled = compileScript(source, script);
    const session = await openScript(source, compiled, {
      ...script,
      consumer,
      recompile: (way) => compileScript(source, { ...script, ...way }),
    });
    await session.ended;
    text.end();
  } catch (error) {
    failed = true;
    trouble = errorText(error, options.verbose);
  } finally {
    closeSync(output);
  }
  const printed = readFileSync(file, "utf8").replace(/^\n\n$/, "");
  rmSync(folder, { recursive: true, force: true });
  return { failed, measured, output: printed + trouble };
}
