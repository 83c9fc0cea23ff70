// Why there is no value, as a value: what cannot be read, resolved or opened is no exception. Exceptions are left to
// what ends a run: a script's mistakes, what the kernel refused, strobe's own faults.

/** Returned in place of a value that cannot be had: `Fetch | Failure`, told apart by `instanceof`. */
export class Failure {
  /** For a person, after a colon or as a part of a sentence: "`n` is optimised out here". */
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}
