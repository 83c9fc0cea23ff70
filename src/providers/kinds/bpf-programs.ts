// fentry:bpf and fexit:bpf: functions of BPF programs that are loaded, ours and others'.
import { kernelProbes } from "../../messages/kernel-probes.ts";
import { kernelAtLeast } from "../../base/kernel-features.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import type { ListOptions, Listed, Provider, Resolution, ResolveOptions } from "../provider.ts";
import { didYouMean, missing, type Variant } from "../resolution.ts";
import type { BpfFunction, System } from "../../machine/system.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";

interface Pattern {
  readonly program: string;
  readonly name: string;
}

/** `bpf:NAME` or `bpf:ID:NAME`; undefined for anything else. */
export function bpfPattern(parts: readonly string[]): Pattern | undefined {
  if (parts[0] !== "bpf" || parts.length < 2 || parts.length > 3) return undefined;
  return parts.length === 3 ? { program: parts[1], name: parts[2] } : { program: "*", name: parts[1] };
}

export function* listBpf(
  { program, name }: Pattern,
  provider: Provider,
  system: System,
  options: ListOptions,
): Iterable<Listed> {
  for (const found of matching({ program, name }, system)) {
    const probe = `${provider.name}:bpf:${found.program}:${found.name}`;
    yield options.verbose ? { probe, details: [] } : { probe };
  }
}

/** One variant a function: each is a program of its own, bound to it when it is loaded. */
export function resolveBpf(
  spec: ProbeSpec,
  pattern: Pattern,
  provider: Provider,
  attachType: number,
  system: System,
  options: ResolveOptions,
): Resolution {
  const found = matching(pattern, system);
  // Before Linux 6.8 none is bound to a program of its own type (BPF_PROG_TYPE_TRACING): of wildcards they are left
  // out.
  const all = !hasWildcard(pattern.name) || kernelAtLeast(system.capabilities.kernel, 6, 8);
  const targets = all ? found : found.filter(({ tracing }) => !tracing);
  if (targets.length === 0) return none(spec, pattern, system, options);
  return { variants: targets.map((target) => variant(target, provider, attachType)), diagnostics: [] };
}

function matching({ program, name }: Pattern, system: System): readonly BpfFunction[] {
  return (system.bpfFunctions?.() ?? []).filter(
    (one) => matches(program, String(one.program)) && matches(name, one.name),
  );
}

function none(spec: ProbeSpec, { program, name }: Pattern, system: System, options: ResolveOptions): Resolution {
  const all = system.bpfFunctions?.() ?? [];
  const near = didYouMean(
    name,
    new Set(all.filter((one) => matches(program, String(one.program))).map((one) => one.name)),
  );
  const whose = program === "*" ? undefined : program;
  return missing(
    spec,
    options,
    hasWildcard(name)
      ? kernelProbes.noBpfFunctionMatches(spec.text, whose, spec.provider, near)
      : kernelProbes.noBpfFunction(name, whose, spec.provider, near),
  );
}

/** What its arguments are the kernel does not say: it takes many functions for ones of five numbers. */
function variant({ program, name, btfId }: BpfFunction, provider: Provider, attachType: number): Variant {
  return {
    provider: provider.name,
    context: {
      provider: provider.name,
      program: { type: "tracing", load: { attachType, btfId, program }, cookie: false },
      kernelTypes: true,
      func: "site",
      defaultSpace: "kernel",
      stacks: true,
    },
    sites: [{ name: `${provider.name}:bpf:${program}:${name}`, func: name, data: null }],
  };
}
