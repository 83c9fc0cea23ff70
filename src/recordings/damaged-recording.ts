import { DamageError } from "../debuginfo/damage.ts";
import type { Reason } from "../base/failure.ts";

/** Bytes of a recording that are not what its format says. */
export class RecordingError extends DamageError {
  constructor(what: Reason, file?: string) {
    super("recording", what, file);
  }
}
