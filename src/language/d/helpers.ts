// Clauses of D's own that keep what its variables and arguments are computed from: a script has those that it needs.
import type { HelperName, Unit } from "./unit.ts";

interface Clause {
  /** Of its probe: a raw tracepoint unless it says. */
  readonly kind?: "kprobe";
  readonly event: string;
  /** Behind the script's own clauses of the event rather than in front of them. */
  readonly last?: true;
  readonly body: string;
}

interface Helper {
  /** Associative arrays of numbers, and how many keys they have. */
  readonly arrays: Readonly<Record<string, number>>;
  readonly clauses: readonly Clause[];
}

export const helpers: Readonly<Record<HelperName, Helper>> = {
  /** How long each thread has been on a processor, and since when the current one is. A dead one (TASK_DEAD) goes. */
  vtimestamp: {
    arrays: { __spent: 1, __since: 1 },
    clauses: [
      {
        event: "sched_switch",
        body: `{
          this->__now = timestamp;
          __spent[(uint64_t)args.prev] =
            (args.prev->__state & 0x80) != 0 ? 0
            : __spent[(uint64_t)args.prev] + (__since[cpu] == 0 ? 0 : this->__now - __since[cpu]);
          __since[cpu] = this->__now;
        }`,
      },
    ],
  },
  /** The request that a thread waits for: when it is done, it says no more where it began and how long it was. */
  waits: {
    arrays: { __waits: 1, __wait_bytes: 1, __wait_sectors: 1 },
    clauses: [
      {
        kind: "kprobe",
        event: "submit_bio_wait",
        body: `{
          __waits[tid] = arg0;
          __wait_bytes[tid] = ((struct bio *)__kernel(arg0))->bi_iter.bi_size;
          __wait_sectors[tid] = ((struct bio *)__kernel(arg0))->bi_iter.bi_sector;
        }`,
      },
    ],
  },
  /** Since when a thread waits for a lock, and which kind of lock that is; what spins last counts. */
  contention: {
    arrays: { __lock_since: 2, __lock_flags: 2 },
    clauses: [
      {
        event: "contention_begin",
        body: `{
          this->__who = tid == 0 ? -1 - (int64_t)cpu : (int64_t)tid;
          __lock_since[(uint64_t)args.lock, this->__who] = timestamp;
          __lock_flags[(uint64_t)args.lock, this->__who] = args.flags;
        }`,
      },
      {
        event: "contention_end",
        last: true,
        body: `{
          this->__who = tid == 0 ? -1 - (int64_t)cpu : (int64_t)tid;
          __lock_since[(uint64_t)args.lock, this->__who] = 0;
          __lock_flags[(uint64_t)args.lock, this->__who] = 0;
        }`,
      },
    ],
  },
};

/** Entries for each of them, of all threads. */
export const helperEntries = 65_536;

/** The script has its clauses. */
export function needs(unit: Unit, name: HelperName): void {
  if (unit.helpers.has(name)) return;
  unit.helpers.add(name);
  const { arrays } = helpers[name];
  for (const [array, keyCount] of Object.entries(arrays))
    unit.globals.set(array, {
      known: "int64",
      keyed: true,
      keyKnown: Array.from({ length: keyCount }, () => undefined),
    });
}
