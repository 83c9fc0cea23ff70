// Makes an input that fails smaller, as long as it fails in the same way.

/** `fails` tells whether an input still does; it is asked `tries` times at most, and for `milliseconds`. */
export function minimised(
  input: Buffer,
  fails: (input: Buffer) => boolean,
  { text = false, tries = 3000, milliseconds = 20_000 } = {},
): Buffer {
  const until = performance.now() + milliseconds;
  let left = tries;
  let best = input;
  const goesOn = (): boolean => left > 0 && performance.now() < until;
  const attempt = (candidate: Buffer): boolean => {
    if (!goesOn()) return false;
    left--;
    if (!fails(candidate)) return false;
    best = candidate;
    return true;
  };
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length && goesOn();) {
      // Formats have their offsets: what cannot be left out may be zero.
      if (attempt(Buffer.concat([best.subarray(0, at), best.subarray(at + size)]))) continue;
      const zero = Buffer.from(best);
      zero.fill(0, at, Math.min(at + size, zero.length));
      if (!text && !zero.equals(best)) attempt(zero);
      at += size;
    }
  }
  return best;
}
