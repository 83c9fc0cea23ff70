// "did you mean …": the names closest to a misspelt one, for every room that reports an unknown name.

/**
 * The candidates nearest to `name`, best first, at most `most`. Only plausible slips qualify: a few edits (a swap of
 * neighbours counts as one), more for longer names, or a candidate that starts with what was written. Case costs
 * nothing much.
 */
export function nearest(name: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = name.toLowerCase();
  const limit = Math.min(4, Math.max(1, Math.floor(wanted.length / 3)));
  const found: { candidate: string; distance: number }[] = [];
  const seen = new Set<string>();
  for (const candidate of candidates) {
    if (seen.has(candidate) || candidate === name || candidate === "") continue;
    seen.add(candidate);
    const other = candidate.toLowerCase();
    let distance = Math.abs(other.length - wanted.length) <= limit ? editDistance(wanted, other, limit) : limit + 1;
    // A name cut short or carried on ("sys_enter_open" for "sys_enter_openat2") is nearer than its length says.
    if (distance > limit && wanted.length >= 3 && other.startsWith(wanted)) distance = limit + 0.5;
    if (distance <= limit + 0.5) found.push({ candidate, distance });
  }
  found.sort(
    (a, b) =>
      a.distance - b.distance || a.candidate.length - b.candidate.length || (a.candidate < b.candidate ? -1 : 1),
  );
  return found.slice(0, most).map((f) => f.candidate);
}

/**
 * Edits (insert, delete, replace, swap neighbours) between two texts; `limit + 1` as soon as it must be more than
 * `limit`.
 */
function editDistance(a: string, b: string, limit: number): number {
  let older: number[] = [];
  let before = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      let cost = Math.min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, older[j - 2] + 1);
      row.push(cost);
      best = Math.min(best, cost);
    }
    if (best > limit) return limit + 1;
    older = before;
    before = row;
  }
  return before[b.length];
}
