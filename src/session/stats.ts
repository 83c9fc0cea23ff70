// What `--stats` shows: the cost of each handler, and of all.

/** One handler in the kernel, which may serve several probes. */
export interface HandlerCost {
  /** The first of its probes. */
  readonly probe: string;
  readonly probes: number;
  /** Runs since it was attached, those that were held back among them. */
  readonly runs: number;
  /** Runs that the governor held back. */
  readonly skipped: number;
  /** Nanoseconds in the handler, all runs together, as the kernel measured. */
  readonly handlerNanoseconds: number;
  /** Nanoseconds that getting into the handler took besides: an estimate by the kind of probe. */
  readonly probeNanoseconds: number;
  /** Of the CPU time of the whole machine since the session began: 0.02 is 2 %. */
  readonly share: number;
  /** `throttled`: only some of its events run the handler; `detached`: none do any more. */
  readonly state: "running" | "throttled" | "detached";
}

export interface SessionStats {
  /** Since the first probe was attached. */
  readonly seconds: number;
  readonly handlers: readonly HandlerCost[];
  /** All handlers: of the CPU time of the whole machine. */
  readonly share: number;
  /** strobe's own process, user and system time: of the CPU time of the whole machine. */
  readonly ownShare: number;
}

/** Runs of a program, and nanoseconds that one takes. */
export interface Measurement {
  readonly runs: number;
  readonly nanoseconds: number;
}
