// Places of programs, grouped by what a handler sees there.
import type { SiteRef } from "../language/check/checked.ts";
import type { Context } from "../language/context.ts";
import type { ProbeSpec } from "../language/program.ts";
import { insideUserFunction, variantsByFunction } from "./function-code.ts";
import { asGoHasIt } from "./go-context.ts";
import { copyContext } from "./inlined-places.ts";
import type { Place } from "./places.ts";
import type { Resolution, ResolveOptions } from "./provider.ts";
import { variantsOf, type Variant } from "./resolution.ts";
import { alikeResults, withoutLacking } from "./results.ts";
import type { Binary, System } from "./system.ts";
import { symbolsSeenFrom, userContext } from "./user-context.ts";
import { typesNamed, wantsVariables, withVariables, type PlaceContext } from "./user-variables.ts";

export interface FoundPlace { readonly binary: Binary; readonly place: Place; readonly site: SiteRef }

/** `at`: what the places are; of functions that are returned from, a place may be one of their return instructions. */
export interface PlaceKind { readonly provider: string; readonly at: "entry" | "return" | "instruction" }

/** The variants of a spec's places, and what is left out of them. */
export function variantsAt(spec: ProbeSpec, found: readonly FoundPlace[], kind: PlaceKind, system: System, options: ResolveOptions): Resolution {
  const { uses } = options;
  const binaries = new Set(found.map(({ binary }) => binary));
  const [only] = binaries.size === 1 ? binaries : [];
  const named = only === undefined ? {} : { typeNamed: typesNamed(only) };
  const bases = new Map<boolean, Context>();
  const baseOf = ({ returnsFrom }: Place): Context => {
    const inside = returnsFrom !== undefined || kind.at === "instruction" || kind.provider === "ret";
    let base = bases.get(inside);
    if (base === undefined) bases.set(inside, base = { ...contextOf(kind, inside, system, uses), ...named });
    return base;
  };

  const made = found.map((one) => ({ ...one, ...seenAt(baseOf(one.place), one, kind, system, options) }));
  const results = uses.has("retval") ? alikeResults(made) : made;
  const { complete, diagnostics } = withoutLacking(spec, results, ({ site }) => site.name);
  const variants = new Map<string, { readonly context: Context; readonly sites: SiteRef[] }>();
  for (const { binary, place, site, context, key } of complete) {
    const copy = copyContext(context, place, kind.at === "return");
    const trampoline = kind.at === "return" && place.inlined === undefined && place.returnsFrom === undefined && kind.provider !== "ret";
    // Symbols are found from the place itself.
    const own = uses.has("uaddr") ? { ...copy.context, userSymbol: symbolsSeenFrom(binary, place.offset, trampoline) } : copy.context;
    const whole = uses.has("uaddr") ? `${variants.size}` : `${place.returnsFrom === undefined} ${key} ${copy.key}`;
    const known = variants.get(whole);
    if (known === undefined) variants.set(whole, { context: own, sites: [site] });
    else known.sites.push(site);
  }
  const grouped = [...variants.values()].flatMap(({ context, sites }): Variant[] => (
    context.func === "site" ? variantsByFunction(context, sites, options) : variantsOf(context, sites, options)));
  return { variants: grouped, diagnostics };
}

function contextOf({ provider, at }: PlaceKind, inside: boolean, system: System, uses: ReadonlySet<string>): Context {
  return inside ? insideUserFunction(provider, at === "return", system, uses) : userContext({ provider, returns: at === "return", system, uses });
}

/** What debug information and the language's conventions tell of a place. Equal keys: equal contexts. */
function seenAt(base: Context, { binary, place }: FoundPlace, { at }: PlaceKind, system: System, options: ResolveOptions): PlaceContext {
  const { offset, inlined, returnsFrom } = place;
  const there = asGoHasIt(base, binary, offset);
  if (!wantsVariables(options.uses)) return { context: there.context, key: `${binary.path} ${there.key}` };
  const look = (returns: boolean): PlaceContext => {
    const seen = withVariables(there.context, { binary, offset, returns, ...(inlined === undefined ? {} : { inlined }) }, system, options);
    return { ...seen, key: `${binary.path} ${there.key} ${seen.key}` };
  };
  if (returnsFrom === undefined) return look(at === "return");
  const here = look(false);
  // Go tells its results apart from C's: there may be several.
  if (there.key !== "") return here;
  const result = look(true);
  const { retval } = result.context;
  return {
    context: { ...here.context, ...(retval === undefined ? {} : { retval }) }, key: `${here.key} ${result.key}`,
    ...(here.lacking ?? result.lacking) === undefined ? {} : { lacking: here.lacking ?? result.lacking },
  };
}
