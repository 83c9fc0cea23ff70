// Why there is no value, as a value: what cannot be read, resolved or opened is no exception. Exceptions are left to
// what ends a run: a script's mistakes, what the kernel refused, strobe's own faults.

declare const told: unique symbol;

/**
 * A part of what strobe says: why something is not, what strobe was doing, what to try. Only the tables of messages
 * (src/messages) make them, by `reason()`, and `saidBy()` passes on what an error has said.
 */
export type Reason = string & { readonly [told]: true };

/** What an error or a diagnostic says, as the reason for something else. */
export function saidBy(said: unknown): Reason {
  const message = typeof said === "object" && said !== null && "message" in said ? said.message : said;
  return String(message) as Reason;
}

/** Returned in place of a value that cannot be had: `Fetch | Failure`, told apart by `instanceof`. */
export class Failure {
  /** For a person, after a colon or as a part of a sentence: "`n` is optimised out here". */
  readonly reason: Reason;

  constructor(reason: Reason) {
    this.reason = reason;
  }
}
