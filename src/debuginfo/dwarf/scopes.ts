// Functions of a unit, their copies in others, and what is in scope at an address.
import { AT, TAG } from "./constants.ts";
import { isList } from "./locations.ts";
import { entryAddress, rangesOf, type Range } from "./ranges.ts";
import type { Entry, Unit } from "./units.ts";

/** A body or an inlined copy that has code. */
export interface Instance {
  readonly entry: Entry;
  readonly inlined: boolean;
  readonly ranges: readonly Range[];
  readonly start: number;
}

interface Body { readonly low: number; readonly high: number; readonly instance: Instance }

interface UnitScopes {
  /** By the origin that they share, as `keyOf` writes it. */
  readonly instances: ReadonlyMap<string, readonly Instance[]>;
  /** Ranges of functions with a body, in order of address. */
  readonly bodies: readonly Body[];
}

const notes = {};

/** What tells an entry from all others, of this file or another. */
export const keyOf = (entry: Entry): string => `${entry.unit.file.id} ${entry.unit.header.section} ${entry.sectionOffset}`;

/** All functions of a unit that have code, found in one pass. */
export function scopesOf(unit: Unit): UnitScopes {
  return unit.note(notes, () => {
    const instances = new Map<string, Instance[]>();
    const bodies: Body[] = [];
    for (let index = 1; index < unit.count; index++) {
      const tag = unit.tagOf(index);
      if (tag !== TAG.subprogram && tag !== TAG.inlined_subroutine) continue;
      const { attributes } = unit.abbreviationOf(index);
      if (!attributes.includes(AT.low_pc) && !attributes.includes(AT.ranges)) continue;
      const entry = unit.entry(index);
      const ranges = rangesOf(entry);
      if (ranges.length === 0) continue;
      const instance = { entry, inlined: tag === TAG.inlined_subroutine, ranges, start: entryAddress(entry, ranges) };
      const key = keyOf(entry.origin);
      const same = instances.get(key);
      if (same === undefined) instances.set(key, [instance]);
      else same.push(instance);
      if (!instance.inlined) for (const { low, high } of ranges) bodies.push({ low, high, instance });
    }
    bodies.sort((a, b) => a.low - b.low);
    return { instances, bodies };
  });
}

export const covers = (ranges: readonly Range[], address: number): boolean => ranges.some(({ low, high }) => address >= low && address < high);

/** The function with a body whose code holds an address. */
export function bodyAt(unit: Unit, address: number): Instance | undefined {
  const { bodies } = scopesOf(unit);
  let low = 0;
  let high = bodies.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bodies[middle].low <= address) low = middle + 1;
    else high = middle;
  }
  // Functions do not overlap, but for aliases that begin at one address.
  for (let i = low - 1; i >= 0 && i >= low - 8; i--) if (address < bodies[i].high) return bodies[i].instance;
  return undefined;
}

/** From a function with a body inwards: every block and inlined copy that holds an address. */
export function scopesAt(body: Instance, address: number): readonly Entry[] {
  const path = [body.entry];
  for (let scope: Entry | undefined = body.entry; scope !== undefined && path.length < 256;) {
    scope = innerScope(scope, address);
    if (scope !== undefined) path.push(scope);
  }
  return path;
}

function innerScope(scope: Entry, address: number): Entry | undefined {
  for (const child of scope.children()) {
    if (child.tag !== TAG.lexical_block && child.tag !== TAG.inlined_subroutine) continue;
    if (child.has(AT.low_pc) || child.has(AT.ranges)) {
      if (covers(rangesOf(child), address)) return child;
    } else if (child.tag === TAG.lexical_block) {
      // A block without addresses of its own: only what is in it tells.
      const inner = innerScope(child, address);
      if (inner !== undefined) return inner;
    }
  }
  return undefined;
}

/** The function with a body around an entry. */
export function bodyAround(entry: Entry): Entry | undefined {
  for (let scope: Entry | undefined = entry; scope !== undefined; scope = scope.parent) if (scope.tag === TAG.subprogram) return scope;
  return undefined;
}

/** Variables are where their lists say from the first instruction on: code that was optimised. */
export function hasLocationLists(body: Entry): boolean {
  for (const child of body.children()) {
    if (child.tag !== TAG.formal_parameter && child.tag !== TAG.variable) continue;
    const location = child.value(AT.location);
    if (location !== undefined && isList(location)) return true;
  }
  return false;
}
