// What a script has around its own clauses: variables as they are declared, the heading, what is printed at the end.
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { ProbeSpec } from "../probe-spec.ts";
import type { Expression, MapDeclaration, Probe, Statement, TypeName } from "../program.ts";
import { helperEntries, helpers } from "./helpers.ts";
import { printWhole } from "./printa.ts";
import { body } from "./statements.ts";
import { tokensOf } from "./tokens.ts";
import { knownType, type Known } from "./types.ts";
import { initialOptions } from "./setopt.ts";
import type { Unit } from "./unit.ts";

/** What was declared is there before it is given a value: 0, or empty. An array has no entries, but types. */
export function declared(unit: Unit, span: Span): Probe[] {
  const statements = [unit.globals, unit.thread].flatMap((table) =>
    [...table].flatMap(([name, storage]) => {
      const { known, keyed, keyTypes, dimensions = 0, type, declared: written, memory } = storage;
      const value = type === undefined ? undefined : zero(type, known, unit, span);
      if (written === undefined || value === undefined || memory !== undefined) return [];
      const thread = table === unit.thread;
      if (!keyed) {
        if (!thread) return [nodes.assign(nodes.map(`${name}#0`, [], span), value, span)];
        if (unit.assigned.has(`self->${name}`)) return [];
        const variable = { ...nodes.variable(`self->${name}#0`, span), lives: "thread" } as const;
        const gone = nodes.call("delete", [nodes.map(variable.name, [], span), nodes.builtin("tid", span)], span);
        return [nodes.assign(variable, value, span), nodes.statement(gone)];
      }
      const keys = keyTypes?.map(knownType) ?? Array.from({ length: dimensions }, () => "int32" as const);
      if (known === undefined || keys.some((key) => key === undefined)) return [];
      const all = [...(thread ? [nodes.builtin("tid", span)] : []), ...keys.map((key) => zeroOf(key!, unit, span))];
      const target = nodes.map(thread ? `self->${name}[]#0` : `${name}#0`, all, span);
      const entry: Expression =
        all.length === 1 ? all[0] : { kind: "tuple", elements: all, span, type: { kind: "unknown" } };
      return [
        nodes.assign(target, value, span),
        nodes.statement(nodes.call("delete", [{ ...target, keys: [] }, entry], span)),
      ];
    }),
  );
  statements.push(...initialOptions(unit, span));
  if (statements.length === 0) return [];
  const spec: ProbeSpec = { provider: "begin", parts: [], sequence: -(2 ** 31), text: "declarations", span };
  return [{ specs: [spec], body: nodes.block(statements, span), span }];
}

function zeroOf(known: Known, unit: Unit, span: Span): Expression {
  return known === "string" ? nodes.text("", span) : unit.cast(known, nodes.integer(0, span));
}

/** Of a pointer, a number or a text. */
function zero(type: TypeName, known: Known | undefined, unit: Unit, span: Span): Expression | undefined {
  if (known !== undefined) return zeroOf(known, unit, span);
  return type.pointers > 0 ? nodes.cast(type, nodes.integer(0, span), span) : undefined;
}

/** Behind each clause, so that what no clause gives a value has a type in them. */
export function unassigned(unit: Unit, span: Span): Statement[] {
  return [...unit.event].flatMap(([name, { known, type, declared: written, memory }]) => {
    if (written === undefined || type === undefined || memory !== undefined || unit.assigned.has(`this->${name}`))
      return [];
    const value = zero(type, known, unit, span);
    return value === undefined ? [] : [nodes.assign(nodes.variable(`this->${name}`, span), value, span)];
  });
}

/** What stands over the lines. */
export function heading(unit: Unit, span: Span): Probe[] {
  if (unit.options.quiet || !unit.rows) return [];
  const { flowindent } = unit.options;
  const columns = unit.given.settings?.has("blankids") ? "" : flowindent ? "CPU " : "CPU     ID ";
  const title = flowindent ? "FUNCTION".padEnd(41) : "FUNCTION:NAME".padStart(32);
  const text = nodes.text(`${columns}${title}\n`, span);
  const spec: ProbeSpec = { provider: "begin", parts: [], sequence: -(2 ** 31), text: "heading", span };
  return [{ specs: [spec], body: nodes.block([nodes.statement(nodes.call("printf", [text], span))], span), span }];
}

/** A free line, and the aggregations that no printa() names, when the script ends. */
export function unprinted(unit: Unit, span: Span): Probe[] {
  const left = [...unit.aggregations].filter(([, { printed }]) => !printed);
  const spec: ProbeSpec = { provider: "end", parts: [], sequence: 2 ** 31, text: "aggregations", span };
  const line = nodes.statement(nodes.call("printf", [nodes.text("\n", span)], span));
  const prints = [line, ...left.map(([name]) => printWhole(unit, [name], span))];
  return [{ specs: [spec], body: nodes.block(prints, span), span }];
}

/** What the script needs: clauses in front of its own and behind them, and their arrays. */
export function helperClauses(
  unit: Unit,
  span: Span,
): { readonly first: readonly Probe[]; readonly last: readonly Probe[]; readonly maps: readonly MapDeclaration[] } {
  const made = { first: [] as Probe[], last: [] as Probe[], maps: [] as MapDeclaration[] };
  for (const name of unit.helpers) {
    const { arrays, clauses } = helpers[name];
    for (const array of Object.keys(arrays))
      made.maps.push({ name: `${array}#0`, storage: "hash", entries: helperEntries, span });
    for (const { kind = "rawtracepoint", event, last = false, body: text } of clauses) {
      const sequence = last ? 2 ** 31 : -(2 ** 31);
      const spec: ProbeSpec = { provider: kind, parts: [event], sequence, text: event, span };
      unit.clause = { provider: "rawtp", returns: false, user: false };
      const block = unit.reading(unit.cursor.elsewhere(tokensOf(text), span), () => body(unit));
      made[last ? "last" : "first"].push({ specs: [spec], body: block, span });
    }
  }
  return made;
}
