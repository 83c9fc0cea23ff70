// The questions whose scripts strobe writes, by their names.
import { follow } from "./follow.ts";
import { func } from "./func.ts";
import { leaks } from "./leaks.ts";
import type { MadeScript } from "./made-script.ts";
import { noise } from "./noise.ts";
import { timerlat } from "./timerlat.ts";

export const madeScripts: Readonly<Record<string, MadeScript>> = { leaks, follow, func, noise, timerlat };
