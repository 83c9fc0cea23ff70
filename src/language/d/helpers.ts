// Clauses of D's own that keep what its variables and arguments are computed from: a script has those that it needs.
import type { HelperName, Unit } from "./unit.ts";

interface Clause {
  readonly event: string;
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
};

/** Entries for each of them, of all threads. */
export const helperEntries = 65_536;

/** The script has its clauses. */
export function needs(unit: Unit, name: HelperName): void {
  if (unit.helpers.has(name)) return;
  unit.helpers.add(name);
  const { arrays } = helpers[name];
  for (const [array, keyCount] of Object.entries(arrays))
    unit.globals.set(array, { known: "int64", keyed: true, keyCount });
}
