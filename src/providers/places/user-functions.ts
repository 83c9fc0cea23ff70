// Functions of programs, as probes of all kinds name them: by symbol, by wildcard, by their name in the source.
import { places as placesMessages } from "../../messages/places.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import { cppName } from "../../machine/binaries/binaries.ts";
import { coldPart } from "../../debuginfo/function-ends.ts";
import { UserCode } from "./function-code.ts";
import type { Place, Problem, Wanted } from "./places.ts";
import type { Resolution, ResolveOptions } from "../provider.ts";
import { didYouMean, missing } from "../resolution.ts";
import type { Binary, BinarySymbol } from "../../machine/system.ts";
import type { UserSite } from "../attaching/user-attachment.ts";
import { sourceOf } from "./source-places.ts";
import { placesNamed } from "./user-places.ts";
import { hasWildcard } from "../../machine/wildcard.ts";

/** What goes before a function's name: how it is meant. */
export interface FunctionName {
  readonly qualifier: "cpp" | "inlined" | undefined;
  readonly name: string;
}

/** `name`, `cpp:name` or `inlined:name`. */
export function functionName(written: string): FunctionName {
  const [, qualifier, name] = /^(cpp|inlined):(?!:)(.+)$/s.exec(written) ?? [];
  return name === undefined
    ? { qualifier: undefined, name: written }
    : { qualifier: qualifier as "cpp" | "inlined", name };
}

export function wantedPlaces(
  { qualifier }: FunctionName,
  returns: boolean,
  options: Pick<ResolveOptions, "symbolsOnly">,
): Wanted {
  return {
    cpp: qualifier === "cpp",
    inlined: qualifier === "inlined",
    returns,
    symbolsOnly: options.symbolsOnly === true,
  };
}

/** The bodies of the functions that a name or a wildcard means, one a place: several names may mean the same code. */
export function bodiesNamed(
  binary: Binary,
  wanted: FunctionName,
  options: Pick<ResolveOptions, "symbolsOnly"> = {},
): readonly Place[] | Problem {
  const found = placesNamed(binary, wanted.name, wantedPlaces(wanted, false, options));
  return "problem" in found
    ? found
    : distinctBodies(
        found.places.filter(({ inlined }) => inlined === undefined),
        wanted.name,
      );
}

/** Of a wildcard, cold parts are no functions of their own. */
export function distinctBodies(places: readonly Place[], wanted: string): Place[] {
  const found = new Map<bigint, Place>();
  for (const place of places)
    if (!found.has(place.offset) && !(hasWildcard(wanted) && coldPart.test(place.name))) found.set(place.offset, place);
  return [...found.values()];
}

/**
 * Functions for lists, by name: `shown` is what a probe is written with. Several may go by one name: each is there with
 * `apart`.
 */
export function functionsListed(
  binary: Binary,
  wanted: FunctionName,
  apart: boolean,
): { readonly shown: string; readonly place: Place; readonly symbol: BinarySymbol }[] {
  const { qualifier, name } = wanted;
  const found = placesNamed(binary, name, wantedPlaces(wanted, false, {}));
  if ("problem" in found) return [];
  const code = new UserCode(binary);
  const listed = new Map<string, { readonly shown: string; readonly place: Place; readonly symbol: BinarySymbol }>();
  for (const place of found.places) {
    const shown = `${qualifier === undefined ? "" : `${qualifier}:`}${place.name}`;
    const key = apart ? `${shown} ${place.offset}` : shown;
    const symbol = place.inlined !== undefined || listed.has(key) ? undefined : code.symbolAt(place);
    if (symbol !== undefined) listed.set(key, { shown, place, symbol });
  }
  return [...listed.values()].sort((a, b) => (a.shown < b.shown ? -1 : a.shown > b.shown ? 1 : 0));
}

/** `sources`: with where it is in the source. */
export function siteAt(name: string, binary: Binary, place: Place, returns: boolean, sources = false): SiteRef {
  const inPlace = returns && (place.inlined !== undefined || place.returnsFrom !== undefined);
  return {
    name,
    func: place.func ?? place.name,
    ...(sources ? { source: sourceOf(binary, place) } : {}),
    data: {
      path: binary.path,
      offset: place.offset,
      semaphore: 0n,
      ...(inPlace ? { inPlace: true } : {}),
    } satisfies UserSite,
  };
}

/** A function that is not there: near misses, or why none is known. */
export function noSuchFunction(
  spec: ProbeSpec,
  binaries: readonly Binary[],
  { qualifier, name }: FunctionName,
  options: ResolveOptions,
): Resolution {
  const where = binaries.length === 1 ? `in ${binaries[0].shownPath}` : `in any of ${binaries.length} binaries`;
  if (hasWildcard(name)) return missing(spec, options, placesMessages.noFunctionMatches(where, name));
  const names: string[] = [];
  for (const binary of binaries) {
    for (const symbol of binary.symbols()) {
      if (symbol.kind === "function")
        names.push(
          qualifier === "cpp" || name.includes("::") ? (cppName(symbol.name)?.name ?? symbol.name) : symbol.name,
        );
    }
  }
  const help =
    names.length === 0 ? "it has no symbols: install its debug symbols, or probe an address" : didYouMean(name, names);
  return missing(
    spec,
    options,
    placesMessages.noMatchesThereNoFunction(spec.provider, spec.parts.join(":"), name, where, help),
  );
}
