// What the library says of the calls in the tables of messages.
import * as library from "../../src/index.ts";

/** Of a call that makes no sense, with the library's names around it: the error; undefined of one that makes sense. */
export async function refusalOf(example: string): Promise<Error | undefined> {
  // The tables' own examples.
  // oxlint-disable-next-line typescript/no-implied-eval
  const call = new Function(...Object.keys(library), `"use strict"; return (${example});`);
  try {
    await (call(...Object.values(library)) as unknown);
    return undefined;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}
