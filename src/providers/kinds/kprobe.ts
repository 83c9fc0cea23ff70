// kprobe and kretprobe: any kernel function or instruction.
import { kernelProbes } from "../../messages/kernel-probes.ts";
import { BPF_TRACE_KPROBE_MULTI, BPF_TRACE_KPROBE_SESSION } from "../../linux/bpf/bpf.ts";
import { pmuType } from "../../linux/kernel/tracefs.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Argument, Context } from "../../language/context.ts";
import { kernelAtLeast, kernelFeatures, kernelHas } from "../../base/kernel-features.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import { u64, type Type } from "../../language/types.ts";
import { kprobes, kretprobes } from "../attaching/attachers.ts";
import { scalarArgument } from "../../machine/calls/function-arguments.ts";
import {
  describeFunction,
  findFunctions,
  functionPattern,
  functionTargets,
  noFunction,
  otherWays,
  type FunctionPattern,
  type KprobeSite,
} from "../places/kernel-functions.ts";
import type { Provider, Resolution, ResolveOptions } from "../provider.ts";
import { withKernelResults } from "../places/kernel-code.ts";
import { keepArguments, wantsArguments } from "../../machine/calls/kept-arguments.ts";
import {
  inlinedKernelFunction,
  inlinedModuleFunction,
  kernelLines,
  listKernelLines,
  meansLines,
  wantsKernelVariables,
  withKernelCopies,
  withKernelVariables,
} from "../places/kernel-places.ts";
import { MAXACTIVE_LIMIT } from "../attaching/kprobe-attachment.ts";
import { parseCount } from "../quantity.ts";
import {
  fetchCallArguments,
  fetchRegister,
  fetchRegisters,
  hostMachine,
  registersOf,
  registersType,
} from "../../machine/contexts/registers.ts";
import { groupBy, missing, refused, resolved, variantsOf, wrongParts, type Variant } from "../resolution.ts";
import type { System } from "../../machine/system.ts";
import { hasWildcard, matches } from "../../machine/wildcard.ts";
import { Failure } from "../../base/failure.ts";

/** Fewer functions than this go one by one: perf events are in every kernel. */
const MULTI_FROM = 4;

function kernelProbe(name: "kprobe" | "kretprobe", alias: string): Provider {
  const returns = name === "kretprobe";
  const provider: Provider = {
    name,
    aliases: [alias],
    usage: returns
      ? `${name}[:MODULE]:FUNCTION[:maxactive=N]`
      : `${name}[:MODULE]:FUNCTION[+OFFSET] or ${name}[:MODULE][:FUNCTION]@FILE:LINES[:COLUMN]`,
    doc: returns
      ? "Returns of kernel functions."
      : "Kernel functions, by name or by wildcard; source lines of the kernel.",

    *list(parts, system, options) {
      if (meansLines(parts)) {
        if (!returns) yield* listKernelLines(name, parts, system, options);
        return;
      }
      const pattern = functionPattern(parts);
      for (const found of system.kernelFunctions()) {
        if (!matches(pattern.name, found)) continue;
        if (pattern.module !== undefined && !matches(pattern.module, system.functionModule(found) ?? "")) continue;
        const target = options.verbose ? system.kernelFunction(found) : undefined;
        yield {
          probe: `${name}:${found}`,
          ...(target === undefined ? {} : { details: describeFunction(target, [returns ? "result" : "arguments"]) }),
        };
      }
    },

    resolve(spec, system, options) {
      if (meansLines(spec.parts)) {
        if (returns) return refused(spec, kernelProbes.sourceLineDoesNotReturn());
        if (spec.parts.at(-1)?.includes("@") !== false) return wrongParts(spec, provider.usage);
        return kernelLines(spec, context(system, false, options), system, options);
      }
      const { parts } = spec;
      const maxactive = returns ? maxactiveOf(spec) : undefined;
      if (parts.length < 1 || parts.length > 2 || parts.at(-1) === "") return wrongParts(spec, provider.usage);
      if (maxactive !== undefined && !(maxactive >= 1 && maxactive <= MAXACTIVE_LIMIT)) {
        return refused(spec, kernelProbes.maxactiveHowManyCallsMay(MAXACTIVE_LIMIT));
      }
      const wanted = functionPattern(parts);
      const shownBefore = `${name}:${wanted.module === undefined || hasWildcard(wanted.module) ? "" : `${wanted.module}:`}`;
      const shown = (symbol: string): string => shownBefore + symbol;

      const address = parseCount(wanted.name);
      if (address !== undefined) {
        const site: SiteRef = { name: `${name}:${wanted.name}`, data: { offset: address } satisfies KprobeSite };
        return resolved({ context: context(system, false, options), provider: name, sites: [site] });
      }
      if (wanted.module === "inlined") {
        return (
          inlinedKernelFunction(spec, wanted.name, returns, context(system, false, options), system, options) ??
          inlinedModuleFunction(
            spec,
            wanted.name,
            undefined,
            returns,
            context(system, false, options),
            system,
            options,
          ) ??
          missing(spec, options, kernelProbes.noCopyKnown(wanted.name, kernelImageProblem(system)))
        );
      }
      const { pattern, offset } = withOffset(wanted);
      if (offset === undefined) return refused(spec, kernelProbes.notFunctionOffset(wanted.name));
      if (offset > 0n && returns) return refused(spec, kernelProbes.functionReturnsFromNoOffset(name, pattern.name));
      // Each function has arguments of its own.
      const variables = wantsKernelVariables(options.uses);
      const typed = variables || (options.uses.has("args") && !returns && offset === 0n);
      // Links of many functions do not tell at returns where the stack was.
      const keeps = returns && wantsArguments(options.uses);
      const byLink = (count: number): boolean =>
        !keeps &&
        options.asEvents !== true &&
        ((returns && kernelAtLeast(system.capabilities.kernel, ...RETURNS_UNLIMITED)) ||
          (count >= MULTI_FROM && !typed && maxactive === undefined)) &&
        hasMultiLinks(system);
      const session = offset === 0n && !keeps && options.asEvents !== true && hasSessions(system, options.uses);
      // The kernel looks up a probe's number, and what it may override, by where the function begins.
      const place = options.uses.has("probe") || options.uses.has("override") ? "start" : "traced";
      const everywhere =
        offset === 0n && hasWildcard(pattern.name) && byLink(MULTI_FROM)
          ? (system.functionsAt?.(pattern, place) ?? [])
          : [];
      if (everywhere.length > 0 && byLink(everywhere.length)) {
        const wildcard = spec.text;
        const sites = everywhere.map(({ name: symbol, address }): SiteRef => ({
          name: shown(symbol),
          func: symbol,
          data: { offset: address, wildcard } satisfies KprobeSite,
        }));
        return resolved(variantsOf(context(system, true, options, session), sites, options));
      }

      const names = findFunctions(pattern, system);
      if (names.length === 0) {
        const inlined =
          offset > 0n || hasWildcard(pattern.name) || hasWildcard(pattern.module ?? "")
            ? undefined
            : pattern.module === undefined
              ? inlinedKernelFunction(spec, pattern.name, returns, context(system, false, options), system, options)
              : inlinedModuleFunction(
                  spec,
                  pattern.name,
                  pattern.module,
                  returns,
                  context(system, false, options),
                  system,
                  options,
                );
        return inlined ?? noFunction(spec, pattern, system, options);
      }
      if (offset > 0n && hasWildcard(pattern.name)) return refused(spec, kernelProbes.wildcardCannotOffset());

      const targets = functionTargets(names, pattern, system);
      const several = !hasWildcard(pattern.name) && targets.length > 1;
      if (several && offset > 0n) {
        const places = targets.map(({ address = 0n }) => `${name}:0x${(address + offset).toString(16)}`);
        const help = `choose among ${places.slice(0, 3).join(", ")}${places.length > 3 ? " … (/proc/kallsyms has the addresses)" : ""}`;
        return refused(spec, kernelProbes.nameFunctionsWhoseCodeDiffers(pattern.name, targets.length, help));
      }
      const diagnostics: readonly Diagnostic[] = !several
        ? []
        : [
            {
              severity: "warning",
              span: spec.span,
              ...kernelProbes.nameFunctionsProbingAllThem(pattern.name, targets.length, options.uses.has("args")),
            },
          ];

      const sites = targets.map(({ name: symbol, address }): SiteRef => {
        const place: KprobeSite = {
          ...(address === undefined ? { symbol, offset } : { offset: address + offset }),
          ...(maxactive === undefined ? {} : { maxactive }),
          ...(targets.length > 1 ? { wildcard: spec.text } : {}),
        };
        return { name: shown(offset > 0n ? `${symbol}+${offset}` : symbol), func: symbol, data: place };
      });
      if (byLink(targets.length))
        return { variants: variantsOf(context(system, true, options, session), sites, options), diagnostics };
      if (pmuType("kprobe") === undefined) {
        const others = ["tracepoints", ...otherWays(system, { trampoline: returns ? "fexit" : "fentry" })].join(" or ");
        return missing(spec, options, kernelProbes.kernelNoKprobes(others));
      }
      if (!typed)
        return {
          variants: variantsOf(context(system, false, options, session && !returns), sites, options),
          diagnostics,
        };
      // What debug information tells differs from place to place.
      const alike = groupBy(sites.entries(), ([i, { func = "" }]) => (variables ? `${i}` : func));
      const variants = [...alike.values()].flatMap((group): Variant[] => {
        const [[, { func = "", data }]] = group;
        const { symbol, offset } = data as KprobeSite;
        const args =
          options.uses.has("args") && !returns && offset === (symbol === undefined ? offset : 0n)
            ? namedArguments(func, system)
            : undefined;
        const start = symbol === undefined ? 0n : system.symbolAddress(symbol);
        const plain = context(system, false, options, session && !returns);
        const seen =
          !variables || start === undefined
            ? plain
            : withKernelVariables(plain, start + offset, returns, system, options).context;
        return variantsOf(
          { ...seen, ...(args ? { args } : {}) },
          group.map(([, site]) => site),
          options,
        );
      });
      return { variants, diagnostics };
    },

    ...(returns ? kretprobes : kprobes),
  };

  function context(system: System, multi: boolean, { uses }: ResolveOptions, session = false): Context {
    const file = registersOf(hostMachine);
    // Only asked for where it is of use: it takes the kernel's types.
    const registers = uses.has("ctx") ? system.types.find("pt_regs", "struct") : undefined;
    return {
      provider: name,
      program: {
        type: "kprobe",
        ...(multi ? { load: { attachType: BPF_TRACE_KPROBE_MULTI, btfId: 0 } } : {}),
        ...(session ? { session: { part: returns ? "return" : "entry", attachType: BPF_TRACE_KPROBE_SESSION } } : {}),
        cookie: true,
      },
      ...(returns ? {} : { overridable: true }),
      ...(returns
        ? { retval: { type: u64, fetch: fetchRegister(file, file.result) } }
        : { numbered: fetchCallArguments(file, "kernel") }),
      registers: fetchRegisters(file),
      contextType: registers ? { kind: "pointer", target: registers, space: "kernel" } : registersType(file),
      func: "kernel",
      defaultSpace: "kernel",
      stacks: true,
    };
  }
  return {
    ...provider,
    resolve(spec, system, options) {
      const found = provider.resolve(spec, system, options);
      const { variants, diagnostics } = returns
        ? withKernelResults(spec, keepingArguments(found.variants, system, options), system, options)
        : { variants: found.variants, diagnostics: [] };
      const body: Resolution = { variants, diagnostics: [...found.diagnostics, ...diagnostics] };
      // Only a name alone means copies as well.
      const [wanted = "", ...more] = spec.parts;
      if (body.variants.length === 0 || more.length > 0 || /[@+*?[]|^\d/.test(wanted)) return body;
      return withKernelCopies(body, spec, wanted, returns, context(system, false, options), system, options);
    },
  };
}

function kernelImageProblem(system: System): string | undefined {
  const image = system.kernelImage?.();
  return image instanceof Failure ? image.reason : undefined;
}

/** Not a number where the option is none. */
function maxactiveOf({ options }: ProbeSpec): number | undefined {
  const text = options?.["maxactive"];
  return text === undefined ? undefined : Number(parseCount(text) ?? NaN);
}

/** `fn+0x10`, in bytes. */
function withOffset(pattern: FunctionPattern): { pattern: FunctionPattern; offset: bigint | undefined } {
  const plus = pattern.name.indexOf("+");
  if (plus < 0) return { pattern, offset: 0n };
  return {
    pattern: { ...pattern, name: pattern.name.slice(0, plus) },
    offset: parseCount(pattern.name.slice(plus + 1)),
  };
}

/**
 * Since Linux 6.14 a multi link's returns are followed on each task's own stack of calls, so that none is missed; a
 * perf event's have room for ten or two a CPU, a multi link's before that for two a function and CPU.
 */
const RETURNS_UNLIMITED = [6, 14] as const;

/** Linux 5.18 has multi links where it was built with fprobes, which Debian's 6.1 for one was not. */
function hasMultiLinks(system: System): boolean {
  return (
    kernelHas(system.capabilities.kernel, kernelFeatures.multipleKprobes) && hasFunction(system, "register_fprobe_ips")
  );
}

/**
 * Whether one link can serve entry and return (Linux 6.10; before 6.14 an entry would be missed where there is no room
 * to follow its return). What is saved of the registers, and the cookie, are not those of two probes.
 */
function hasSessions(system: System, uses: ReadonlySet<string>): boolean {
  const own = ["reg", "ctx", "var", "vars", "probe", "override"].some((name) => uses.has(name));
  return (
    !own &&
    kernelAtLeast(system.capabilities.kernel, ...RETURNS_UNLIMITED) &&
    hasFunction(system, "bpf_session_is_return")
  );
}

function hasFunction(system: System, name: string): boolean {
  return system.hasKernelFunction?.(name) ?? system.kernelFunction(name) !== undefined;
}

/** Returns, with the arguments of their calls where the handler asks for them; one variant a function. */
function keepingArguments(variants: readonly Variant[], system: System, options: ResolveOptions): readonly Variant[] {
  if (!wantsArguments(options.uses)) return variants;
  return variants.flatMap((variant) => {
    const { context, sites, provider } = variant;
    if (context === "host" || context.retval?.absent !== undefined) return [variant];
    return [...groupBy(sites, ({ func = "" }) => func)].map(([name, group]) =>
      withKernelEntry({ context, provider, sites: group }, name, group, false, system, options),
    );
  });
}

/**
 * Returns of a kernel function, with what keeps the arguments of its calls where it begins. `inPlace`: at its return
 * instructions.
 */
export function withKernelEntry(
  { context, provider, sites }: Variant,
  name: string,
  beginnings: readonly SiteRef[],
  inPlace: boolean,
  system: System,
  options: ResolveOptions,
): Variant {
  if (context === "host") return { context, provider, sites };
  const { retval: _, variables: __, ...plain } = context;
  const { session: ___, ...program } = context.program;
  const args = options.uses.has("args") ? namedArguments(name, system) : undefined;
  const entry: Context = {
    ...plain,
    program,
    numbered: fetchCallArguments(registersOf(hostMachine), "kernel"),
    ...(args === undefined ? {} : { args }),
  };
  const ends = keepArguments({ entry, returned: context, inPlace }, options.uses);
  return {
    context: ends.returned,
    provider,
    sites,
    entry: { context: ends.entry, provider: "kprobe", sites: beginnings },
  };
}

/**
 * A function's arguments by their names in BTF, as far as they are in registers; nothing where BTF has no such
 * function.
 */
function namedArguments(symbol: string, system: System): Argument[] | undefined {
  const parameters = system.kernelFunction(symbol)?.parameters;
  if (parameters === undefined) return undefined;
  const file = registersOf(hostMachine);
  const args: Argument[] = [];
  for (const [i, { name, type }] of parameters.entries()) {
    const register = file.callArguments[i];
    // Behind a struct that is passed by value no argument is in the register of its number.
    if (register === undefined || type.kind === "struct" || type.kind === "array") break;
    // What a register holds is not known to the verifier.
    const plain: Type = type.kind === "pointer" ? { kind: "pointer", target: type.target, space: type.space } : type;
    args.push(scalarArgument(name, plain, fetchRegister(file, register)));
  }
  return args;
}

export const kprobe = kernelProbe("kprobe", "k");
export const kretprobe = kernelProbe("kretprobe", "kr");
