// Damages inputs: as readers of formats fear it, and as people type.
import type { Random } from "../support/random.ts";
import type { Seed, Target } from "./target.ts";

/** Sizes, counts and offsets that readers get wrong. */
const numbers = [
  0n,
  1n,
  2n,
  7n,
  0x7fn,
  0x80n,
  0xffn,
  0x7fffn,
  0x8000n,
  0xffffn,
  0x10000n,
  0x7fffffffn,
  0x80000000n,
  0xffffffffn,
  0x1_0000_0000n,
  (1n << 53n) - 1n,
  1n << 53n,
  (1n << 63n) - 1n,
  1n << 63n,
  (1n << 64n) - 1n,
];
const written = [
  "0",
  "1",
  "-1",
  "63",
  "64",
  "65",
  "255",
  "256",
  "4096",
  "65535",
  "65536",
  "100000",
  "2147483647",
  "2147483648",
  "4294967295",
  "4294967296",
  "9223372036854775807",
  "9223372036854775808",
  "18446744073709551615",
  "18446744073709551616",
  "1000000000",
  "1e9",
  "0x7fffffff",
  "1 << 30",
  "3.5",
];
/** Nothing gets larger than this by damage. */
const largest = 1 << 20;

/** Input number `index` of a target: a seed, damaged some times. */
export function mutated(target: Target, seeds: readonly Seed[], random: Random): Buffer {
  const { bytes, ranges } = random.pick(seeds);
  let input: Buffer = Buffer.from(bytes);
  for (let times = random.chance(0.4) ? 1 : random.between(2, 8); times > 0; times--) {
    input =
      target.words === undefined
        ? damagedBytes(input, ranges, seeds, random)
        : damagedText(input, target.words, seeds, random);
    if (input.length > largest) input = input.subarray(0, largest);
  }
  return input;
}

function damagedBytes(input: Buffer, ranges: Seed["ranges"], seeds: readonly Seed[], random: Random): Buffer {
  if (input.length === 0) return Buffer.from([random.below(256)]);
  const [from, to] = ranges !== undefined && random.chance(0.8) ? random.pick(ranges) : [0, input.length];
  const at = Math.min(input.length - 1, from + random.below(Math.max(1, to - from)));
  const size = Math.min(input.length - at, random.chance(0.7) ? random.between(1, 16) : random.between(1, 4096));
  switch (random.below(12)) {
    case 0:
    case 1:
      input[at] ^= 1 << random.below(8);
      return input;
    case 2:
    case 3:
      input[at] = random.below(256);
      return input;
    case 4:
    case 5:
    case 6: {
      const word = Buffer.alloc(8);
      word.writeBigUInt64LE(random.pick(numbers));
      // Fields are aligned, more often than not.
      const width = random.pick([1, 2, 4, 8]);
      const place = random.chance(0.7) ? at - ((at - from) % width) : at;
      word.copy(input, place, 0, width);
      return input;
    }
    case 7:
      return Buffer.concat([input.subarray(0, at), input.subarray(at + size)]);
    case 8:
      return Buffer.concat([input.subarray(0, at), input.subarray(at, at + size), input.subarray(at)]);
    case 9: {
      const other = random.pick(seeds).bytes;
      other.copy(input, at, random.below(other.length), Math.min(other.length, size + random.below(other.length)));
      return input;
    }
    case 10:
      return random.chance(0.3)
        ? input.subarray(0, at)
        : input.fill(random.pick([0, 0xff, random.below(256)]), at, at + size);
    default:
      for (let i = at; i < at + Math.min(size, 64); i++) input[i] = random.below(256);
      return input;
  }
}

function damagedText(input: Buffer, words: readonly string[], seeds: readonly Seed[], random: Random): Buffer {
  const text = input.toString("latin1");
  const at = random.below(text.length + 1);
  const size = random.chance(0.8) ? random.between(1, 8) : random.between(1, 200);
  const [before, piece, behind] = [text.slice(0, at), text.slice(at, at + size), text.slice(at + size)];
  const made = (): string => {
    switch (random.below(12)) {
      case 0:
      case 1:
      case 2:
        return before + random.pick(words) + piece + behind;
      case 3:
        return before + random.pick(words) + behind;
      case 4:
        return before + behind;
      case 5:
        return before + piece + piece + behind;
      case 6: {
        // A number somewhere becomes another.
        const found = [...text.matchAll(/\b\d+\b/g)];
        if (found.length === 0) return before + random.pick(written) + behind;
        const one = random.pick(found);
        return text.slice(0, one.index) + random.pick(written) + text.slice(one.index + one[0].length);
      }
      case 7:
        return (
          before +
          (random.pick(words) + random.pick(["", " "])).repeat(random.pick([2, 10, 300, 3000])) +
          piece +
          behind
        );
      case 8:
        return before + piece.repeat(random.pick([2, 30, 1000])) + behind;
      case 9: {
        const other = random.pick(seeds).bytes.toString("latin1");
        const from = random.below(other.length);
        return before + other.slice(from, from + random.between(1, 80)) + behind;
      }
      case 10:
        return before + String.fromCharCode(random.chance(0.5) ? random.below(128) : random.below(256)) + behind;
      default:
        return random.chance(0.3) ? before : before + piece.split("").reverse().join("") + behind;
    }
  };
  return Buffer.from(made(), "latin1");
}
