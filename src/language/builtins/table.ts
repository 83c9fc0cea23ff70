// The one table of builtins, and the small names of it that a parser needs.
import type { AggregateKind } from "../types.ts";
import type { Rules } from "../rules.ts";
import { actionBuiltins } from "./actions.ts";
import { aggregations } from "../aggregations/table.ts";
import { aggregationBuiltins, rowOf } from "./aggregations.ts";
import { memoryBuiltins } from "./memory.ts";
import type { BuiltinSpec } from "./signature.ts";
import { valueBuiltins } from "./values.ts";

const plain: readonly BuiltinSpec[] = [...valueBuiltins, ...memoryBuiltins, ...actionBuiltins];

export function builtins(): readonly BuiltinSpec[] {
  return [...plain, ...aggregationBuiltins()];
}

const byName: ReadonlyMap<string, BuiltinSpec> = new Map(plain.map((spec) => [spec.name, spec]));
const argN = byName.get("argN")!;
const numbered = /^arg(0|[1-9]\d{0,2})$/;

/** The row of a canonical name; the row `argN` for `arg0`, `arg1`, …. */
export function findBuiltin(name: string): BuiltinSpec | undefined {
  if (numbered.test(name)) return argN;
  if (name === "argN") return undefined;
  const aggregation = aggregations.get(name);
  return aggregation === undefined ? byName.get(name) : rowOf(aggregation);
}

/** `arg3` → 3; undefined for any other name. */
export function argumentNumber(name: string): number | undefined {
  const match = numbered.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** What a parser asks: names are as the language spells them, and `canonical` gives the table's. */
export interface BuiltinNames {
  /** May stand alone: `pid`. */
  isValue(name: string): boolean;
  /** May be called: `str(…)`. Aggregations are not functions. */
  isFunction(name: string): boolean;
  /** The kind of aggregation that a name means. */
  aggregate(name: string): AggregateKind | undefined;
  canonical(name: string): string;
  /** What the language calls a canonical name; the name itself where it has no word for it. */
  spelled(canonical: string): string;
  /** Every spelling, for suggestions. */
  names(): readonly string[];
}

const namesByRules = new Map<Rules, BuiltinNames>();

export function builtinsFor(rules: Rules): BuiltinNames {
  let names = namesByRules.get(rules);
  if (names === undefined) namesByRules.set(rules, (names = namesUnder(rules)));
  return names;
}

function namesUnder({ language, spelling: words }: Rules): BuiltinNames {
  const { builtinPrefix = "" } = words;
  const rows = new Map<string, BuiltinSpec>();
  const spellings = new Map<string, string>();
  for (const spec of builtins()) {
    for (const spelling of spec.spelling?.[language] ?? [words.builtin(spec.name)]) {
      rows.set(spelling, spec);
      if (!spellings.has(spec.name)) spellings.set(spec.name, spelling);
    }
  }
  const plain = (name: string): string => (name.startsWith(builtinPrefix) ? name.slice(builtinPrefix.length) : name);
  const row = (written: string): BuiltinSpec | undefined => {
    const name = plain(written);
    return numbered.test(name) ? argN : name === "argN" ? undefined : rows.get(name);
  };
  return {
    isValue: (name) => {
      const form = row(name)?.form;
      return form === "value" || form === "both";
    },
    isFunction: (name) => {
      const form = row(name)?.form;
      return form === "function" || form === "both";
    },
    aggregate: (name) => row(name)?.aggregate,
    canonical: (name) => (numbered.test(plain(name)) ? plain(name) : (row(name)?.name ?? name)),
    spelled: (name) => spellings.get(name) ?? name,
    names: () => [...rows.keys()].filter((name) => name !== "argN"),
  };
}
