// ret: functions' return instructions, found by decoding them and probed in place. The stack is never touched, as a return
// trampoline (uretprobe, kretprobe) does, which programs that move or walk their stacks do not survive: Go's for one.
//
// At a jump to another function (a tail call) nothing is returned yet: the function that is jumped to returns to the caller. Such
// exits are said, not counted.
import { functionEnds, type FunctionEnds } from "../debuginfo/function-ends.ts";
import type { SiteRef } from "../language/check/checked.ts";
import type { Diagnostic } from "../language/diagnostic.ts";
import type { ProbeSpec } from "../language/program.ts";
import { instructions } from "./attachers.ts";
import { findBinaries, noBinary, unquote } from "./binaries.ts";
import { insideUserFunction, namesIn, noUserFunction, UserCode, userFunctions, userVariants, variantsByFunction, type FunctionCode } from "./function-code.ts";
import { insideKernelFunction, kernelFunctions } from "./kernel-code.ts";
import { copyContext, whatBodiesHave } from "./inlined-places.ts";
import { inlinedKernelFunction } from "./kernel-places.ts";
import { findFunctions, functionPattern, noFunction, otherWays, type KprobeSite } from "./kernel-functions.ts";
import type { Listed, Provider, Resolution, ResolveOptions } from "./provider.ts";
import { groupBy, missing, refused, wrongParts, type Variant } from "./resolution.ts";
import type { Binary, KernelCode, System } from "./system.ts";
import type { UserSite } from "./user-attachment.ts";
import type { Wanted } from "./places.ts";
import { copiesBeside, placesNamed } from "./user-places.ts";
import { debugInfoOf, withVariables, wantsVariables } from "./user-variables.ts";
import { hasWildcard } from "./wildcard.ts";

const usage = "ret:[BINARY:]FUNCTION";
/** How many functions a warning names. */
const named = 3;

interface Asked { readonly binary?: string; readonly function: string }

/** A function, how it ends, and where its tail calls go, by name. */
interface Ending extends FunctionEnds { readonly name: string; readonly others: readonly string[] }

export const ret: Provider = {
  name: "ret",
  aliases: [],
  usage,
  doc: "Return instructions of functions, of programs and of the kernel; the stack is not touched.",
  inFiles: { means: (parts) => parse(parts)?.binary !== undefined, context: (system) => insideUserFunction("ret", true, system) },

  *list(parts, system, { verbose, pid }) {
    const wanted = parse(parts);
    if (wanted?.binary === undefined) {
      for (const name of findFunctions(functionPattern([wanted?.function ?? "*"]), system)) {
        const code = verbose ? system.kernelCode?.(name) : undefined;
        yield { probe: `ret:${name}`, ...(typeof code === "object" ? { details: endingLines(endingInKernel(code), code) } : {}) };
      }
      return;
    }
    for (const binary of findBinaries(wanted.binary, pid, system)) {
      if (binary.machine === "x86-64") yield* listBinary(binary, wanted.function, verbose);
    }
  },

  resolve(spec, system, options) {
    const wanted = parse(spec.parts);
    if (wanted === undefined) return wrongParts(spec, usage);
    return wanted.binary === undefined ? inKernel(spec, wanted.function, system, options) : inPrograms(spec, { ...wanted, binary: wanted.binary }, system, options);
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
  if (binaries.length === 0) return missing(spec, options, ...noBinary(wanted.binary));
  const variants: Variant[] = [];
  const endings: Ending[] = [];
  const notes: Diagnostic[] = [];
  for (const binary of binaries) {
    const copies = hasWildcard(wanted.function) ? undefined : copiesIn(spec, binary, wanted.function, system, options);
    if (copies !== undefined) {
      if (copies.variants.length === 0 && binary.symbol(wanted.function) === undefined) return copies;
      variants.push(...copies.variants);
      notes.push(...copies.diagnostics);
    }
    const sites: SiteRef[] = [];
    const code = new UserCode(binary);
    const names = namesIn(binary);
    for (const symbol of userFunctions(binary, wanted.function)) {
      if (binary.machine !== "x86-64") return refused(spec, "feature", "strobe can only tell x86-64 instructions apart", `probe ${binary.shownPath} by \`uretprobe\``);
      const of = code.of(symbol);
      if (of === undefined) continue;
      const ending = endingInProgram(of, names);
      endings.push(ending);
      for (const address of ending.returns) {
        sites.push({
          name: `ret:${binary.shownPath}:${of.name}`, func: of.name,
          data: { path: binary.path, offset: binary.fileOffset(address)!, semaphore: 0n } satisfies UserSite,
        });
      }
    }
    if (sites.length > 0) variants.push(...userVariants({ provider: "ret", returns: true, binary, sites }, system, options));
  }
  if (endings.length === 0 && variants.length > 0) return { variants, diagnostics: notes };
  if (endings.length === 0) return noUserFunction(spec, binaries, wanted.function, options);
  const problem = variants.length === 0 ? noReturns(spec, endings, `ret:${wanted.binary}:`, "uretprobe") : undefined;
  if (problem !== undefined) return problem;
  return { variants, diagnostics: [...notes, ...otherEnds(spec, endings, "uretprobe")] };
}

/** Where the inlined copies of a function end; undefined when it has none. */
function copiesIn(spec: ProbeSpec, binary: Binary, name: string, system: System, options: ResolveOptions): Resolution | undefined {
  const body = binary.symbol(name);
  const bodiesOnly = whatBodiesHave(true, options.uses);
  const wanted: Wanted = { cpp: false, inlined: true, returns: true, ...(bodiesOnly === undefined ? {} : { bodiesOnly }) };
  if (options.symbolsOnly === true || (body === undefined && typeof debugInfoOf(binary) === "string")) return undefined;
  const places = body === undefined ? placesNamed(binary, name, wanted) : copiesBeside(binary, name, body.fileOffset, wanted);
  if (places === undefined || ("places" in places && places.places.length === 0 && places.notes.length === 0)) return undefined;
  if ("problem" in places) return refused(spec, "arguments", places.problem, places.help);
  const context = insideUserFunction("ret", true, system);
  const groups = groupBy(places.places.map((place) => {
    const site: SiteRef = { name: `ret:${binary.shownPath}:${name}`, func: name, data: { path: binary.path, offset: place.offset, semaphore: 0n } satisfies UserSite };
    const seen = wantsVariables(options.uses) ? withVariables(context, { binary, offset: place.offset, returns: false }, system, options) : { context, key: "" };
    const copy = copyContext(seen.context, place, true);
    return { site, context: copy.context, key: `${seen.key} ${copy.key}` };
  }), ({ key }) => key);
  return {
    variants: [...groups.values()].flatMap((group) => variantsByFunction(group[0].context, group.map(({ site }) => site), options)),
    diagnostics: places.notes.map((note): Diagnostic => ({ severity: "warning", code: "name", span: spec.span, ...note })),
  };
}

function useInstead(system: System): string | undefined {
  const others = otherWays(system, { kprobe: "kretprobe", trampoline: "fexit" });
  return others.length === 0 ? undefined : `use ${others.join(" or ")}`;
}

function inKernel(spec: ProbeSpec, wanted: string, system: System, options: ResolveOptions): Resolution {
  const { found, problem } = kernelFunctions(wanted, system);
  if (found.length === 0 && problem !== undefined) return missing(spec, options, problem, useInstead(system), "feature");
  if (found.length === 0) {
    const inlined = hasWildcard(wanted) ? undefined : inlinedKernelFunction(spec, wanted, true, insideKernelFunction("ret", system, { name: wanted }), system, options);
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
      if (forbidden && wildcard === undefined) return refused(spec, "feature", `\`${code.name}\` returns where the kernel must not be probed`);
      const data: KprobeSite = { offset: address, ...(wildcard === undefined ? {} : { wildcard }) };
      if (!forbidden) sites.push({ name: `ret:${code.name}`, func: code.name, data });
    }
  }
  const none = sites.length === 0 ? noReturns(spec, endings, "ret:", "kretprobe") : undefined;
  if (none !== undefined) return none;
  return { variants: kernelVariants(sites, system, options), diagnostics: otherEnds(spec, endings, "kretprobe") };
}

/** Each function has a result of its own. */
function kernelVariants(sites: readonly SiteRef[], system: System, options: ResolveOptions): Variant[] {
  if (!options.uses.has("retval")) return variantsByFunction(insideKernelFunction("ret", system), sites, options);
  return [...groupBy(sites, (site) => site.func ?? "")].map(([name, group]) => ({ context: insideKernelFunction("ret", system, { name }), provider: "ret", sites: group }));
}

function endingInProgram(code: FunctionCode, names: ReturnType<typeof namesIn>): Ending {
  return ending(code.name, functionEnds(code.ranges), (address) => names(address)?.name);
}

/** Kernels that must not leave returns to the processor's prediction return through code of their own (arch/x86/lib/retpoline.S). */
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

const throughPointer = "a function through a pointer";

function ending(name: string, ends: FunctionEnds, nameOf: (address: bigint) => string | undefined): Ending {
  const others = ends.tailCalls.map(({ to }) => (to === undefined ? throughPointer : nameOf(to) ?? `0x${to.toString(16)}`));
  return { ...ends, name, others: [...new Set(others)] };
}

/** An error when what was asked for has nothing to probe. */
function noReturns(spec: ProbeSpec, endings: readonly Ending[], prefix: string, instead: string): Resolution | undefined {
  const [only] = endings;
  if (endings.length > 1) return refused(spec, "arguments", `none of the ${endings.length} functions that match has a return instruction`);
  const to = only.others.filter((name) => name !== throughPointer && !/@plt$|^0x/.test(name));
  if (only.others.length === 0) return refused(spec, "arguments", `\`${only.name}\` has no return instruction: it never returns`);
  return refused(spec, "arguments", `\`${only.name}\` has no return instruction: it ends with a jump to ${only.others.map(quote).join(", ")}`,
    `${to.length > 0 ? `probe ${to.map((name) => prefix + name).join(", ")}, or ` : ""}use ${instead}, which sees the caller's side`);
}

/** Warnings about exits that are not seen. */
function otherEnds(spec: ProbeSpec, endings: readonly Ending[], instead: string): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const warn = (message: string, help: string): void => {
    diagnostics.push({ severity: "warning", code: "feature", span: spec.span, message, help });
  };
  const jumping = endings.filter(({ others }) => others.length > 0);
  if (jumping.length > 0) {
    const some = jumping.slice(0, named).map(({ name, others }) => `\`${name}\` to ${others.slice(0, named).map(quote).join(", ")}${others.length > named ? " …" : ""}`).join("; ");
    const more = jumping.length > named ? `; and ${jumping.length - named} more functions` : "";
    warn(`some calls end with a jump to another function, and are not seen: ${some}${more}`, `the other function returns in its place: probe it as well, or use ${instead}`);
  }
  for (const { name, brokenAt } of endings) {
    if (brokenAt !== undefined) warn(`\`${name}\` has bytes that are no instruction, at 0x${brokenAt.toString(16)}`, "returns behind them are not seen");
  }
  return diagnostics;
}

function quote(name: string): string {
  return name === throughPointer ? name : `\`${name}\``;
}

function* listBinary(binary: Binary, pattern: string, verbose: boolean): Iterable<Listed> {
  const code = new UserCode(binary);
  const names = namesIn(binary);
  for (const symbol of userFunctions(binary, pattern)) {
    const probe = `ret:${binary.shownPath}:${symbol.name}`;
    const of = verbose ? code.of(symbol) : undefined;
    yield { probe, ...(of === undefined ? {} : { details: endingLines(endingInProgram(of, names), of) }) };
  }
}

function endingLines({ returns, others }: Ending, { ranges: [body] }: FunctionCode): string[] {
  const offsets = returns.map((address) => address - body.address);
  return [offsets.length === 0 ? "    has no return instruction" : `    returns at ${offsets.join(", ")}`, ...(others.length === 0 ? [] : [`    jumps to ${others.join(", ")}`])];
}
