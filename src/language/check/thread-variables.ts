// Variables of a thread: entries of a map, by the thread's number.
import type { MapAccess, Variable } from "../program.ts";
import { unknownType } from "../types.ts";

/** The entry that a variable is; undefined of one that lives no longer than its handler. */
export function threadEntry({ name, lives, span }: Variable): MapAccess | undefined {
  if (lives !== "thread") return undefined;
  return {
    kind: "map",
    name,
    keys: [{ kind: "builtin", name: "tid", span, type: unknownType }],
    span,
    type: unknownType,
  };
}
