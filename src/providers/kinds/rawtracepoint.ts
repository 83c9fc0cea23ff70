// rawtracepoint: the same events as tracepoint, with the arguments of the kernel's own trace_NAME() call.
import { probes } from "../../messages/probes.ts";
import { BPF_TRACE_RAW_TP, rawTracepointOpen } from "../../linux/bpf/bpf.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Context } from "../../language/context.ts";
import { kernelFeatures, kernelHas } from "../../base/kernel-features.ts";
import { Attaching, closedAtOnce } from "../attaching/attachment.ts";
import { declare } from "../../machine/kernel/declared-type.ts";
import { functionArguments, numberedSlots } from "../../machine/calls/function-arguments.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import type { Provider } from "../provider.ts";
import { seenOfOneProcess } from "../places/other-processes.ts";
import { didYouMean, missing, resolved, variantsOf, wrongParts } from "../resolution.ts";
import type { System } from "../../machine/system.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";
import { usesNumbered } from "../../language/check/uses.ts";

/** `event`: attached by name; absent when the program was bound at load. */
export interface RawSite {
  readonly event?: string;
}

/** A program that is given the bare arguments, and can serve any number of events. Cookies came with Linux 6.10. */
export function rawContext(provider: string, system: System): Context {
  return {
    provider,
    program: {
      type: "raw_tracepoint",
      cookie: kernelHas(system.capabilities.kernel, kernelFeatures.rawTracepointCookies),
    },
    numbered: numberedSlots(12),
    defaultSpace: "kernel",
    stacks: true,
  };
}

export const rawtracepoint: Provider = {
  name: "rawtracepoint",
  aliases: ["rt"],
  usage: "rawtracepoint[:MODULE]:EVENT",
  doc: "Static events of the kernel, with the kernel's own arguments.",
  declares: {
    what: "raw tracepoints",
    fills: "RawTracepoints",
    *all(system) {
      for (const name of system.rawTracepoints()) yield { name, args: system.rawTracepoint(name)?.args ?? [] };
    },
  },
  seenOfOneProcess(parts, system) {
    const event = parts.at(-1) ?? "";
    return seenOfOneProcess(event, system.tracepoints().find(({ name }) => name === event)?.category);
  },

  *list(parts, system, options) {
    const [module, event] = split(parts);
    const { isIn, siteName } = naming(options.own, system);
    for (const name of system.rawTracepoints()) {
      if (!matches(event, name) || !matches(module, moduleOf(name, system)) || !isIn(name)) continue;
      const probe = siteName(name);
      if (!options.verbose) yield { probe };
      else
        yield {
          probe,
          details: (system.rawTracepoint(name)?.args ?? []).map((arg) => `    ${declare(arg.type, arg.name)}`),
        };
    }
  },

  resolve(spec, system, options) {
    if (spec.parts.length < 1 || spec.parts.length > 2 || spec.parts.at(-1) === "")
      return wrongParts(spec, rawtracepoint.usage);
    const [module, event] = split(spec.parts);
    const { isIn, siteName, func } = naming(spec.options, system);
    const found = hasWildcard(event)
      ? system.rawTracepoints().filter((name) => matches(event, name) && matches(module, moduleOf(name, system)))
      : (system.rawTracepoint(event) || system.tracepoints().some((one) => one.name === event)) &&
          matches(module, moduleOf(event, system))
        ? [event]
        : [];
    const names = found.filter(isIn);
    if (names.length === 0) {
      return missing(spec, options, probes.thereNoRawTracepoint(event, didYouMean(event, system.rawTracepoints())));
    }
    const reads = options.uses.has("args") || options.uses.has("ctx") || usesNumbered(options.uses);
    const typed = reads ? names.filter((name) => system.rawTracepoint(name) !== undefined) : [];
    const untyped = names
      .filter((name) => !typed.includes(name))
      .map((name): SiteRef => ({ name: siteName(name), ...func(name), data: { event: name } satisfies RawSite }));
    return resolved(
      typed.map((name) => ({
        context: typedContext(name, system),
        provider: "rawtracepoint",
        sites: [{ name: siteName(name), ...func(name), data: {} satisfies RawSite }],
      })),
      untyped.length > 0 ? variantsOf(rawContext("rawtracepoint", system), untyped, options) : [],
    );
  },

  attach(request) {
    return closedAtOnce(
      new Attaching(request)
        .each((site, cookie) => {
          const { event } = site.data as RawSite;
          return [
            rawTracepointOpen(
              event ?? null,
              request.program,
              event !== undefined && request.binding.cookie ? cookie : 0n,
            ),
          ];
        })
        .done(),
    );
  },
};

interface Naming {
  readonly isIn: (name: string) => boolean;
  readonly siteName: (name: string) => string;
  readonly func: (name: string) => { readonly func?: string };
}

/** By their modules; with a group, as SystemTap has them, by the groups that the kernel's events of the same name are in. */
function naming(own: ProbeSpec["options"], system: System): Naming {
  const group = own?.["group"];
  if (group === undefined)
    return {
      isIn: () => true,
      siteName: (name) => `rawtracepoint:${moduleOf(name, system)}:${name}`,
      func: () => ({}),
    };
  const groups = new Map(system.tracepoints().map(({ category, name }) => [name, category]));
  return {
    isIn: (name) => matches(group, groups.get(name) ?? ""),
    siteName: (name) => `rawtracepoint:${groups.has(name) ? `${groups.get(name)}:` : ""}${name}`,
    func: (name) => ({ func: name }),
  };
}

function moduleOf(name: string, system: System): string {
  return system.rawTracepoint(name)?.module ?? "vmlinux";
}

function split(parts: readonly string[]): [module: string, event: string] {
  return parts.length > 1 ? [parts[0], parts[1]] : ["*", parts[0] ?? "*"];
}

function typedContext(name: string, system: System): Context {
  const { btfId, args, module } = system.rawTracepoint(name)!;
  const layout = functionArguments(args);
  return {
    provider: "rawtracepoint",
    program: {
      type: "tracing",
      load: { attachType: BPF_TRACE_RAW_TP, btfId, ...(module === undefined ? {} : { module }) },
      cookie: false,
    },
    kernelTypes: true,
    args: layout.args,
    numbered: numberedSlots(layout.slots),
    defaultSpace: "kernel",
    stacks: true,
  };
}
