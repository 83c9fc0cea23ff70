// Several places of one probe: the locations of a USDT probe, copies of an inlined function, the ends of a function.
import type { ResolvedVariant, SiteRef } from "../../language/resolved-probe.ts";

/**
 * What one attach point means, its places of one name marked with its number, so that they count as one probe in
 * however many programs.
 */
export function placesTogether(variants: readonly ResolvedVariant[], spec: number): readonly ResolvedVariant[] {
  const names = new Set<string>();
  const several = new Set<string>();
  for (const { context, sites } of variants.flatMap((variant) => [
    variant,
    ...(variant.entry === undefined ? [] : [variant.entry]),
  ])) {
    // Elsewhere a name is one place.
    if (context === "host" || context.program.type !== "kprobe") continue;
    for (const { name } of sites) {
      if (names.has(name)) several.add(name);
      else names.add(name);
    }
  }
  if (several.size === 0) return variants;
  const marked = (sites: readonly SiteRef[]): readonly SiteRef[] =>
    sites.map((site) => (several.has(site.name) ? { ...site, among: spec } : site));
  return variants.map((variant) => ({
    ...variant,
    sites: marked(variant.sites),
    ...(variant.entry === undefined ? {} : { entry: { ...variant.entry, sites: marked(variant.entry.sites) } }),
  }));
}
