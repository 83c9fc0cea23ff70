// Where a variable was when its function was entered, from where debug information has it behind the prologue and from
// what the function's instructions did until there. It is a proof: what callers and compilers agreed on does not
// matter.
import type { Location, LocationExpression } from "./dwarf/facts.ts";
import type { Frame, Source, Sources } from "./prologue.ts";
import { variableReasons } from "../messages/on-demand.ts";

/** DWARF's number of the stack pointer, and how far it is below the frame's end when a function is entered. */
const [stackPointer, returnAddress] = [7, 8];
/** Larger values are not followed byte by byte. */
const largest = 1 << 12;

/**
 * `location` holds where `frame` was taken; gives where the same bytes were at the entry. undefined where that cannot be said.
 * @param bytes of the variable
 */
export function atEntry(location: Location, bytes: number, frame: Frame): Location | undefined {
  if (bytes > largest) return undefined;
  switch (location.kind) {
    case "register": {
      const held = frame.register(location.register);
      return "frame" in held || bytes > held.length ? undefined : located(held.slice(0, bytes));
    }
    case "memory": {
      const address = follow(location.address, frame);
      if (address === undefined) return undefined;
      return "frame" in address
        ? located(frame.memory(address.frame, bytes))
        : { kind: "memory", address: address.was };
    }
    case "value": {
      const value = follow(location.value, frame);
      return value === undefined || "frame" in value || value.was.kind === "constant"
        ? undefined
        : { kind: "value", value: value.was };
    }
    case "pieces": {
      const pieces: { bits: number; bitOffset: number; location?: Location }[] = [];
      for (const piece of location.pieces) {
        const was = piece.location && atEntry(piece.location, Math.ceil(piece.bits / 8), frame);
        if (piece.location !== undefined && was === undefined) return undefined;
        pieces.push({ bits: piece.bits, bitOffset: piece.bitOffset, ...(was === undefined ? {} : { location: was }) });
      }
      return { kind: "pieces", pieces };
    }
    // A constant may be what the function's first statement made of it.
    case "constant":
    case "implicit-pointer":
    case "absent":
      return undefined;
  }
}

/** Whether a variable, or the address of one, is in memory of the function's own that nothing has been written to. */
export function isUnset(location: Location, bytes: number, frame: Frame): boolean {
  if (location.kind === "pieces")
    return location.pieces.some(
      (piece) => piece.location !== undefined && isUnset(piece.location, Math.ceil(piece.bits / 8), frame),
    );
  if (location.kind !== "memory") return false;
  const { address } = location;
  const place = follow(address.kind === "load" ? address.address : address, frame);
  return (
    place !== undefined &&
    "frame" in place &&
    place.frame < 0 &&
    !frame.written(place.frame, address.kind === "load" ? 8 : bytes)
  );
}

/** An address of the frame, counted from its end; or what an expression was at the entry. */
type Followed = { readonly frame: number } | { readonly was: LocationExpression };

function follow(expression: LocationExpression, frame: Frame): Followed | undefined {
  switch (expression.kind) {
    case "constant":
    case "static":
    case "thread-local":
      return { was: expression };
    case "at-entry":
      return { was: expression.value };
    case "register": {
      const held = frame.register(expression.register);
      return "frame" in held ? held : word(held);
    }
    case "load": {
      const address = follow(expression.address, frame);
      if (address === undefined) return undefined;
      if ("was" in address) return { was: { kind: "load", address: address.was, bytes: expression.bytes } };
      return expression.bytes === 8 ? word(frame.memory(address.frame, 8)) : undefined;
    }
    case "unary": {
      const operand = follow(expression.operand, frame);
      return operand === undefined || "frame" in operand ? undefined : { was: { ...expression, operand: operand.was } };
    }
    case "binary": {
      const left = follow(expression.left, frame);
      const right = follow(expression.right, frame);
      if (left === undefined || right === undefined || "frame" in right) return undefined;
      if ("was" in left) return { was: { ...expression, left: left.was, right: right.was } };
      if (right.was.kind !== "constant" || (expression.operator !== "+" && expression.operator !== "-"))
        return undefined;
      const by = Number(BigInt.asIntN(64, right.was.value));
      return { frame: left.frame + (expression.operator === "+" ? by : -by) };
    }
  }
}

/** Eight bytes that were together. */
function word(sources: Sources): Followed | undefined {
  const [run, ...more] = runsOf(sources);
  if (sources.length < 8 || more.length > 0 || run?.from === undefined) return undefined;
  const was = placeOf(run.from);
  if (was.kind === "memory") return { was: { kind: "load", address: was.address, bytes: 8 } };
  return was.kind === "register" ? { was } : undefined;
}

interface Run {
  readonly from: Source | undefined;
  readonly bytes: number;
}

/** Bytes that were one behind the other. */
function runsOf(sources: Sources): Run[] {
  const runs: { from: Source | undefined; bytes: number }[] = [];
  for (const source of sources) {
    const last = runs.at(-1);
    const continues =
      last !== undefined &&
      (source === undefined
        ? last.from === undefined
        : last.from?.register === source.register && last.from.byte + last.bytes === source.byte);
    if (continues) last.bytes++;
    else runs.push({ from: source, bytes: 1 });
  }
  return runs;
}

function located(sources: Sources): Location | undefined {
  const runs = runsOf(sources);
  if (runs.every(({ from }) => from === undefined)) return undefined;
  const [first] = runs;
  if (runs.length === 1 && first.from !== undefined) return placeOf(first.from);
  return {
    kind: "pieces",
    // What lies between the parts of a value is nobody's.
    pieces: runs.map(({ from, bytes }) => ({
      bits: bytes * 8,
      bitOffset: 0,
      location: from === undefined ? { kind: "absent", reason: variableReasons().unknownAtEntry() } : placeOf(from),
    })),
  };
}

function placeOf({ register, byte }: Source): Exclude<Location, { kind: "pieces" }> {
  if (register === "stack") {
    const offset: LocationExpression = { kind: "constant", value: BigInt(byte + returnAddress) };
    return {
      kind: "memory",
      address: { kind: "binary", operator: "+", left: { kind: "register", register: stackPointer }, right: offset },
    };
  }
  if (byte === 0) return { kind: "register", register };
  return {
    kind: "value",
    value: {
      kind: "binary",
      operator: ">>>",
      left: { kind: "register", register },
      right: { kind: "constant", value: BigInt(byte * 8) },
    },
  };
}
