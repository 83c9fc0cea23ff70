// insn: single instructions of functions, all of them or the one at an offset. In programs by uprobe, in the kernel by
// kprobe. And as DTrace's kinst has it, the first and the last ones of all copies of an inlined kernel function.
import { userProbes } from "../../messages/user-probes.ts";
import { places as placesMessages } from "../../messages/places.ts";
import type { Message } from "../../messages/message.ts";
import { decode, disassemble, isFiller } from "../../debuginfo/instructions.ts";
import { kprobeRefusal } from "../../debuginfo/kprobe-refusals.ts";
import { uprobeRefusal, type Refusal } from "../../debuginfo/uprobe-refusals.ts";
import type { CodeRange } from "../../debuginfo/function-ends.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { instructions } from "../attaching/attachers.ts";
import { findBinaries, noBinary, unquote } from "../../machine/binaries/binaries.ts";
import { noFunction, type KprobeSite } from "../places/kernel-functions.ts";
import { insideKernelFunction, kernelFunctions, kernelSite } from "../places/kernel-code.ts";
import { isInlinedInKernel, kernelPlaceAt, withVariablesAt } from "../places/kernel-places.ts";
import { sourceLines } from "../places/user-listing.ts";
import { kprobe, kretprobe } from "./kprobe.ts";
import { insideUserFunction, namesIn, placeName, UserCode, type FunctionCode } from "../places/function-code.ts";
import type { Place } from "../places/places.ts";
import type { Listed, Provider, Resolution, ResolveOptions } from "../provider.ts";
import { parseCount } from "../quantity.ts";
import { missing, refused, wrongParts } from "../resolution.ts";
import type { Binary, KernelCode, System } from "../../machine/system.ts";
import { bodiesNamed, functionName, noSuchFunction, siteAt } from "../places/user-functions.ts";
import { variantsAt, type FoundPlace } from "../places/user-variants.ts";
import { instructionReasons } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

const usage = "insn:[BINARY:]FUNCTION:(OFFSET|*) or insn:[MODULE:]FUNCTION:(OFFSET|*|entry|return)";
/** How many instructions a warning names. */
const named = 3;

/** What a spec asks for: a function's instruction at an offset (bytes), or all of them; or where it begins or ends. */
interface Wanted {
  /** Absent: the kernel's. */
  readonly binary?: string;
  /** Of the kernel's functions. */
  readonly module?: string;
  readonly function: string;
  readonly offset: Offset | Ends;
}

type Offset = bigint | "all";
type Ends = "entry" | "return";

interface Skipped {
  readonly place: string;
  readonly text: string;
  readonly reason: Reason;
}

export const insn: Provider = {
  name: "insn",
  aliases: ["kinst"],
  inSearches: "never",
  usage,
  doc: "Single instructions of functions, of programs and of the kernel.",
  inFiles: {
    means: (parts) => parse(parts)?.binary !== undefined,
    context: (system) => insideUserFunction("insn", false, system),
  },

  *list(parts, system, { verbose, pid }) {
    const asked = parse(parts);
    if (asked === undefined) return;
    const wanted = placed(asked, pid, system);
    if (wanted.offset === "entry" || wanted.offset === "return") {
      if (wanted.binary === undefined) yield* listEnds(wanted, wanted.offset, verbose, system);
      return;
    }
    if (wanted.binary === undefined) {
      for (const code of kernelFunctions(wanted, system).found)
        yield* listKernelFunction(code, wanted.offset, verbose, system);
      return;
    }
    for (const binary of findBinaries(wanted.binary, pid, system)) {
      if (binary.machine !== "x86-64") continue;
      const code = new UserCode(binary);
      const names = namesIn(binary);
      const bodies = bodiesNamed(binary, functionName(wanted.function));
      for (const place of "problem" in bodies ? [] : bodies) {
        const of = code.at(place);
        if (of === undefined) continue;
        const nameOf = (address: bigint): string | undefined => shownAt(names(address));
        yield* listFunction({
          prefix: `insn:${binary.shownPath}`,
          code: of,
          wanted: wanted.offset,
          verbose,
          refusal: uprobeRefusal,
          nameOf,
          sourceOf: (address) => sourceLines(binary, address),
        });
      }
    }
  },

  resolve(spec, system, options) {
    const asked = parse(spec.parts);
    if (asked === undefined) return wrongParts(spec, usage);
    const wanted = placed(asked, options.pid, system);
    const { binary, offset } = wanted;
    if (offset === "entry" || offset === "return") {
      if (binary === undefined) return endsInKernel(spec, wanted, offset, system, options);
      return refused(
        spec,
        userProbes.endsOfFunctions(binary, wanted.function, offset === "entry" ? "uprobe" : "uretprobe"),
      );
    }
    return binary === undefined
      ? inKernel(spec, wanted, offset, system, options)
      : inPrograms(spec, { binary, function: wanted.function, offset }, system, options);
  },

  ...instructions,
};

/**
 * `FUNCTION:OFFSET`, `BINARY:FUNCTION:OFFSET`; names may have colons. Nothing for an offset means all, and nothing for
 * a module any, as for DTrace's kinst.
 */
function parse(parts: readonly string[]): Wanted | undefined {
  const [first, ...rest] = parts.map(unquote);
  const last = rest.pop();
  if (first === undefined || last === undefined) return undefined;
  const offset = last === "" || last === "*" ? "all" : last === "entry" || last === "return" ? last : parseCount(last);
  if (offset === undefined) return undefined;
  // A path is a program, whose function or offset is missing.
  if (rest.length === 0) return first === "" || first.includes("/") ? undefined : { function: first, offset };
  const name = rest.join(":");
  if (name === "") return undefined;
  return first === "" ? { function: name, offset } : { binary: first, function: name, offset };
}

/** Where no program has the name that stands in front, it may be the kernel's or a module's. */
function placed({ binary, ...rest }: Wanted, pid: number | undefined, system: System): Wanted {
  if (binary === undefined) return rest;
  const ofKernel =
    !binary.includes("/") &&
    (binary === "vmlinux" ||
      (findBinaries(binary, pid, system).length === 0 && (system.loadedModules?.() ?? []).includes(binary)));
  return ofKernel ? { ...rest, module: binary } : { ...rest, binary };
}

interface WantedInProgram {
  readonly binary: string;
  readonly function: string;
  readonly offset: Offset;
}

function inPrograms(spec: ProbeSpec, wanted: WantedInProgram, system: System, options: ResolveOptions): Resolution {
  const binaries = findBinaries(wanted.binary, options.pid, system);
  if (binaries.length === 0) return missing(spec, options, noBinary(wanted.binary));
  const name = functionName(wanted.function);
  const places: FoundPlace[] = [];
  const diagnostics: Diagnostic[] = [];
  let functions = 0;
  for (const binary of binaries) {
    const code = new UserCode(binary);
    const bodies = bodiesNamed(binary, name, options);
    if ("problem" in bodies) {
      // A name that one of many binaries does not know is no mistake.
      if (binaries.length > 1) continue;
      return refused(spec, bodies.problem);
    }
    for (const body of bodies) {
      functions++;
      if (binary.machine !== "x86-64") return refused(spec, userProbes.strobeCanOnlyTellX(binary.shownPath));
      const of = code.at(body);
      if (of === undefined) return refused(spec, userProbes.thereNoCode(body.name, binary.shownPath));
      const found = instructionsOf(of, wanted.offset, uprobeRefusal);
      if ("code" in found) return refused(spec, found);
      for (const { range, offset } of found.places) {
        const place: Place = {
          name: placeName(of, range, offset),
          func: of.name,
          offset: fileOffset(binary, range, offset),
        };
        places.push({ binary, place, site: siteAt(`insn:${binary.shownPath}:${place.name}`, binary, place, false) });
      }
      if (found.skipped.length > 0) diagnostics.push(skippedWarning(spec, of, found.places.length, found.skipped));
    }
  }
  if (functions === 0) return noSuchFunction(spec, binaries, name, options);
  const { variants, diagnostics: left } = variantsAt(
    spec,
    places,
    { provider: "insn", at: "instruction", keeper: "uprobe" },
    system,
    options,
  );
  return { variants, diagnostics: [...diagnostics, ...left] };
}

function inKernel(
  spec: ProbeSpec,
  { module, function: name }: Wanted,
  offset: Offset,
  system: System,
  options: ResolveOptions,
): Resolution {
  const { found: functions, problem } = kernelFunctions({ module, function: name }, system);
  if (functions.length === 0) {
    if (problem !== undefined) return missing(spec, options, placesMessages.codeUnreadable(problem));
    return isInlinedInKernel(name, system)
      ? missing(spec, options, userProbes.onlyCopiesOf(name))
      : noFunction(spec, { module, name }, system, options);
  }
  const sites: SiteRef[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const code of functions) {
    const found = instructionsOf(code, offset, kernelRefusal(code));
    if ("code" in found) return refused(spec, found);
    const wildcard = offset === "all" ? `insn:${code.name}:*` : undefined;
    for (const place of found.places)
      sites.push(kernelSite(`insn:${placeName(code, place.range, place.offset)}`, code, place, wildcard));
    if (found.skipped.length > 0) diagnostics.push(skippedWarning(spec, code, found.places.length, found.skipped));
  }
  const seen = withVariablesAt(spec, insideKernelFunction("insn", system), sites, system, options);
  return { variants: seen.variants, diagnostics: [...diagnostics, ...seen.diagnostics] };
}

/**
 * A function's body is entered and returned from as by kprobe and kretprobe. The ends of its copies go by the functions
 * that they are in.
 */
function endsInKernel(
  spec: ProbeSpec,
  { module, function: name }: Wanted,
  ends: Ends,
  system: System,
  options: ResolveOptions,
): Resolution {
  const provider = ends === "entry" ? kprobe : kretprobe;
  const parts = module === undefined || module === "vmlinux" ? [name] : [module, name];
  const { variants, diagnostics } = provider.resolve({ ...spec, provider: provider.name, parts }, system, options);
  const inCaller = (site: SiteRef): SiteRef => {
    const data = site.data as KprobeSite;
    const at = kernelPlaceAt(data.offset, system)?.within;
    return at === undefined
      ? site
      : { name: `insn:${at.name}:${at.offset}`, func: at.name, data: { ...data, wildcard: spec.text } };
  };
  return {
    variants: variants.map((variant) =>
      // Of a body the kernel tells the function.
      variant.context !== "host" && variant.context.func === "site"
        ? { ...variant, sites: variant.sites.map(inCaller) }
        : variant,
    ),
    diagnostics,
  };
}

function kernelRefusal(code: KernelCode): RefusalOf {
  return (bytes, address) =>
    code.forbidden(address) ? { reason: instructionReasons().forbidden() } : kprobeRefusal(bytes);
}

function fileOffset(binary: Binary, range: CodeRange, offset: number): bigint {
  // The whole range is in one piece of the file: UserCode gives no other.
  return binary.fileOffset(range.address)! + BigInt(offset);
}

/** Why an instruction cannot be probed, by its bytes and its address; undefined when it can. */
type RefusalOf = (bytes: Uint8Array, address: bigint) => Refusal | undefined;

interface Found {
  readonly places: readonly { readonly range: CodeRange; readonly offset: number }[];
  readonly skipped: readonly Skipped[];
}

/** The instructions to probe, and those that cannot be; or why the one that was asked for is not to be had. */
export function instructionsOf(code: FunctionCode, wanted: Offset, refusal: RefusalOf): Found | Message {
  const [body] = code.ranges;
  if (wanted !== "all") return oneInstruction(code.name, body, wanted, refusal);
  const places: { range: CodeRange; offset: number }[] = [];
  const skipped: Skipped[] = [];
  for (const range of code.ranges) {
    const { instructions, brokenAt } = decode(range.bytes);
    for (const [i, { offset, length }] of instructions.entries()) {
      if (isFiller(range.bytes, instructions, i)) continue;
      const refused = refusal(range.bytes.subarray(offset, offset + length), range.address + BigInt(offset));
      if (refused === undefined) places.push({ range, offset });
      else
        skipped.push({
          place: placeName(code, range, offset),
          text: textAt(range, offset, length),
          reason: refused.reason,
        });
    }
    if (brokenAt !== undefined)
      skipped.push({
        place: placeName(code, range, brokenAt),
        text: "",
        reason: instructionReasons().noInstructions(),
      });
  }
  return { places, skipped };
}

function oneInstruction(name: string, body: CodeRange, wanted: bigint, refusal: RefusalOf): Found | Message {
  if (wanted >= BigInt(body.bytes.length)) return placesMessages.onlySoManyBytes(name, body.bytes.length);
  const offset = Number(wanted);
  const { instructions, brokenAt } = decode(body.bytes);
  const within = instructions.findLast((instruction) => instruction.offset <= offset);
  if (within === undefined || (brokenAt !== undefined && offset >= brokenAt))
    return userProbes.noInstructions(name, brokenAt ?? 0);
  if (within.offset !== offset) {
    const next = within.offset + within.length;
    const behind = instructions.some((instruction) => instruction.offset === next) ? `${name}:${next}` : undefined;
    return userProbes.insideInstruction(`${name}:${offset}`, `${name}:${within.offset}`, behind);
  }
  const refused = refusal(body.bytes.subarray(offset, offset + within.length), body.address + wanted);
  if (refused !== undefined && refused.mild !== true)
    return userProbes.instructionNotProbed(textAt(body, offset, within.length), `${name}:${offset}`, refused.reason);
  return { places: [{ range: body, offset }], skipped: [] };
}

function textAt(range: CodeRange, offset: number, length: number): string {
  return (
    disassemble(range.bytes.subarray(offset, offset + length), range.address + BigInt(offset), () => undefined)[0]
      ?.text ?? ""
  );
}

function skippedWarning(
  spec: ProbeSpec,
  { name }: FunctionCode,
  probed: number,
  skipped: readonly Skipped[],
): Diagnostic {
  const some = skipped
    .slice(0, named)
    .map(({ place, text, reason }) => `${place}${text === "" ? "" : ` \`${text}\``}: ${reason}`);
  const more = skipped.length > named ? `; and ${skipped.length - named} more (strobe -lv shows them)` : "";
  return {
    severity: "warning",
    span: spec.span,
    ...userProbes.instructionsCannotProbed(skipped.length, probed + skipped.length, name, some.join("; "), more),
  };
}

/** `f+12` */
function shownAt(at: { readonly name: string; readonly offset: number } | undefined): string | undefined {
  return at && (at.offset === 0 ? at.name : `${at.name}+${at.offset}`);
}

interface InstructionLines {
  readonly prefix: string;
  readonly code: FunctionCode;
  readonly wanted: Offset;
  readonly verbose: boolean;
  readonly refusal: RefusalOf;
  readonly nameOf: (address: bigint) => string | undefined;
  /** Where in the source an address comes from. */
  readonly sourceOf: (address: bigint) => readonly string[];
}

function listKernelFunction(code: KernelCode, wanted: Offset, verbose: boolean, system: System): Iterable<Listed> {
  return listFunction({
    prefix: "insn",
    code,
    wanted,
    verbose,
    refusal: kernelRefusal(code),
    nameOf: (address) => shownAt(code.nameAt(address)),
    sourceOf: (address) => {
      const at = kernelPlaceAt(address, system);
      return at === undefined ? [] : sourceLines(at.binary, at.linked);
    },
  });
}

/** The ends of a function's copies, and its body where it has one. */
function* listEnds(wanted: Wanted, ends: Ends, verbose: boolean, system: System): Iterable<Listed> {
  const spec: ProbeSpec = { provider: "insn", parts: [], text: "", span: { start: 0, end: 0 } };
  const { variants } = endsInKernel(spec, wanted, ends, system, { missing: "ignore", uses: new Set() });
  for (const { name, func = "", data } of variants.flatMap(({ sites }) => sites)) {
    const { offset } = data as KprobeSite;
    const code = name.startsWith("insn:")
      ? kernelFunctions({ function: func }, system).found.find(({ ranges: [{ address, bytes }] }) => {
          return address <= offset && offset < address + BigInt(bytes.length);
        })
      : undefined;
    if (code === undefined || !verbose) yield { probe: name };
    else yield* listKernelFunction(code, offset - code.ranges[0].address, true, system);
  }
}

/** A function's instructions that can be probed; with `verbose` all of them, as the assembler writes them. */
function* listFunction(lines: InstructionLines): Iterable<Listed> {
  const { prefix, code, wanted, verbose, refusal, nameOf, sourceOf } = lines;
  for (const range of code.ranges) {
    const target = (from: number): string | undefined => nameOf(range.address + BigInt(from));
    for (const { offset, length, text } of disassemble(range.bytes, range.address, target)) {
      if (wanted !== "all" && (range !== code.ranges[0] || BigInt(offset) !== wanted)) continue;
      const refused = refusal(range.bytes.subarray(offset, offset + length), range.address + BigInt(offset));
      const probe = `${prefix}:${placeName(code, range, offset)}`;
      if (!verbose) {
        if (refused === undefined) yield { probe };
        continue;
      }
      const problem = refused === undefined ? [] : [`    cannot be probed: ${refused.reason}`];
      yield { probe, details: [`    ${text}`, ...problem, ...sourceOf(range.address + BigInt(offset))] };
    }
  }
}
