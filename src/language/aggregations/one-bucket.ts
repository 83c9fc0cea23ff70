// One bucket of a statistic's histogram, on the host.
import type { AggregateType } from "../types.ts";
import { bucketCount } from "./buckets.ts";
import { resultAlone, shapedPart } from "./table.ts";
import { wordsIn } from "./value.ts";

/** How many values are in a bucket of a statistic's result; 0 where it has no bucket with that number. */
export function aggregateBucket(type: AggregateType, bytes: Uint8Array, of: number, bucket: bigint): bigint {
  const alone = resultAlone(type, of);
  const { part, at } = shapedPart(alone.type, "buckets");
  if (bucket < 0n || bucket >= BigInt(bucketCount(part.of))) return 0n;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return BigInt.asIntN(64, alone.words(wordsIn(type, view, 0))[at + Number(bucket)]);
}
