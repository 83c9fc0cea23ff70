// Bucket arithmetic of histograms, shared by both executors and by the printers. Values are signed 64-bit integers.

/**
 * How values fall into buckets:
 * - power, with B = 2^bits: 0: negative values; then, values 0 ≤ n < B each have a bucket of their own (1 + n), and every
 *   further power of two [2^k, 2^(k+1)), k ≥ bits, is split into B buckets of equal width:
 *   1 + B + (k - bits) * B + ((n >> (k - bits)) - B). k ends at 62.
 * - mirrored: 63: zero; 64 + k: [2^k, 2^(k+1)), and 62 - k: (-2^(k+1), -2^k], k up to 62; -2^63 is with -2^62
 * - step: below min, one each whole step, and the rest up from there
 * - pieces: 0: below the first piece; from each piece's `from` on buckets of `step` values, the first of them `bucket`.
 *   The last piece is one bucket without an end.
 */
export type Buckets =
  | { readonly by: "power"; readonly bits: number }
  | { readonly by: "mirrored" }
  | { readonly by: "step"; readonly min: bigint; readonly max: bigint; readonly step: bigint }
  | { readonly by: "pieces"; readonly pieces: readonly Piece[] };

export interface Piece {
  readonly from: bigint;
  readonly bucket: number;
  /** 1 or more. */
  readonly step: bigint;
}

/** The bucket of 0 among mirrored ones. */
export const mirroredZero = 63;

export function bucketCount(buckets: Buckets): number {
  switch (buckets.by) {
    case "power": {
      const perPower = 1 << buckets.bits;
      return 1 + perPower + (63 - buckets.bits) * perPower;
    }
    case "mirrored":
      return 2 * mirroredZero + 1;
    case "step":
      return Number((buckets.max - buckets.min) / buckets.step) + 2;
    case "pieces":
      return buckets.pieces[buckets.pieces.length - 1].bucket + 1;
  }
}

export function bucketOf(buckets: Buckets, value: bigint): number {
  switch (buckets.by) {
    case "power": {
      const { bits } = buckets;
      if (value < 0n) return 0;
      const perPower = 1 << bits;
      if (value < BigInt(perPower)) return 1 + Number(value);
      const power = value.toString(2).length - 1;
      const shift = power - bits;
      return 1 + perPower + shift * perPower + (Number(value >> BigInt(shift)) - perPower);
    }
    case "mirrored": {
      if (value === 0n) return mirroredZero;
      const power = (value < 0n ? -value : value).toString(2).length - 1;
      return value > 0n ? mirroredZero + 1 + power : Math.max(0, mirroredZero - 1 - power);
    }
    case "step":
      if (value < buckets.min) return 0;
      if (value >= buckets.max) return bucketCount(buckets) - 1;
      return 1 + Number((value - buckets.min) / buckets.step);
    case "pieces": {
      const { pieces } = buckets;
      const at = pieces.findLastIndex(({ from }) => value >= from);
      if (at < 0) return 0;
      const { from, bucket, step } = pieces[at];
      return at === pieces.length - 1 ? bucket : bucket + Number((value - from) / step);
    }
  }
}

/** Values from `low` up to, without, `high`; null is an open end. */
export interface BucketRange {
  readonly low: bigint | null;
  readonly high: bigint | null;
}

export function bucketRange(buckets: Buckets, index: number): BucketRange {
  switch (buckets.by) {
    case "power": {
      if (index === 0) return { low: null, high: 0n };
      const perPower = 1 << buckets.bits;
      if (index <= perPower) return { low: BigInt(index - 1), high: BigInt(index) };
      const place = index - 1 - perPower;
      const shift = BigInt(Math.floor(place / perPower));
      const step = BigInt(place % perPower) + BigInt(perPower);
      return { low: step << shift, high: (step + 1n) << shift };
    }
    case "mirrored": {
      const power = BigInt(Math.abs(index - mirroredZero) - 1);
      if (index === mirroredZero) return { low: 0n, high: 1n };
      if (index > mirroredZero) return { low: 1n << power, high: 1n << (power + 1n) };
      return { low: index === 0 ? -(1n << 63n) : 1n - (1n << (power + 1n)), high: 1n - (1n << power) };
    }
    case "step": {
      const { min, step } = buckets;
      if (index === 0) return { low: null, high: min };
      const low = min + BigInt(index - 1) * step;
      return { low, high: index === bucketCount(buckets) - 1 ? null : low + step };
    }
    case "pieces": {
      const { pieces } = buckets;
      const low = (bucket: number): bigint | null => {
        const piece = pieces.findLast((one) => bucket >= one.bucket);
        return piece === undefined ? null : piece.from + BigInt(bucket - piece.bucket) * piece.step;
      };
      return { low: low(index), high: index === bucketCount(buckets) - 1 ? null : low(index + 1) };
    }
  }
}
