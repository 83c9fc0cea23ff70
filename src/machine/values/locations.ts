// Where debug information says that a variable is, as something that a handler can fetch.
import type { DebugType, Location, LocationExpression, Variable } from "../../debuginfo/dwarf/facts.ts";
import type { Fetch, Piece } from "../../language/context.ts";
import { sizeOf } from "../../language/layout.ts";
import { isScalar, type AddressSpace, type Type } from "../../language/types.ts";
import { behindTypedefs, isReference, type DebugTypes } from "./debug-types.ts";
import { absent, assembledFrom, type Gap, type Value } from "./partial-values.ts";
import { fetchRegister, type RegisterFile } from "../contexts/registers.ts";
import { Failure } from "../../base/failure.ts";
import { variableReasons } from "../../messages/on-demand.ts";

/** A place of a program, as its variables are seen from. A string says why something cannot be told. */
export interface Seen {
  /** The instruction's address in the binary. */
  readonly address: bigint;
  readonly registers: RegisterFile;
  readonly space: AddressSpace;
  readonly types: DebugTypes;
  /** Where an address of the binary was loaded. */
  loaded(address: bigint): Fetch | Failure;
  /** Where an offset into the binary's thread-local storage is, for the current thread. */
  threadLocal(offset: bigint): Fetch | Failure;
  /** What is kept of the call's beginning; absent where nothing is. */
  atEntry?(expression: AtEntry): Fetch | Failure;
}

export type AtEntry = Extract<LocationExpression, { kind: "at-entry" }>;

/** Of what only the call's beginning tells, where nothing is kept of it. */
const onlyAtEntry = new Failure(variableReasons().onlyCalledWith());

// DWARF's numbers (System V ABI, AMD64 supplement, figure 3.36; DWARF for the Arm 64-bit architecture, section 4.1).
const x86Registers = [
  "ax",
  "dx",
  "cx",
  "bx",
  "si",
  "di",
  "bp",
  "sp",
  "r8",
  "r9",
  "r10",
  "r11",
  "r12",
  "r13",
  "r14",
  "r15",
  "ip",
];
const armRegisters = [...Array.from({ length: 31 }, (_, i) => `r${i}`), "sp"];

/** Values beyond this are not put together from pieces, nor copied out of debug information. */
const largestAssembled = 1 << 12;
/** Expressions nest as deep as a compiler made them; damaged ones could nest deeper. */
const deepest = 64;

/** Probes are given the general registers alone. */
export function register(seen: Seen, number: number): Fetch | Failure {
  const name = (seen.registers.machine === "x86-64" ? x86Registers : armRegisters)[number];
  return name === undefined ? new Failure(variableReasons().inVector()) : fetchRegister(seen.registers, name);
}

/** The value of a variable at a place. A C++ reference is what it refers to. */
export function valueOf(variable: Variable, seen: Seen): Value {
  return valueAt(variable.type, variable.location(seen.address), seen);
}

export function valueAt(declared: DebugType, location: Location, seen: Seen): Value {
  const type = behindTypedefs(declared);
  if (!isReference(type)) return plainValue(seen.types.typeOf(declared), location, seen);
  const target = type.target();
  if (location.kind === "implicit-pointer") return behind(location, target, seen);
  const pointer = plainValue(seen.types.typeOf(type), location, seen);
  if (pointer.absent !== undefined || pointer.pieces !== undefined)
    return {
      ...absent(seen.types.typeOf(target)),
      ...(pointer.absent === undefined ? {} : { absent: pointer.absent }),
    };
  return inMemory(seen.types.typeOf(target), pointer.fetch, seen);
}

/** A value at an address. */
export function inMemory(type: Type, address: Fetch, { space }: Pick<Seen, "space">): Value {
  const size = scalarSize(type);
  if (size === undefined) return { type, fetch: address, place: space };
  const signed = (type.kind === "integer" || type.kind === "enum") && type.signed;
  const [base, offset] =
    address.kind === "address" && address.base !== "context" ? [address.base, address.offset] : [address, 0];
  return { type, fetch: { kind: "pointed", base, offset, size, signed, space }, place: space };
}

/** A value in a register, or computed. */
export function inRegister(type: Type, fetch: Fetch): Value {
  if (scalarSize(type) !== undefined) return { type, fetch };
  const size = sizeOf(type);
  if (size > 8) return absent(type, variableReasons().registerTooSmall());
  return { type, fetch, pieces: [{ kind: "value", offset: 0, size, fetch }] };
}

/** Bytes of what fits a register whole. */
function scalarSize(type: Type): 1 | 2 | 4 | 8 | undefined {
  if (!isScalar(type) && type.kind !== "named") return undefined;
  const size = sizeOf(type);
  return size === 1 || size === 2 || size === 4 || size === 8 ? size : undefined;
}

/**
 * What a pointer variable points to that has no value itself, since an optimiser knew what that would be; undefined for
 * others.
 */
export function targetOf(variable: Variable, seen: Seen): Value | undefined {
  const type = behindTypedefs(variable.type);
  const location = variable.location(seen.address);
  return location.kind === "implicit-pointer" && type.kind === "pointer"
    ? behind(location, type.target(), seen)
    : undefined;
}

function behind(
  { target, offset }: Extract<Location, { kind: "implicit-pointer" }>,
  type: DebugType,
  seen: Seen,
): Value {
  const whole = target?.location(seen.address);
  const from = whole === undefined ? undefined : locationFrom(whole, Number(offset));
  return from === undefined ? absent(seen.types.typeOf(type)) : valueAt(type, from, seen);
}

/** Where a value's bytes from one on are; undefined where that cannot be said. */
function locationFrom(location: Location, offset: number): Location | undefined {
  if (offset === 0) return location;
  const by: LocationExpression = { kind: "constant", value: BigInt(offset) };
  switch (location.kind) {
    case "memory":
      return { kind: "memory", address: { kind: "binary", operator: "+", left: location.address, right: by } };
    case "constant":
      return offset > 0 && offset < location.bytes.length
        ? { kind: "constant", bytes: location.bytes.subarray(offset) }
        : undefined;
    case "pieces": {
      let bits = offset * 8;
      const rest = location.pieces.filter((piece) => {
        if (bits <= 0) return true;
        bits -= piece.bits;
        return false;
      });
      return bits === 0 && offset > 0 ? { kind: "pieces", pieces: rest } : undefined;
    }
    case "absent":
      return location;
    case "register":
    case "value":
    case "implicit-pointer":
      return undefined;
  }
}

function plainValue(type: Type, location: Location, seen: Seen): Value {
  switch (location.kind) {
    case "register": {
      const fetch = register(seen, location.register);
      return fetch instanceof Failure ? absent(type, fetch.reason) : inRegister(type, fetch);
    }
    case "memory": {
      const address = follow(location.address, seen);
      return address instanceof Failure ? absent(type, address.reason) : inMemory(type, address, seen);
    }
    case "value": {
      const fetch = follow(location.value, seen);
      return fetch instanceof Failure ? absent(type, fetch.reason) : inRegister(type, fetch);
    }
    case "constant":
      return constant(type, location.bytes);
    case "pieces":
      return assembled(type, location.pieces, seen);
    case "implicit-pointer": {
      // What is in memory has an address.
      const target = location.target?.location(seen.address);
      if (target?.kind === "memory") {
        const address = follow(target.address, seen);
        if (!(address instanceof Failure)) return inRegister(type, displaced(address, location.offset));
      }
      return absent(type, variableReasons().pointerGone(location.target?.name ?? ""));
    }
    case "absent":
      return absent(type, location.reason);
  }
}

function constant(type: Type, bytes: Uint8Array): Value {
  const word = (at: number): Fetch => {
    let value = 0n;
    for (let i = Math.min(bytes.length, at + 8) - 1; i >= at; i--) value = (value << 8n) | BigInt(bytes[i]);
    return { kind: "constant", value };
  };
  if (scalarSize(type) !== undefined) return { type, fetch: word(0) };
  const size = Math.min(sizeOf(type), bytes.length);
  if (size > largestAssembled) return absent(type, variableReasons().longConstant());
  const pieces: Piece[] = [];
  for (let offset = 0; offset < size; offset += 8)
    pieces.push({ kind: "value", offset, size: Math.min(8, size - offset), fetch: word(offset) });
  return { type, fetch: { kind: "constant", value: 0n }, pieces };
}

function assembled(type: Type, parts: Extract<Location, { kind: "pieces" }>["pieces"], seen: Seen): Value {
  const pieces: Piece[] = [];
  const gaps: Gap[] = [];
  const whole = sizeOf(type);
  if (whole > largestAssembled) return absent(type, variableReasons().manyPieces());
  let bit = 0;
  for (const { bits, bitOffset, location } of parts) {
    const offset = bit >> 3;
    const size = Math.min(((bit + bits + 7) >> 3) - offset, whole - offset);
    const bytewise = bits % 8 === 0 && bit % 8 === 0 && bitOffset === 0;
    bit += bits;
    if (size <= 0) continue;
    const made =
      location === undefined
        ? new Failure(variableReasons().optimisedOutHere())
        : bytewise
          ? piece(offset, size, location, seen)
          : new Failure(variableReasons().piecesOfBits());
    if (made instanceof Failure) gaps.push({ offset, size, reason: made.reason });
    else pieces.push(...made);
  }
  const end = (bit + 7) >> 3;
  if (end < whole) gaps.push({ offset: end, size: whole - end, reason: variableReasons().optimisedOutHere() });
  return assembledFrom(type, pieces, gaps);
}

function piece(offset: number, size: number, location: Location, seen: Seen): Piece[] | Failure {
  switch (location.kind) {
    case "register":
    case "value": {
      const fetch = location.kind === "register" ? register(seen, location.register) : follow(location.value, seen);
      if (fetch instanceof Failure) return fetch;
      return size > 8 ? new Failure(variableReasons().registerTooSmall()) : [{ kind: "value", offset, size, fetch }];
    }
    case "memory": {
      const address = follow(location.address, seen);
      return address instanceof Failure ? address : [{ kind: "memory", offset, size, address, space: seen.space }];
    }
    case "constant": {
      const { pieces = [] } = constant(
        { kind: "array", element: { kind: "integer", bits: 8, signed: false }, length: size },
        location.bytes,
      );
      return pieces.map((part) => ({ ...part, offset: part.offset + offset }));
    }
    case "absent":
      return new Failure(location.reason);
    case "implicit-pointer":
    case "pieces":
      return new Failure(variableReasons().piecesNotFollowed());
  }
}

/** An expression as a fetch. */
export function follow(expression: LocationExpression, seen: Seen, depth = 0): Fetch | Failure {
  if (depth > deepest) return new Failure(variableReasons().tooDeep());
  switch (expression.kind) {
    case "constant":
      return { kind: "constant", value: expression.value };
    case "register":
      return register(seen, expression.register);
    case "static":
      return seen.loaded(expression.address);
    case "thread-local":
      return seen.threadLocal(expression.offset);
    case "at-entry":
      return seen.atEntry?.(expression) ?? onlyAtEntry;
    case "load": {
      const address = follow(expression.address, seen, depth + 1);
      if (address instanceof Failure) return address;
      const [base, offset] =
        address.kind === "address" && address.base !== "context" ? [address.base, address.offset] : [address, 0];
      return { kind: "pointed", base, offset, size: expression.bytes, signed: false, space: seen.space };
    }
    case "unary": {
      const operand = follow(expression.operand, seen, depth + 1);
      if (operand instanceof Failure) return operand;
      return expression.operator === "-"
        ? { kind: "binary", operator: "-", left: { kind: "constant", value: 0n }, right: operand }
        : { kind: "binary", operator: "^", left: operand, right: { kind: "constant", value: -1n } };
    }
    case "binary": {
      const left = follow(expression.left, seen, depth + 1);
      const right = follow(expression.right, seen, depth + 1);
      if (left instanceof Failure) return left;
      if (right instanceof Failure) return right;
      const { operator } = expression;
      if (operator === "+" || operator === "-") {
        if (right.kind === "constant") return displaced(left, operator === "+" ? right.value : -right.value);
        if (left.kind === "constant" && operator === "+") return displaced(right, left.value);
      }
      return { kind: "binary", operator, left, right };
    }
  }
}

/** base + offset, in the form that reads at it fold into. */
export function displaced(base: Fetch, by: bigint): Fetch {
  const offset = BigInt.asIntN(64, by);
  if (base.kind === "constant") return { kind: "constant", value: BigInt.asUintN(64, base.value + offset) };
  const sum = base.kind === "address" && base.base !== "context" ? offset + BigInt(base.offset) : offset;
  if (sum !== BigInt.asIntN(32, sum))
    return { kind: "binary", operator: "+", left: base, right: { kind: "constant", value: offset } };
  return {
    kind: "address",
    base: base.kind === "address" && base.base !== "context" ? base.base : base,
    offset: Number(sum),
  };
}
