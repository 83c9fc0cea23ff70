// Names of kernel functions in probe specs: `fn`, `module:fn`, wildcards, and what to say when there is none.
import { hasWildcard, matches } from "./wildcard.ts";
import type { Provider, Resolution, ResolveOptions } from "./provider.ts";
import { didYouMean, missing } from "./resolution.ts";
import type { System } from "./system.ts";

export interface FunctionPattern { readonly module: string | undefined; readonly name: string }

/** The last one or two parts. */
export function functionPattern(parts: readonly string[]): FunctionPattern {
  return parts.length > 1 ? { module: parts[0], name: parts[1] } : { module: undefined, name: parts[0] ?? "*" };
}

/** Names that match. A name without wildcards is looked up, which needs no list. */
export function findFunctions({ module, name }: FunctionPattern, system: System): string[] {
  const inModule = (found: string): boolean => {
    if (module === undefined) return true;
    const known = system.functionModule(found);
    return known !== undefined && matches(module, known);
  };
  if (!hasWildcard(name)) {
    const exists = system.kernelFunction(name) !== undefined || system.symbolAddress(name) !== undefined;
    return exists && inModule(name) ? [name] : [];
  }
  return system.kernelFunctions().filter((one) => matches(name, one) && inModule(one));
}

export function noFunction(spec: Parameters<Provider["resolve"]>[0], pattern: FunctionPattern, system: System, options: ResolveOptions): Resolution {
  const { module, name } = pattern;
  if (hasWildcard(name)) return missing(spec, options, `no kernel function matches \`${spec.text}\``);
  const where = module === undefined ? "" : ` in the module \`${module}\``;
  const elsewhere = module === undefined ? undefined : system.functionModule(name);
  const help = elsewhere === undefined ? didYouMean(name, system.kernelFunctions()) : `it is in \`${elsewhere}\``;
  return missing(spec, options, `there is no kernel function \`${name}\`${where}`, help);
}

/** The symbol, or nothing and an absolute address as the offset. */
export interface KprobeSite {
  readonly symbol?: string;
  readonly offset: bigint;
  /** How many calls may be under way at once before returns are missed; the kernel's choice where it is absent. */
  readonly maxactive?: number;
}
