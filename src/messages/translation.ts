// What bpftrace's language has and TypeScript lacks.
import { says, type Message, type Shown } from "./message.ts";

export const translation = {
  /** @example probe begin { println(x = 5) } */
  assignmentNoValueThere: (): Message => says("feature", "an assignment is not a value there", "assign before"),
  /** Of a function that the table of builtins does not have. */
  cannotWrittenTypescript: (name: Shown): Message => says("feature", `${name}() cannot be written in TypeScript`),
  /** @example probe begin { try { x = 1 } catch { } } */
  cannotWrittenTypescriptYet: (kind: Shown): Message =>
    says("feature", `\`${kind}\` cannot be written in TypeScript yet`, "write it there by hand"),
  /**
   * @example
   * global a
   * probe begin { a[1] = 2; foreach (k in a+) println(k) }
   */
  loopOverMapOrderOr: (): Message =>
    says(
      "feature",
      "a loop over a map in an order, or with a limit, cannot be written in TypeScript",
      "sort in Node: the map is there as it is now",
    ),
};
