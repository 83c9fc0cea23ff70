// Names of kernel functions in probe specs: `fn`, `module:fn`, wildcards, and what to say when there is none.
import { places } from "../../messages/places.ts";
import { hasWildcard, matcher, matches } from "../../machine/wildcard.ts";
import type { Provider, Resolution, ResolveOptions } from "../provider.ts";
import { declare } from "../../machine/kernel/declared-type.ts";
import { didYouMean, missing } from "../resolution.ts";
import type { KernelFunction, System } from "../../machine/system.ts";

export interface FunctionPattern {
  readonly module: string | undefined;
  readonly name: string;
}

/** The last one or two parts. */
export function functionPattern(parts: readonly string[]): FunctionPattern {
  return parts.length > 1 ? { module: parts[0], name: parts[1] } : { module: undefined, name: parts[0] ?? "*" };
}

/** What a listing tells of a function, a line each. */
export function describeFunction(
  { parameters, result, spelled }: KernelFunction,
  what: readonly ("arguments" | "result")[],
): string[] {
  const known = spelled?.() ?? [];
  const line = ({ type, name }: KernelFunction["parameters"][number], i: number): string =>
    `    ${known[i] === undefined ? declare(type, name) : `${known[i]} ${name}`}`;
  return [
    ...(what.includes("arguments") ? parameters.map(line) : []),
    ...(what.includes("result") && result.kind !== "void"
      ? [line({ name: "retval", type: result }, parameters.length)]
      : []),
  ];
}

/**
 * Names that match. A name without wildcards is looked up, which needs no list; `typed`: wildcards mean what BTF
 * describes.
 */
export function findFunctions({ module, name }: FunctionPattern, system: System, only?: "typed"): string[] {
  const inModule = (found: string): boolean => {
    if (module === undefined) return true;
    const sharing = system.functionsSharing?.(found) ?? [];
    if (sharing.length > 0) return sharing.some((one) => matches(module, one.module));
    const known = system.functionModule(found);
    return known !== undefined && matches(module, known);
  };
  if (!hasWildcard(name)) {
    const exists = system.kernelFunction(name) !== undefined || system.symbolAddress(name) !== undefined;
    return exists && inModule(name) ? [name] : [];
  }
  const named = matcher(name);
  return system.kernelFunctions(only).filter((one) => named(one) && inModule(one));
}

/** A function to probe: by its name, or where several share it by its address. */
export interface FunctionTarget {
  readonly name: string;
  readonly address?: bigint;
}

/** All functions of some names. */
export function functionTargets(
  names: readonly string[],
  { module }: FunctionPattern,
  system: System,
): FunctionTarget[] {
  return names.flatMap((name): FunctionTarget[] => {
    const sharing = (system.functionsSharing?.(name) ?? []).filter(
      (one) => module === undefined || matches(module, one.module),
    );
    return sharing.length === 0 ? [{ name }] : sharing.map(({ address }) => ({ name, address }));
  });
}

export function noFunction(
  spec: Parameters<Provider["resolve"]>[0],
  pattern: FunctionPattern,
  system: System,
  options: ResolveOptions,
): Resolution {
  const { module, name } = pattern;
  if (hasWildcard(name)) return missing(spec, options, places.noKernelFunctionMatches(spec.text));
  const where = module === undefined ? "" : ` in the module \`${module}\``;
  const elsewhere = module === undefined ? undefined : system.functionModule(name);
  const help = elsewhere === undefined ? didYouMean(name, system.kernelFunctions()) : `it is in \`${elsewhere}\``;
  return missing(
    spec,
    options,
    places.noMatchesThereNoKernel(spec.provider, module === undefined ? "" : `${module}:`, name, where, help),
  );
}

/** Other kinds of probes that would see a kernel function here: those that this kernel refuses are not advised. */
export function otherWays(
  { capabilities: { kprobes = true, trampolines = true } }: System,
  ways: { readonly kprobe?: string; readonly trampoline?: string },
): readonly string[] {
  return [kprobes ? ways.kprobe : undefined, trampolines ? ways.trampoline : undefined].filter(
    (way) => way !== undefined,
  );
}

/** The symbol, or nothing and an absolute address as the offset. */
export interface KprobeSite {
  readonly symbol?: string;
  readonly offset: bigint;
  /** What the place came from together with others: those of them that the kernel refuses are left out. */
  readonly wildcard?: string;
  /** How many calls may be under way at once before returns are missed; the kernel's choice where it is absent. */
  readonly maxactive?: number;
  /** Of a probe on returns: the place itself is where something returns. */
  readonly inPlace?: boolean;
}
