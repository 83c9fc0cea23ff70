// Places of a script where something is counted while it runs.
import type { WatchedCall } from "./watches.ts";

/** Lines and columns are counted from 1; `source`: the script's name. */
export interface ScriptPlace {
  readonly source: string;
  readonly line: number;
  readonly column: number;
  readonly endColumn: number;
}

/**
 * A loop that an engine may cut short. `line`: of the script. `unkept`: it is no loop but a probe, which left out what
 * was in calls that nothing was kept of.
 */
export interface CountedLoop {
  readonly place: ScriptPlace;
  readonly line: string;
  readonly unkept?: UnkeptCalls;
}

export interface UnkeptCalls {
  readonly probe: string;
  readonly where: "inside" | "return";
}

/** `line`: of the script. */
export interface WatchedPlace {
  readonly call: WatchedCall;
  readonly place: ScriptPlace;
  readonly line: string;
}
