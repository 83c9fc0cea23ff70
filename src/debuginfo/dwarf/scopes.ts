// Functions of a unit, their copies in others, and what is in scope at an address.
import { firstIndex } from "../../base/first-index.ts";
import type { Abbreviation } from "./abbreviations.ts";
import { AT, TAG } from "./constants.ts";
import { isList } from "./locations.ts";
import { entryAddress, rangesOf, type Range } from "./ranges.ts";
import { alternateReference, type Entry, type Unit } from "./units.ts";

/** A body or an inlined copy that has code. */
export interface Instance {
  readonly entry: Entry;
  readonly inlined: boolean;
  readonly ranges: readonly Range[];
  readonly start: number;
}

interface Body {
  readonly low: number;
  readonly high: number;
  readonly instance: Instance;
}

const bodyNotes = {};
const referenceNotes = {};

/** What tells an entry from all others, of this file or another. */
export const keyOf = (entry: Entry): string =>
  `${entry.unit.file.id} ${entry.unit.header.section} ${entry.sectionOffset}`;

function instanceFrom(entry: Entry): Instance | undefined {
  const ranges = rangesOf(entry);
  if (ranges.length === 0) return undefined;
  return { entry, inlined: entry.tag === TAG.inlined_subroutine, ranges, start: entryAddress(entry, ranges) };
}

/** Ranges of functions with a body, in order of address. */
function bodiesOf(unit: Unit): readonly Body[] {
  return unit.note(bodyNotes, () => {
    const bodies: Body[] = [];
    for (const index of unit.entriesOfShape((shape) => shape.tag === TAG.subprogram && hasCode(shape))) {
      const instance = instanceFrom(unit.entry(index));
      for (const { low, high } of instance?.ranges ?? []) bodies.push({ low, high, instance: instance! });
    }
    return bodies.sort((a, b) => a.low - b.low);
  });
}

const hasCode = ({ attributes }: Abbreviation): boolean =>
  attributes.includes(AT.low_pc) || attributes.includes(AT.ranges);
const isFunction = ({ tag }: Abbreviation): boolean => tag === TAG.subprogram || tag === TAG.inlined_subroutine;

/** Functions and copies of a unit by what they complete, as `Unit.referenceOf` numbers it. */
function completions(unit: Unit): ReadonlyMap<number, readonly number[]> {
  return unit.note(referenceNotes, () => {
    const found = new Map<number, number[]>();
    for (const attribute of [AT.abstract_origin, AT.specification]) {
      for (const index of unit.entriesOfShape((shape) => isFunction(shape) && shape.attributes.includes(attribute))) {
        const target = unit.referenceOf(index, attribute);
        const same = found.get(target);
        if (same === undefined) found.set(target, [index]);
        else same.push(index);
      }
    }
    return found;
  });
}

/** All that runs as the function of an entry: its body, and its inlined copies in the same unit. */
export function instancesOf(entry: Entry): readonly Instance[] {
  const { unit } = entry;
  const found: Instance[] = [];
  const seen = new Set<number>();
  const add = (index: number): void => {
    if (seen.has(index)) return;
    seen.add(index);
    if (hasCode(unit.abbreviationOf(index))) {
      const instance = instanceFrom(unit.entry(index));
      if (instance !== undefined) found.push(instance);
    }
    for (const each of completions(unit).get(unit.header.offset + unit.tree.offsets[index]) ?? []) add(each);
  };
  for (const link of entry.chain()) {
    if (link.unit === unit) add(link.index);
    else for (const each of completions(unit).get(numberOf(link, unit)) ?? []) add(each);
  }
  return found.sort((a, b) => a.entry.index - b.entry.index);
}

/** How `Unit.referenceOf` of a unit numbers an entry of another. */
function numberOf(entry: Entry, from: Unit): number {
  return entry.unit.file === from.file ? entry.sectionOffset : alternateReference(entry.sectionOffset);
}

export const covers = (ranges: readonly Range[], address: number): boolean =>
  ranges.some(({ low, high }) => address >= low && address < high);

/** The function with a body whose code holds an address. */
export function bodyAt(unit: Unit, address: number): Instance | undefined {
  const bodies = bodiesOf(unit);
  const low = firstIndex(bodies.length, (i) => bodies[i].low > address);
  // Functions do not overlap, but for aliases that begin at one address.
  for (let i = low - 1; i >= 0 && i >= low - 8; i--) if (address < bodies[i].high) return bodies[i].instance;
  return undefined;
}

/** Functions whose bodies begin at an address. */
export function bodiesStartingAt(unit: Unit, address: number): readonly Instance[] {
  const bodies = bodiesOf(unit);
  const found: Instance[] = [];
  for (let i = firstIndex(bodies.length, (at) => bodies[at].low >= address); bodies[i]?.low === address; i++)
    if (bodies[i].instance.start === address) found.push(bodies[i].instance);
  return found;
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

/** The blocks of a function or of a copy, with and without code; not those of what is inlined into it. */
export function* blocksIn(scope: Entry, depth = 0): Iterable<Entry> {
  if (depth > 256) return;
  for (const child of scope.children()) {
    if (child.tag !== TAG.lexical_block) continue;
    yield child;
    yield* blocksIn(child, depth + 1);
  }
}

/** The function with a body around an entry. */
export function bodyAround(entry: Entry): Entry | undefined {
  for (let scope: Entry | undefined = entry; scope !== undefined; scope = scope.parent)
    if (scope.tag === TAG.subprogram) return scope;
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
