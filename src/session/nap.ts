// How long the ring is left alone between two looks at it. A wake-up costs as much as a hundred lines, so that under load they
// are gathered; but a person waits for lines that come one by one, and the ring must not fill.

export interface Look {
  /** What the last look found, and since when it had gathered. */
  readonly records: number;
  readonly bytes: number;
  readonly milliseconds: number;
  readonly ringBytes: number;
}

/** Records a millisecond from which on lines are more than a person reads. */
const flood = 20;
/** Milliseconds: within 5 ms of its event, with what Node's timers and the writing take, a line is out. */
const whileRead = 3;
const inFlood = 20;
/** What may gather: a sixteenth of the ring, since the scheduler may keep us waiting several times as long. */
const gathered = 1 / 16;

/** Milliseconds; 0 when there is no time for a nap. */
export function napLength({ records, bytes, ringBytes, milliseconds }: Look): number {
  const elapsed = Math.max(milliseconds, 0.1);
  const most = records / elapsed > flood ? inFlood : whileRead;
  return Math.floor(Math.min(most, (ringBytes * gathered * elapsed) / bytes));
}
