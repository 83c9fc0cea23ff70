// The kernel's code for what aggregations are made of: adding a value to each kind of part
// (language/aggregations/parts.ts says what the words mean).
import { Alu, type Condition, Jump } from "../../bpf/instruction.ts";
import { InternalError } from "../../base/internal-error.ts";
import { type Part, rankMask } from "../../language/aggregations/parts.ts";
import { type Series, seriesCellWords } from "../../language/aggregations/series.ts";
import { digitBits, sumHead, sumWords } from "../../language/floating.ts";
import type { Value } from "../ir/ir.ts";
import { bitsOf, bucketOf, clamp } from "./buckets.ts";
import { countBusy } from "./trouble-counters.ts";
import { at, behind } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import type { FunctionScope } from "./scope.ts";

/** What is added, and how. */
export interface Adding {
  readonly value: Value | undefined;
  /** Nanoseconds since the epoch, for series. */
  readonly time: Value | undefined;
  readonly signed: boolean;
  /** How often the value counts in buckets; absent: once. */
  readonly weight: Value | undefined;
  /** Other handlers may change the words meanwhile. */
  readonly atomic: boolean;
  /** The map, where other CPUs change the same words. */
  readonly shared?: number;
}

export function addToPart(
  scope: FunctionScope,
  part: Part,
  words: Memory,
  { value, time, weight, signed, atomic, shared }: Adding,
): void {
  switch (part.kind) {
    case "count":
      return bump(scope, words, undefined, atomic);
    case "sum":
      return bump(scope, words, value, atomic);
    case "seen":
      return scope.emitter.storeConstant(words, 8, 1n);
    case "extreme":
      return keepExtreme(scope, part.which, signed, words, value, atomic);
    case "digits":
      return part.of === "square"
        ? addSquare(scope, signed, words, needed(scope, value), bitsOf(scope, value), atomic)
        : addDigits(scope, signed, words, needed(scope, value), atomic);
    case "double-sum":
      return addDouble(scope, words, needed(scope, value), atomic);
    case "buckets":
      return bumpBucket(scope, words, bucketOf(scope, part.of, needed(scope, value), value), weight, atomic);
    case "series":
      return addToSeries(scope, part.of, signed, words, needed(scope, value), needed(scope, time), atomic, shared);
  }
}

function needed(scope: FunctionScope, value: Value | undefined): Register {
  if (value === undefined) throw new InternalError(`${scope.fn.name}: an aggregation without a value`);
  return scope.useScalar(value);
}

/** word += value (1 without one). */
function bump(scope: FunctionScope, word: Memory, value: Value | undefined, atomic: boolean): void {
  add(scope, word, (value === undefined ? 1n : scope.constantOf(value)) ?? needed(scope, value), atomic);
}

/** word += amount: a number that is known, or a register's. */
export function add(scope: FunctionScope, word: Memory, amount: bigint | Register, atomic: boolean): void {
  const { emitter } = scope;
  if (atomic) {
    emitter.atomicAdd(word, typeof amount === "bigint" ? emitter.constant(amount) : amount, false);
    return;
  }
  const sum = emitter.register();
  emitter.load(sum, word, 8);
  if (typeof amount === "bigint") emitter.add(sum, amount);
  else emitter.alu(Alu.ADD, sum, amount);
  emitter.store(word, 8, sum);
}

/** How a new value compares to the one that then stays. */
export function staying(extreme: "min" | "max", signed: boolean): Condition {
  if (extreme === "min") return signed ? Jump.JSGE : Jump.JGE;
  return signed ? Jump.JSLE : Jump.JLE;
}

function bumpBucket(
  scope: FunctionScope,
  words: Memory,
  bucket: Register,
  weight: Value | undefined,
  atomic: boolean,
): void {
  const { emitter } = scope;
  emitter.aluConstant(Alu.LSH, bucket, 3n);
  emitter.alu(Alu.ADD, bucket, emitter.addressRegister({ ...words, offset: 0 }));
  bump(scope, behind(bucket, words.offset), weight, atomic);
}

function keepExtreme(
  scope: FunctionScope,
  which: "min" | "max",
  signed: boolean,
  words: Memory,
  value: Value | undefined,
  atomic: boolean,
): void {
  const { emitter } = scope;
  const rank = emitter.copy(needed(scope, value));
  toRank(scope, rank, which, signed);
  const done = emitter.label();
  keep(scope, "max", false, words, rank, atomic, done);
  emitter.bind(done);
  emitter.storeConstant(at(words, 8), 8, 1n);
}

/** Turns a value into its rank, or back (language/aggregations/parts.ts). */
export function toRank({ emitter }: FunctionScope, value: Register, which: "min" | "max", signed: boolean): void {
  const mask = rankMask(which, signed);
  if (mask !== 0n) emitter.aluConstant(Alu.XOR, value, BigInt.asIntN(64, mask));
}

/** Rounds in which others may bring better values at the same time. */
const EXCHANGES = 4;

/**
 * Keeps the better of a word that has a value, and of another; what a better one took the place of meanwhile is put
 * back.
 */
function keep(
  scope: FunctionScope,
  extreme: "min" | "max",
  signed: boolean,
  word: Memory,
  value: Register,
  atomic: boolean,
  done: number,
): void {
  const { emitter } = scope;
  const current = emitter.register();
  emitter.load(current, word, 8);
  emitter.branch(staying(extreme, signed), value, current, done);
  if (!atomic) {
    emitter.store(word, 8, value);
    return;
  }
  const best = emitter.copy(value);
  for (let round = 0; round < EXCHANGES; round++) {
    emitter.move(current, best);
    emitter.exchange(word, current);
    emitter.branch(staying(extreme, signed), current, best, done);
    emitter.move(best, current);
  }
}

/** The three digits of a value (language/aggregations/parts.ts). */
function addDigits(scope: FunctionScope, signed: boolean, words: Memory, value: Register, atomic: boolean): void {
  const { emitter } = scope;
  for (let i = 0; i < 3; i++) {
    const digit = emitter.copy(value);
    if (i > 0) emitter.aluConstant(signed && i === 2 ? Alu.ARSH : Alu.RSH, digit, BigInt(i * digitBits));
    if (i < 2) emitter.aluConstant(Alu.AND, digit, (1n << BigInt(digitBits)) - 1n);
    add(scope, at(words, i * 8), digit, atomic);
  }
}

/**
 * The five digits of a value's square, of which small values have three: what the square of one of more than 32 bits has
 * above its 64th bit is apart.
 */
function addSquare(
  scope: FunctionScope,
  signed: boolean,
  words: Memory,
  value: Register,
  bits: number,
  atomic: boolean,
): void {
  const { emitter } = scope;
  const mask = (1n << BigInt(digitBits)) - 1n;
  const size = emitter.copy(value);
  if (signed && bits === 64) {
    const sign = emitter.copy(value);
    emitter.aluConstant(Alu.ARSH, sign, 63n);
    emitter.alu(Alu.XOR, size, sign);
    emitter.alu(Alu.SUB, size, sign);
  }
  const square = emitter.copy(size);
  emitter.alu(Alu.MUL, square, size);
  if (bits > 32) {
    const large = emitter.label();
    const low = emitter.label();
    const half = emitter.copy(size);
    emitter.aluConstant(Alu.RSH, half, 32n);
    emitter.branchConstant(Jump.JNE, half, 0n, large);
    emitter.bind(low);
    emitter.cold(() => {
      emitter.bind(large);
      addHigh(scope, words, size, half, atomic);
      emitter.jump(low);
    });
  }
  for (let i = 0; i < 3; i++) {
    const digit = emitter.copy(square);
    if (i > 0) emitter.aluConstant(Alu.RSH, digit, BigInt(i * digitBits));
    if (i < 2) emitter.aluConstant(Alu.AND, digit, mask);
    add(scope, at(words, i * 8), digit, atomic);
  }
}

/** What a square has above its 64th bit: the rest of the third digit, and two more. `half`: the value's upper 32 bits. */
function addHigh(scope: FunctionScope, words: Memory, size: Register, half: Register, atomic: boolean): void {
  const { emitter } = scope;
  const shifted = (from: Register, ...shifts: readonly (readonly [typeof Alu.LSH | typeof Alu.RSH, bigint])[]) => {
    const register = emitter.copy(from);
    for (const [shift, by] of shifts) emitter.aluConstant(shift, register, by);
    return register;
  };
  // (half * 2^32 + low)^2: carry is what half of it has above its 32nd bit.
  const low = shifted(size, [Alu.LSH, 32n], [Alu.RSH, 32n]);
  const product = emitter.copy(half);
  emitter.alu(Alu.MUL, product, low);
  emitter.alu(Alu.MUL, low, low);
  const carry = shifted(low, [Alu.RSH, 32n]);
  emitter.alu(Alu.ADD, carry, shifted(product, [Alu.LSH, 32n], [Alu.RSH, 31n]));
  const high = emitter.copy(half);
  emitter.alu(Alu.MUL, high, half);
  emitter.alu(Alu.ADD, high, shifted(product, [Alu.RSH, 32n], [Alu.LSH, 1n]));
  emitter.alu(Alu.ADD, high, shifted(carry, [Alu.RSH, 32n]));
  const third = shifted(high, [Alu.LSH, BigInt(64 - (3 * digitBits - 64))], [Alu.RSH, BigInt(64 - digitBits)]);
  add(scope, at(words, 16), third, atomic);
  const fourth = shifted(high, [Alu.RSH, BigInt(3 * digitBits - 64)]);
  emitter.aluConstant(Alu.AND, fourth, (1n << BigInt(digitBits)) - 1n);
  add(scope, at(words, 24), fourth, atomic);
  add(scope, at(words, 32), shifted(high, [Alu.RSH, BigInt(4 * digitBits - 64)]), atomic);
}

/**
 * A double by its bits: three digits of the sum (language/floating.ts, addToSum), or a count of what is no number or
 * infinite.
 */
function addDouble(scope: FunctionScope, words: Memory, value: Register, atomic: boolean): void {
  const { emitter } = scope;
  const special = emitter.label();
  const done = emitter.label();
  const exponent = emitter.copy(value);
  emitter.aluConstant(Alu.RSH, exponent, 52n);
  emitter.aluConstant(Alu.AND, exponent, 0x7ffn);
  emitter.branchConstant(Jump.JEQ, exponent, 0x7ffn, special);
  const mantissa = emitter.copy(value);
  emitter.aluConstant(Alu.LSH, mantissa, 12n);
  emitter.aluConstant(Alu.RSH, mantissa, 12n);
  const small = emitter.label();
  emitter.branchConstant(Jump.JEQ, exponent, 0n, small);
  emitter.aluConstant(Alu.OR, mantissa, 1n << 52n);
  emitter.add(exponent, -1);
  emitter.bind(small);
  const place = emitter.copy(exponent);
  emitter.aluConstant(Alu.DIV, place, BigInt(digitBits));
  emitter.aluConstant(Alu.MOD, exponent, BigInt(digitBits));
  clamp(scope, place, sumWords - sumHead - 3);
  emitter.aluConstant(Alu.LSH, place, 3n);
  emitter.alu(Alu.ADD, place, emitter.addressRegister({ ...words, offset: 0 }));
  const sign = emitter.copy(value);
  emitter.aluConstant(Alu.ARSH, sign, 63n);
  for (let i = 0; i < 3; i++) {
    const digit = emitter.copy(mantissa);
    if (i === 0) emitter.alu(Alu.LSH, digit, exponent);
    else {
      const down = emitter.constant(BigInt(i * digitBits));
      emitter.alu(Alu.SUB, down, exponent);
      emitter.alu(Alu.RSH, digit, down);
    }
    emitter.aluConstant(Alu.AND, digit, (1n << BigInt(digitBits)) - 1n);
    emitter.alu(Alu.XOR, digit, sign);
    emitter.alu(Alu.SUB, digit, sign);
    add(scope, behind(place, words.offset + (sumHead + i) * 8), digit, atomic);
  }
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(special);
    const below = emitter.label();
    const infinite = emitter.label();
    const fraction = emitter.copy(value);
    emitter.aluConstant(Alu.LSH, fraction, 12n);
    emitter.branchConstant(Jump.JEQ, fraction, 0n, infinite);
    add(scope, words, 1n, atomic);
    emitter.jump(done);
    emitter.bind(infinite);
    emitter.branchConstant(Jump.JSLT, value, 0n, below);
    add(scope, at(words, 8), 1n, atomic);
    emitter.jump(done);
    emitter.bind(below);
    add(scope, at(words, 16), 1n, atomic);
    emitter.jump(done);
  });
}

/**
 * Into the cell of the interval that `time` lies in, which takes the place of one that is over (language/series.ts).
 */
function addToSeries(
  scope: FunctionScope,
  { interval, intervals, kind }: Series,
  signed: boolean,
  words: Memory,
  value: Register,
  time: Register,
  atomic: boolean,
  shared: number | undefined,
): void {
  const { emitter } = scope;
  const number = emitter.copy(time);
  emitter.alu(Alu.DIV, number, emitter.constant(interval));
  const cell = emitter.copy(number);
  emitter.aluConstant(Alu.MOD, cell, BigInt(intervals));
  clamp(scope, cell, intervals - 1);
  emitter.aluConstant(Alu.MUL, cell, BigInt(seriesCellWords * 8));
  emitter.alu(Alu.ADD, cell, emitter.addressRegister({ ...words, offset: 0 }));
  const word = (index: number): Memory => behind(cell, words.offset + index * 8);
  const join = emitter.label();
  const done = emitter.label();
  const before = emitter.register();
  emitter.load(before, word(0), 8);
  emitter.branch(Jump.JEQ, before, number, join);
  if (shared !== undefined) takeCell(scope, shared, word(0), number, join, done);
  else emitter.store(word(0), 8, number);
  emitter.store(word(1), 8, value);
  if (kind === "last") emitter.store(word(2), 8, time);
  else emitter.storeConstant(word(2), 8, kind === "avg" ? 1n : 0n);
  if (shared !== undefined) emitter.store(word(0), 8, number);
  emitter.jump(done);
  emitter.bind(join);
  switch (kind) {
    case "last":
      emitter.store(word(1), 8, value);
      emitter.store(word(2), 8, time);
      break;
    case "avg":
      add(scope, word(1), value, atomic);
      add(scope, word(2), 1n, atomic);
      break;
    case "sum":
      add(scope, word(1), value, atomic);
      break;
    case "min":
    case "max":
      keep(scope, kind, signed, word(1), value, atomic, done);
  }
  emitter.bind(done);
}

/** Stands for the number of an interval while a handler begins one. */
const BEGINNING = -1n;
/** Looks at a cell that another handler begins. */
const LOOKS = 32n;

/**
 * Cells that others change at the same time: of the handlers that find the cell of an older interval, one begins the
 * new one, and the others wait for its two stores. Where that takes long (it was interrupted by this handler, or
 * another task runs), the value is lost, and counted.
 */
function takeCell(
  scope: FunctionScope,
  map: number,
  number: Memory,
  wanted: Register,
  join: number,
  done: number,
): void {
  const { emitter } = scope;
  const begin = emitter.label();
  const wait = emitter.label();
  const again = emitter.label();
  const old = emitter.constant(BEGINNING);
  emitter.exchange(number, old);
  emitter.branchConstant(Jump.JEQ, old, BEGINNING, wait);
  emitter.branch(Jump.JLT, old, wanted, begin);
  // Somebody else was faster, or has a newer interval in it.
  emitter.store(number, 8, old);
  emitter.branch(Jump.JEQ, old, wanted, join);
  emitter.jump(done);
  emitter.bind(wait);
  const looks = emitter.constant(0n);
  emitter.bind(again);
  emitter.load(old, number, 8);
  emitter.branch(Jump.JEQ, old, wanted, join);
  emitter.add(looks, 1);
  emitter.branchConstant(Jump.JLT, looks, LOOKS, again);
  countBusy(scope, map);
  emitter.jump(done);
  emitter.bind(begin);
}
