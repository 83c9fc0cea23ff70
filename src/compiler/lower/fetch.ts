// A provider's fetches as IR: where arguments, results and registers come from.
import { absentText, absentType } from "../../language/absent.ts";
import type { Argument, Context, Fetch, Piece } from "../../language/context.ts";
import { roundUp, sizeOf } from "../../language/layout.ts";
import type { Type } from "../../language/types.ts";
import type { Place, Value } from "../ir/ir.ts";
import { isRegister, isSigned, widthOf } from "./registers.ts";
import { at, load, noteTyped } from "./memory.ts";
import type { FunctionState, Located } from "./state.ts";

/** The value of a fetch. In a map callback the handler computes it, since only the handler has the context. */
export function fetchValue(f: FunctionState, fetch: Fetch): Value {
  if (fetch.kind === "constant") return f.build.constant(fetch.value);
  return f.fromHandler(keyOf(fetch), (handler) => compute(handler, fetch));
}

function keyOf(fetch: Fetch): string {
  return JSON.stringify(fetch, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
}

function compute(f: FunctionState, fetch: Fetch): Value {
  const { build } = f;
  switch (fetch.kind) {
    case "constant":
      return build.constant(fetch.value);
    case "kept":
      return f.kept[fetch.word];
    case "context": {
      const { offset, size, signed } = fetch;
      return build.give((result) => ({ op: "load-context", result, offset, size, signed }));
    }
    case "pointed": {
      const address = pointedBase(f, fetch);
      const { offset, size, signed } = fetch;
      const space = fetch.space === "typed" && !f.module.options.directLoads ? "kernel" : fetch.space;
      return build.give((result) => ({ op: "read", result, space, address, offset, size, signed }));
    }
    case "address": {
      const base = fetch.base === "context" ? contextPointer(f) : compute(f, fetch.base);
      return build.binary("add", base, build.constant(BigInt(fetch.offset)));
    }
    case "binary":
      return operation(f, fetch.operator, compute(f, fetch.left), compute(f, fetch.right));
    case "task":
      return build.give((result) => ({ op: "builtin", result, name: "task" }));
    case "function":
      return build.give((result) => ({ op: "builtin", result, name: "func-ip" }));
    case "narrow":
      return build.extend(compute(f, fetch.of), bitsOf(fetch.size), fetch.signed);
    case "data-location": {
      const { offset } = fetch;
      const word = build.give((result) => ({ op: "load-context", result, offset, size: 4, signed: false }));
      const from = build.binary("and", word, build.constant(0xffffn));
      // A relative location counts from the end of the word itself.
      const start = fetch.relative ? build.binary("add", from, build.constant(BigInt(offset + 4))) : from;
      return build.binary("add", contextPointer(f), start);
    }
  }
}

const operations = {
  "+": "add",
  "-": "sub",
  "*": "mul",
  "/": "sdiv",
  "%": "umod",
  "&": "and",
  "|": "or",
  "^": "xor",
  "<<": "shl",
  ">>": "ashr",
  ">>>": "lshr",
} as const;

function operation(f: FunctionState, operator: keyof typeof operations, left: Value, right: Value): Value {
  return f.build.binary(operations[operator], left, right);
}

function bitsOf(size: 1 | 2 | 4): 8 | 16 | 32 {
  return size === 1 ? 8 : size === 2 ? 16 : 32;
}

function contextPointer(f: FunctionState): Value {
  return f.build.give((result) => ({ op: "builtin", result, name: "context" }));
}

/** The context pointer, for `ctx`. */
export function contextValue(f: FunctionState): Value {
  return f.fromHandler("context", contextPointer);
}

export function contextOf(f: FunctionState): Context | undefined {
  return f.handler.context === "host" ? undefined : f.handler.context;
}

/** The value of a scalar argument, extended by its type. */
export function argumentValue(f: FunctionState, argument: Omit<Argument, "name">): Value {
  const { type, fetch } = argument;
  if (argument.pieces !== undefined) return load(f, { at: "place", place: assemble(f, type, argument.pieces) }, type);
  let value = fetchValue(f, fetch);
  if (isRegister(type)) {
    const width = widthOf(type);
    if (width < 8 && !alreadyExtends(fetch, width, isSigned(type)))
      value = f.build.extend(value, bitsOf(width as 1 | 2 | 4), isSigned(type));
  }
  if (f.outer === undefined) noteTyped(f, value, type);
  return value;
}

/** Where a value is that is read from memory; undefined for any other. */
export function fetchedFrom(f: FunctionState, { fetch, pieces, absent }: Omit<Argument, "name">): Value | undefined {
  if (fetch.kind !== "pointed" || pieces !== undefined || absent !== undefined) return undefined;
  return f.fromHandler(`&${keyOf(fetch)}`, (handler) =>
    handler.build.binary("add", pointedBase(handler, fetch), handler.build.constant(BigInt(fetch.offset))),
  );
}

function pointedBase(f: FunctionState, { base, index, scale = 1 }: Extract<Fetch, { kind: "pointed" }>): Value {
  const address = compute(f, base);
  if (index === undefined) return address;
  const { build } = f;
  return build.binary("add", address, build.binary("mul", compute(f, index), build.constant(BigInt(scale))));
}

/** Does the fetch already extend as the type wants it? */
function alreadyExtends(fetch: Fetch, width: number, signed: boolean): boolean {
  switch (fetch.kind) {
    case "context":
    case "pointed":
    case "narrow":
      return fetch.size < width ? !fetch.signed || signed : fetch.size === width && fetch.signed === signed;
    case "constant":
    case "kept":
    case "address":
    case "binary":
    case "task":
    case "function":
    case "data-location":
      return false;
  }
}

/** Where an argument that is held in place lies. */
export function argumentPlace(f: FunctionState, argument: Omit<Argument, "name">): Located {
  const { type, pieces, length } = argument;
  if (argument.absent !== undefined) return absentBytes(argument.absent);
  if (pieces !== undefined) return { at: "place", place: assemble(f, type, pieces) };
  const address = fetchValue(f, argument.fetch);
  const space = argument.place === "user" ? "user" : "kernel";
  if (length === undefined) return { at: "memory", space, address, offset: 0 };
  const size = sizeOf(type);
  return { at: "source", source: { kind: "string", space, address, limit: fetchValue(f, length), size, padded: true } };
}

function absentBytes(reason: string): Located {
  return {
    at: "source",
    source: { kind: "constant", bytes: new TextEncoder().encode(absentText(reason)), size: sizeOf(absentType) },
  };
}

/** Puts a value together from its pieces. */
function assemble(f: FunctionState, type: Type, pieces: readonly Piece[]): Place {
  const size = Math.max(8, roundUp(sizeOf(type), 8));
  const place = f.slotOf("pieces", size);
  f.build.emit({ op: "zero", at: place, size });
  for (const piece of pieces) {
    const to = at(place, piece.offset);
    if (piece.kind === "memory") {
      f.build.emit({
        op: "fill",
        to,
        source: { kind: "memory", space: piece.space, address: fetchValue(f, piece.address), size: piece.size },
      });
    } else {
      storeLow(f, to, fetchValue(f, piece.fetch), piece.size);
    }
  }
  return place;
}

/** Stores the low bytes of a value, however many. */
function storeLow(f: FunctionState, to: Place, value: Value, bytes: number): void {
  for (let done = 0; done < bytes;) {
    const size = ([8, 4, 2, 1] as const).find((width) => width <= bytes - done && done % width === 0) ?? 1;
    const part = done === 0 ? value : f.build.binary("lshr", value, f.build.constant(BigInt(done * 8)));
    f.build.emit({ op: "store", to: at(to, done), value: part, size });
    done += size;
  }
}
