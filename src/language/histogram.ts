// Bucket arithmetic of hist() and lhist(), shared by both executors and by the printer.

/**
 * Buckets of `hist(n, bits)`:
 *   0: negative values   1: 0 … then, with B = 2^bits,
 *   values 0 ≤ n < B each have a bucket of their own (1 + n), and every further power of two [2^k, 2^(k+1)), k ≥ bits,
 *   is split into B buckets of equal width: 1 + B + (k - bits) * B + ((n >> (k - bits)) - B).
 * Values are signed 64-bit, so k ends at 62.
 */
export function bucketCount(bits: number): number {
  const perPower = 1 << bits;
  return 1 + perPower + (63 - bits) * perPower;
}

export function bucketOf(value: bigint, bits: number): number {
  if (value < 0n) return 0;
  const perPower = 1 << bits;
  if (value < BigInt(perPower)) return 1 + Number(value);
  const power = value.toString(2).length - 1;
  const shift = power - bits;
  return 1 + perPower + shift * perPower + (Number(value >> BigInt(shift)) - perPower);
}

/** The half-open range [low, high) of a bucket; the negative bucket has no low end. */
export function bucketRange(bucket: number, bits: number): { low: bigint | null; high: bigint } {
  if (bucket === 0) return { low: null, high: 0n };
  const perPower = 1 << bits;
  if (bucket <= perPower) return { low: BigInt(bucket - 1), high: BigInt(bucket) };
  const index = bucket - 1 - perPower;
  const shift = BigInt(Math.floor(index / perPower));
  const step = BigInt(index % perPower) + BigInt(perPower);
  return { low: step << shift, high: (step + 1n) << shift };
}

/** Buckets of `lhist(n, min, max, step)`: below min, one each whole step, and the rest up from there. */
export function linearBucketCount(min: bigint, max: bigint, step: bigint): number {
  return Number((max - min) / step) + 2;
}

export function linearBucketOf(value: bigint, min: bigint, max: bigint, step: bigint): number {
  if (value < min) return 0;
  if (value >= max) return linearBucketCount(min, max, step) - 1;
  return 1 + Number((value - min) / step);
}
