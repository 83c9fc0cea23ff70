// The clocks that a session ties together: the kernel stamps events with the boot clock, people read the time of day.
import { CLOCK_BOOTTIME, CLOCK_TAI, clockNs, clockOffsetBootToRealNs } from "../../linux/processes/procfs.ts";
import type { Timeline } from "../timers.ts";

export interface SessionClock {
  /** The boot clock when the session began, in nanoseconds. */
  readonly start: bigint;
  /** Nanoseconds to add to the boot clock for the time of day, and for international atomic time. */
  readonly bootToWall: bigint;
  readonly bootToTai: bigint;
}

export function readClock(): SessionClock {
  return {
    start: clockNs(CLOCK_BOOTTIME),
    bootToWall: clockOffsetBootToRealNs(),
    bootToTai: clockNs(CLOCK_TAI) - clockNs(CLOCK_BOOTTIME),
  };
}

/** The time in which intervals of a live session run. */
export const steadyTime: Timeline = {
  now: uptime,
  after(milliseconds, call) {
    // A timer of Node's waits at least a millisecond and at most 2^31.
    const timer = setTimeout(call, Math.min(Math.max(1, Math.ceil(milliseconds)), 0x7fff_ffff));
    return () => clearTimeout(timer);
  },
};

/**
 * A steady clock in milliseconds. Node loads `performance` and its ten modules when it is first used; this is there.
 */
export function uptime(): number {
  return process.uptime() * 1000;
}
