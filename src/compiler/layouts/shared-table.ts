// A hash table of strobe's own, in an array that handlers and the session both have mapped: open addressing, and entries
// that are never moved. Little-endian; all counts are u64.
//
//   0      which of the two halves is in use: 0 or 1
//   8      what keys are multiplied by to be hashed: odd, another one in each session
//   64     a half
//   64 + half  the other one, of a table that is cleared
//
// A half: handlers that are making an entry; entries that were ever taken; one that was taken and is not used (its
// number; 0: none); entries that are there. From 64, the slots: u32 number of an entry (from 1; 0: free), u32 high half of its key's
// hash. Behind them the entries: u64 1 as long as it counts, 0 once it is deleted; the key; the copies of the value.
//
// Whoever finds a free slot where its key should be makes the entry aside, and then puts its number into the slot by a
// compare-and-swap: nobody ever waits for somebody else, who may be what was interrupted. A cleared table goes on in the
// other half; the one it leaves stays as it is until nobody is in there who makes an entry. What is never cleared has one half.
import { roundUp } from "../../language/layout.ts";
import type { Copies } from "./copies.ts";

export const tableHead = { current: 0, multiplier: 8, halves: 64 } as const;
export const halfHead = { makers: 0, taken: 8, spare: 16, count: 24, slots: 64 } as const;
/** Of an entry: `live`, then the key. */
export const entryHead = { live: 0, key: 8 } as const;
/** A hash's second multiplier: 2^64 by the golden ratio. */
export const golden = 0x9e37_79b9_7f4a_7c15n;

export interface SharedTable extends Copies {
  readonly keySize: number;
  /** As many as the script wants. */
  readonly entries: number;
  /** As many as there is memory for: some may be taken in vain. */
  readonly room: number;
  /** 2 to this power are the slots, twice the entries or more. */
  readonly slotBits: number;
  /** In an entry. */
  readonly valueAt: number;
  readonly entryBytes: number;
  /** In a half. */
  readonly entriesAt: number;
  readonly half: number;
  readonly halves: 1 | 2;
  /** Of the whole. */
  readonly bytes: number;
}

/** Entries that two handlers may have made of one key at the same time, of which one is not used. */
const spares = 128;
const cacheLine = 64;

export function sharedTable(
  keySize: number,
  entries: number,
  { copies, stride }: Copies,
  halves: SharedTable["halves"],
): SharedTable {
  const valueAt = roundUp(entryHead.key + keySize, stride % cacheLine === 0 ? cacheLine : 8);
  const entryBytes = valueAt + copies * stride;
  const room = entries + spares;
  const slotBits = Math.max(4, Math.ceil(Math.log2(entries * 2)));
  // The place that an entry 0 would have is within the half, too: the verifier takes no address in front of it.
  const entriesAt = Math.max(halfHead.slots + 2 ** slotBits * 8, entryBytes);
  const half = roundUp(entriesAt + room * entryBytes, cacheLine);
  return {
    copies,
    stride,
    keySize,
    entries,
    room,
    slotBits,
    valueAt,
    entryBytes,
    entriesAt,
    half,
    halves,
    bytes: tableHead.halves + halves * half,
  };
}
