// The questions whose scripts strobe writes, by their names.
import { follow } from "./follow.ts";
import { func } from "./func.ts";
import { leaks } from "./leaks.ts";
import type { MadeScript } from "./made-script.ts";

export const madeScripts: Readonly<Record<string, MadeScript>> = { leaks, follow, func };
