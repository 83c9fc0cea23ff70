// What the providers' resolve() have in common: refusals with help, and sites grouped into variants.
import type { Message } from "../messages/message.ts";
import { probes } from "../messages/probes.ts";
import type { SiteRef } from "../language/resolved-probe.ts";
import type { Context } from "../language/context.ts";
import { nearest } from "../language/nearest.ts";
import type { ProbeSpec } from "../language/probe-spec.ts";
import type { Resolution, ResolveOptions } from "./provider.ts";

export type Variant = Resolution["variants"][number];

/** A spec that cannot be meant: an error whatever `missing_probes` says. */
export function refused(spec: ProbeSpec, said: Message): Resolution {
  return { variants: [], diagnostics: [{ severity: "error", span: spec.span, ...said }] };
}

export function wrongParts(spec: ProbeSpec, usage: string): Resolution {
  const counts = partCounts(usage);
  const found = spec.parts.length;
  const wanted =
    counts.length < 2 || counts.length === counts.at(-1)! - counts[0] + 1
      ? counts.join(" or ")
      : `${counts[0]} to ${counts.at(-1)}`;
  return refused(
    spec,
    counts.includes(found)
      ? probes.doesNotSayWhatProbe(spec.text, usage)
      : probes.probeTypeRequiresArgumentFound(spec.provider, wanted, wanted === "1" ? "" : "s", found, usage),
  );
}

/** How many parts the forms of a usage have behind the kind: `ret:[BINARY:]FUNCTION` has one or two. */
function partCounts(usage: string): number[] {
  const counts = new Set<number>();
  for (const form of usage.split(" or ")) {
    const colons = (text: string): number => text.split(":").length - 1;
    const optional = colons((form.match(/\[[^\]]*\]/g) ?? []).join(""));
    const all = colons(form);
    for (let count = all - optional; count <= all; count++) counts.add(count);
  }
  return [...counts].sort((a, b) => a - b);
}

/** A spec that means nothing on this machine; `missing_probes` says how bad that is. */
export function missing(spec: ProbeSpec, options: ResolveOptions, said: Message): Resolution {
  if (options.missing === "ignore") return { variants: [], diagnostics: [] };
  const severity = options.missing === "warn" ? "warning" : "error";
  return { variants: [], diagnostics: [{ severity, span: spec.span, ...said }] };
}

/** "did you mean `sched_switch`?", or undefined when nothing is near. */
export function didYouMean(name: string, candidates: Iterable<string>): string | undefined {
  const near = nearest(name, candidates).map((candidate) => `\`${candidate}\``);
  if (near.length === 0) return undefined;
  const last = near.pop()!;
  return `did you mean ${near.length === 0 ? last : `${near.join(", ")} or ${last}`}?`;
}

export function resolved(...variants: readonly (Variant | readonly Variant[])[]): Resolution {
  return { variants: variants.flat(), diagnostics: [] };
}

/**
 * Sites of one context as one variant; as one each when the handler wants to know where it is and the kernel would not
 * tell the sites apart.
 */
export function variantsOf(context: Context, sites: readonly SiteRef[], options: ResolveOptions): Variant[] {
  const apart =
    sites.length > 1 &&
    context.program.dispatch === undefined &&
    ((!context.program.cookie && options.uses.has("probe")) || (context.func === "site" && options.uses.has("func")));
  return apart
    ? sites.map((site) => ({ context, provider: context.provider, sites: [site] }))
    : [{ context, provider: context.provider, sites }];
}

export function hostVariant(provider: string, site: SiteRef): Resolution {
  return resolved({ context: "host", provider, sites: [site] });
}

/** Groups items by a key, in the order of first appearance. */
export function groupBy<T>(items: Iterable<T>, key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const of = key(item);
    const group = groups.get(of);
    if (group) group.push(item);
    else groups.set(of, [item]);
  }
  return groups;
}
