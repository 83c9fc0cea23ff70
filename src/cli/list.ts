import { existsSync } from "node:fs";
import { compileScript } from "../api/compile.ts";
import { thisMachine } from "../api/machine.ts";
import { ScriptError, type Diagnostic } from "../language/diagnostic.ts";
import type { Language } from "../language/language.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import { isDamage, listProbes, listSpec, splitPattern } from "../providers/registry.ts";
import { listType } from "../providers/places/type-listing.ts";
import type { Listed } from "../providers/provider.ts";
import { isTerminal } from "../linux/ffi.ts";
import { takeRefusals } from "../linux/refused-files.ts";
import { OutputClosed, writeFully } from "../output/sink.ts";
import { shownText } from "../output/shown-text.ts";
import { during, tell } from "./files.ts";
import type { Options } from "./options.ts";
import { readScript } from "./script.ts";
import { attempts } from "../messages/on-demand.ts";

const flushCharacters = 1 << 16;

/** `-l`: probes of a pattern, of a script, or all; a line each, with -v their arguments. 1 when there are none. */
export function list(options: Options): number {
  let text = "";
  let found = false;
  const flush = (): void => {
    during(
      () => attempts().writeOutput(),
      () => writeFully(1, Buffer.from(text)),
    );
    text = "";
  };
  // Programs name their functions as they like.
  const line = isTerminal(1) ? (name: string) => `${shownText(name)}\n` : (name: string) => `${name}\n`;
  try {
    for (const { probe, details = [] } of listed(options)) {
      found = true;
      text += line(probe) + details.map(line).join("");
      if (text.length > flushCharacters) flush();
    }
    flush();
    for (const refused of takeRefusals()) tell(`WARNING: ${refused}\n`);
  } catch (error) {
    if (error instanceof OutputClosed) return 0;
    throw error;
  }
  if (!found && options.words.length > 0) tell(`strobe: ${whyNone(options.words[0], options)}\n`);
  return found ? 0 : 1;
}

/** What an attempt to probe would be told. */
function whyNone(pattern: string, options: Options): string {
  const { vmlinux, debuginfo, types } = options;
  const problem = (of: string): Diagnostic | undefined =>
    compileScript(
      { name: "-l", text: `${of} { }` },
      { pid: options.pid, unsafe: true, vmlinux, debuginfo, types },
    ).diagnostics.find(({ severity, code }) => severity === "error" && code === "name");
  if (/^[^:@]*(?:\/|\.bt$)/.test(pattern))
    return `it appears that '${pattern}' is a filename but the file does not exist`;
  // Of a file without a function the file is asked about.
  const error = problem(pattern) ?? (/^[^:]+:[^:]*\/[^:]*$/.test(pattern) ? problem(`${pattern}:*`) : undefined);
  const help = error?.help === undefined ? "" : `\n${error.help}`;
  return error === undefined || !pattern.includes(":") ? `no probe matches \`${pattern}\`` : `${error.message}${help}`;
}

function* listed(options: Options): Iterable<Listed> {
  const [word] = options.words;
  const { verbose, pid } = options;
  if (options.execute === undefined && !(word !== undefined && existsSync(word))) {
    const system = thisMachine(options);
    if (word === undefined) yield* listProbes(undefined, system, { verbose, pid });
    else
      for (const wanted of patterns(word, options.language))
        yield* listType(wanted.text, system, { verbose }) ?? probesOf(wanted, options, options.language);
    return;
  }
  yield* probesOfScript(options);
}

type Wanted = Pick<ProbeSpec, "provider" | "parts" | "text">;

/** As the language writes them. Else apart at commas, but for those in a list of lines. */
function patterns(word: string, language: Language | undefined): readonly Wanted[] {
  return (
    language?.patterns?.(word) ??
    word
      .split(/,(?![+\d])/)
      .map((pattern) => pattern.trim())
      .filter((pattern) => pattern !== "")
      .map((text) => {
        const [provider, ...parts] = splitPattern(text);
        return { provider, parts, text };
      })
  );
}

/** What a script would attach to. */
function* probesOfScript(options: Options): Iterable<Listed> {
  const { source, positional, language } = readScript(options);
  const { program, diagnostics } = compileScript(source, {
    language,
    positional,
    named: options.named,
    pid: options.pid,
    unsafe: true,
    vmlinux: options.vmlinux,
    debuginfo: options.debuginfo,
    types: options.types,
  });
  if (diagnostics.some(({ severity, code }) => severity === "error" && code === "syntax"))
    throw new ScriptError(program.source, diagnostics);
  let none = true;
  for (const { specs } of program.probes) {
    for (const spec of specs) {
      for (const one of spec.parts.length === 0 ? [{ probe: spec.text }] : probesOf(spec, options, language)) {
        none = false;
        yield one;
      }
    }
  }
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (none && errors.length > 0) throw new ScriptError(program.source, errors);
}

/** What is wrong with a file that the pattern means is thrown with the pattern, where it does not name the file. */
function* probesOf(wanted: Wanted, options: Options, language: Language | undefined): Iterable<Listed> {
  const { verbose, pid } = options;
  const spelling = language?.rules.spelling;
  try {
    for (const listed of listSpec(wanted, thisMachine(options), { verbose, pid }))
      yield spelling?.probe === undefined ? listed : { ...listed, probe: spelling.probe(listed.probe) };
  } catch (error) {
    if (isDamage(error) && error.file === undefined) error.message += `, looking for \`${wanted.text}\``;
    throw error;
  }
}
