// How an aggregation by key is kept for many CPUs: each entry of the kernel's hash table holds copies of the words, and
// a CPU's handlers change the copy of that CPU. The memory is there from the start (maps.ts), so it is bounded: where a
// copy for each CPU would be too much, CPUs share copies, and handlers then change them atomically.
import { partOf } from "../../language/aggregations/table.ts";
import { roundUp, sizeOf } from "../../language/layout.ts";
import type { AggregateType } from "../../language/types.ts";

/** `stride`: bytes from one copy to the next. */
export interface Copies {
  readonly copies: number;
  readonly stride: number;
}

/**
 * What a map's copies may take: so many bytes for each CPU, and on small machines so many in all. One copy is always
 * there.
 */
const mostForACpu = 512 << 10;
const mostOnSmallMachines = 8 << 20;
/** Bytes of an entry: they are written when its key is new. */
const mostInEntry = 64 << 10;
/** Copies of two CPUs lie in no line of the cache together, as far as memory allows. */
const cacheLine = 64;

export function copiesOf(type: AggregateType, entries: number, cpus: number): Copies {
  const bytes = roundUp(sizeOf(type), 8);
  const apart = roundUp(bytes, cacheLine);
  const most = Math.max(mostOnSmallMachines, mostForACpu * cpus);
  const fits = (copies: number, stride: number): boolean =>
    copies * stride <= mostInEntry && copies * stride * entries <= most;
  if (cpus === 1) return { copies: 1, stride: bytes };
  if (fits(cpus, apart)) return { copies: cpus, stride: apart };
  // The first value of a minimum cannot be told from a second one without a lock.
  if (fits(cpus, bytes) || partOf(type, "extreme") !== undefined) return { copies: cpus, stride: bytes };
  let copies = 1;
  while (copies * 2 < cpus && fits(copies * 2, apart)) copies *= 2;
  return { copies, stride: copies === 1 ? bytes : apart };
}
