import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Files below `folder` whose names end with `ending`, sorted. (node:fs has a glob only from Node 22 on.) */
export function globSync(folder, ending) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
