import type { Reason } from "./failure.ts";

/** What ends a run, or keeps it from beginning, where neither the script nor a call of the kernel is at fault. */
export class RunError extends Error {
  constructor(reason: Reason) {
    super(reason);
    this.name = "RunError";
  }
}
