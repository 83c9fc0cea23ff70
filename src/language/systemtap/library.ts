// The functions of SystemTap's library that strobe has: what each takes and gives, and what it is in the tree that all
// languages share. Numbers are 64 bits and signed wherever they come from.
import { clocks } from "./library/clocks.ts";
import { doing } from "./library/doing.ts";
import { doubles } from "./library/doubles.ts";
import type { LibraryFunction } from "./library/function.ts";
import { memory } from "./library/memory.ts";
import { numbers } from "./library/numbers.ts";
import { probed } from "./library/probed.ts";
import { stacks } from "./library/stacks.ts";
import { tasks } from "./library/tasks.ts";
import { texts } from "./library/texts.ts";

/** Those whose arguments may be of any type: printing.ts knows them. */
export const printers: ReadonlySet<string> = new Set([
  "print",
  "println",
  "printd",
  "printdln",
  "printf",
  "sprint",
  "sprintln",
  "sprintd",
  "sprintdln",
  "sprintf",
  "log",
  "warn",
  "error",
]);

const functions: Readonly<Record<string, LibraryFunction>> = {
  ...tasks,
  ...clocks,
  ...probed,
  ...stacks,
  ...memory,
  ...texts,
  ...numbers,
  ...doubles,
  ...doing,
};

export function libraryFunction(name: string): LibraryFunction | undefined {
  return Object.hasOwn(functions, name) ? functions[name] : undefined;
}

export function libraryNames(): readonly string[] {
  return Object.keys(functions);
}
