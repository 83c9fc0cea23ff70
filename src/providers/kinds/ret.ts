// ret: functions' return instructions, found by decoding them and probed in place. The stack is never touched, as a
// return trampoline (uretprobe, kretprobe) does, which programs that move or walk their stacks do not survive
// (return-hazards.ts).
import { places as placesMessages } from "../../messages/places.ts";
import { userProbes } from "../../messages/user-probes.ts";
import { functionEnds } from "../../debuginfo/function-ends.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { instructions } from "../attaching/attachers.ts";
import { findBinaries, noBinary, unquote } from "../../machine/binaries/binaries.ts";
import { insideUserFunction, variantsByFunction, type FunctionCode } from "../places/function-code.ts";
import { whatBodiesHave } from "../places/inlined-places.ts";
import { insideKernelFunction, kernelFunctions, withKernelResults } from "../places/kernel-code.ts";
import { findFunctions, functionPattern, noFunction, otherWays, type KprobeSite } from "../places/kernel-functions.ts";
import { inlinedKernelFunction } from "../places/kernel-places.ts";
import { withKernelEntry } from "./kprobe.ts";
import { wantsArguments } from "../../machine/calls/kept-arguments.ts";
import type { Place } from "../places/places.ts";
import type { Listed, Provider, Resolution, ResolveOptions } from "../provider.ts";
import { missing, refused, wrongParts } from "../resolution.ts";
import { ending, noReturns, otherEnds, ReturnPlaces, throughPointer, type Ending } from "../places/return-places.ts";
import type { Binary, KernelCode, System } from "../../machine/system.ts";
import {
  distinctBodies,
  functionName,
  functionsListed,
  noSuchFunction,
  siteAt,
  wantedPlaces,
  type FunctionName,
} from "../places/user-functions.ts";
import { placesNamed } from "../places/user-places.ts";
import { variantsAt, type FoundPlace } from "../places/user-variants.ts";
import { hasWildcard } from "../../machine/wildcard.ts";
import { Failure } from "../../base/failure.ts";

const usage = "ret:[BINARY:]FUNCTION";
interface Asked {
  readonly binary?: string;
  readonly function: string;
}

export const ret: Provider = {
  name: "ret",
  aliases: [],
  inSearches: "never",
  usage,
  doc: "Return instructions of functions, of programs and of the kernel; the stack is not touched.",
  inFiles: {
    means: (parts) => parse(parts)?.binary !== undefined,
    context: (system) => insideUserFunction("ret", true, system),
  },

  *list(parts, system, { verbose, pid }) {
    const wanted = parse(parts);
    if (wanted?.binary === undefined) {
      for (const name of findFunctions(functionPattern([wanted?.function ?? "*"]), system)) {
        const code = verbose ? system.kernelCode?.(name) : undefined;
        yield {
          probe: `ret:${name}`,
          ...(code !== undefined && !(code instanceof Failure)
            ? { details: endingLines(endingInKernel(code), code) }
            : {}),
        };
      }
      return;
    }
    for (const binary of findBinaries(wanted.binary, pid, system)) {
      if (binary.machine === "x86-64") yield* listBinary(binary, functionName(wanted.function), verbose);
    }
  },

  resolve(spec, system, options) {
    const wanted = parse(spec.parts);
    if (wanted === undefined) return wrongParts(spec, usage);
    return wanted.binary === undefined
      ? inKernel(spec, wanted.function, system, options)
      : inPrograms(spec, { ...wanted, binary: wanted.binary }, system, options);
  },

  ...instructions,
};

/** `FUNCTION`, `BINARY:FUNCTION`; names may have colons. */
function parse(parts: readonly string[]): Asked | undefined {
  const [first = "", ...rest] = parts.map(unquote);
  // A path alone is a program, whose function is missing.
  if (rest.length === 0) return first === "" || first.includes("/") ? undefined : { function: first };
  return first === "" || rest.join(":") === "" ? undefined : { binary: first, function: rest.join(":") };
}

function inPrograms(spec: ProbeSpec, wanted: Required<Asked>, system: System, options: ResolveOptions): Resolution {
  const binaries = findBinaries(wanted.binary, options.pid, system);
  if (binaries.length === 0) return missing(spec, options, noBinary(wanted.binary));
  const name = functionName(wanted.function);
  const own = whatBodiesHave(true, options.uses);
  const found: FoundPlace[] = [];
  const endings: Ending[] = [];
  const notes: Diagnostic[] = [];
  for (const binary of binaries) {
    const places = placesNamed(binary, name.name, {
      ...wantedPlaces(name, true, options),
      ...(own === undefined ? {} : { bodiesOnly: own }),
    });
    if ("problem" in places) {
      // A name that one of many binaries does not know is no mistake.
      if (binaries.length > 1) continue;
      return places.unseen === true ? missing(spec, options, places.problem) : refused(spec, places.problem);
    }
    for (const note of places.notes) notes.push({ severity: "warning", span: spec.span, ...note });
    const add = (place: Place): void =>
      void found.push({ binary, place, site: siteAt(`ret:${binary.shownPath}:${place.name}`, binary, place, true) });
    for (const copy of places.places) if (copy.inlined !== undefined) add(copy);
    const returns = new ReturnPlaces(binary);
    for (const body of distinctBodies(
      places.places.filter(({ inlined }) => inlined === undefined),
      name.name,
    )) {
      if (binary.machine !== "x86-64") return refused(spec, userProbes.returnsNeedX86(binary.shownPath));
      const of = returns.of(body);
      if (of === undefined) continue;
      endings.push(of.ending);
      for (const place of of.places) add(place);
    }
  }
  if (endings.length === 0 && found.length === 0) return noSuchFunction(spec, binaries, name, options);
  if (found.length === 0) return noReturns(spec, options, endings, `ret:${wanted.binary}:`, callersSide("uretprobe"));
  const { variants, diagnostics } = variantsAt(
    spec,
    found,
    { provider: "ret", at: "return", inPlace: true, keeper: "uprobe" },
    system,
    options,
  );
  return { variants, diagnostics: [...notes, ...diagnostics, ...otherEnds(spec, endings, "use uretprobe")] };
}

function callersSide(provider: string): string {
  return `use ${provider}, which sees the caller's side`;
}

function useInstead(system: System): string | undefined {
  const others = otherWays(system, { kprobe: "kretprobe", trampoline: "fexit" });
  return others.length === 0 ? undefined : `use ${others.join(" or ")}`;
}

function inKernel(spec: ProbeSpec, wanted: string, system: System, options: ResolveOptions): Resolution {
  const { found, problem } = kernelFunctions({ function: wanted }, system);
  if (found.length === 0 && problem !== undefined)
    return missing(spec, options, placesMessages.codeUnreadable(problem, useInstead(system)));
  if (found.length === 0) {
    const inlined = hasWildcard(wanted)
      ? undefined
      : inlinedKernelFunction(spec, wanted, true, insideKernelFunction("ret", system, true), system, options);
    return inlined ?? noFunction(spec, functionPattern([wanted]), system, options);
  }
  const wildcard = hasWildcard(wanted) ? spec.text : undefined;
  const sites: SiteRef[] = [];
  const endings: Ending[] = [];
  for (const code of found) {
    const ending = endingInKernel(code);
    endings.push(ending);
    for (const address of ending.returns) {
      const forbidden = code.forbidden(address);
      if (forbidden && wildcard === undefined) return refused(spec, userProbes.returnsWhereKernelMustNot(code.name));
      const data: KprobeSite = { offset: address, ...(wildcard === undefined ? {} : { wildcard }) };
      if (!forbidden) sites.push({ name: `ret:${code.name}`, func: code.name, data });
    }
  }
  if (sites.length === 0) return noReturns(spec, options, endings, "ret:", callersSide("kretprobe"));
  const context = insideKernelFunction("ret", system, true);
  const returns = !wantsArguments(options.uses)
    ? variantsByFunction(context, sites, options)
    : found
        .map((code) =>
          withKernelEntry(
            { context, provider: "ret", sites: sites.filter(({ func }) => func === code.name) },
            code.name,
            [beginningOf(code)],
            true,
            system,
            options,
          ),
        )
        .filter((variant) => variant.sites.length > 0);
  const { variants, diagnostics } = withKernelResults(spec, returns, system, options);
  return { variants, diagnostics: [...otherEnds(spec, endings, "use kretprobe"), ...diagnostics] };
}

function beginningOf({ name, ranges: [body] }: KernelCode): SiteRef {
  return { name: `ret:${name}`, func: name, data: { offset: body.address } satisfies KprobeSite };
}

/**
 * Kernels that must not leave returns to the processor's prediction return through code of their own
 * (arch/x86/lib/retpoline.S).
 */
const returnThunk = /(^|_)return_thunk$/;
/** Jumps through pointers, likewise; those that the compiler makes of a `switch` it leaves out there. */
const indirectThunk = /^__x86_indirect(_jump)?_thunk_/;

function endingInKernel(code: KernelCode): Ending {
  const nameOf = (address: bigint): string | undefined => code.nameAt(address)?.name;
  const ends = functionEnds(code.ranges, (target) => returnThunk.test(nameOf(target) ?? ""));
  return ending(code.name, ends, (address) => {
    const name = nameOf(address);
    return name !== undefined && indirectThunk.test(name) ? throughPointer : name;
  });
}

function* listBinary(binary: Binary, wanted: FunctionName, verbose: boolean): Iterable<Listed> {
  const returns = new ReturnPlaces(binary);
  for (const { shown, place } of functionsListed(binary, wanted, verbose)) {
    const found = verbose ? returns.ending(place) : undefined;
    yield {
      probe: `ret:${binary.shownPath}:${shown}`,
      ...(found === undefined ? {} : { details: endingLines(found.ending, found.code) }),
    };
  }
}

function endingLines({ returns, others }: Ending, { ranges: [body] }: FunctionCode): string[] {
  const offsets = returns.map((address) => address - body.address);
  return [
    offsets.length === 0 ? "    has no return instruction" : `    returns at ${offsets.join(", ")}`,
    ...(others.length === 0 ? [] : [`    jumps to ${others.join(", ")}`]),
  ];
}
