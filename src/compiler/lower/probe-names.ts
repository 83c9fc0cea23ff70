// What the number of a probe stands for (the `probe` builtin): an index into these names.
import type { CheckedHandler } from "../../language/checked-program.ts";

/** No handler's numbers are spread further, or the gaps would be most of the list. */
const widest = 4096;

/**
 * The names of all sites. Those that a handler tells apart by a number (a system call's) keep the distances of their
 * numbers, so that the index is a sum and not hundreds of decisions; nothing is called what stands in the gaps.
 */
export function probeNames(handlers: readonly CheckedHandler[]): string[] {
  const names: string[] = [];
  const known = new Set<string>();
  const append = (name: string): void => {
    if (!known.has(name)) names.push(name);
    known.add(name);
  };
  for (const { sites } of handlers) {
    const numbered = sites.flatMap(({ name, match }) => (match === undefined ? [] : [{ name, number: Number(match) }]));
    const least = numbered.reduce((low, { number }) => Math.min(low, number), Infinity);
    const most = numbered.reduce((high, { number }) => Math.max(high, number), -Infinity);
    const distinct = new Set(numbered.map(({ number }) => number)).size === numbered.length;
    if (!distinct || numbered.length < 2 || most - least > widest || numbered.some(({ name }) => known.has(name))) {
      for (const { name } of sites) append(name);
      continue;
    }
    const base = names.length;
    for (let i = least; i <= most; i++) names.push("");
    for (const { name, number } of numbered) {
      names[base + number - least] = name;
      known.add(name);
    }
    for (const { name } of sites) append(name);
  }
  return names;
}
