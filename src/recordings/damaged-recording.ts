import { DamageError } from "../debuginfo/damage.ts";

/** Bytes of a recording that are not what its format says. */
export class RecordingError extends DamageError {
  constructor(what: string, file?: string) {
    super("recording", what, file);
  }
}
