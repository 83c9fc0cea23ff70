// Where strobe itself is installed.
import { fileURLToPath } from "node:url";

/** The bundle that this is in; of a program that has Node in it, the program. */
export const ownFile = import.meta.url.startsWith("file:") ? fileURLToPath(import.meta.url) : import.meta.url;
