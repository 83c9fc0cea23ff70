// What a provider says of how a value is fetched, in the words of the kernel's dynamic events
// (Documentation/trace/kprobetrace.rst, uprobetracer.rst): `%di`, `+8(%di)`, `+u0(+8(%si)):ustring`.
import { Failure } from "../../base/failure.ts";
import type { Fetch } from "../../language/context.ts";
import type { AddressSpace } from "../../language/types.ts";
import { registersOf, type Machine } from "../../machine/contexts/registers.ts";
import { tracefsReasons } from "../../messages/tracefs.ts";

/** Where an event is defined: whose registers it has, and which memory plain reads are of. */
export interface EventPlace {
  readonly machine: Machine;
  /** On a function of a program: all memory is that program's. */
  readonly inProgram: boolean;
  /** What the event calls the bytes at an offset of its context, where that is not registers: `$arg1`, `$prev_pid`. */
  readonly named?: ((offset: number) => string | Failure | undefined) | undefined;
  /** The thread's name, where `$comm` may be a field. */
  readonly comm?: string;
}

/** A fetch argument without its name: `words:type`. */
export interface FetchWords {
  readonly words: string;
  readonly type: string;
}

/** A number. @returns why an event cannot fetch it */
export function numberWords(fetch: Fetch, place: EventPlace): FetchWords | Failure {
  switch (fetch.kind) {
    case "narrow": {
      const of = numberWords(fetch.of, place);
      // The low bytes come first in memory, and a type cuts a register.
      return of instanceof Failure ? of : { ...of, type: numberType(fetch) };
    }
    case "context":
    case "pointed": {
      const words = valueWords(fetch, place);
      return words instanceof Failure ? words : { words, type: numberType(fetch) };
    }
    default: {
      const words = valueWords(fetch, place);
      return words instanceof Failure ? words : { words, type: "u64" };
    }
  }
}

/** A text that is terminated; `address` fetches where it begins. */
export function textWords(address: Fetch, space: AddressSpace, place: EventPlace): FetchWords | Failure {
  const words = memoryWords(address, space, place);
  return words instanceof Failure ? words : { words, type: inUser(space, place) ? "ustring" : "string" };
}

/** MAX_ARRAY_LEN of kernel/trace/trace_probe.h. */
const mostElements = 64;

/** `size` bytes at an address. */
export function bytesWords(address: Fetch, size: number, space: AddressSpace, place: EventPlace): FetchWords | Failure {
  const word = [8, 4, 2, 1].find((one) => size % one === 0) ?? 1;
  const count = size / word;
  if (count > mostElements) return new Failure(tracefsReasons.bytesAtOnce(size, mostElements));
  const words = memoryWords(address, space, place);
  return words instanceof Failure ? words : { words, type: `u${word * 8}[${count}]` };
}

function numberType({ size, signed }: { readonly size: number; readonly signed: boolean }): string {
  return `${signed ? "s" : "u"}${size * 8}`;
}

/** Of a program's places all memory is the program's, whatever it is called. */
function inUser(space: AddressSpace | "typed", place: EventPlace): boolean {
  return space === "user" && !place.inProgram;
}

/** A whole word: a register, or 8 bytes of memory. */
function valueWords(fetch: Fetch, place: EventPlace): string | Failure {
  switch (fetch.kind) {
    case "context":
      return registerWords(fetch.offset, place);
    case "pointed": {
      if (fetch.index !== undefined) return new Failure(tracefsReasons.computedElement());
      return memoryWords({ kind: "address", base: fetch.base, offset: fetch.offset }, fetch.space, place);
    }
    case "constant":
      return `\\${BigInt.asIntN(64, fetch.value)}`;
    case "address":
      if (fetch.offset === 0 && fetch.base !== "context") return valueWords(fetch.base, place);
      return new Failure(tracefsReasons.computedAddress());
    case "narrow":
      return new Failure(tracefsReasons.partOnTheWay());
    case "binary":
      return new Failure(tracefsReasons.computedOnTheWay());
    case "task":
      return new Failure(tracefsReasons.currentTask());
    case "function":
      return new Failure(tracefsReasons.functionAddress());
    case "data-location":
      return new Failure(tracefsReasons.fieldText());
    case "kept":
      return new Failure(tracefsReasons.valueOfEntry());
  }
}

function registerWords(offset: number, { machine, named }: EventPlace): string | Failure {
  if (named !== undefined) return named(offset) ?? new Failure(tracefsReasons.partOfField());
  for (const [name, at] of registersOf(machine).offsets) {
    // `pc` and `lr` are second names.
    if (at === offset && name !== "pc") return machine === "arm64" ? `%${name.replace(/^r(?=\d)/, "x")}` : `%${name}`;
  }
  return new Failure(tracefsReasons.partOfRegister());
}

/** What lies at an address. */
function memoryWords(address: Fetch, space: AddressSpace | "typed", place: EventPlace): string | Failure {
  if (place.inProgram && space !== "user") return new Failure(tracefsReasons.kernelMemory());
  const { base, offset } = placeOf(address);
  if (base === undefined) return new Failure(tracefsReasons.recordMemory());
  if (base.kind === "constant") {
    if (inUser(space, place)) return new Failure(tracefsReasons.fixedUserAddress());
    return `@0x${BigInt.asUintN(64, base.value + BigInt(offset)).toString(16)}`;
  }
  if ((base.kind === "context" || base.kind === "pointed") && base.size < 8)
    return new Failure(tracefsReasons.narrowPointer());
  const words = valueWords(base, place);
  if (words instanceof Failure) return words;
  return `${offset < 0 ? "-" : "+"}${inUser(space, place) ? "u" : ""}${Math.abs(offset)}(${words})`;
}

/** An address as what is fetched, and bytes from there; no base: within the record. */
function placeOf(address: Fetch): { readonly base: Fetch | undefined; readonly offset: number } {
  if (address.kind === "address") {
    if (address.base === "context") return { base: undefined, offset: address.offset };
    const { base, offset } = placeOf(address.base);
    return { base, offset: offset + address.offset };
  }
  if (address.kind === "binary" && (address.operator === "+" || address.operator === "-")) {
    const { left, right, operator } = address;
    if (right.kind === "constant") {
      const { base, offset } = placeOf(left);
      return { base, offset: offset + Number(BigInt.asIntN(64, right.value)) * (operator === "-" ? -1 : 1) };
    }
    if (left.kind === "constant" && operator === "+") return placeOf({ ...address, left: right, right: left });
  }
  return { base: address, offset: 0 };
}
