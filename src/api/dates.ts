// Times of the kernel's clocks as dates.
import { library } from "../messages/on-demand.ts";
import { CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_TAI, clockNs } from "../linux/processes/procfs.ts";

const clocks = { boot: CLOCK_BOOTTIME, monotonic: CLOCK_MONOTONIC, tai: CLOCK_TAI, wall: CLOCK_REALTIME };

/**
 * When it was that `nsecs`, or `nsecs("monotonic")` and its like, gave this number of nanoseconds: `dateOf(args[0])`. By
 * what the clocks say now (clock_gettime(2)): a time from before the wall clock was set, or for the monotonic clock from
 * before the machine slept, is off by that. A Date has milliseconds. @throws RangeError for what is no time of a clock
 */
export function dateOf(nanoseconds: bigint | number, clock: keyof typeof clocks = "boot"): Date {
  const id = clocks[clock];
  if (id === undefined) throw new RangeError(library().unknownClock(Object.keys(clocks), clock).message);
  const ago = clockNs(id) - BigInt(nanoseconds);
  return new Date(Number((clockNs(CLOCK_REALTIME) - ago) / 1_000_000n));
}
