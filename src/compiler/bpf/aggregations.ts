// Aggregations: words that this CPU's handlers change in place. See language/layout.ts for the words, histogram.ts for
// buckets.
import { Alu, type Condition, Jump } from "../../bpf/instruction.ts";
import { UpdateFlag } from "../../bpf/kinds.ts";
import { InternalError } from "../../faults/internal-error.ts";
import { digitBits, sumHead, sumsDoubles, sumWords } from "../../language/floating.ts";
import { bucketCount, linearBucketCount } from "../../language/histogram.ts";
import { seriesCellWords, seriesOf } from "../../language/series.ts";
import type { AggregateType } from "../../language/types.ts";
import type { Copies } from "../layouts/copies.ts";
import type { Instruction, MapStorage, Value } from "../ir/ir.ts";
import { addressOf, at, behind, constant, kernelMap } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import { countBusy, countRefusal, justMade } from "./trouble-counters.ts";
import { keyMemory, lookup } from "./map-operations.ts";
import type { FunctionScope } from "./scope.ts";

type Of<Op extends Instruction["op"]> = Extract<Instruction, { op: Op }>;

function aggregateType(scope: FunctionScope, map: number): AggregateType {
  const { value, name } = scope.irMap(map);
  if (value.kind !== "aggregate") throw new InternalError(`@${name} is not an aggregation`);
  return value;
}

export function aggregate(scope: FunctionScope, instruction: Of<"aggregate">): void {
  const { emitter } = scope;
  const type = aggregateType(scope, instruction.map);
  const { storage } = scope.irMap(instruction.map);
  if (storage.kind === "percpu-slot" || storage.kind === "slot") {
    const shared = storage.kind === "slot";
    const base = shared ? emitter.mapValue(scope.globals, 0) : scope.stripeAddress(true);
    emitter.storeConstant(behind(base, storage.offset), 8, 1n);
    update(scope, type, behind(base, storage.offset + 8), instruction, shared || scope.preemptible);
    return;
  }
  const { index, map } = scope.kernelMapOf(instruction.map);
  const { copies, stride } = copiesIn(storage);
  const key = keyMemory(scope, instruction.map, instruction.key);
  const entry = lookup(scope, instruction.map, key);
  const missing = emitter.label();
  const found = emitter.label();
  const done = emitter.label();
  emitter.branchConstant(Jump.JEQ, entry, 0n, missing);
  emitter.bind(found);
  if (copies > 1) {
    const distance = emitter.callFor("get_smp_processor_id");
    scope.scaleStripes(distance, stride, copies);
    emitter.alu(Alu.ADD, entry, distance);
  }
  const shared = copies < scope.options.capabilities.cpus;
  update(scope, type, behind(entry), instruction, shared || scope.preemptible, shared ? instruction.map : undefined);
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(missing);
    emitter.call(
      "map_update_elem",
      kernelMap(index),
      addressOf(key),
      addressOf(scope.zeroes(map.valueSize)),
      constant(UpdateFlag.NOEXIST),
    );
    const made = emitter.label();
    const refused = emitter.copy(0);
    emitter.branchConstant(Jump.JEQ, refused, 0n, made);
    emitter.branchConstant(Jump.JEQ, refused, justMade, made);
    countRefusal(scope, instruction.map, refused);
    emitter.jump(done);
    emitter.bind(made);
    emitter.move(entry, lookup(scope, instruction.map, key));
    emitter.branchConstant(Jump.JNE, entry, 0n, found);
    // It is gone already, and what was to be added with it.
    emitter.jump(done);
  });
}

/** How many copies a keyed map has of an aggregation: one where the script wants no others. */
function copiesIn(storage: MapStorage): Copies {
  return "copies" in storage ? storage : { copies: 1, stride: 0 };
}

/** Adds a value to the words at a place. `shared`: the map, where other CPUs change the same words. */
function update(
  scope: FunctionScope,
  type: AggregateType,
  words: Memory,
  { value, time }: Of<"aggregate">,
  atomic: boolean,
  shared?: number,
): void {
  const { emitter } = scope;
  if (sumsDoubles(type)) return addDouble(scope, words, needed(scope, value), atomic);
  switch (type.aggregate) {
    case "count":
      return bump(scope, words, undefined, atomic);
    case "sum":
      bump(scope, words, value, atomic);
      return emitter.storeConstant(at(words, 8), 8, 1n);
    case "avg":
    case "stats":
      bump(scope, words, value, atomic);
      return bump(scope, at(words, 8), undefined, atomic);
    case "min":
    case "max":
      return keepExtreme(scope, type, words, value, atomic);
    case "hist":
      return bumpBucket(
        scope,
        words,
        log2Bucket(scope, needed(scope, value), type.bits ?? 0, bitsOf(scope, value)),
        atomic,
      );
    case "lhist":
      return bumpBucket(scope, words, linearBucket(scope, needed(scope, value), type), atomic);
    case "tseries":
      return addToSeries(scope, type, words, needed(scope, value), needed(scope, time), atomic, shared);
  }
}

/**
 * A double by its bits: three digits of the sum (language/floating.ts, addToSum), or a count of what is no number or
 * infinite.
 */
function addDouble(scope: FunctionScope, words: Memory, value: Register, atomic: boolean): void {
  const { emitter } = scope;
  const special = emitter.label();
  const done = emitter.label();
  add(scope, words, 1n, atomic);
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
    add(scope, at(words, 8), 1n, atomic);
    emitter.jump(done);
    emitter.bind(infinite);
    emitter.branchConstant(Jump.JSLT, value, 0n, below);
    add(scope, at(words, 16), 1n, atomic);
    emitter.jump(done);
    emitter.bind(below);
    add(scope, at(words, 24), 1n, atomic);
    emitter.jump(done);
  });
}

/**
 * Into the cell of the interval that `time` lies in, which takes the place of one that is over (language/series.ts).
 */
function addToSeries(
  scope: FunctionScope,
  type: AggregateType,
  words: Memory,
  value: Register,
  time: Register,
  atomic: boolean,
  shared: number | undefined,
): void {
  const { emitter } = scope;
  const { interval, intervals, kind } = seriesOf(type);
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
      keep(scope, kind, type.signed, word(1), value, atomic, done);
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

function needed(scope: FunctionScope, value: Value | undefined): Register {
  if (value === undefined) throw new InternalError(`${scope.fn.name}: an aggregation without a value`);
  return scope.useScalar(value);
}

/** word += value (1 without one). */
function bump(scope: FunctionScope, word: Memory, value: Value | undefined, atomic: boolean): void {
  add(scope, word, (value === undefined ? 1n : scope.constantOf(value)) ?? needed(scope, value), atomic);
}

/** word += amount: a number that is known, or a register's. */
function add(scope: FunctionScope, word: Memory, amount: bigint | Register, atomic: boolean): void {
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
function staying(extreme: "min" | "max", signed: boolean): Condition {
  if (extreme === "min") return signed ? Jump.JSGE : Jump.JGE;
  return signed ? Jump.JSLE : Jump.JLE;
}

function keepExtreme(
  scope: FunctionScope,
  type: AggregateType,
  words: Memory,
  value: Value | undefined,
  atomic: boolean,
): void {
  const { emitter } = scope;
  const candidate = needed(scope, value);
  const first = emitter.label();
  const done = emitter.label();
  const set = emitter.register();
  emitter.load(set, at(words, 8), 8);
  emitter.branchConstant(Jump.JEQ, set, 0n, first);
  keep(scope, type.aggregate === "min" ? "min" : "max", type.signed, words, candidate, atomic, done);
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(first);
    emitter.store(words, 8, candidate);
    emitter.storeConstant(at(words, 8), 8, 1n);
    emitter.jump(done);
  });
}

function bumpBucket(scope: FunctionScope, words: Memory, bucket: Register, atomic: boolean): void {
  const { emitter } = scope;
  emitter.aluConstant(Alu.LSH, bucket, 3n);
  emitter.alu(Alu.ADD, bucket, emitter.addressRegister({ ...words, offset: 0 }));
  bump(scope, behind(bucket, words.offset), undefined, atomic);
}

/** A value is not negative and below 2 to the power of this; 64: nothing is known. */
function bitsOf(scope: FunctionScope, value: Value | undefined): number {
  const definition = value === undefined ? undefined : scope.definitions.get(value);
  switch (definition?.op) {
    case "builtin":
      return definition.name === "cpu" ? 32 : 64;
    case "binary": {
      const shift = definition.kind === "lshr" ? scope.constantOf(definition.right) : undefined;
      return shift === undefined ? 64 : 64 - Number(shift & 63n);
    }
    case "extend":
      return definition.signed ? 64 : definition.bits;
    case "load":
    case "load-context":
    case "read":
      return definition.signed ? 64 : definition.size * 8;
    default:
      return 64;
  }
}

/**
 * floor(log2(value)) of a positive value of so many bits, without branches: halve the range four times, or less often.
 * The verifier knows it to be below the bits, rounded up to a power of two.
 */
function log2(scope: FunctionScope, value: Register, bits: number): Register {
  const { emitter } = scope;
  const rest = emitter.copy(value);
  let power: Register | undefined;
  for (let step = Math.ceil(Math.log2(bits)) - 1; step > 1; step--) {
    const width = 1 << step;
    // (2^width - 1 - rest) is negative when rest has a bit above `width`: its sign bit is the answer.
    const above = emitter.constant((1n << BigInt(width)) - 1n);
    emitter.alu(Alu.SUB, above, rest);
    emitter.aluConstant(Alu.RSH, above, 63n);
    emitter.aluConstant(Alu.LSH, above, BigInt(step));
    emitter.alu(Alu.RSH, rest, above);
    if (power === undefined) power = above;
    else emitter.alu(Alu.OR, power, above);
  }
  // Below 16 is left: two bits for each.
  const last = emitter.constant(0xffff_aa50n);
  emitter.aluConstant(Alu.LSH, rest, 1n);
  emitter.alu(Alu.RSH, last, rest);
  emitter.aluConstant(Alu.AND, last, 3n);
  if (power === undefined) return last;
  emitter.alu(Alu.OR, power, last);
  return power;
}

/** The bucket of hist(value, bits), within its bounds for the verifier too. */
function log2Bucket(scope: FunctionScope, value: Register, bits: number, valueBits: number): Register {
  const { emitter } = scope;
  const perPower = 1n << BigInt(bits);
  const bucket = emitter.register();
  const small = emitter.label();
  const done = emitter.label();
  emitter.branchConstant(Jump.JSLT, value, perPower, small);
  const power = log2(scope, value, valueBits);
  if (bits === 0) {
    emitter.move(bucket, power);
    emitter.add(bucket, 2);
    if (valueBits > 32) clamp(scope, bucket, bucketCount(bits) - 1);
  } else {
    // 1 + (shift << bits) + (value >> shift)
    emitter.add(power, -bits);
    const top = emitter.copy(value);
    emitter.alu(Alu.RSH, top, power);
    emitter.move(bucket, power);
    emitter.aluConstant(Alu.LSH, bucket, BigInt(bits));
    emitter.alu(Alu.ADD, bucket, top);
    emitter.add(bucket, 1);
    clamp(scope, bucket, bucketCount(bits) - 1);
  }
  emitter.jump(done);
  emitter.bind(small);
  // Negative: 0. Else 1 + value.
  if (valueBits === 64) {
    emitter.set(bucket, 0n);
    emitter.branchConstant(Jump.JSLT, value, 0n, done);
  }
  if (bits === 0) emitter.set(bucket, 1n);
  else {
    emitter.move(bucket, value);
    emitter.aluConstant(Alu.AND, bucket, perPower - 1n);
    emitter.add(bucket, 1);
  }
  emitter.bind(done);
  return bucket;
}

/** The bucket of lhist(value, min, max, step). */
function linearBucket(scope: FunctionScope, value: Register, type: AggregateType): Register {
  const { emitter } = scope;
  const min = type.min ?? 0n;
  const max = type.max ?? 0n;
  const step = type.step ?? 1n;
  const last = linearBucketCount(min, max, step) - 1;
  const bucket = emitter.constant(0n);
  const done = emitter.label();
  emitter.branchConstant(Jump.JSLT, value, min, done);
  emitter.set(bucket, BigInt(last));
  emitter.branchConstant(Jump.JSGE, value, max, done);
  emitter.move(bucket, value);
  emitter.aluConstant(Alu.SUB, bucket, min);
  if ((step & (step - 1n)) === 0n) emitter.aluConstant(Alu.RSH, bucket, BigInt(step.toString(2).length - 1));
  else emitter.aluConstant(Alu.DIV, bucket, step);
  emitter.add(bucket, 1);
  clamp(scope, bucket, last);
  emitter.bind(done);
  return bucket;
}

/** Never taken, but the verifier does not know. */
function clamp(scope: FunctionScope, bucket: Register, most: number): void {
  const { emitter } = scope;
  emitter.unspillable.add(bucket);
  const fine = emitter.label();
  emitter.branchConstant(Jump.JLE, bucket, BigInt(most), fine);
  emitter.set(bucket, BigInt(most));
  emitter.bind(fine);
}

/** Reads an aggregation over all CPUs. */
export function aggregateRead(scope: FunctionScope, instruction: Of<"aggregate-read">): void {
  const { emitter } = scope;
  const type = aggregateType(scope, instruction.map);
  const { storage } = scope.irMap(instruction.map);
  // total, and: the number of values (avg), or whether there is one (min, max).
  const total = emitter.constant(0n);
  const second = emitter.constant(0n);
  if (type.aggregate === "hist" || type.aggregate === "lhist" || type.aggregate === "tseries") {
    emitter.set(scope.resultRegister(instruction.result), 0n);
    return;
  }
  if (storage.kind === "slot") {
    const next = emitter.label();
    accumulate(scope, type, behind(emitter.mapValue(scope.globals, storage.offset), 8), total, second, next);
    emitter.bind(next);
  } else if (storage.kind === "percpu-slot") {
    const { map, stripe, count } = scope.stripe;
    eachCopy(scope, count, (cpu, next) => {
      const base = scope.addStripes(map, emitter.copy(cpu), stripe, count);
      accumulate(scope, type, behind(base, storage.offset + 8), total, second, next);
    });
  } else {
    const key = keyMemory(scope, instruction.map, instruction.key);
    const entry = lookup(scope, instruction.map, key);
    const { copies, stride } = copiesIn(storage);
    const missing = emitter.label();
    emitter.branchConstant(Jump.JEQ, entry, 0n, missing);
    eachCopy(scope, copies, (copy, next) => {
      if (copies > 1) {
        const distance = emitter.copy(copy);
        scope.scaleStripes(distance, stride, copies);
        emitter.alu(Alu.ADD, distance, entry);
        accumulate(scope, type, behind(distance), total, second, next);
      } else accumulate(scope, type, behind(entry), total, second, next);
    });
    emitter.bind(missing);
  }
  const result = scope.resultRegister(instruction.result);
  if (type.aggregate === "avg" || type.aggregate === "stats")
    averageOf(scope, result, total, second, instruction.signed);
  else emitter.move(result, total);
}

function eachCopy(scope: FunctionScope, copies: number, body: (copy: Register, next: number) => void): void {
  const { emitter } = scope;
  const copy = emitter.constant(0n);
  const again = emitter.label();
  const next = emitter.label();
  emitter.bind(again);
  body(copy, next);
  emitter.bind(next);
  emitter.add(copy, 1);
  if (copies > 1) emitter.branchConstant(Jump.JLT, copy, BigInt(copies), again);
}

/** Adds one CPU's words; `next` is where to go without adding. */
function accumulate(
  scope: FunctionScope,
  type: AggregateType,
  words: Memory,
  total: Register,
  second: Register,
  next: number,
): void {
  const { emitter } = scope;
  const word = emitter.register();
  switch (type.aggregate) {
    case "count":
    case "sum":
      emitter.load(word, words, 8);
      return emitter.alu(Alu.ADD, total, word);
    case "avg":
    case "stats": {
      const values = emitter.register();
      emitter.load(word, words, 8);
      emitter.load(values, at(words, 8), 8);
      emitter.alu(Alu.ADD, total, word);
      return emitter.alu(Alu.ADD, second, values);
    }
    case "min":
    case "max": {
      const set = emitter.register();
      const take = emitter.label();
      emitter.load(set, at(words, 8), 8);
      emitter.branchConstant(Jump.JEQ, set, 0n, next);
      emitter.load(word, words, 8);
      emitter.branchConstant(Jump.JEQ, second, 0n, take);
      const keeps =
        type.aggregate === "min" ? (type.signed ? Jump.JSGE : Jump.JGE) : type.signed ? Jump.JSLE : Jump.JLE;
      emitter.branch(keeps, word, total, next);
      emitter.bind(take);
      emitter.move(total, word);
      return emitter.set(second, 1n);
    }
    case "hist":
    case "lhist":
    case "tseries":
      return;
  }
}

function averageOf(scope: FunctionScope, result: Register, total: Register, values: Register, signed: boolean): void {
  const { emitter } = scope;
  if (!signed) {
    emitter.move(result, total);
    emitter.alu(Alu.DIV, result, values);
    return;
  }
  // Counts are positive: only the total's sign matters, on every cpu version.
  const sign = emitter.copy(total);
  emitter.aluConstant(Alu.ARSH, sign, 63n);
  const quotient = emitter.copy(total);
  emitter.alu(Alu.XOR, quotient, sign);
  emitter.alu(Alu.SUB, quotient, sign);
  emitter.alu(Alu.DIV, quotient, values);
  emitter.alu(Alu.XOR, quotient, sign);
  emitter.alu(Alu.SUB, quotient, sign);
  emitter.move(result, quotient);
}
