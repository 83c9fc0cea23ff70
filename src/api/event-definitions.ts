// What a person writes of a dynamic event, `kprobe:vfs_read { bytes = args.count }`: each value becomes a print of a
// bpftrace script, which is resolved, checked and lowered as any other is; mistakes are told at what was written.
import { compile } from "../compiler/compile.ts";
import { eventDefinitions, type EventDefinition } from "../compiler/tracefs/event-definitions.ts";
import { bpftrace } from "../language/bpftrace/language.ts";
import { findProvider, resolveSpec } from "../providers/registry.ts";
import { ScriptError, type Diagnostic, type Source, type Span } from "../language/diagnostic.ts";
import { eventMessages } from "../messages/event-definitions.ts";
import { parseScript } from "./compile.ts";
import { thisMachine } from "./machine.ts";

/** A value that an event is to carry: where its name and its expression stand. */
interface Value {
  readonly name: string;
  readonly nameSpan: Span;
  readonly expression: Span;
}

/** @throws ScriptError for what cannot be, with its place in `text` */
export function defineEvents(text: string): {
  definitions: readonly EventDefinition[];
  warnings: readonly Diagnostic[];
} {
  const source: Source = { name: "event", text };
  const { head, values } = taken(source);
  const script = new Script(text, head, values);
  const fail = (diagnostics: readonly Diagnostic[]): ScriptError =>
    new ScriptError(
      source,
      diagnostics.map((one) => ({ ...one, span: script.written(one.span) })),
    );
  const parsed = parseScript({ name: source.name, text: script.text }, { positional: [], named: new Map() }, bpftrace);
  const errors = (all: readonly Diagnostic[]): readonly Diagnostic[] =>
    all.filter(({ severity }) => severity === "error");
  if (errors(parsed.diagnostics).length > 0) throw fail(errors(parsed.diagnostics));
  const probe = parsed.program.probes[0];
  const { specs, predicate } = probe;
  if (predicate !== undefined && findProvider(specs[0].provider)?.name !== "tracepoint") {
    throw fail([{ severity: "error", span: predicate.span, ...eventMessages.noPredicate() }]);
  }
  const machine = thisMachine();
  const { diagnostics, stages } = compile(parsed.program, machine, {
    env: {},
    // An event's record is what another event has of it.
    resolve: (spec, system, options) => resolveSpec(spec, system, { ...options, asEvents: true }),
  });
  const { lowered, module } = stages;
  if (errors(diagnostics).length > 0 || lowered === undefined || module === undefined) throw fail(errors(diagnostics));
  const definitions = eventDefinitions(
    lowered,
    module,
    values.map(({ name }) => name),
    machine,
  );
  if (!("failure" in definitions)) {
    const warnings = diagnostics.map((one) => ({ ...one, span: script.written(one.span) }));
    return { definitions, warnings };
  }
  const { failure, name, condition } = definitions;
  const said = { severity: "error", ...eventMessages.cannotCarry(failure.reason) } as const;
  if (condition && predicate !== undefined) throw fail([{ ...said, span: predicate.span }]);
  throw new ScriptError(source, [
    { ...said, span: name === undefined ? { start: 0, end: head.length } : values[name].expression },
  ]);
}

const nameShape = /^[A-Za-z_]\w*$/;
/** MAX_ARG_NAME_LEN of kernel/trace/trace_probe.h, with the terminator. */
const longestName = 31;

/** The probe, and what stands between the braces behind it. */
function taken(source: Source): { head: string; values: readonly Value[] } {
  const { text } = source;
  const open = text.indexOf("{");
  const close = text.lastIndexOf("}");
  if (open < 0) return { head: text, values: [] };
  const wrong = (span: Span, message: ReturnType<typeof eventMessages.noValue>): ScriptError =>
    new ScriptError(source, [{ severity: "error", span, ...message }]);
  if (close < open || text.slice(close + 1).trim() !== "")
    throw wrong({ start: open, end: text.length }, eventMessages.notClosed());
  const values: Value[] = [];
  for (const part of statements(text, open + 1, close)) {
    const [written, space, given] = /^(\s*)(?:([A-Za-z_$@]\w*)\s*=(?!=)\s*)?/.exec(text.slice(part.start, part.end))!;
    const expression = trimmed(text, { start: part.start + written.length, end: part.end });
    if (expression.start >= expression.end) {
      if (given === undefined) continue;
      throw wrong(trimmed(text, part), eventMessages.noValue());
    }
    const name = given ?? /([A-Za-z_]\w*)$/.exec(text.slice(expression.start, expression.end))?.[1];
    const start = part.start + space.length;
    const nameSpan = given === undefined ? expression : { start, end: start + given.length };
    if (name === undefined || !nameShape.test(name) || name.length > longestName)
      throw wrong(nameSpan, eventMessages.noName(longestName));
    if (values.some((other) => other.name === name)) throw wrong(nameSpan, eventMessages.nameTwice(name));
    values.push({ name, nameSpan, expression });
  }
  return { head: text.slice(0, open), values };
}

/** Parts at semicolons and line ends, but within no quotes. */
function* statements(text: string, start: number, end: number): Iterable<Span> {
  let quoted = false;
  let from = start;
  for (let at = start; at < end; at++) {
    if (text[at] === '"' && text[at - 1] !== "\\") quoted = !quoted;
    if (quoted || (text[at] !== ";" && text[at] !== "\n")) continue;
    yield { start: from, end: at };
    from = at + 1;
  }
  yield { start: from, end };
}

function trimmed(text: string, { start, end }: Span): Span {
  while (start < end && /\s/.test(text[start])) start++;
  while (end > start && /\s/.test(text[end - 1])) end--;
  return { start, end };
}

/** The same as a script, and where its characters were written. */
class Script {
  readonly text: string;
  /** Of parts that are as they were written: from where in the script, as many, from where in what was written. */
  readonly #parts: { readonly from: number; readonly length: number; readonly written: number }[] = [];

  constructor(written: string, head: string, values: readonly Value[]) {
    let text = head;
    this.#parts.push({ from: 0, length: head.length, written: 0 });
    text += "{";
    for (const { expression } of values) {
      text += " print(";
      this.#parts.push({ from: text.length, length: expression.end - expression.start, written: expression.start });
      text += `${written.slice(expression.start, expression.end)});`;
    }
    this.text = `${text} }`;
  }

  written({ start, end }: Span): Span {
    const first = this.#place(start);
    return { start: first, end: Math.max(first, this.#place(end)) };
  }

  #place(at: number): number {
    let place = 0;
    for (const { from, length, written } of this.#parts) if (at >= from) place = written + Math.min(at - from, length);
    return place;
  }
}
