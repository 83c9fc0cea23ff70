// Where functions return by their own code: their return instructions, and what is to be said of the other ways out of
// them.
//
// At a jump to another function (a tail call) nothing is returned yet: the function that is jumped to returns to the
// caller. Such exits are said, not counted.
import { places as placesMessages } from "../../messages/places.ts";
import { functionEnds, type FunctionEnds } from "../../debuginfo/function-ends.ts";
import type { Diagnostic } from "../../language/diagnostic.ts";
import type { ProbeSpec } from "../../language/probe-spec.ts";
import { namesIn, UserCode, type FunctionCode } from "./function-code.ts";
import type { Resolution, ResolveOptions } from "../provider.ts";
import { missing } from "../resolution.ts";
import type { Place } from "./places.ts";
import type { Binary } from "../../machine/system.ts";
import type { Message } from "../../messages/message.ts";

/** How many functions a warning names. */
const named = 3;

/** A function, how it ends, and where its tail calls go, by name. */
export interface Ending extends FunctionEnds {
  readonly name: string;
  readonly others: readonly string[];
}

export const throughPointer = "a function through a pointer";

export function ending(name: string, ends: FunctionEnds, nameOf: (address: bigint) => string | undefined): Ending {
  const others = ends.tailCalls.map(({ to }) =>
    to === undefined ? throughPointer : (nameOf(to) ?? `0x${to.toString(16)}`),
  );
  return { ...ends, name, others: [...new Set(others)] };
}

/** The return instructions of a program's functions. */
export class ReturnPlaces {
  readonly #binary: Binary;
  readonly #code: UserCode;
  readonly #names: ReturnType<typeof namesIn>;

  constructor(binary: Binary) {
    this.#binary = binary;
    this.#code = new UserCode(binary);
    this.#names = namesIn(binary);
  }

  /** How the function that begins at a place ends; undefined where the file has no code for it. */
  ending(place: Place): { readonly code: FunctionCode; readonly ending: Ending } | undefined {
    const code = this.#code.at(place);
    return (
      code && { code, ending: ending(code.name, functionEnds(code.ranges), (address) => this.#names(address)?.name) }
    );
  }

  /** The same, and its return instructions as places. */
  of(place: Place): { readonly ending: Ending; readonly places: readonly Place[] } | undefined {
    const found = this.ending(place);
    if (found === undefined) return undefined;
    const places = found.ending.returns.flatMap((address): Place[] => {
      const offset = this.#binary.fileOffset(address);
      return offset === undefined
        ? []
        : [{ name: place.name, func: place.func ?? place.name, offset, returnsFrom: place.offset }];
    });
    return { ending: found.ending, places };
  }
}

/**
 * What to say when what was asked for has nothing to probe. `instead`: what sees the caller's side, where there is such a
 * thing.
 */
export function noReturns(
  spec: ProbeSpec,
  options: ResolveOptions,
  endings: readonly Ending[],
  prefix: string,
  instead: string,
): Resolution {
  const [only] = endings;
  if (endings.length > 1)
    return missing(spec, options, placesMessages.noneFunctionsMatchReturnInstruction(endings.length));
  const to = only.others.filter((name) => name !== throughPointer && !/@plt$|^0x/.test(name));
  if (only.others.length === 0)
    return missing(spec, options, placesMessages.noReturnInstructionNeverReturns(only.name));
  return missing(
    spec,
    options,
    placesMessages.noReturnInstructionEndsJump(
      only.name,
      only.others.map(quote).join(", "),
      to.length > 0 ? `probe ${to.map((name) => prefix + name).join(", ")}, or ` : "",
      instead,
    ),
  );
}

/** Warnings about exits that are not seen. */
export function otherEnds(spec: ProbeSpec, endings: readonly Ending[], instead: string): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const warn = (message: Message): void => void diagnostics.push({ severity: "warning", span: spec.span, ...message });
  const jumping = endings.filter(({ others }) => others.length > 0);
  if (jumping.length > 0) {
    const some = jumping
      .slice(0, named)
      .map(
        ({ name, others }) =>
          `\`${name}\` to ${others.slice(0, named).map(quote).join(", ")}${others.length > named ? " …" : ""}`,
      )
      .join("; ");
    const more = jumping.length > named ? `; and ${jumping.length - named} more functions` : "";
    warn(placesMessages.callsEndElsewhere(`${some}${more}`, instead));
  }
  for (const { name, brokenAt } of endings) {
    if (brokenAt !== undefined) warn(placesMessages.bytesOfNoInstruction(name, `0x${brokenAt.toString(16)}`));
  }
  return diagnostics;
}

function quote(name: string): string {
  return name === throughPointer ? name : `\`${name}\``;
}
