// Numbers of stacks that the kernel keeps by their hashes, each in one bucket. A stack whose bucket another one has is
// kept in a table of its own, by a hash of all its addresses.

/** Set in the number of such a stack, where a bucket's number has 0; the bit above tells errors. */
export const displacedStack = 1n << 62n;

/** Of so many different stacks those that find another one in their bucket: what they are on average, and a quarter more. */
export function displacedStacks(stacks: number, buckets: number): number {
  return Math.ceil(1.25 * (stacks - buckets * (1 - Math.exp(-stacks / buckets)))) + 64;
}

/** Stands for the function that makes such a number among those that a handler calls. */
export const STACK_HASH = -3;
