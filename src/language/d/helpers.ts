// Clauses of D's own that keep what its variables and arguments are computed from: a script has those that it needs.
import type { MapDeclaration, Probe } from "../program.ts";
import type { ProbeSpec } from "../probe-spec.ts";
import type { Span } from "../diagnostic.ts";
import { body } from "./statements.ts";
import { tokensOf } from "./tokens.ts";
import type { Unit } from "./unit.ts";

interface Clause {
  readonly event: string;
  readonly body: string;
}

interface Helper {
  /** Associative arrays of numbers, and how many keys they have. */
  readonly arrays: Readonly<Record<string, number>>;
  readonly clauses: readonly Clause[];
}

export const helpers = {
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
} as const satisfies Readonly<Record<string, Helper>>;

export type HelperName = keyof typeof helpers;

/** Entries for each of them, of all threads. */
const entries = 65_536;

/** The script has its clauses. */
export function needs(unit: Unit, name: HelperName): void {
  if (unit.helpers.has(name)) return;
  unit.helpers.add(name);
  const { arrays }: Helper = helpers[name];
  for (const [array, keyCount] of Object.entries(arrays))
    unit.globals.set(array, { known: "int64", keyed: true, keyCount });
}

/** What the script needs: clauses in front of its own, and their arrays. */
export function helperClauses(
  unit: Unit,
  span: Span,
): { readonly probes: readonly Probe[]; readonly maps: readonly MapDeclaration[] } {
  const made = { probes: [] as Probe[], maps: [] as MapDeclaration[] };
  for (const name of unit.helpers) {
    const { arrays, clauses }: Helper = helpers[name];
    for (const array of Object.keys(arrays)) made.maps.push({ name: `${array}#0`, storage: "hash", entries, span });
    for (const { event, body: text } of clauses) {
      const spec: ProbeSpec = { provider: "rawtracepoint", parts: [event], sequence: -(2 ** 31), text: event, span };
      unit.clause = { provider: "rawtp", returns: false, user: false };
      const block = unit.reading(unit.cursor.elsewhere(tokensOf(text), span), () => body(unit));
      made.probes.push({ specs: [spec], body: block, span });
    }
  }
  return made;
}
