// `strobe clean`: removes what strobes that were killed left in the kernel.
import { removeAbandoned } from "../linux/kernel/dynamic-events.ts";
import { print } from "./files.ts";
import { commands } from "../messages/commands.ts";
import { UsageError } from "./usage-error.ts";

export function clean(argv: readonly string[]): number {
  if (argv.length > 0) throw new UsageError(commands.cleanTakesNothing(argv[0]));
  const removed = removeAbandoned();
  for (const { what, name } of removed) print(`removed ${what} ${name} of tracefs\n`);
  if (removed.length === 0) print("nothing was left behind\n");
  return 0;
}
