// A script over a recording: compiled for what is in it, and run over its events.
import { compile } from "../compiler/compile.ts";
import type { HeaderField } from "../compiler/layouts/record-header.ts";
import type { ProcessFilter } from "../compiler/sites/process-filter.ts";
import type { Plan } from "../compiler/plan.ts";
import type { Diagnostic, Source } from "../language/diagnostic.ts";
import type { Language } from "../language/language.ts";
import type { Program } from "../language/program.ts";
import type { TypeScope } from "../language/type-scope.ts";
import { languageOf } from "../language/registry.ts";
import { recordedTypes } from "../machine/contexts/recorded-types.ts";
import { recordedSystem } from "../machine/recorded-system.ts";
import { printfFormatter } from "../output/printf.ts";
import { shownValue } from "../output/values.ts";
import { RecordedProbes, type ReplayableRecording } from "../providers/recorded.ts";
import type { Consumer } from "../session/events.ts";
import { ReplaySource, type ReplayOptions } from "../session/replay/replay-source.ts";
import { openSession, type Session } from "../session/session.ts";
import { recordings } from "../messages/recordings.ts";
import { parseScript } from "./compile.ts";

export interface ReplayScriptOptions {
  readonly language?: Language | undefined;
  readonly positional?: readonly string[] | undefined;
  readonly named?: ReadonlyMap<string, string | true> | undefined;
  /** Events of this process only. */
  readonly pid?: number | undefined;
  readonly only?: ProcessFilter | undefined;
  readonly unsafe?: boolean | undefined;
  readonly probeFilter?: RegExp | undefined;
  readonly stamp?: readonly HeaderField[] | undefined;
  /** Types that are known; those of the recording, unless said. */
  readonly types?: TypeScope | undefined;
}

export interface RecordedScript {
  readonly program: Program;
  readonly diagnostics: readonly Diagnostic[];
  /** There unless a diagnostic is an error. */
  readonly plan: Plan | undefined;
}

/** @throws RecordingError for a recording that says what cannot be */
export function compileForRecording(
  source: Source,
  recording: Pick<ReplayableRecording, "contexts" | "layouts" | "sites" | "origin">,
  options: ReplayScriptOptions = {},
): RecordedScript {
  const { positional = [], named = new Map<string, string | true>(), pid, only, unsafe, probeFilter, stamp } = options;
  const language = options.language ?? languageOf(source.name, source.text);
  const { program, diagnostics } = parseScript(source, { positional, named }, language);
  const probes = new RecordedProbes(recording);
  const { cpus, childPid, command, host, parts } = recording.origin;
  const types =
    options.types ??
    recordedTypes(
      (parts ?? [recording.origin]).map((part) => part.types),
      recording.contexts,
    );
  const compiled = compile(program, recordedSystem(cpus, parts === undefined ? host : undefined, types), {
    engine: "recording",
    resolve: (spec, system, wish) => probes.resolve(spec, system, wish),
    pid,
    only,
    command: childPid === 0 ? undefined : command.join(" "),
    unsafe,
    probeFilter,
    parameters: named,
    stamp,
    env: process.env,
  });
  // A wildcard's probes are compiled one by one: what is wrong with all of them is said once.
  const told = new Set<string>();
  const all = [...diagnostics, ...compiled.diagnostics]
    .filter(({ span, message }) => {
      const key = `${span.start} ${span.end} ${message}`;
      return !told.has(key) && told.add(key);
    })
    .sort((a, b) => a.span.start - b.span.start);
  const shown = (compiled.plan?.timeFormats.length ?? 0) > 0 || stamp?.includes("time") === true;
  if (shown && recording.contexts.some(({ recorded }) => recorded?.timeOfDay === false))
    all.push({ severity: "error", span: program.probes[0].span, ...recordings.onlyAtTheMoment("the time of day") });
  const wrong = all.some(({ severity }) => severity === "error");
  return { program, diagnostics: all, plan: wrong ? undefined : compiled.plan };
}

export interface OpenReplayOptions extends ReplayOptions {
  readonly consumer: Consumer;
  readonly unsafe?: boolean | undefined;
  readonly top?: number | undefined;
  readonly loaded?: ((session: Session) => void) | undefined;
}

export function openReplay(plan: Plan, recording: ReplayableRecording, options: OpenReplayOptions): Promise<Session> {
  const { consumer, unsafe, top, interrupted, loaded } = options;
  return openSession(plan, new ReplaySource(plan, recording, options), {
    consumer,
    formatter: printfFormatter,
    shown: shownValue,
    unsafe,
    top,
    interrupted,
    loaded,
  });
}
