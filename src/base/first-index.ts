// Binary search.

/**
 * The first index from 0 to before `count` that a condition holds for, which holds for all behind it as well; `count`
 * where it holds for none.
 */
export function firstIndex(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
