// Probes to a plan for this machine.
import { compile } from "../compiler/compile.ts";
import { ScriptError, type Diagnostic } from "../language/diagnostic.ts";
import type { Names } from "../language/typescript/binding.ts";
import { parseProbes, type ParsedProbes } from "../language/typescript/parse.ts";
import { thisMachine, type CompiledScript, type ScriptOptions } from "./compile.ts";
import { functionSource } from "./markers.ts";
import type { Probe } from "./probes.ts";
import { configEntries, type Settings } from "./settings.ts";

export interface CompiledProbes extends CompiledScript {
  readonly names: Names;
  /** What the compiler has to say, each in its own file. @throws ScriptError when something of it is an error. */
  refuse(): void;
  readonly warnings: readonly Diagnostic[];
}

export function compileProbes(
  probes: readonly Probe[],
  options: Omit<ScriptOptions, "positional" | "named"> & { readonly settings?: Settings } = {},
): CompiledProbes {
  const {
    settings = {},
    pid,
    command,
    follow = false,
    unsafe = false,
    env = process.env,
    directLoads = true,
    sparing,
    maxOverhead,
    stats,
  } = options;
  const parsed = parseProbes(
    probes.map(({ provider, parts, also, constructorName, parameters, handler, filter, captures }) => ({
      provider,
      parts,
      ...(also === undefined ? {} : { also }),
      constructorName,
      parameters,
      handler: functionSource(handler, captures),
      ...(filter === undefined ? {} : { filter: functionSource(filter, captures) }),
    })),
    configEntries(settings),
  );
  // What is not understood is not checked: one mistake would become several.
  const read =
    parsed.diagnostics.length === 0
      ? compile(parsed.program, thisMachine(), {
          pid,
          command,
          follow,
          unsafe,
          env,
          directLoads,
          sparing,
          governed: maxOverhead !== undefined,
          measured: stats,
        })
      : undefined;
  const diagnostics = [...parsed.diagnostics, ...(read?.diagnostics.map(inTypeScript) ?? [])];
  const wrong = diagnostics.some(({ severity }) => severity === "error");
  return {
    ...(read ?? {
      stages: { program: parsed.program, probes: [], typed: undefined } as unknown as CompiledScript["stages"],
    }),
    plan: wrong ? undefined : read?.plan,
    program: parsed.program,
    diagnostics,
    names: parsed.names,
    warnings: diagnostics
      .filter(({ severity }) => severity === "warning")
      .map((d) => parsed.pieces.local(d).diagnostic),
    refuse: () => refuse(parsed, diagnostics),
  };
}

/** Those of the first file that has a mistake: an error has one source. */
function refuse({ pieces }: ParsedProbes, diagnostics: readonly Diagnostic[]): void {
  const first = diagnostics.find(({ severity }) => severity === "error");
  if (first === undefined) return;
  const { source } = pieces.local(first);
  const here = diagnostics
    .map((d) => pieces.local(d))
    .filter((local) => local.source.name === source.name && local.source.text === source.text);
  throw new ScriptError(
    source,
    here.map(({ diagnostic }) => diagnostic).sort((a, b) => a.span.start - b.span.start),
  );
}

/** The checker writes variables and maps as bpftrace does; here they have no sigils. */
function inTypeScript(diagnostic: Diagnostic): Diagnostic {
  const plain = (text: string): string => text.replace(/(^|[\s`(,])[$@](?=[A-Za-z_])/g, "$1").replace(/#\d+/g, "");
  const { message } = diagnostic;
  const help = diagnostic.help ?? hints.find(([complaint]) => complaint.test(message))?.[1];
  return { ...diagnostic, message: plain(message), ...(help === undefined ? {} : { help: plain(help) }) };
}

/** What to do in TypeScript about what the checker, which knows no language, complains of. */
const hints: readonly (readonly [complaint: RegExp, help: string])[] = [
  [
    /^expected text, not /,
    "numbers become text where they are printed: print(`${n}`); emit them beside the text, or make them a key of their own: m.at(text, n)",
  ],
  [/comparing .*\* .*with .*string|comparing .*string.* with .*\*/, "the text behind a pointer is str(pointer)"],
  [/^a condition cannot be a string/, 'compare it: text !== ""'],
  [/comparing string/, "texts are equal or not; sort them in Node"],
];
