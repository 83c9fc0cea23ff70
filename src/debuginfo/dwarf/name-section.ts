// What an index of names tells, whoever made it.
export type NameList = "functions" | "variables" | "types";

/** Where a name is defined: a unit, and the entry's distance from the unit's beginning when the index knows it. */
export interface Told {
  readonly unit: number;
  readonly entry?: number;
}

export interface NameSection {
  /** Offsets of the units that it speaks of. */
  readonly units: ReadonlySet<number>;
  /** It lists inlined copies as well, so that a function's units are all there. */
  readonly inlined: boolean;
  /** What a name may mean; names are to be compared still. */
  find(list: NameList, name: string): Iterable<Told>;
  /** Others may go by this name that `find` does not find: in some scope, or instances of a template. */
  mayMeanMore(name: string): boolean;
}
