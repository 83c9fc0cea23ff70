// What can fail while a handler runs, and what a script is told of it (`try` in program.ts).
import type { RecordType } from "./types.ts";
import { i64, u64 } from "./types.ts";

/**
 * - `read`: memory that cannot be read.
 * - `division`: by zero, of integers.
 * - `index`: an element outside of its array.
 * - `full`: a map that has no room for another key.
 * - `key`: an entry that is not there.
 * - `empty`: a result of a statistic that has no values.
 * - `error`: the script's own, thrown.
 */
export const faultKinds = ["read", "division", "index", "full", "key", "empty", "error"] as const;
export type FaultKind = (typeof faultKinds)[number];

/** What `try` sees unless it says: in no language that there is yet is a missing entry a failure. */
export const catchable: ReadonlySet<FaultKind> = new Set(["read", "division", "index", "full", "error"]);

/** Bytes of a message, its terminator included, when no script throws a longer one. */
export const leastMessage = 64;

/**
 * What a handler of errors sees: `kind`; `message`; `address` that could not be read, else 0; `line` and `column` of what
 * failed, from 1; `instruction`, its place in the handler as it is compiled, from 1, before that is optimised.
 */
export function errorType(messageCapacity: number): RecordType {
  return {
    kind: "record",
    fields: [
      { name: "kind", type: { kind: "string", capacity: Math.max(...faultKinds.map((kind) => kind.length)) + 1 } },
      { name: "message", type: { kind: "string", capacity: messageCapacity } },
      { name: "address", type: u64 },
      { name: "line", type: i64 },
      { name: "column", type: i64 },
      { name: "instruction", type: i64 },
    ],
  };
}
