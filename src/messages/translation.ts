// What bpftrace's language has and TypeScript lacks.
import { says, type Message, type Shown } from "./message.ts";

export const translation = {
  assignmentNoValueThere: (): Message => says("feature", "an assignment is not a value there", "assign before"),
  cannotWrittenTypescript: (name: Shown): Message => says("feature", `${name}() cannot be written in TypeScript`),
  cannotWrittenTypescriptYet: (kind: Shown): Message =>
    says("feature", `\`${kind}\` cannot be written in TypeScript yet`, "write it there by hand"),
  loopOverMapOrderOr: (): Message =>
    says(
      "feature",
      "a loop over a map in an order, or with a limit, cannot be written in TypeScript",
      "sort in Node: the map is there as it is now",
    ),
};
