// Loading packages while a program runs.
import { lstatSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * What `require` loads. On Node 20 it leaves links unresolved right after somebody statted a pipe or a socket:
 * realpathSync takes the kind of file that was statted last for that of a folder which it knows already. A package
 * behind a link then misses what it depends on.
 */
export function fromPackage<Package>(load: () => Package): Package {
  lstatSync("/");
  return load();
}

// Where strobe itself is installed.
/** The bundle that this is in; of a program that has Node in it, the program. */
export const ownFile = import.meta.url.startsWith("file:") ? fileURLToPath(import.meta.url) : import.meta.url;
