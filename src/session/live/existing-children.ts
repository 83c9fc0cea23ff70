// `--follow` with `-p`: children that the process had before the handlers were there.
import { followedMap } from "../../compiler/sites/follow-children.ts";
import { isProcess, processIds, status } from "../../linux/processes/procfs.ts";
import { encode, encodeKey } from "../encode.ts";
import type { LiveMap } from "../maps.ts";

/**
 * Adds the descendants of a process to the map of those that are followed, once the handlers are there that add the
 * children of each.
 */
export function followExisting(maps: Iterable<LiveMap>, pid: number): void {
  const followed = [...maps].find(({ map }) => map.name === followedMap);
  if (followed === undefined) return;
  const { keys, value } = followed.map;
  const known = new Set([pid]);
  // Until none is new: a child may start one after it was looked for, and before it was added.
  for (let found = descendants(known); found.length > 0; found = descendants(known)) {
    for (const child of found) {
      known.add(child);
      followed.store(encodeKey(keys, [BigInt(child)]), encode(value, 1n));
      // The number may be another process's soon.
      if (!isProcess(child)) followed.delete(encodeKey(keys, [BigInt(child)]));
    }
  }
}

/** Processes that run whose parent is one of these, or of those found, and that are not among them. */
export function descendants(known: ReadonlySet<number>): readonly number[] {
  const parents = new Map(processIds().map((pid) => [pid, Number(status(pid)?.get("PPid"))]));
  const found = new Set<number>();
  for (let size = -1; found.size > size;) {
    size = found.size;
    for (const [pid, parent] of parents)
      if (!known.has(pid) && (known.has(parent) || found.has(parent))) found.add(pid);
  }
  return [...found];
}
