// What `strobe stap -l` and `-L` list, in SystemTap's words, and its dumps.
import { parseScript } from "../api/compile.ts";
import { thisMachine } from "../api/machine.ts";
import { words } from "../language/systemtap/editing.ts";
import { systemtap } from "../language/systemtap/language.ts";
import { libraryHeads } from "../language/systemtap/tapset.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { listSpec, splitPattern } from "../providers/registry.ts";
import type { Listed } from "../providers/provider.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import type { System } from "../machine/system.ts";
import type { DebugType } from "../debuginfo/dwarf/facts.ts";
import { spellDebugType } from "../machine/values/debug-types.ts";
import { findBinaries } from "../machine/binaries/binaries.ts";
import { spelledProbe } from "../language/systemtap/probe-names.ts";
import type { Diagnostic, Source } from "../language/diagnostic.ts";
import { wildcard } from "../language/systemtap/wildcard.ts";
import { print } from "./files.ts";

/** A line each; 1 when there are none. `verbose`: with the variables, but for aliases of the library. */
export function listPoints(pattern: string, verbose: boolean): number {
  const system = thisMachine();
  const isAlias = wildcard(pattern);
  const aliases = libraryHeads()
    .probes.map(({ name }) => name)
    .filter((name) => isAlias.test(name) && listed(name, false, system, () => {}).length > 0);
  const tell = (source: Source, one: Diagnostic): void => {
    process.stderr.write(renderDiagnostic(source, one, { color: false }));
  };
  const lines = new Set(aliases.length > 0 ? aliases.toSorted() : listed(pattern, verbose, system, tell));
  print(
    [...lines]
      .toSorted()
      .map((line) => `${line}\n`)
      .join(""),
  );
  return lines.size === 0 ? 1 : 0;
}

function listed(
  pattern: string,
  verbose: boolean,
  system: ReturnType<typeof thisMachine>,
  tell: (source: Source, one: Diagnostic) => void,
): string[] {
  const source = { name: "-l", text: `probe ${pattern} { next }` };
  const { program, diagnostics } = parseScript(source, { positional: [] }, systemtap);
  const wrong = diagnostics.filter(({ severity }) => severity === "error");
  for (const one of wrong) tell(source, one);
  return (wrong.length > 0 ? [] : program.probes).flatMap(({ specs }) =>
    specs.flatMap((spec) =>
      // Of a label there is no more to tell than where it is.
      spec.text.includes(".label(")
        ? [spec.text]
        : Array.from(listSpec(spec, system, { verbose, sources: true }), (listed) => lineOf(listed, spec, system)),
    ),
  );
}

function lineOf({ probe, details = [], source, variables }: Listed, spec: ProbeSpec, system: System): string {
  if (isOfHost.has(spec.provider)) return spec.text;
  const path = /^process\("([^"]+)"\)/.exec(spec.text)?.[1];
  const [binary] = path === undefined ? [] : findBinaries(path, undefined, system);
  const asked =
    binary === undefined
      ? spec
      : { ...spec, text: spec.text.replace(JSON.stringify(path), JSON.stringify(binary.path)) };
  const [kind, ...parts] = splitPattern(probe);
  const spelled =
    systemCall(kind, parts, spec) ?? spelledProbe(probe, asked, source ?? { path: binary?.path ?? path ?? "" });
  // A mark's provider is named where the point names one.
  const name = spec.text.includes(".provider(") ? spelled : spelled.replace(/\.provider\("[^"]*"\)(?=\.mark)/, "");
  const shown = variables?.map(({ name: of, type }) => ` $${of}:${typeName(type)}`) ?? details.map(variable);
  return `${name}${shown.join("")}`;
}

const isOfHost: ReadonlySet<string> = new Set(["begin", "end", "interval", "profile"]);

/** `syscall.open` by its tracepoint. */
function systemCall(kind: string, parts: readonly string[], { text }: ProbeSpec): string | undefined {
  if (kind !== "tracepoint") return undefined;
  const [, family = "syscall"] = /^((?:nd_|tp_)?syscall)\./.exec(text) ?? [];
  const [, when, call] = /^sys_(enter|exit)_(.*)$/.exec(parts.slice(1).join(":")) ?? [];
  return call === undefined
    ? `kernel.trace(${JSON.stringify(parts.join(":"))})`
    : `${family}.${call}${when === "exit" ? ".return" : ""}`;
}

/** `char const*`, `struct node`, `long unsigned int` */
function typeName(type: DebugType): string {
  const constant = type.constant === true ? " const" : "";
  if (type.kind === "pointer" && !(type.target().kind === "function") && type.flavour === "pointer")
    return `${typeName(type.target())}*${constant}`;
  if (type.kind === "array")
    return `${typeName(type.element())}${type.lengths.map((length) => `[${length}]`).join("")}`;
  return `${spellDebugType(type).replace(/^const /, "")}${constant}`;
}

/** `    int *x` as ` $x:int*`. */
function variable(detail: string): string {
  // Where the function is written is no variable.
  if (/^\s*(?:at|in|inlined into) /.test(detail)) return "";
  const [, type, stars, name] = /^\s*(?:var )?(.*?)\s*(\**)\s*(\w+)(?:\[.*\])?$/.exec(detail) ?? [];
  if (name === undefined) return "";
  const argument = /^arg(\d+)$/.exec(name);
  // Those that have no names, as those of marks: counted from 1, and numbers to scripts.
  if (argument !== null) return ` $arg${Number(argument[1]) + 1}:long`;
  return ` $${name === "retval" ? "return" : name}:${type}${stars}`;
}

/** `pid:long ()`, a line each. */
export function dumpFunctions(): number {
  print(
    words()
      .filter(({ kind }) => kind === "function")
      .map(({ signature }) => signature)
      .toSorted()
      .map((head) => `${head}\n`)
      .join(""),
  );
  return 0;
}

/** `scheduler.wakeup = kernel.trace("sched_wakeup")`, a line each. */
export function dumpAliases(): number {
  print(
    libraryHeads()
      .probes.map(({ head }) => `${head}\n`)
      .toSorted()
      .join(""),
  );
  return 0;
}

/** Forms of probe points, a line each: those that strobe reads. */
export function dumpTypes(): number {
  print(
    pointForms
      .flatMap(({ of, forms }) => forms.map((form) => `${of}${form}`))
      .toSorted()
      .map((form) => `${form}\n`)
      .join(""),
  );
  return 0;
}

const functions = ["", ".call", ".exported", ".inline", ".return", ".return.maxactive(number)"];
const units = ["s", "sec", "ms", "msec", "us", "usec", "ns", "nsec", "jiffies"];
const pointForms: readonly { readonly of: string; readonly forms: readonly string[] }[] = [
  { of: "", forms: ["begin", "begin(number)", "end", "end(number)", "error", "error(number)", "never"] },
  { of: "timer.", forms: units.flatMap((unit) => [`${unit}(number)`, `${unit}(number).randomize(number)`]) },
  { of: "timer.", forms: ["hz(number)", "profile", "profile.hz(number)"] },
  { of: "kernel.function(string)", forms: functions },
  { of: "module(string).function(string)", forms: functions },
  { of: "kernel.", forms: ["statement(string)", "statement(string).nearest", "trace(string)", "tracepoint(string)"] },
  { of: "module(string).", forms: ["statement(string)", "statement(string).nearest"] },
  { of: "kernel.data(number)", forms: [".write", ".rw", ".length(number).write", ".length(number).rw"] },
  { of: "kernel.data(string)", forms: [".write", ".rw", ".length(number).write", ".length(number).rw"] },
  { of: "kprobe.function(string)", forms: ["", ".call", ".return", ".return.maxactive(number)"] },
  ...["process", "process(number)", "process(string)"].flatMap((of) => [
    { of: `${of}.function(string)`, forms: functions.filter((form) => !form.includes("maxactive")) },
    { of: `${of}.`, forms: ["statement(string)", "statement(string).nearest", "mark(string)", "plt", "plt(string)"] },
    { of: `${of}.`, forms: ["provider(string).mark(string)", "library(string).function(string)"] },
    { of: `${of}.`, forms: ["begin", "end", "thread.begin", "thread.end", "syscall", "syscall.return"] },
    { of: `${of}.data(string)`, forms: [".write", ".rw", ".length(number).write", ".length(number).rw"] },
  ]),
  { of: "perf.", forms: ["sw.NAME", "hw.NAME", "sw.NAME.sample(number)", "hw.NAME.sample(number)"] },
];
