// The sites of a probe in programs: named in the script's language, filtered, and those alike together.
import { shortName, type ResolvedProbe, type SiteRef } from "../../language/resolved-probe.ts";
import { onceAt, type Context } from "../../language/context.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import type { Program } from "../../language/program.ts";
import type { Type } from "../../language/types.ts";
import { variantsByFunction } from "../../providers/places/function-code.ts";
import type { ResolveOptions } from "../../providers/provider.ts";

export type Variant = ResolvedProbe["variants"][number];

/** Its places named as the script's language names probes. */
export function spelled(variant: Variant, spec: ProbeSpec, { rules: { spelling } }: Program): Variant {
  if (spelling.probe === undefined) return variant;
  const { entry } = variant;
  const named = (sites: readonly SiteRef[]): readonly SiteRef[] =>
    sites.map((site) => ({
      func: shortName(site),
      ...site,
      name: spelling.probe!(site.name, spec, site.source),
      found: site.name,
    }));
  return {
    ...variant,
    sites: named(variant.sites),
    ...(entry === undefined ? {} : { entry: { ...entry, sites: named(entry.sites) } }),
  };
}

export function filtered(variant: Variant, filter: RegExp | undefined): Variant {
  const { context } = variant;
  // Filters choose among what is attached to; these are not.
  if (filter === undefined || context === "host" || onceAt(context) !== undefined) return variant;
  return { ...variant, sites: variant.sites.filter(({ name }) => filter.test(name)) };
}

/**
 * `kprobe:f, kprobe:g`: sites of several specs in equal contexts are one program, unless it could not tell them apart.
 */
export function shareContexts(variants: readonly Variant[], uses: ReadonlySet<string>): Variant[] {
  const shared = new Map<
    string,
    { readonly variant: Variant; readonly sites: SiteRef[]; readonly functions: Set<string> }
  >();
  for (const variant of variants) {
    const key = contextKey(variant, uses);
    const known = key === undefined ? undefined : shared.get(key);
    const functions = isLinked(variant) ? variant.sites.map(functionOf) : [];
    if (key === undefined || (known !== undefined && functions.some((name) => known.functions.has(name)))) {
      shared.set(`alone ${shared.size}`, { variant, sites: [], functions: new Set() });
    } else if (known === undefined) {
      shared.set(key, { variant, sites: [...variant.sites], functions: new Set(functions) });
    } else {
      for (const site of variant.sites) known.sites.push(site);
      for (const name of functions) known.functions.add(name);
    }
  }
  return [...shared.values()].map(({ variant, sites }) => (sites.length === 0 ? variant : { ...variant, sites }));
}

/**
 * `func` is one kind of value in all variants of a probe: a symbol that the kernel tells where one has several
 * functions, or the text where one has no such symbol.
 */
export function likeFunctions(variants: readonly Variant[], options: ResolveOptions): readonly Variant[] {
  if (!options.uses.has("func") || variants.length < 2) return variants;
  const isTold = ({ context, sites }: Variant): boolean =>
    context !== "host" && context.func !== "site" && new Set(sites.map(({ func }) => func)).size > 1;
  if (!variants.some(isTold)) return variants;
  const asText = variants.some(({ context }) => context !== "host" && context.func === "site");
  return variants.flatMap((variant) => {
    if (variant.context === "host" || isTold(variant) !== asText) return [variant];
    return asText
      ? variantsByFunction(variant.context, variant.sites, options)
      : [
          {
            ...variant,
            sites: variant.sites.map(({ name, match, among, data }) => ({
              name,
              data,
              ...(match === undefined ? {} : { match }),
              ...(among === undefined ? {} : { among }),
            })),
          },
        ];
  });
}

/** Many sites by one link, in which each function can be once. */
function isLinked({ context }: Variant): boolean {
  return context !== "host" && context.program.load !== undefined;
}

function functionOf({ func, name }: SiteRef): string {
  return func ?? name;
}

/** Equal for contexts that are equal; undefined for those with types of their own, or bound to one target. */
function contextKey({ context, provider }: Variant, uses: ReadonlySet<string>): string | undefined {
  if (
    context === "host" ||
    context.variables !== undefined ||
    context.typeNamed !== undefined ||
    context.kept !== undefined
  )
    return undefined;
  if (context.program.dispatch !== undefined) return callKey(context, uses);
  if (context.args !== undefined) return undefined;
  // At kernel functions these are the same everywhere, unless the program is bound to one of them.
  const atFunctions = context.program.type === "kprobe" && context.defaultSpace === "kernel";
  if (context.program.load !== undefined && !(atFunctions && context.program.load.btfId === 0)) return undefined;
  // Which type it is may take the kernel's types to tell.
  if ("contextType" in context && (!atFunctions || uses.has("ctx"))) return undefined;
  if (context.func === "site" && uses.has("func")) return undefined;
  if (!context.program.cookie && uses.has("probe")) return undefined;
  if (context.retval !== undefined && context.retval.type.kind !== "integer") return undefined;
  const { contextType: _, ...rest } = context;
  return `${provider} ${asText(rest)}`;
}

/**
 * System calls, which one program tells apart by their numbers: equal when what the handler reads of their arguments
 * is.
 */
function callKey(context: Context, uses: ReadonlySet<string>): string | undefined {
  const read = context.args?.filter(({ name }) => uses.has("args.*") || uses.has(`args.${name}`));
  if (read?.some(({ type }) => !isPlain(type))) return undefined;
  return asText({ ...context, args: read });
}

/** Equal types look equal: structs are known by where they came from as well. */
function isPlain(type: Type): boolean {
  return type.kind === "integer" || (type.kind === "pointer" && type.target.kind === "integer");
}

function asText(of: object): string {
  return JSON.stringify(of, (_, value: unknown) =>
    value instanceof Map ? [...value] : typeof value === "bigint" ? `${value}n` : value,
  );
}

// ── the plan ──
