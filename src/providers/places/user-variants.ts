// Places of programs, grouped by what a handler sees there.
import { InternalError } from "../../base/internal-error.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Context } from "../../language/context.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { insideUserFunction, variantsByFunction } from "./function-code.ts";
import { asGoHasIt, goStack } from "../../machine/contexts/go-context.ts";
import { copyContext } from "./inlined-places.ts";
import { keepArguments, keepForInside, wantsArguments, type CallSoFar } from "../../machine/calls/kept-arguments.ts";
import type { Place } from "./places.ts";
import type { Resolution, ResolveOptions } from "../provider.ts";
import { variantsOf, type Variant } from "../resolution.ts";
import { alikeResults, withoutLacking } from "../../machine/calls/results.ts";
import type { Binary, System } from "../../machine/system.ts";
import type { UserSite } from "../attaching/user-attachment.ts";
import { symbolsSeenFrom, userContext } from "../../machine/contexts/user-context.ts";
import {
  enumeratorsOf,
  typesNamed,
  wantsVariables,
  withVariables,
  type PlaceContext,
} from "../../machine/values/user-variables.ts";

export interface FoundPlace {
  readonly binary: Binary;
  readonly place: Place;
  readonly site: SiteRef;
}

/** `at`: what the places are; of functions that are returned from, a place may be one of their return instructions. */
export interface PlaceKind {
  readonly provider: string;
  readonly at: "entry" | "return" | "instruction";
  /** Returns are seen at return instructions, whatever the places. */
  readonly inPlace?: true;
  /** The kind of probe that keeps what is needed of a call at its beginning. */
  readonly keeper: string;
}

/** The variants of a spec's places, and what is left out of them. */
export function variantsAt(
  spec: ProbeSpec,
  found: readonly FoundPlace[],
  kind: PlaceKind,
  system: System,
  options: ResolveOptions,
): Resolution {
  const { uses } = options;
  const binaries = new Set(found.map(({ binary }) => binary));
  const [only] = binaries.size === 1 ? binaries : [];
  const named = only === undefined ? {} : { typeNamed: typesNamed(only), enumerator: enumeratorsOf(only) };
  const bases = new Map<boolean, Context>();
  const baseOf = ({ returnsFrom }: Place): Context => {
    const inside = returnsFrom !== undefined || kind.at === "instruction" || kind.inPlace === true;
    let base = bases.get(inside);
    if (base === undefined) bases.set(inside, (base = { ...contextOf(kind, inside, system, uses), ...named }));
    return base;
  };

  const made = found.map((one) => ({ ...one, ...seenAt(baseOf(one.place), one, kind, system, options) }));
  const results = uses.has("retval") ? alikeResults(made) : made;
  const { complete, diagnostics } = withoutLacking(spec, results, uses, ({ site }) => site.name);
  const variants = new Map<
    string,
    {
      readonly context: Context;
      readonly atEntry?: Context;
      readonly without?: Context;
      readonly call?: CallSoFar;
      readonly places: FoundPlace[];
    }
  >();
  for (const { binary, place, site, context, key, atEntry, without, call } of complete) {
    const copy = copyContext(context, place, kind.at === "return");
    const trampoline =
      kind.at === "return" && place.inlined === undefined && place.returnsFrom === undefined && kind.inPlace !== true;
    // Symbols are found from the place itself.
    const withSymbols = (seen: Context): Context =>
      uses.has("uaddr") ? { ...seen, userSymbol: symbolsSeenFrom(binary, place.offset, trampoline) } : seen;
    const own = withSymbols(copy.context);
    const other = without && withSymbols(copyContext(without, place, false).context);
    const whole = uses.has("uaddr") ? `${variants.size}` : `${place.returnsFrom === undefined} ${key} ${copy.key}`;
    const known = variants.get(whole);
    if (known !== undefined) known.places.push({ binary, place, site });
    else
      variants.set(whole, {
        context: own,
        places: [{ binary, place, site }],
        ...(atEntry === undefined ? {} : { atEntry }),
        ...(call === undefined ? {} : { call }),
        ...(other === undefined ? {} : { without: other }),
      });
  }
  const grouped = [...variants.values()].flatMap(({ context, atEntry, without, call, places }): Variant[] => {
    const of = (seen: Context): Variant[] =>
      (seen.func === "site" ? variantsByFunction : variantsOf)(
        seen,
        places.map(({ site }) => site),
        options,
      );
    if (call !== undefined) return insideCall({ context, without, call }, places, kind.keeper, system, of);
    return atEntry === undefined ? of(context) : withEntry(context, atEntry, places, kind.keeper, uses, of);
  });
  return { variants: grouped, diagnostics };
}

/** Returns, with what keeps the arguments of their calls at the functions' entries. */
function withEntry(
  context: Context,
  atEntry: Context,
  places: readonly FoundPlace[],
  keeper: string,
  uses: ReadonlySet<string>,
  of: (context: Context) => Variant[],
): Variant[] {
  const [
    {
      place: { returnsFrom },
    },
  ] = places;
  const entries = new Map<string, SiteRef>();
  for (const { binary, place, site } of places) {
    const offset = place.returnsFrom ?? place.offset;
    entries.set(`${binary.path} ${offset}`, {
      name: site.name,
      ...(site.func === undefined ? {} : { func: site.func }),
      data: { path: binary.path, offset, semaphore: 0n } satisfies UserSite,
    });
  }
  const goroutine = atEntry.goroutine === undefined ? {} : { goroutine: { id: atEntry.goroutine, stack: goStack } };
  const ends = keepArguments(
    { entry: atEntry, returned: context, inPlace: returnsFrom !== undefined, several: entries.size > 1, ...goroutine },
    uses,
  );
  const [first, ...more] = of(ends.returned);
  return [{ ...first, entry: { provider: keeper, context: ends.entry, sites: [...entries.values()] } }, ...more];
}

/** Places inside a function, with what keeps at its entry what variables there need of it. */
function insideCall(
  {
    context,
    without,
    call,
  }: { readonly context: Context; readonly without: Context | undefined; readonly call: CallSoFar },
  [{ binary, site }]: readonly FoundPlace[],
  keeper: string,
  system: System,
  of: (context: Context) => Variant[],
): Variant[] {
  const offset = binary.fileOffset(call.entry);
  if (offset === undefined) throw new InternalError("a function that something is kept of is in no file");
  const ends = keepForInside(userContext({ provider: keeper, returns: false, system }), context, without, call);
  const [first, ...more] = ends.inside.flatMap(of);
  const entry: SiteRef = {
    name: site.name,
    ...(site.func === undefined ? {} : { func: site.func }),
    data: { path: binary.path, offset, semaphore: 0n } satisfies UserSite,
  };
  return [{ ...first, entry: { provider: keeper, context: ends.entry, sites: [entry] } }, ...more];
}

function contextOf({ provider, at }: PlaceKind, inside: boolean, system: System, uses: ReadonlySet<string>): Context {
  return inside
    ? insideUserFunction(provider, at === "return", system, uses)
    : userContext({ provider, returns: at === "return", system, uses });
}

interface SeenPlace extends PlaceContext {
  /** What the function's arguments are at its entry, where the handler at its return asks for them. */
  readonly atEntry?: Context;
  /** What is there in calls that nothing was kept of, where the handler does without. */
  readonly without?: Context;
}

function seenAt(base: Context, found: FoundPlace, kind: PlaceKind, system: System, options: ResolveOptions): SeenPlace {
  const seen = seenThere(base, found, kind, system, options);
  if (kind.at !== "return" && (options.uses.has("vars") || options.uses.has("args.*")) && !options.uses.has("vars.*")) {
    // Of all that is printed, what needs the call's beginning is shown where that was seen.
    const more = seenThere(base, found, kind, system, options, "all");
    return more.call === undefined ? seen : { ...more, ...(seen.call === undefined ? { without: seen.context } : {}) };
  }
  if (kind.at !== "return" || found.place.inlined !== undefined || !wantsArguments(options.uses)) return seen;
  const { binary, place } = found;
  const offset = place.returnsFrom ?? place.offset;
  const there = asGoHasIt(
    userContext({ provider: kind.keeper, returns: false, system, uses: options.uses }),
    binary,
    offset,
  ).context;
  if (!options.uses.has("args")) {
    // Arguments by number are where they are in all functions, which the kernel tells apart.
    const shared = seen.context.func === "user" && there.goroutine === undefined;
    return { ...seen, atEntry: there, key: shared ? seen.key : `${seen.key} ${offset}` };
  }
  const uses = new Set([...options.uses].filter((use) => use === "args" || use.startsWith("args.")));
  const entry = withVariables(there, { binary, offset, returns: false }, system, { uses });
  const { args: _, variables = entry.context.variables, ...context } = seen.context;
  return {
    context: { ...context, ...(variables === undefined ? {} : { variables }) },
    key: `${seen.key} ${offset}`,
    atEntry: entry.context,
    ...((seen.lacking ?? entry.lacking) === undefined ? {} : { lacking: seen.lacking ?? entry.lacking }),
  };
}

/** What debug information and the language's conventions tell of a place. Equal keys: equal contexts. */
function seenThere(
  base: Context,
  { binary, place }: FoundPlace,
  { at }: PlaceKind,
  system: System,
  options: ResolveOptions,
  keeps: "named" | "all" = "named",
): PlaceContext {
  const { offset, inlined, returnsFrom } = place;
  const there = asGoHasIt(base, binary, offset);
  // Arguments at returns are those of the entry.
  const uses =
    at === "return"
      ? new Set([...options.uses].filter((use) => use !== "args" && !use.startsWith("args.")))
      : options.uses;
  if (!wantsVariables(uses)) return { context: there.context, key: `${binary.path} ${there.key}` };
  const look = (returns: boolean): PlaceContext => {
    const seen = withVariables(
      there.context,
      { binary, offset, returns, ...(inlined === undefined ? {} : { inlined }), ...(at === "return" ? {} : { keeps }) },
      system,
      { uses },
    );
    return { ...seen, key: `${binary.path} ${there.key} ${seen.key}` };
  };
  if (returnsFrom === undefined) return look(at === "return");
  const here = look(false);
  // Go tells its results apart from C's: there may be several.
  if (there.key !== "") return here;
  const result = look(true);
  const { retval } = result.context;
  return {
    context: { ...here.context, ...(retval === undefined ? {} : { retval }) },
    key: `${here.key} ${result.key}`,
    ...((here.lacking ?? result.lacking) === undefined ? {} : { lacking: here.lacking ?? result.lacking }),
  };
}
