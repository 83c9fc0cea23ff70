// Where the calling convention puts arguments and results (System V ABI, AMD64 supplement, section 3.2.3): what is
// known at a function's first instruction, when debug information still names places that nothing was written to yet.
import { atEntry } from "../../debuginfo/entry-locations.ts";
import type { CodeRange } from "../../debuginfo/function-ends.ts";
import { givesAddressBack } from "../../debuginfo/returned-address.ts";
import { framesIn } from "../../debuginfo/prologue.ts";
import type { DebugType, Location, LocationExpression, SourceFunction, Variable } from "../../debuginfo/dwarf/facts.ts";
import type { Fetch, Piece } from "../../language/context.ts";
import { sizeOf } from "../../language/layout.ts";
import { behindTypedefs, bytesOfDebugType, isReference } from "../values/debug-types.ts";
import { displaced, inMemory, inRegister, valueAt, type Seen } from "../values/locations.ts";
import { absent, assembledFrom, type Gap, type Value } from "../values/partial-values.ts";
import { fetchRegister } from "../contexts/registers.ts";
import { rustResultPassing, type Scalar } from "./rust-results.ts";
import { variableReasons } from "../../messages/on-demand.ts";

/** What carries eight bytes of a value: a general register, a vector register, memory. */
type Class = "integer" | "vector" | "memory";

/** Larger values are in memory whatever is in them. */
const largestInRegisters = 16;

/** A function's instructions before its first statement. */
export interface Prologue {
  readonly entry: bigint;
  readonly code: Uint8Array;
}

/**
 * A function's parameters as they are at its first instruction. Debug information is believed where it names registers
 * or constants; a place on the stack is where the value will be once the prologue has run. Where a function keeps to
 * the calling convention, that tells the rest; else its own prologue does, as far as it shows what comes to be there.
 */
export function parametersAtEntry(
  fn: Pick<SourceFunction, "result" | "external" | "language" | "producer" | "altered">,
  parameters: readonly Variable[],
  seen: Seen,
  prologue: () => Prologue | undefined,
): { readonly name: string; readonly value: Value }[] {
  if (fn.language === "go" || seen.registers.machine !== "x86-64") {
    return parameters.map((parameter) => ({
      name: parameter.name,
      value: valueAt(parameter.type, parameter.location(seen.address), seen),
    }));
  }
  const isC = fn.language === "c" || fn.language === "c++";
  if (!isC)
    return parameters.map((parameter) => ({ name: parameter.name, value: shownByPrologue(parameter, seen, prologue) }));
  const convention = keepsConvention(fn);
  const general = seen.registers.callArguments.map((name) => fetchRegister(seen.registers, name));
  let nextGeneral = resultIsInMemory(fn) ? 1 : 0;
  let nextVector = 0;
  let nextStack = seen.registers.stackArguments;
  const stack = fetchRegister(seen.registers, seen.registers.stackPointer);

  return parameters.map((parameter) => {
    const location = parameter.location(seen.address);
    const byReference = isByReference(parameter, location);
    const classes = byReference ? ["integer" as const] : classify(parameter.type);
    const vectors = classes.filter((one) => one === "vector").length;
    const generals = classes.length - vectors;
    const inRegisters =
      !classes.includes("memory") && nextGeneral + generals <= general.length && nextVector + vectors <= 8;
    let parts: (Fetch | undefined)[] = [];
    let words: readonly number[] = [];
    let onStack: Fetch | undefined;
    if (inRegisters) {
      const first = nextGeneral;
      parts = classes.map((one) => (one === "vector" ? undefined : general[nextGeneral++]));
      words = argumentRegisters.slice(first, nextGeneral);
      nextVector += vectors;
    } else {
      const size = byReference ? 8 : bytesOfDebugType(parameter.type);
      const align = alignment(parameter.type) > 8 && !byReference ? 16 : 8;
      // The stack pointer is 8 short of a multiple of 16: the return address is there.
      nextStack = Math.ceil((nextStack - 8) / align) * align + 8;
      onStack = displaced(stack, BigInt(nextStack));
      nextStack += Math.ceil(size / 8) * 8;
    }
    const { name } = parameter;
    if (!convention) {
      return {
        name,
        value: shownByPrologue(
          parameter,
          seen,
          prologue,
          fn.external === true && fn.altered !== true && vectors === 0 ? words : [],
        ),
      };
    }
    const trusted = location.kind !== "memory" || !onFrame(location.address);
    if (trusted) {
      const value = valueAt(parameter.type, location, seen);
      if (value.absent === undefined || fn.external !== true) return { name, value };
    }
    return { name, value: passed(parameter.type, byReference, parts, onStack, seen) };
  });
}

function passed(
  declared: DebugType,
  byReference: boolean,
  parts: readonly (Fetch | undefined)[],
  onStack: Fetch | undefined,
  seen: Seen,
): Value {
  const type = seen.types.typeOf(declared);
  if (byReference) {
    const pointer: Fetch | undefined =
      onStack === undefined
        ? parts[0]
        : { kind: "pointed", base: onStack, offset: 0, size: 8, signed: false, space: seen.space };
    return pointer === undefined ? absent(type) : inMemory(type, pointer, seen);
  }
  const own = behindTypedefs(declared);
  if (isReference(own)) {
    const pointer = onStack === undefined ? parts[0] : inMemory(type, onStack, seen).fetch;
    return pointer === undefined ? absent(type) : inMemory(seen.types.typeOf(own.target()), pointer, seen);
  }
  if (onStack !== undefined) return inMemory(type, onStack, seen);
  return fromRegisters(declared, parts, seen);
}

/** A value in one or two registers; those that probes do not see are undefined. */
function fromRegisters(declared: DebugType, parts: readonly (Fetch | undefined)[], seen: Seen): Value {
  const type = seen.types.typeOf(declared);
  const size = sizeOf(type);
  const pieces: Piece[] = [];
  const gaps: Gap[] = [];
  for (const [i, fetch] of parts.entries()) {
    const [offset, bytes] = [i * 8, Math.min(8, size - i * 8)];
    if (fetch === undefined) gaps.push({ offset, size: bytes, reason: variableReasons().inVector() });
    else pieces.push({ kind: "value", offset, size: bytes, fetch });
  }
  if (gaps.length > 0) return assembledFrom(type, pieces, gaps);
  const [first] = pieces;
  if (first === undefined) return { type, fetch: { kind: "constant", value: 0n }, pieces };
  if (pieces.length === 1 && first.kind === "value") return inRegister(type, first.fetch);
  return { type, fetch: { kind: "constant", value: 0n }, pieces };
}

/**
 * GCC gives a function that it calls in another way a name of its own, as cloned ones have; others change it as it is,
 * and not all say so.
 */
function keepsConvention({
  language,
  producer,
  altered,
}: Pick<SourceFunction, "language" | "producer" | "altered">): boolean {
  return altered !== true && (language === "c" || language === "c++") && producer?.startsWith("GNU ") === true;
}

/** What arguments are passed in, by DWARF's numbers, in order; and a nested function's frame. */
const [argumentRegisters, nestedFrame, firstVector, lastVector] = [[5, 4, 1, 2, 8, 9], 10, 17, 24] as const;

const isArgument = (register: number): boolean =>
  register === nestedFrame || (argumentRegisters as readonly number[]).includes(register);

/**
 * The location of a small struct at the entry of a function that others call, of which debug information has just a
 * part: words are passed whole or, where nothing of them is used, not at all. undefined where it tells nothing more.
 */
function wholeWords(location: Location, words: readonly number[]): Location | undefined {
  if (location.kind !== "pieces") return undefined;
  const known = words.map((): boolean => false);
  let bit = 0;
  for (const piece of location.pieces) {
    const word = Math.floor(bit / 64);
    if (piece.location !== undefined) {
      const inPlace =
        piece.location.kind === "register" &&
        piece.location.register === words[word] &&
        piece.bitOffset === 0 &&
        bit % 64 === 0;
      if (!inPlace) return undefined;
      known[word] = true;
    }
    bit += piece.bits;
  }
  return known.length === 0 || known.includes(false)
    ? undefined
    : {
        kind: "pieces",
        pieces: words.map((register) => ({ bits: 64, bitOffset: 0, location: { kind: "register", register } })),
      };
}

/**
 * A parameter by what the prologue brings to where it is then, or else by where it is at the first instruction.
 * `words`: for `wholeWords`.
 */
function shownByPrologue(
  parameter: Variable,
  seen: Seen,
  asked: () => Prologue | undefined,
  words: readonly number[] = [],
): Value {
  const { type } = parameter;
  const here = parameter.location(seen.address);
  const prologue = asked();
  const was = prologue === undefined ? believed(here) : broughtBy(parameter, here, prologue);
  if (was !== undefined) return valueAt(type, wholeWords(was, words) ?? was, seen);
  return here.kind === "absent"
    ? valueAt(type, here, seen)
    : absent(seen.types.typeOf(type), variableReasons().notYet());
}

/**
 * Where what the prologue brings to a parameter's place was at the first instruction. One place that debug information
 * has for all of a function holds behind the prologue only; where it has several, each holds where it is said to.
 */
function broughtBy(parameter: Variable, here: Location, { entry, code }: Prologue): Location | undefined {
  const bytes = bytesOfDebugType(parameter.type);
  const behind = parameter.location(entry + BigInt(code.length));
  let was = isSame(here, behind) ? undefined : believed(here);
  for (const { offset, frame } of framesIn(code)) {
    const location = offset === code.length ? behind : parameter.location(entry + BigInt(offset));
    if (offset === code.length || (!isOnFrame(location) && !isSame(location, behind)))
      was = atEntry(location, bytes, frame) ?? was;
  }
  return was;
}

function isSame(one: Location, other: Location): boolean {
  // Constants and what was optimised away are nowhere that a prologue could change.
  if (one.kind === "constant" || one.kind === "implicit-pointer" || one.kind !== other.kind) return false;
  return one === other || plainText(one) === plainText(other);
}

function plainText(location: Location): string {
  return JSON.stringify(location, (key, value: unknown) =>
    key === "target" ? undefined : typeof value === "bigint" ? `${value}` : value,
  );
}

export function isOnFrame(location: Location): boolean {
  switch (location.kind) {
    case "memory":
      return onFrame(location.address);
    case "value":
      return onFrame(location.value);
    case "pieces":
      return location.pieces.some((piece) => piece.location !== undefined && isOnFrame(piece.location));
    case "register":
    case "constant":
    case "implicit-pointer":
    case "absent":
      return false;
  }
}

const believed = (location: Location): Location | undefined => (isPassed(location) ? location : undefined);

/** Whether callers can have put it there: registers that they do not use hold something else yet. */
function isPassed(location: Location): boolean {
  switch (location.kind) {
    case "register":
      return isArgument(location.register) || (location.register >= firstVector && location.register <= lastVector);
    case "memory":
      return usesArgumentsOnly(location.address);
    case "value":
      return usesArgumentsOnly(location.value);
    case "pieces":
      return location.pieces.every((piece) => piece.location === undefined || isPassed(piece.location));
    case "constant":
    case "implicit-pointer":
      return true;
    case "absent":
      return false;
  }
}

function usesArgumentsOnly(expression: LocationExpression): boolean {
  switch (expression.kind) {
    case "register":
      return isArgument(expression.register);
    case "at-entry":
      return usesArgumentsOnly(expression.value);
    case "load":
      return usesArgumentsOnly(expression.address);
    case "unary":
      return usesArgumentsOnly(expression.operand);
    case "binary":
      return usesArgumentsOnly(expression.left) && usesArgumentsOnly(expression.right);
    case "constant":
    case "static":
    case "thread-local":
      return true;
  }
}

/** A value of scalars in registers, each where it is in memory. */
function ofScalars(declared: DebugType, scalars: readonly (readonly [Scalar, Fetch | undefined])[], seen: Seen): Value {
  const own = behindTypedefs(declared);
  const pieces: Piece[] = [];
  for (const [{ offset, bytes }, fetch] of scalars) {
    if (fetch === undefined) return absent(seen.types.typeOf(declared), variableReasons().inVector());
    pieces.push({ kind: "value", offset, size: bytes, fetch });
  }
  const [first] = pieces;
  if (isReference(own) && first?.kind === "value") return inMemory(seen.types.typeOf(own.target()), first.fetch, seen);
  const type = seen.types.typeOf(declared);
  if (first?.kind === "value" && type.kind !== "struct" && type.kind !== "array") return inRegister(type, first.fetch);
  return { type, fetch: { kind: "constant", value: 0n }, pieces };
}

type Returning = Pick<SourceFunction, "result" | "language" | "producer" | "altered" | "linkageName">;

/** What a function returns, when it has returned; undefined for void. `code` gives what there is of its own. */
export function resultOf(fn: Returning, seen: Seen, code: () => readonly CodeRange[]): Value | undefined {
  const { registers } = seen;
  const { result } = fn;
  if (result === undefined || behindTypedefs(result).kind === "void") return undefined;
  if (registers.machine !== "x86-64") return valueAt(result, { kind: "register", register: 0 }, seen);
  if (fn.altered === true) return absent(seen.types.typeOf(result), variableReasons().alteredResult());
  if (fn.language !== "rust") return resultAsC({ ...fn, result }, seen, code);
  const value = rustResult({ ...fn, result }, seen, code);
  // What others call by its plain name is C's, as a rule.
  if (/^_ZN|^_R/.test(fn.linkageName ?? "") || isAlike(value, resultAsC({ ...fn, result }, seen, code))) return value;
  return absent(value.type, variableReasons().rustOrC());
}

/** Whether each part of a value is where another has it, too. */
function isAlike(one: Value, other: Value): boolean {
  const text = (fetch: Fetch): string =>
    JSON.stringify(fetch, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
  if (one.absent !== undefined || other.absent !== undefined) return one.absent !== undefined;
  if (one.pieces === undefined) return other.pieces === undefined && text(one.fetch) === text(other.fetch);
  return one.pieces.every(
    (piece) =>
      other.pieces?.some(
        (same) =>
          piece.kind === "value" &&
          same.kind === "value" &&
          piece.offset === same.offset &&
          piece.size <= same.size &&
          text(piece.fetch) === text(same.fetch),
      ) === true,
  );
}

function resultAsC(
  fn: Returning & { readonly result: DebugType },
  seen: Seen,
  code: () => readonly CodeRange[],
): Value {
  const { result } = fn;
  const first = fetchRegister(seen.registers, seen.registers.result);
  // The address of what the caller made room for comes back as a pointer would.
  if (resultIsInMemory(fn))
    return keepsConvention(fn) || givesAddressBack(code())
      ? inMemory(seen.types.typeOf(result), first, seen)
      : absent(seen.types.typeOf(result), variableReasons().addressKept());
  const own = behindTypedefs(result);
  if (isReference(own)) return inMemory(seen.types.typeOf(own.target()), first, seen);
  const general = [first, fetchRegister(seen.registers, "dx")];
  let next = 0;
  return fromRegisters(
    result,
    classify(result).map((one) => (one === "vector" ? undefined : general[next++])),
    seen,
  );
}

function rustResult(
  { result, producer }: Pick<SourceFunction, "producer"> & { readonly result: DebugType },
  seen: Seen,
  code: () => readonly CodeRange[],
): Value {
  const registers = [seen.registers.result, "dx"].map((name) => fetchRegister(seen.registers, name));
  const way = rustResultPassing(result, producer);
  const type = seen.types.typeOf(result);
  switch (way.by) {
    case "address":
      return givesAddressBack(code())
        ? inMemory(type, registers[0], seen)
        : absent(type, variableReasons().addressKept());
    case "bytes":
      return fromRegisters(result, registers.slice(0, Math.ceil(bytesOfDebugType(result) / 8)), seen);
    case "scalars": {
      let at = 0;
      return ofScalars(
        result,
        way.scalars.map((scalar) => [scalar, scalar.float ? undefined : registers[at++]]),
        seen,
      );
    }
    case "unknown":
      return absent(type, way.reason);
  }
}

function resultIsInMemory({ result }: Pick<SourceFunction, "result">): boolean {
  if (result === undefined) return false;
  const own = behindTypedefs(result);
  // x87 has a register of its own for `long double`.
  if (own.kind === "base") return false;
  return hasOwnCopying(result) || classify(result).includes("memory");
}

/**
 * A class that must be copied by its own constructor is passed by its address: at its home is the address of it, not
 * the value.
 */
function isByReference({ type }: Variable, location: Location): boolean {
  if (behindTypedefs(type).kind !== "struct") return false;
  return hasOwnCopying(type) || (location.kind === "memory" && location.address.kind === "load");
}

/** A class with a copy constructor or a destructor of its own, or a part that has: it cannot be copied byte by byte. */
function hasOwnCopying(type: DebugType, depth = 0): boolean {
  const own = behindTypedefs(type);
  if (own.kind === "array") return hasOwnCopying(own.element(), depth + 1);
  if (own.kind !== "struct" || depth > 16) return false;
  return (
    own.byReference === true ||
    (own.cpp === true &&
      own.members().some((member) => member.name.startsWith("_vptr") || hasOwnCopying(member.type(), depth + 1)))
  );
}

/** Relative to the frame, which is not there yet. */
export function onFrame(expression: LocationExpression): boolean {
  switch (expression.kind) {
    case "register":
      return expression.register === 6 || expression.register === 7;
    case "load":
      return onFrame(expression.address);
    case "unary":
      return onFrame(expression.operand);
    case "binary":
      return onFrame(expression.left) || onFrame(expression.right);
    case "constant":
    case "static":
    case "at-entry":
    case "thread-local":
      return false;
  }
}

/** The classes of a value's eightbytes; `["memory"]` when it is not passed in registers. */
export function classify(declared: DebugType): readonly Class[] {
  const size = bytesOfDebugType(declared);
  if (size === 0) return [];
  const own = behindTypedefs(declared);
  if (size > largestInRegisters) return ["memory"];
  const classes: (Class | undefined)[] = Array.from({ length: Math.ceil(size / 8) });
  if (!merge(classes, own, 0)) return ["memory"];
  return classes.map((one) => one ?? "integer");
}

/** Takes a value at an offset into the classes; false when it makes the whole one of memory. */
function merge(classes: (Class | undefined)[], type: DebugType, offset: number, depth = 0): boolean {
  if (depth > 16) return false;
  const own = behindTypedefs(type);
  switch (own.kind) {
    case "void":
    case "function":
      return true;
    case "struct": {
      const members =
        own.variants?.() === undefined
          ? own.members()
          : [...own.members(), ...own.variants()!.variants.map(({ member }) => member)];
      return members.every((member) => {
        const bytes = offset + member.offset + Math.floor((member.bitOffset ?? 0) / 8);
        if (member.bitWidth !== undefined) return set(classes, bytes, 1, "integer");
        const align = alignment(member.type());
        return bytes % align === 0 && merge(classes, member.type(), bytes, depth + 1);
      });
    }
    case "array": {
      const element = own.element();
      const size = bytesOfDebugType(element);
      const count = own.lengths.reduce((product, length) => product * length, 1);
      for (let i = 0; i < (size > 0 ? count : 0); i++)
        if (!merge(classes, element, offset + i * size, depth + 1)) return false;
      return true;
    }
    case "base": {
      if (own.encoding === "float" || own.encoding === "complex") {
        // long double is x87's.
        if (own.bytes / (own.encoding === "complex" ? 2 : 1) > 8) return false;
        return set(classes, offset, own.bytes, "vector");
      }
      return set(classes, offset, own.bytes, "integer");
    }
    default:
      return set(classes, offset, bytesOfDebugType(own), "integer");
  }
}

function set(classes: (Class | undefined)[], offset: number, bytes: number, to: Class): boolean {
  for (let i = Math.floor(offset / 8); i < Math.ceil((offset + Math.max(1, bytes)) / 8); i++) {
    if (i >= classes.length) return false;
    classes[i] = classes[i] === "integer" ? "integer" : to;
  }
  return true;
}

/** The natural alignment of a type: that of its most aligned part. */
function alignment(type: DebugType, depth = 0): number {
  const own = behindTypedefs(type);
  if (depth > 16) return 1;
  switch (own.kind) {
    case "struct":
      return Math.max(
        1,
        ...own
          .members()
          .filter((member) => member.bitWidth === undefined)
          .map((member) => alignment(member.type(), depth + 1)),
      );
    case "array":
      return alignment(own.element(), depth + 1);
    case "base":
      return own.encoding === "complex" ? own.bytes / 2 : Math.max(1, own.bytes);
    default:
      return Math.max(1, bytesOfDebugType(own));
  }
}
