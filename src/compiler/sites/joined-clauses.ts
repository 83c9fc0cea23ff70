// Clauses of one event as one handler, where the language's variables live as long as the event: what one clause leaves
// in them the next one finds.
import { handlerBody } from "../../language/check/handler-body.ts";
import type { Probe, Statement } from "../../language/program.ts";
import type { ResolvedProbe, ResolvedVariant, SiteRef } from "../../language/resolved-probe.ts";
import type { Rules } from "../../language/rules.ts";

interface Clause {
  readonly index: number;
  readonly probe: Probe;
  readonly variant: ResolvedVariant;
  readonly site: SiteRef;
}

/** The clauses of each place in the order of the script, and places with the same clauses as one probe. */
export function joinedClauses(probes: readonly ResolvedProbe[], rules: Rules): readonly ResolvedProbe[] {
  if (rules.variables.scope !== "event") return probes;
  const places = new Map<string, Clause[]>();
  for (const [index, { probe, variants }] of probes.entries()) {
    const seen = new Map<string, number>();
    for (const variant of variants)
      for (const site of variant.sites) {
        // One place may be probes of several names, and several places probes of one.
        const name = `${variant.provider} ${site.name} ${site.found ?? ""} ${site.match ?? ""}`;
        // The places of one name come in the same order in each clause.
        const number = seen.get(name) ?? 0;
        seen.set(name, number + 1);
        const key = `${name} ${number}`;
        const clauses = places.get(key);
        if (clauses === undefined) places.set(key, [{ index, probe, variant, site }]);
        else clauses.push({ index, probe, variant, site });
      }
  }
  const joined: { clauses: readonly Clause[]; variants: Map<ResolvedVariant, SiteRef[]> }[] = [];
  const bySet = new Map<string, (typeof joined)[number]>();
  for (const clauses of places.values()) {
    const key = clauses.map(({ index }) => index).join();
    let set = bySet.get(key);
    if (set === undefined) {
      bySet.set(key, (set = { clauses, variants: new Map() }));
      joined.push(set);
    }
    const [{ variant, site }] = clauses;
    const sites = set.variants.get(variant);
    if (sites === undefined) set.variants.set(variant, [site]);
    else sites.push(site);
  }
  const withEntry = new Set<ResolvedVariant>();
  const variantOf = (variant: ResolvedVariant, sites: readonly SiteRef[]): ResolvedVariant => {
    const { entry, ...rest } = variant;
    // What is kept of calls is kept once for all of the variant's places.
    const first = entry !== undefined && !withEntry.has(variant);
    withEntry.add(variant);
    return { ...rest, sites, ...(first ? { entry } : {}) };
  };
  const somewhere = joined.map(({ clauses, variants }) => ({
    index: clauses[0].index,
    resolved: {
      probe: probeOf(
        clauses.map(({ probe }) => probe),
        rules,
      ),
      variants: [...variants].map(([variant, sites]) => variantOf(variant, sites)),
    },
  }));
  const nowhere = probes.flatMap(({ probe, variants }, index) => {
    const waiting = variants.filter(({ sites }) => sites.length === 0);
    return variants.length === 0 || waiting.length > 0 ? [{ index, resolved: { probe, variants: waiting } }] : [];
  });
  // In the order of the probes: what comes while a script runs is behind all that was there.
  return [...somewhere, ...nowhere].sort((a, b) => a.index - b.index).map(({ resolved }) => resolved);
}

function probeOf(clauses: readonly Probe[], rules: Rules): Probe {
  const [first] = clauses;
  if (clauses.length === 1) return first;
  const statements = clauses.map((clause): Statement => ({
    kind: "clause",
    ...(clause.predicate === undefined ? {} : { predicate: clause.predicate }),
    body: handlerBody(clause, rules),
    span: clause.span,
  }));
  return {
    specs: clauses.flatMap(({ specs }) => specs),
    ...(first.guard === undefined ? {} : { guard: first.guard }),
    body: { kind: "block", statements, span: first.body.span },
    span: first.span,
  };
}
