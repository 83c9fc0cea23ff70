// Control groups (version 2): ids are the inode numbers of their directories.
import { readdirSync, readFileSync, statSync } from "node:fs";

let root: string | undefined;
function cgroupRoot(): string {
  if (root !== undefined) return root;
  const mount = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .find((parts) => parts[2] === "cgroup2");
  return (root = mount?.[1] ?? "/sys/fs/cgroup");
}

const paths = new Map<bigint, string>();

/**
 * The path of a cgroup below the root, `/system.slice/x.service` (the root is `/`); undefined when there is none of
 * this id.
 */
export function cgroupPath(id: bigint): string | undefined {
  const known = paths.get(id);
  if (known !== undefined) return known;
  // Directories come and go: each miss looks again.
  paths.clear();
  visit("");
  return paths.get(id);
}

function visit(path: string): void {
  try {
    paths.set(statSync(cgroupRoot() + path, { bigint: true }).ino, path || "/");
    for (const entry of readdirSync(cgroupRoot() + path, { withFileTypes: true })) {
      if (entry.isDirectory()) visit(`${path}/${entry.name}`);
    }
  } catch {
    // removed while we looked
  }
}

/** The id of a cgroup by its path: below the cgroup root, or the directory itself; undefined when there is none. */
export function cgroupId(path: string): bigint | undefined {
  const root = cgroupRoot();
  for (const candidate of path.startsWith(root) ? [path] : [root + (path.startsWith("/") ? path : `/${path}`), path]) {
    try {
      return statSync(candidate, { bigint: true }).ino;
    } catch {
      // try the next
    }
  }
  return undefined;
}
