// The clocks that a session ties together: the kernel stamps events with the boot clock, people read the time of day.
import { CLOCK_BOOTTIME, CLOCK_TAI, clockNs, clockOffsetBootToRealNs } from "../../linux/processes/procfs.ts";

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

/** Milliseconds since the epoch, with the microseconds that a double still holds. */
export function epochMilliseconds(clock: SessionClock, boot: bigint): number {
  return Number((boot + clock.bootToWall) / 1000n) / 1000;
}
