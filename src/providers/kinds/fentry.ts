// fentry and fexit: kernel functions by BPF trampolines, with typed arguments. A program is bound to its function at
// load.
import { kernelProbes } from "../../messages/kernel-probes.ts";
import { BPF_TRACE_FENTRY, BPF_TRACE_FEXIT, rawTracepointOpen } from "../../linux/bpf/bpf.ts";
import { Attaching } from "../attaching/attachment.ts";
import { bpfPattern, listBpf, resolveBpf } from "./bpf-programs.ts";
import { functionArguments, numberedSlots, valueAt } from "../../machine/calls/function-arguments.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import {
  describeFunction,
  findFunctions,
  functionPattern,
  functionTargets,
  noFunction,
  otherWays,
  type FunctionPattern,
} from "../places/kernel-functions.ts";
import type { Provider } from "../provider.ts";
import { missing, wrongParts, type Variant } from "../resolution.ts";
import type { KernelFunction, System } from "../../machine/system.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";

function trampoline(name: "fentry" | "fexit", aliases: readonly string[], attachType: number): Provider {
  const provider: Provider = {
    name,
    aliases,
    usage: `${name}[:MODULE]:FUNCTION or ${name}:bpf[:ID]:PROGRAM`,
    doc:
      name === "fentry"
        ? "Kernel functions, with typed arguments; BPF programs."
        : "Returns of kernel functions, with typed arguments and result; of BPF programs.",

    *list(parts, system, options) {
      const programs = bpfPattern(parts);
      if (programs !== undefined) {
        yield* listBpf(programs, provider, system, options);
        return;
      }
      const pattern = functionPattern(parts);
      for (const found of system.kernelFunctions("typed")) {
        if (!matches(pattern.name, found)) continue;
        const module = system.functionModule(found) ?? "vmlinux";
        if (!matches(pattern.module ?? "*", module)) continue;
        const probe = `${name}:${module}:${found}`;
        const target = options.verbose ? system.kernelFunction(found) : undefined;
        yield target
          ? { probe, details: describeFunction(target, name === "fentry" ? ["arguments"] : ["arguments", "result"]) }
          : { probe };
      }
    },

    resolve(spec, system, options) {
      if (spec.parts.length < 1 || spec.parts.length > 3 || spec.parts.at(-1) === "")
        return wrongParts(spec, provider.usage);
      const programs = bpfPattern(spec.parts);
      if (programs !== undefined) return resolveBpf(spec, programs, provider, attachType, system, options);
      if (spec.parts.length > 2) return wrongParts(spec, provider.usage);
      if (!system.capabilities.btf) {
        return missing(
          spec,
          options,
          kernelProbes.needsKernelTypeInformationBtf(
            name,
            [
              "the kernel must be built with CONFIG_DEBUG_INFO_BTF",
              ...otherWays(system, { kprobe: "a kprobe does without" }),
            ].join("; "),
          ),
        );
      }
      const pattern = functionPattern(spec.parts);
      const targets = findFunctions(pattern, system, "typed").flatMap((found) => system.kernelFunction(found) ?? []);
      if (targets.length > 0)
        return {
          variants: targets.map((target) => variant(target)),
          diagnostics: sharedName(spec, pattern, targets[0].module, system),
        };
      if (system.symbolAddress(pattern.name) !== undefined) {
        const [way] = otherWays(system, { kprobe: `try kprobe:${pattern.name}` });
        return missing(spec, options, kernelProbes.kernelNoTypeInformationFunction(pattern.name, way));
      }
      return noFunction(spec, pattern, system, options);
    },

    lastRunsFirst: () => true,
    attach(request) {
      return new Attaching(request).each(() => [rawTracepointOpen(null, request.program)]).done();
    },
  };

  function variant(target: KernelFunction): Variant {
    const { args, slots } = functionArguments(target.parameters);
    const result =
      name === "fexit" && target.result.kind !== "void" ? valueAt(slots, "retval", target.result) : undefined;
    return {
      provider: name,
      context: {
        provider: name,
        program: {
          type: "tracing",
          load: { attachType, btfId: target.btfId, ...(target.module === "vmlinux" ? {} : { module: target.module }) },
          cookie: false,
        },
        kernelTypes: true,
        args,
        numbered: numberedSlots(slots),
        ...(result ? { retval: { type: result.type, fetch: result.fetch } } : {}),
        func: "site",
        defaultSpace: "kernel",
        stacks: true,
      },
      sites: [{ name: `${name}:${target.module}:${target.name}`, func: target.name, data: null }],
    };
  }
  return provider;
}

/**
 * The kernel is told a module and a name only, and takes the one of the lowest address (scripts/kallsyms.c sorts them
 * so).
 */
function sharedName(spec: ProbeSpec, pattern: FunctionPattern, module: string, system: System): readonly Diagnostic[] {
  const { length } = hasWildcard(pattern.name) ? [] : functionTargets([pattern.name], pattern, system);
  if (length < 2) return [];
  const first = system.functionsSharing?.(pattern.name).find((one) => one.module === module);
  const which = first === undefined ? "the first" : `the first, at 0x${first.address.toString(16)}`;
  const [help] = otherWays(system, { kprobe: `kprobe:${pattern.name} probes all of them` });
  return [
    {
      severity: "warning",
      span: spec.span,
      ...(help === undefined ? {} : { help }),
      ...kernelProbes.nameFunctionsWhichKernelTakes(pattern.name, length, which),
    },
  ];
}

export const fentry = trampoline("fentry", ["f", "kfunc"], BPF_TRACE_FENTRY);
export const fexit = trampoline("fexit", ["fr", "kretfunc"], BPF_TRACE_FEXIT);
