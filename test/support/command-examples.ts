// What the command says of the command lines in the tables of messages.
import { carryOut } from "../../src/cli/main.ts";

/** Of a command line that makes no sense: what it is told; undefined of one that makes sense. */
export async function usageOf(example: string): Promise<string | undefined> {
  const [, ...words] = [...example.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
  try {
    await carryOut(words);
    return undefined;
  } catch (error) {
    if (error instanceof Error && error.name === "UsageError") return error.message;
    throw error;
  }
}
