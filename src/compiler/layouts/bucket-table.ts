// A table of values by key, in an array that handlers and the session both have mapped, for maps that are read, written
// and deleted. Little-endian; what does not fit it is in a hash table of the kernel's.
//
//   0      what keys are multiplied by to be hashed (hash.ts of shared-table.ts): odd, another one in each session
//   64     the buckets
//
// A bucket has 16 slots of `stride` bytes: slot 0 is the bucket's control word, each of the others a key and its value.
// The control word: bits 1 to 15, whether a slot counts; bits 17 to 31, whether somebody is writing it; bit 0, whether
// the bucket was ever full: keys that are not in it may then be in the kernel's table, and new ones go there; bits 32 to
// 35, how many slots count; bits 36 to 63, how often the word was changed.
//
// Nobody writes to a slot that counts, except to the value of a map of which entries are never deleted. A value is put
// beside the old one, into a slot that is free, and one compare-and-swap of the control word makes it count instead: it
// fails when anything of the bucket has changed since the key was looked for, so that there are never two entries of a
// key, and no value goes to an entry that was deleted meanwhile. No more slots count than leave one for each of those that
// may have interrupted each other on a processor, so that nobody waits for what it has interrupted.
import { roundUp } from "../../language/layout.ts";

export const bucketHead = { multiplier: 0, buckets: 64 } as const;
export const slotsOfBucket = 16;
/** In a control word. */
export const control = {
  wasFull: 1n,
  counts: 0xfffen,
  /** Slots that count, and those that are being written, are so many bits apart. */
  writing: 16n,
  /** An entry more. */
  entry: 1n << 32n,
  entriesAt: 32n,
  /** So many are a full bucket. */
  mostEntries: 10n,
  /** Added with each change. */
  change: 1n << 36n,
} as const;

export interface BucketTable {
  readonly keySize: number;
  readonly valueSize: number;
  /** Of a slot: the key is at its beginning. */
  readonly stride: number;
  readonly valueAt: number;
  /** 2 to this power are the buckets. */
  readonly bucketBits: number;
  readonly bucketBytes: number;
  /** Of the whole. */
  readonly bytes: number;
  /** Entries stay where they are: values are changed in place. */
  readonly stays: boolean;
}

/** Of a bucket, when the table has as many as the script wants: three of a thousand buckets then are full. */
const entriesOfBucket = 4;

export function bucketTable(keySize: number, valueSize: number, entries: number, stays: boolean): BucketTable {
  const valueAt = roundUp(keySize, 8);
  const stride = valueAt + roundUp(valueSize, 8);
  const bucketBits = Math.max(1, Math.ceil(Math.log2(entries / entriesOfBucket)));
  const bucketBytes = slotsOfBucket * stride;
  const bytes = bucketHead.buckets + 2 ** bucketBits * bucketBytes;
  return { keySize, valueSize, stride, valueAt, bucketBits, bucketBytes, bytes, stays };
}
