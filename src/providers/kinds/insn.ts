// insn: single instructions of functions, all of them or the one at an offset. In programs by uprobe, in the kernel by
// kprobe.
import { userProbes } from "../../messages/user-probes.ts";
import { says } from "../../messages/message.ts";
import { decode, disassemble, isFiller } from "../../debuginfo/instructions.ts";
import { uprobeRefusal, type Refusal } from "../../debuginfo/uprobe-refusals.ts";
import type { CodeRange } from "../../debuginfo/function-ends.ts";
import type { SiteRef } from "../../language/resolved-probe.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { instructions } from "../attaching/attachers.ts";
import { findBinaries, noBinary, unquote } from "../../machine/binaries/binaries.ts";
import { functionPattern, noFunction } from "../places/kernel-functions.ts";
import { insideKernelFunction, kernelFunctions, kernelSite } from "../places/kernel-code.ts";
import {
  insideUserFunction,
  namesIn,
  placeName,
  UserCode,
  variantsByFunction,
  type FunctionCode,
} from "../places/function-code.ts";
import type { Place } from "../places/places.ts";
import type { Listed, Provider, Resolution, ResolveOptions } from "../provider.ts";
import { parseCount } from "../quantity.ts";
import { missing, refused, wrongParts } from "../resolution.ts";
import type { Binary, KernelCode, System } from "../../machine/system.ts";
import { bodiesNamed, functionName, noSuchFunction, siteAt } from "../places/user-functions.ts";
import { variantsAt, type FoundPlace } from "../places/user-variants.ts";
import { Failure } from "../../base/failure.ts";

const usage = "insn:[BINARY:]FUNCTION:(OFFSET|*)";
/** How many instructions a warning names. */
const named = 3;

/** What a spec asks for: a function's instruction at an offset (bytes), or all of them. */
interface Wanted {
  /** Absent: the kernel's. */
  readonly binary?: string;
  readonly function: string;
  readonly offset: bigint | "all";
}

interface Skipped {
  readonly place: string;
  readonly text: string;
  readonly reason: string;
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
    const wanted = parse(parts);
    if (wanted === undefined) return;
    if (wanted.binary === undefined) {
      for (const code of kernelFunctions(wanted.function, system).found) {
        const lines: InstructionLines = {
          prefix: "insn",
          code,
          wanted: wanted.offset,
          verbose,
          refusal: kernelRefusal(code),
          nameOf: (address) => shownAt(code.nameAt(address)),
        };
        yield* listFunction(lines);
      }
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
        });
      }
    }
  },

  resolve(spec, system, options) {
    const wanted = parse(spec.parts);
    if (wanted === undefined) return wrongParts(spec, usage);
    return wanted.binary === undefined
      ? inKernel(spec, wanted, system, options)
      : inPrograms(spec, { ...wanted, binary: wanted.binary }, system, options);
  },

  ...instructions,
};

/**
 * `FUNCTION:OFFSET`, `BINARY:FUNCTION:OFFSET`; names may have colons. Nothing for an offset means all, as for DTrace's
 * kinst.
 */
function parse(parts: readonly string[]): Wanted | undefined {
  const [first, ...rest] = parts.map(unquote);
  const last = rest.pop();
  if (first === undefined || first === "" || last === undefined) return undefined;
  const offset = last === "" || last === "*" ? "all" : parseCount(last);
  if (offset === undefined) return undefined;
  // A path is a program, whose function or offset is missing.
  if (rest.length === 0) return first.includes("/") ? undefined : { function: first, offset };
  return rest.join(":") === "" ? undefined : { binary: first, function: rest.join(":"), offset };
}

function inPrograms(spec: ProbeSpec, wanted: Required<Wanted>, system: System, options: ResolveOptions): Resolution {
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
      return refused(spec, says("arguments", bodies.problem, bodies.help));
    }
    for (const body of bodies) {
      functions++;
      if (binary.machine !== "x86-64") return refused(spec, userProbes.strobeCanOnlyTellX(binary.shownPath));
      const of = code.at(body);
      if (of === undefined) return refused(spec, userProbes.thereNoCode(body.name, binary.shownPath));
      const found = instructionsOf(of, wanted.offset, uprobeRefusal);
      if (found instanceof Failure) return refused(spec, says("arguments", found.reason));
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

function inKernel(spec: ProbeSpec, wanted: Wanted, system: System, options: ResolveOptions): Resolution {
  const { found: functions, problem } = kernelFunctions(wanted.function, system);
  if (functions.length === 0)
    return problem === undefined
      ? noFunction(spec, functionPattern([wanted.function]), system, options)
      : missing(spec, options, says("feature", problem));
  const sites: SiteRef[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const code of functions) {
    const found = instructionsOf(code, wanted.offset, kernelRefusal(code));
    if (found instanceof Failure) return refused(spec, says("arguments", found.reason));
    const wildcard = wanted.offset === "all" ? `insn:${code.name}:*` : undefined;
    for (const { range, offset } of found.places)
      sites.push(kernelSite(`insn:${placeName(code, range, offset)}`, code, range, offset, wildcard));
    if (found.skipped.length > 0) diagnostics.push(skippedWarning(spec, code, found.places.length, found.skipped));
  }
  return { variants: variantsByFunction(insideKernelFunction("insn", system), sites, options), diagnostics };
}

/**
 * What the kernel says at once; the places that it patches at run time (jump labels, static calls) it refuses when
 * asked.
 */
function kernelRefusal(code: KernelCode): RefusalOf {
  return (bytes, address) => {
    if (code.forbidden(address)) return { reason: "the kernel must not be probed there" };
    if (bytes[0] === 0xcc) return { reason: "it is a breakpoint itself" };
    return bytes[0] === 0x0f && bytes[1] === 0x0b
      ? { reason: "it is where a warning or a bug of the kernel traps" }
      : undefined;
  };
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
export function instructionsOf(code: FunctionCode, wanted: bigint | "all", refusal: RefusalOf): Found | Failure {
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
        reason: "from there on the bytes are no instructions",
      });
  }
  return { places, skipped };
}

function oneInstruction(name: string, body: CodeRange, wanted: bigint, refusal: RefusalOf): Found | Failure {
  if (wanted >= BigInt(body.bytes.length)) return new Failure(`\`${name}\` has only ${body.bytes.length} bytes`);
  const offset = Number(wanted);
  const { instructions, brokenAt } = decode(body.bytes);
  const within = instructions.findLast((instruction) => instruction.offset <= offset);
  if (within === undefined || (brokenAt !== undefined && offset >= brokenAt))
    return new Failure(`the bytes of \`${name}\` are no instructions from ${brokenAt ?? 0} on`);
  if (within.offset !== offset)
    return new Failure(`${name}:${offset} is inside an instruction, which begins at ${name}:${within.offset}`);
  const refused = refusal(body.bytes.subarray(offset, offset + within.length), body.address + wanted);
  if (refused !== undefined && refused.mild !== true)
    return new Failure(
      `\`${textAt(body, offset, within.length)}\` at ${name}:${offset} cannot be probed: ${refused.reason}`,
    );
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
  readonly wanted: bigint | "all";
  readonly verbose: boolean;
  readonly refusal: RefusalOf;
  readonly nameOf: (address: bigint) => string | undefined;
}

/** A function's instructions that can be probed; with `verbose` all of them, as the assembler writes them. */
function* listFunction({ prefix, code, wanted, verbose, refusal, nameOf }: InstructionLines): Iterable<Listed> {
  for (const range of code.ranges) {
    const target = (from: number): string | undefined => nameOf(range.address + BigInt(from));
    for (const { offset, length, text } of disassemble(range.bytes, range.address, target)) {
      if (wanted !== "all" && (range !== code.ranges[0] || BigInt(offset) !== wanted)) continue;
      const refused = refusal(range.bytes.subarray(offset, offset + length), range.address + BigInt(offset));
      const probe = `${prefix}:${placeName(code, range, offset)}`;
      if (!verbose) {
        if (refused === undefined) yield { probe };
      } else yield { probe, details: [`    ${text}`, ...(refused ? [`    cannot be probed: ${refused.reason}`] : [])] };
    }
  }
}
