// setopt(): options that a script sets while it runs. What an option is, is known only then: each is a variable of the
// script, and what depends on it is written for each value that the script ever gives it.
import { dCalls } from "../../messages/d-calls.ts";
import { dPreprocessor } from "../../messages/d-preprocessor.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression, MapAccess, MapLayout, Statement } from "../program.ts";
import { saidInClause } from "./faults.ts";
import type { Item } from "./formats.ts";
import { defaultOptions, optionNames, rates, readOption } from "./options.ts";
import type { Token } from "./tokens.ts";
import type { Options, Unit } from "./unit.ts";

/** What can be set while a script runs, as a number. */
const settable: Readonly<Record<string, (options: Options) => number>> = {
  quiet: ({ quiet }) => Number(quiet),
  aggsortkey: ({ layout }) => Number(layout.byKey),
  aggsortrev: ({ layout }) => Number(layout.descending),
  aggsortkeypos: ({ layout }) => layout.key,
  aggsortpos: ({ layout }) => layout.map,
};

/** Of the options that a script sets somewhere, the values that it gives them. */
export function optionsSetIn(tokens: readonly Token[]): ReadonlyMap<string, ReadonlySet<number>> {
  const found = new Map<string, Set<number>>();
  for (const [i, { kind, text }] of tokens.entries()) {
    const [open, name, behind, value] = tokens.slice(i + 1, i + 5);
    if (kind !== "identifier" || text !== "setopt" || open?.text !== "(" || name?.kind !== "string") continue;
    const given = behind?.text === "," && value?.kind === "string" ? value.value : undefined;
    const set = valueOf(name.value ?? "", given);
    if (typeof set !== "number") continue;
    const values = found.get(name.value!) ?? new Set();
    found.set(name.value!, values.add(set));
  }
  return found;
}

/** Of an option that can be set while a script runs, as a number. */
function valueOf(name: string, value: string | undefined): number | "unknown" | "invalid" {
  if (!Object.hasOwn(settable, name)) return "unknown";
  const options = defaultOptions();
  const read = readOption({ name, span: { start: 0, end: 0 }, value: value ?? "1" }, options);
  return read === "invalid" ? "invalid" : settable[name](options);
}

/** An option, as it is while the script runs. */
function now(name: string, span: Span): MapAccess {
  return nodes.map(`.${name}`, [], span);
}

function set(name: string, value: number, unit: Unit, span: Span): Statement {
  return nodes.assign(now(name, span), unit.cast("int64", nodes.integer(value, span)), span);
}

/** As they are when the script starts. */
export function initialOptions(unit: Unit, span: Span): readonly Statement[] {
  return [...unit.switched.keys()].map((name) => set(name, settable[name](unit.options), unit, span));
}

export function setsOption([name, value]: readonly Expression[], span: Span, unit: Unit): readonly Item[] {
  if (name.kind !== "string" || (value !== undefined && value.kind !== "string"))
    return unit.cursor.fail(dCalls.notYet("setopt() of a name or a value that is computed"), span);
  const read = valueOf(name.value, value?.value);
  if (typeof read === "number") return [{ prints: set(name.value, read, unit, span), waits: true }];
  // Nothing here is looked at from time to time.
  if (rates.includes(name.value)) {
    const unreadable = readOption({ name: name.value, span, value: value?.value ?? "1" }, defaultOptions());
    return unreadable === "invalid"
      ? refused("Invalid value for specified option")
      : [{ text: { format: "", args: [] } }];
  }
  if (read === "invalid") return refused("Invalid value for specified option");
  return refused(
    optionNames.includes(name.value) ? "Operation illegal when tracing is active" : "Invalid option name",
    dPreprocessor.optionSwitched(name.value),
  );

  /** Said while the script runs by DTrace's command, as there; before by strobe's. */
  function refused(why: string, said = dPreprocessor.optionValue(shown(name), shown(value))): readonly Item[] {
    if (!unit.given.settings?.has("command")) return unit.cursor.fail(said, span);
    const text = `couldn't set option "%s" to "%s": ${why}\n\n`;
    const args = [name, value ?? nodes.text("1", span)];
    return [{ prints: saidInClause(unit.clause.number ?? 0, text, args, span) }];
  }
}

function shown(e: Expression | undefined): string {
  return e?.kind === "string" ? e.value : "";
}

function when(
  name: string,
  value: number,
  then: readonly Statement[],
  otherwise: readonly Statement[],
  span: Span,
): Statement {
  return {
    kind: "if",
    condition: nodes.binary("==", now(name, span), nodes.integer(value, span), span),
    then: nodes.block(then, span),
    ...(otherwise.length === 0 ? {} : { otherwise: nodes.block(otherwise, span) }),
    span,
  };
}

/** Prints by a format unless the script is quiet; then by another, or nothing. */
export function unlessQuiet(format: string, args: readonly Expression[], span: Span, otherwise?: string): Statement {
  const prints = (by: string): Statement[] => [
    nodes.statement(nodes.call("printf", [nodes.text(by, span), ...args], span)),
  ];
  return when("quiet", 0, prints(format), otherwise === undefined ? [] : prints(otherwise), span);
}

/** What depends on the order of aggregations, for each that the script may have chosen. */
export function inOrder(unit: Unit, span: Span, make: (layout: MapLayout) => Statement): Statement {
  const chosen = [...unit.switched].filter(([name]) => name !== "quiet");
  const made = (given: Options["layout"], [first, ...rest]: typeof chosen): Statement => {
    if (first === undefined) return make(given);
    const [name, values] = first;
    const start = settable[name](unit.options);
    const otherwise = made(withOption(name, start, given), rest);
    return [...values]
      .filter((value) => value !== start)
      .reduce(
        (before, value) => when(name, value, [made(withOption(name, value, given), rest)], [before], span),
        otherwise,
      );
  };
  return made(unit.options.layout, chosen);
}

function withOption(name: string, value: number, layout: MapLayout): MapLayout {
  const options = { ...defaultOptions(), layout };
  readOption({ name, value: String(value), span: { start: 0, end: 0 } }, options);
  return options.layout;
}
