// Probes on the inlined copies of a function, beside its body where it has one: where each begins, or where it ends.
import type { Context } from "../../language/context.ts";
import { u64 } from "../../language/types.ts";
import { conditionHolds, InlinedEnds } from "./inlined-ends.ts";
import { wantsArguments } from "../../machine/calls/kept-arguments.ts";
import type { Binary } from "../../machine/system.ts";
import { inlinedCopies, type SomeCopies } from "../../messages/inlined-copies.ts";
import type { Message } from "../../messages/message.ts";
import type { Place, Places, Wanted } from "./places.ts";
import type { InlinedCopy } from "../../machine/values/user-variables.ts";
import { usesNumbered } from "../../language/check/uses.ts";
import { variableReasons } from "../../messages/on-demand.ts";

/** Callers that a note names. */
const named = 3;

type CopyOptions = Pick<Wanted, "returns" | "bodiesOnly" | "kernel">;

/** `bodies` and the places of copies, with what is to be said about them. */
export function placesOfCopies(
  binary: Binary,
  wanted: string,
  bodies: readonly Place[],
  all: readonly InlinedCopy[],
  options: CopyOptions,
): Places {
  let copies = distinct(binary, all);
  if (copies.length === 0) return { places: bodies, notes: [] };
  const callers = [...new Set(copies.map(({ instance }) => instance.caller?.name ?? "?"))];
  const into =
    callers.length <= named ? callers.map((name) => `\`${name}\``).join(", ") : `${callers.length} functions`;
  const { bodiesOnly, returns } = options;
  if (bodiesOnly !== undefined) {
    const problem = inlinedCopies.bodyOnly(wanted, into, bodiesOnly, returns);
    if (bodies.length === 0) return { problem };
    return { places: bodies, notes: [inlinedCopies.probingBodyAlone(problem, itsCopies(copies))] };
  }
  if (binary.machine !== "x86-64") {
    const problem = inlinedCopies.endsNeedX86(wanted);
    if (returns) return bodies.length === 0 ? { problem } : { places: bodies, notes: [problem] };
    const begun = copies.map((copy): Place => ({
      name: wanted,
      func: wanted,
      offset: binary.fileOffset(copy.instance.entry)!,
      inlined: copy,
    }));
    return { places: [...bodies, ...begun], notes: [inlinedNote(wanted, into, bodies, copies, returns)] };
  }

  const places: Place[] = [];
  const ends = new InlinedEnds(binary, options.kernel?.()).of(copies);
  copies = ends.map(({ copy }) => copy);
  let lost = 0;
  let unknown = 0;
  let endless = 0;
  let tails = 0;
  let mixed = 0;
  for (const { copy: inlined, edges } of ends) {
    const add = (address: bigint, condition?: number): void => {
      const offset = binary.fileOffset(address);
      if (offset !== undefined)
        places.push({ name: wanted, func: wanted, offset, inlined, ...(condition === undefined ? {} : { condition }) });
    };
    const seen = edges === undefined ? [] : returns ? edges.exits : edges.entries;
    for (const place of seen) {
      add(place.address, place.condition);
      if (place.tail === true) tails++;
    }
    if (edges?.mixed === true) mixed++;
    if (edges !== undefined && (returns ? edges.lostExits : edges.lostEntries) > 0) lost++;
    else if (edges === undefined && returns) unknown++;
    else if (seen.length === 0 && returns) endless++;
    // What its debug information says is the best that is known of it.
    if (!returns && seen.length === 0) add(inlined.instance.entry);
  }
  const notes: Message[] = [];
  if (places.length > 0) notes.push(inlinedNote(wanted, into, bodies, copies, returns));
  const warn = (count: number, said: (copies: SomeCopies) => Message): void => {
    if (count > 0) notes.push(said({ wanted, count, all: copies.length }));
  };
  warn(mixed, (some) => inlinedCopies.mixed(some, returns ? "returns" : "calls"));
  if (!returns) warn(lost, inlinedCopies.entriesLost);
  else {
    warn(lost, inlinedCopies.endsLost);
    warn(unknown, inlinedCopies.endsUnknown);
    warn(endless, inlinedCopies.neverReturn);
    warn(tails, inlinedCopies.tails);
    if (places.length === 0 && bodies.length === 0)
      return { problem: inlinedCopies.unseen(wanted, notes), unseen: true };
  }
  return { places: [...bodies, ...places], notes };
}

/** `f` is inlined: probing its body and its 2 copies, in `g`, `h`. */
function inlinedNote(
  wanted: string,
  into: string,
  bodies: readonly Place[],
  copies: readonly InlinedCopy[],
  returns: boolean,
): Message {
  const many = itsCopies(copies);
  const what = returns ? `where ${many} ${copies.length === 1 ? "ends" : "end"}` : many;
  const body =
    bodies.length === 0
      ? ""
      : returns
        ? "its returns and "
        : bodies.length === 1
          ? "its body and "
          : `its ${bodies.length} bodies and `;
  return inlinedCopies.probed(wanted, `${body}${what}`, into);
}

function itsCopies(copies: readonly InlinedCopy[]): string {
  return copies.length === 1 ? "its one copy" : `its ${copies.length} copies`;
}

/** Several names may lead to one copy. */
function distinct(binary: Binary, copies: readonly InlinedCopy[]): InlinedCopy[] {
  const found = new Map<string, InlinedCopy>();
  for (const copy of copies) {
    const { entry, ranges } = copy.instance;
    if (binary.fileOffset(entry) !== undefined)
      found.set([entry, ...ranges.map(({ low, high }) => `${low}-${high}`)].join(" "), copy);
  }
  return [...found.values()];
}

/** Why a handler cannot run at inlined copies; undefined when it can. */
export function whatBodiesHave(returns: boolean, uses: ReadonlySet<string>): string | undefined {
  if (returns && wantsArguments(uses)) return "where a copy ends, nothing was kept of the arguments that it began with";
  if (returns) return uses.has("retval") ? "where a copy ends, its result is in no register of its own" : undefined;
  return usesNumbered(uses) ? "the parameters of a copy are in no registers by number" : undefined;
}

/** What is different at a copy from what is at a function of its own. Equal keys: equal contexts. */
export function copyContext(
  context: Context,
  { inlined, condition }: Place,
  returns: boolean,
): { readonly context: Context; readonly key: string } {
  if (inlined === undefined) return { context, key: "" };
  const { numbered: _, retval: __, ...rest } = context;
  const made: Context = {
    // The kernel names the function that a copy was inlined into.
    ...rest,
    func: "site",
    ...(condition === undefined ? {} : { requires: conditionHolds(condition) }),
    ...(returns
      ? {
          retval: {
            type: u64,
            fetch: { kind: "constant", value: 0n },
            absent: variableReasons().inlinedResult(),
          },
        }
      : {}),
  };
  return { context: made, key: `copy ${condition}` };
}
