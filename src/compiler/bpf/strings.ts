// Comparing and searching bytes in memory. Strings that are compared are zero-padded, so whole words can be compared.
import { Alu, fitsImmediate, Jump, type AccessWidth } from "../../bpf/instruction.ts";
import type { Place } from "../ir/ir.ts";
import { at, behind, pieces } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import type { FunctionScope } from "./scope.ts";

/** 1 when `length` bytes differ; of a constant, those up to and with its terminator. */
export function differ(scope: FunctionScope, left: Memory, right: Memory | Uint8Array, length: number): Register {
  const { emitter } = scope;
  const different = emitter.label();
  const result = emitter.constant(1n);
  if (right instanceof Uint8Array) {
    for (const { offset, width, value } of wordsOf(scope, left, right, length)) {
      const word = emitter.register();
      emitter.load(word, at(left, offset), width);
      if (width === 4 && !fitsImmediate(value)) emitter.branchNarrow(Jump.JNE, word, Number(value), different);
      else emitter.branchConstant(Jump.JNE, word, value, different);
    }
  } else {
    for (const { offset, width } of pieces(Math.min(scope.alignment(left), scope.alignment(right)), length)) {
      const a = emitter.register();
      const b = emitter.register();
      emitter.load(a, at(left, offset), width);
      emitter.load(b, at(right, offset), width);
      emitter.branch(Jump.JNE, a, b, different);
    }
  }
  emitter.set(result, 0n);
  emitter.bind(different);
  return result;
}

/** -1, 0 or 1, as the first byte that differs is less on the left, absent, or greater. */
export function orderStrings(scope: FunctionScope, left: Memory, right: Memory | Uint8Array, length: number): Register {
  const { emitter } = scope;
  const [different, done] = [emitter.label(), emitter.label()];
  const [a, b] = [emitter.register(), emitter.register()];
  const result = emitter.constant(0n);
  const words =
    right instanceof Uint8Array
      ? wordsOf(scope, left, right, length)
      : pieces(Math.min(scope.alignment(left), scope.alignment(right)), length);
  for (const word of words) {
    emitter.load(a, at(left, word.offset), word.width);
    if ("value" in word) emitter.set(b, word.value);
    else emitter.load(b, at(right as Memory, word.offset), word.width);
    emitter.branch(Jump.JNE, a, b, different);
  }
  emitter.jump(done);
  emitter.bind(different);
  // Whatever the width, the first byte becomes the highest.
  for (const word of [a, b]) emitter.emit({ kind: "swap", dst: word, bits: 64 });
  emitter.set(result, 1n);
  emitter.branch(Jump.JGT, a, b, done);
  emitter.set(result, -1n);
  emitter.bind(done);
  return result;
}

/** A constant up to and with its terminator, in the words that are loaded beside it: of 64 bits as a signed number. */
function wordsOf(
  scope: FunctionScope,
  beside: Memory,
  bytes: Uint8Array,
  length: number,
): { readonly offset: number; readonly width: AccessWidth; readonly value: bigint }[] {
  const end = bytes.indexOf(0);
  const compared = Math.min(length, end < 0 ? bytes.length + 1 : end + 1);
  const padded = new Uint8Array(Math.ceil(compared / 8) * 8 + 8);
  padded.set(bytes.subarray(0, compared));
  const view = new DataView(padded.buffer);
  return [...pieces(scope.alignment(beside), compared)].map(({ offset, width }) => {
    if (width === 8) return { offset, width, value: view.getBigInt64(offset, true) };
    const value =
      width === 4 ? view.getUint32(offset, true) : width === 2 ? view.getUint16(offset, true) : view.getUint8(offset);
    return { offset, width, value: BigInt(value) };
  });
}

/** Characters before the NUL, at most the capacity. */
export function stringLength(scope: FunctionScope, text: Memory, capacity: number): Register {
  const { emitter } = scope;
  const done = emitter.label();
  const index = forEachPlace(scope, text, capacity, done, (here) => {
    const character = emitter.register();
    emitter.load(character, behind(here), 1);
    emitter.branchConstant(Jump.JEQ, character, 0n, done);
  });
  emitter.bind(done);
  emitter.touch(text);
  return index;
}

/**
 * Goes through the first `places` bytes of a text, then on behind this, or to `out` with rounds spent. Gives where it
 * is. The index is compared in a register of its own, which the next address is made of: what the verifier knows of the
 * index itself it forgets at `may_goto`, and may forget in the frame.
 */
function forEachPlace(
  scope: FunctionScope,
  text: Memory,
  places: number,
  out: number,
  visit: (here: Register) => void,
): Register {
  const { emitter } = scope;
  const start = emitter.addressRegister(text);
  const index = emitter.constant(0n);
  const place = emitter.bounded(index);
  const again = emitter.label();
  emitter.bind(again);
  visit(advanced(scope, start, place));
  emitter.add(index, 1);
  if (fromAnywhere(scope, 0)) {
    throughMemory(scope, index);
    emitter.emit({ kind: "may-goto", to: out });
  }
  emitter.move(place, index);
  emitter.branchConstant(Jump.JLT, place, BigInt(places), again);
  return index;
}

/**
 * A pointer and a number, in this order: of a sum the other way round the verifier forgets in whose frame it points.
 */
function advanced({ emitter }: FunctionScope, pointer: Register, by: Register): Register {
  const sum = emitter.copy(pointer);
  emitter.alu(Alu.ADD, sum, by);
  return sum;
}

/**
 * Whether the verifier is to walk a loop over a text for all its places at once (`throughMemory`): where it would
 * compare too many characters, in loops that it walks more than once, where each place that is the answer would be a
 * way of its own, and in what it gave up on.
 */
function fromAnywhere(scope: FunctionScope, compared: number): boolean {
  return (
    (scope.inUncounted || scope.options.easyToVerify === true || compared > mostCompared) &&
    scope.options.capabilities.mayGoto
  );
}
const mostCompared = 64;

/**
 * A number of 32 bits as one that the verifier knows nothing about: it keeps no account of the upper half of a word.
 */
function throughMemory(scope: FunctionScope, number: Register): void {
  const half = scope.untracked ?? at(scope.emitter.temporary(8), 4);
  scope.emitter.store(half, 4, number);
  scope.emitter.load(number, half, 4);
}

/** First index of the needle in the text, or -1. */
export function findString(
  scope: FunctionScope,
  text: Memory,
  capacity: number,
  needle: Place | Uint8Array,
  needleCapacity: number,
): Register {
  return needle instanceof Uint8Array
    ? findConstant(scope, text, capacity, needle)
    : findPlace(scope, text, capacity, scope.place(needle), needleCapacity);
}

function findConstant(scope: FunctionScope, text: Memory, capacity: number, bytes: Uint8Array): Register {
  const { emitter } = scope;
  const end = bytes.indexOf(0);
  const wanted = end < 0 ? bytes : bytes.subarray(0, end);
  if (wanted.length === 0) return emitter.constant(0n);
  if (wanted.length > capacity) return emitter.constant(-1n);
  const none = emitter.label();
  const done = emitter.label();
  const index = forEachPlace(scope, text, capacity - wanted.length + 1, none, (here) => {
    const next = emitter.label();
    wanted.forEach((byte, i) => {
      const character = emitter.register();
      emitter.load(character, behind(here, i), 1);
      if (i === 0) emitter.branchConstant(Jump.JEQ, character, 0n, none);
      emitter.branchConstant(Jump.JNE, character, BigInt(byte), next);
    });
    emitter.jump(done);
    emitter.bind(next);
  });
  emitter.bind(none);
  emitter.set(index, -1n);
  emitter.bind(done);
  emitter.touch(text);
  return index;
}

function findPlace(
  scope: FunctionScope,
  text: Memory,
  capacity: number,
  needle: Memory,
  needleCapacity: number,
): Register {
  const { emitter } = scope;
  const start = emitter.addressRegister(text);
  const wanted = emitter.addressRegister(needle);
  const index = emitter.constant(0n);
  const outer = emitter.label();
  const inner = emitter.label();
  const next = emitter.label();
  const none = emitter.label();
  const done = emitter.label();
  emitter.bind(outer);
  const anywhere = fromAnywhere(scope, capacity * needleCapacity);
  if (anywhere) emitter.emit({ kind: "may-goto", to: none });
  const matched = emitter.constant(0n);
  const place = emitter.bounded(matched);
  emitter.bind(inner);
  const expected = emitter.register();
  emitter.load(expected, behind(advanced(scope, wanted, place)), 1);
  emitter.branchConstant(Jump.JEQ, expected, 0n, done);
  const position = emitter.bounded(index);
  emitter.alu(Alu.ADD, position, matched);
  emitter.branchConstant(Jump.JGE, position, BigInt(capacity), none);
  const character = emitter.register();
  emitter.load(character, behind(advanced(scope, start, position)), 1);
  // The text ends here, the needle does not.
  emitter.branchConstant(Jump.JEQ, character, 0n, none);
  emitter.branch(Jump.JNE, character, expected, next);
  emitter.add(matched, 1);
  emitter.move(place, matched);
  emitter.branchConstant(Jump.JLT, place, BigInt(needleCapacity), inner);
  emitter.jump(done);
  emitter.bind(next);
  emitter.add(index, 1);
  if (anywhere) throughMemory(scope, index);
  emitter.branchConstant(Jump.JLT, index, BigInt(capacity), outer);
  emitter.bind(none);
  emitter.set(index, -1n);
  emitter.bind(done);
  emitter.touch(text);
  emitter.touch(needle);
  return index;
}
