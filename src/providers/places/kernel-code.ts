// Probes inside kernel functions: by kprobe, at addresses, one perf event each.
import type { CodeRange } from "../../debuginfo/function-ends.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import { describe } from "../../language/check/unify.ts";
import type { Context, Fetch } from "../../language/context.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { u64, type Type } from "../../language/types.ts";
import { scalarArgument } from "../../machine/calls/function-arguments.ts";
import { findFunctions, functionTargets } from "./kernel-functions.ts";
import type { FunctionPattern, KprobeSite } from "./kernel-functions.ts";
import type { Resolution, ResolveOptions } from "../provider.ts";
import {
  fetchRegister,
  fetchRegisters,
  hostMachine,
  registersOf,
  registersType,
} from "../../machine/contexts/registers.ts";
import { groupBy, type Variant } from "../resolution.ts";
import { alikeResults, withoutLacking } from "../../machine/calls/results.ts";
import type { KernelCode, System } from "../../machine/system.ts";
import { Failure, type Reason } from "../../base/failure.ts";
import { kernelImageReasons, variableReasons } from "../../messages/on-demand.ts";

/** What a handler sees inside a kernel function; with `returns` at its return instructions. */
export function insideKernelFunction(provider: string, system: System, returns = false): Context {
  const file = registersOf(hostMachine);
  const registers = system.types.find("pt_regs", "struct");
  return {
    provider,
    program: { type: "kprobe", cookie: true },
    ...(returns ? { retval: { type: u64, fetch: fetchRegister(file, file.result) } } : {}),
    registers: fetchRegisters(file),
    contextType: registers ? { kind: "pointer", target: registers, space: "kernel" } : registersType(file),
    func: "site",
    defaultSpace: "kernel",
    stacks: true,
  };
}

/**
 * Variants of a spec with the results of their functions as BTF has them; of those that it does not know, the register.
 */
export function withKernelResults(
  spec: ProbeSpec,
  variants: readonly Variant[],
  system: System,
  options: ResolveOptions,
): Resolution {
  if (!options.uses.has("retval")) return { variants, diagnostics: [] };
  const apart = variants.flatMap(({ provider, context, sites, entry }, i) => {
    if (context === "host") return [];
    const kept = entry === undefined ? {} : { entry };
    // An inlined copy has none.
    if (context.retval === undefined || context.retval.absent !== undefined)
      return [{ provider, context, sites, i, ...kept }];
    const {
      retval: { fetch },
    } = context;
    return [...groupBy(sites, ({ func = "" }) => func)].map(([name, group]) => ({
      provider,
      ...kept,
      context: { ...context, ...resultOf(name, fetch, system) },
      sites: group,
      i,
      ...lackingResult(name, system),
    }));
  });
  const { complete, diagnostics } = withoutLacking(
    spec,
    alikeResults(apart),
    options.uses,
    ({ sites: [site] }) => site?.name ?? spec.text,
  );
  const together = groupBy(
    complete,
    ({ i, context: { retval } }) => `${i} ${retval === undefined ? "" : describe(retval.type)} ${retval?.absent ?? ""}`,
  );
  return {
    variants: [...together.values()].map((group) => ({
      provider: group[0].provider,
      context: group[0].context,
      sites: group.flatMap(({ sites }) => sites),
      ...(group[0].entry === undefined ? {} : { entry: group[0].entry }),
    })),
    diagnostics,
  };
}

function resultOf(name: string, fetch: Fetch, system: System): Pick<Context, "retval"> {
  const type = system.kernelFunction(name)?.result;
  if (type?.kind === "void") return { retval: { type: u64, fetch, absent: variableReasons().returnsNothing(name) } };
  return { retval: scalarArgument("retval", resultType(type), fetch) };
}

function lackingResult(name: string, system: System): { readonly lacking?: Reason } {
  return system.kernelFunction(name)?.result.kind === "void"
    ? { lacking: variableReasons().retval(variableReasons().returnsNothing(name)) }
    : {};
}

/** What the result's register holds is a number or a pointer that the verifier knows nothing of. */
function resultType(type: Type | undefined): Type {
  switch (type?.kind) {
    case "integer":
    case "enum":
    case "boolean":
      return type;
    case "pointer":
      return { kind: "pointer", target: type.target, space: type.space };
    default:
      return u64;
  }
}

/**
 * The code of the kernel functions of a name or wildcard. `problem`: why that of the last one that is missing cannot be
 * had.
 */
export function kernelFunctions(
  wanted: { readonly module?: string | undefined; readonly function: string },
  system: System,
): { readonly found: readonly KernelCode[]; readonly problem?: string } {
  const found: KernelCode[] = [];
  let problem: string | undefined;
  const pattern: FunctionPattern = { module: wanted.module, name: wanted.function };
  for (const { name, address } of functionTargets(findFunctions(pattern, system), pattern, system)) {
    const code = system.kernelCode?.(name, address) ?? new Failure(kernelImageReasons().noCodeToRead());
    if (code instanceof Failure) problem = code.reason;
    else found.push(code);
  }
  return { found, ...(problem === undefined ? {} : { problem }) };
}

export function kernelSite(
  name: string,
  code: KernelCode,
  { range, offset }: { readonly range: CodeRange; readonly offset: number },
  wildcard?: string,
): SiteRef {
  const data: KprobeSite = { offset: range.address + BigInt(offset), ...(wildcard === undefined ? {} : { wildcard }) };
  return { name, func: code.name, data };
}
