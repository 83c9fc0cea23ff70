// A recording's times by another's clock. Of one start of a machine they are of one clock already; else both are set
// against the wall clock, which each has read every ten seconds.
import type { ClockReading, EventRecording, RecordingOrigin } from "./contents.ts";

export interface ClockShift {
  /** A time by the recording's boot clock, by the other's; nanoseconds. */
  readonly moved: (boot: bigint) => bigint;
  /** Its wall clock was set while it was recorded, by so many nanoseconds: the clock it had at the end counts. */
  readonly set: number | undefined;
}

interface Clocked {
  readonly origin: Pick<RecordingOrigin, "boot" | "clock">;
  readonly clocks: readonly ClockReading[];
  readonly end: Pick<NonNullable<EventRecording["end"]>, "clock"> | undefined;
}

/**
 * Clocks are slewed by half a thousandth at most (adjtimex(2): 500 ppm of frequency, and ntpd's slewing of 500 ppm more;
 * chrony up to a twelfth): what differs by more between two readings was set.
 */
const mostSlew = 0.1;
/** Reading three clocks takes some time in between. */
const leastSet = 1e6;

export function clockShift({ origin, clocks, end }: Clocked, other: Clocked): ClockShift {
  if (origin.boot !== undefined && origin.boot === other.origin.boot) return { moved: (boot) => boot, set: undefined };
  const { clock } = other.origin;
  const otherBoot = BigInt(clock.wall) - BigInt(clock.boot);
  const readings = [origin.clock, ...clocks, ...(end === undefined ? [] : [end.clock])];
  const start = BigInt(readings[0].boot);
  const first = BigInt(readings[0].wall) - start - otherBoot;
  // Since the first reading, as doubles.
  const at = readings.map(({ boot }) => Number(BigInt(boot) - start));
  const off = readings.map(({ boot, wall }) => Number(BigInt(wall) - BigInt(boot) - otherBoot - first));
  let [from, set] = [0, 0];
  for (let i = 1; i < at.length; i++) {
    const change = off[i] - off[i - 1];
    if (Math.abs(change) <= Math.max(leastSet, (at[i] - at[i - 1]) * mostSlew)) continue;
    from = i;
    set += change;
  }
  let segment = from;
  const moved = (boot: bigint): bigint => {
    const time = Number(boot - start);
    while (segment > from && at[segment] > time) segment--;
    while (segment + 1 < at.length && at[segment + 1] <= time) segment++;
    let shift = off[segment];
    if (segment + 1 < at.length && time > at[segment]) {
      const part = (time - at[segment]) / (at[segment + 1] - at[segment]);
      shift += part * (off[segment + 1] - off[segment]);
    }
    return boot + first + BigInt(Math.round(shift));
  };
  return { moved, set: from === 0 ? undefined : set };
}
