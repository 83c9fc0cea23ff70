// What stands for a variable that has no value where a probe is, beside others that have one.
import type { Type } from "./types.ts";

/** What reasons are in a word, by what they contain; the first that holds. */
const words: readonly (readonly [reason: string, word: string])[] = [
  ["called with", "known at the entry"],
  ["no caller passes", "depends on the caller"],
  ["optimised out", "optimised out"],
  ["vector register", "in a vector register"],
  ["floating point", "floating point"],
  ["yet", "not set yet"],
  ["", "not visible"],
];

/** By why it has none. */
export function absentText(reason: string): string {
  return `<${words.find(([part]) => reason.includes(part))![1]}>`;
}

export const absentType: Type & { readonly kind: "string" } = {
  kind: "string",
  capacity: Math.max(...words.map(([, word]) => word.length)) + "<>".length + 1,
};
