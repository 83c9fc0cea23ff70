// The one table of builtins, and the small view of it that a parser needs.
import type { AggregateKind } from "../types.ts";
import type { Dialect } from "../program.ts";
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
  /** Every spelling, for suggestions. */
  names(): readonly string[];
}

/** How a language spells what its column leaves out. */
const conventions: Partial<Record<Dialect["name"], (name: string) => string>> = {
  typescript: (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
};

const views = new Map<Dialect["name"], BuiltinNames>();

export function builtinsFor(dialect: Dialect["name"]): BuiltinNames {
  let view = views.get(dialect);
  if (view === undefined) views.set(dialect, (view = viewOf(dialect)));
  return view;
}

function viewOf(dialect: Dialect["name"]): BuiltinNames {
  const rows = new Map<string, BuiltinSpec>();
  const spelled = conventions[dialect] ?? ((name: string) => name);
  for (const spec of builtins()) {
    for (const spelling of spec.spelling?.[dialect] ?? [spelled(spec.name)]) rows.set(spelling, spec);
  }
  // bpftrace's library, which is in its own language, calls what is built in by this prefix, and so may scripts.
  const plain = (name: string): string =>
    dialect === "bpftrace" && name.startsWith("__builtin_") ? name.slice("__builtin_".length) : name;
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
    names: () => [...rows.keys()].filter((name) => name !== "argN"),
  };
}
