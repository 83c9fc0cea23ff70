// Probes to a plan for this machine.
import { compile } from "../compiler/compile.ts";
import { ScriptError, type Diagnostic, type Source, type Span } from "../language/diagnostic.ts";
import type { Names } from "../language/typescript/binding.ts";
import { parseProbes, type ParsedProbes } from "../language/typescript/parse.ts";
import type { CompiledScript, ScriptOptions } from "./compile.ts";
import { thisMachine } from "./machine.ts";
import { functionSource } from "./markers.ts";
import type { Probe } from "./probes.ts";
import { configEntries, type Settings } from "./settings.ts";

export interface CompiledProbes extends CompiledScript {
  readonly names: Names;
  /** What the compiler has to say, each in its own file. @throws ScriptError when something of it is an error. */
  refuse(): void;
  /** A place in its own file. */
  local(span: Span): { readonly source: Source; readonly span: Span };
  readonly warnings: readonly Diagnostic[];
}

export function compileProbes(
  probes: readonly Probe[],
  options: Omit<ScriptOptions, "positional" | "named"> & { readonly settings?: Settings } = {},
): CompiledProbes {
  const { settings = {}, env = process.env, maxOverhead, stats, ...flags } = options;
  const parsed = parseProbes(
    probes.map(({ provider, parts, options, also, constructorName, words, parameters, handler, filter, captures }) => ({
      provider,
      parts,
      ...(options === undefined ? {} : { options }),
      ...(also === undefined ? {} : { also }),
      constructorName,
      words,
      parameters,
      handler: functionSource(handler, captures),
      ...(filter === undefined ? {} : { filter: functionSource(filter, captures) }),
    })),
    configEntries(settings),
  );
  const machine = thisMachine(options);
  // What is not understood is not checked: one mistake would become several.
  const read =
    parsed.diagnostics.length === 0
      ? compile(parsed.program, machine, {
          ...flags,
          env,
          governed: maxOverhead !== undefined,
          measured: stats,
          held: true,
        })
      : undefined;
  const diagnostics = [...parsed.diagnostics, ...(read?.diagnostics ?? [])];
  const wrong = diagnostics.some(({ severity }) => severity === "error");
  return {
    ...(read ?? {
      stages: { program: parsed.program, probes: [], typed: undefined } as unknown as CompiledScript["stages"],
    }),
    plan: wrong ? undefined : read?.plan,
    program: parsed.program,
    diagnostics,
    machine,
    names: parsed.names,
    warnings: diagnostics
      .filter(({ severity }) => severity === "warning")
      .map((d) => parsed.pieces.local(d).diagnostic),
    refuse: () => refuse(parsed, diagnostics),
    local(span) {
      const { source, diagnostic } = parsed.pieces.local({ severity: "warning", code: "name", span, message: "" });
      return { source, span: diagnostic.span };
    },
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
