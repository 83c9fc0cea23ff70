// Functions that call themselves, by others too, and how deep they may.
import type { Recursion } from "../program.ts";
import type { FunctionTypes } from "./declared.ts";
import type { Types } from "./infer.ts";
import { visit } from "./names.ts";

/** SystemTap allows so many calls more than the script's functions are nested otherwise. */
const besides = 10;

export function recursionOf(
  types: Types,
  settings: ReadonlyMap<string, string> | undefined,
): ReadonlyMap<FunctionTypes, Recursion> {
  const all = [...types.functions.values()].flat();
  const calls = new Map(all.map((one) => [one, calledBy(one, types)]));
  const recursive = all.filter((one) => reaches(one, one, calls));
  if (recursive.length === 0) return new Map();
  const deepest = Math.max(...all.map((one) => nesting(one, calls, new Set())));
  const given = Number(settings?.get("MAXNESTING") ?? NaN);
  const recursion = {
    deepest: Number.isSafeInteger(given) && given > 0 ? given : deepest + besides,
    words: "MAXNESTING exceeded",
  };
  return new Map(recursive.map((one) => [one, recursion]));
}

function calledBy(one: FunctionTypes, types: Types): ReadonlySet<FunctionTypes> {
  const found = new Set<FunctionTypes>(one.next === undefined ? [] : [one.next]);
  visit(one.definition.body, (node) => {
    if (node.kind !== "call" || !("args" in node)) return;
    const called = types.function(node.name, (node.args as readonly unknown[]).length);
    if (called !== undefined) found.add(called);
  });
  return found;
}

type Calls = ReadonlyMap<FunctionTypes, ReadonlySet<FunctionTypes>>;

function reaches(from: FunctionTypes, to: FunctionTypes, calls: Calls, seen = new Set<FunctionTypes>()): boolean {
  for (const next of calls.get(from) ?? []) {
    if (next === to) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    if (reaches(next, to, calls, seen)) return true;
  }
  return false;
}

/** How many functions are one in another at most, each once. */
function nesting(one: FunctionTypes, calls: Calls, around: ReadonlySet<FunctionTypes>): number {
  if (around.has(one)) return 0;
  const within = new Set([...around, one]);
  return 1 + Math.max(0, ...[...(calls.get(one) ?? [])].map((next) => nesting(next, calls, within)));
}
