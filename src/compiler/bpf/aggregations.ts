// Aggregations: words that this CPU's handlers change in place. See language/layout.ts for the words, histogram.ts for buckets.
import { Alu, type Condition, Jump } from "../../bpf/instruction.ts";
import { MapType, UpdateFlag } from "../../bpf/kinds.ts";
import { helperExists } from "../../bpf/helpers.ts";
import { InternalError } from "../../faults/internal-error.ts";
import { bucketCount, linearBucketCount } from "../../language/histogram.ts";
import { seriesCellWords, seriesOf } from "../../language/series.ts";
import type { AggregateType } from "../../language/types.ts";
import type { Instruction, Value } from "../ir.ts";
import { addressOf, at, behind, constant, inRegister, kernelMap } from "./emitter.ts";
import type { Memory, Register } from "./machine.ts";
import { countFailure } from "./counts.ts";
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
  const perCpu = map.type === MapType.PERCPU_HASH || map.type === MapType.LRU_PERCPU_HASH;
  const key = keyMemory(scope, instruction.map, instruction.key);
  const entry = lookup(scope, instruction.map, key);
  const missing = emitter.label();
  const found = emitter.label();
  const done = emitter.label();
  emitter.branchConstant(Jump.JEQ, entry, 0n, missing);
  emitter.bind(found);
  update(scope, type, behind(entry), instruction, !perCpu || scope.preemptible);
  emitter.bind(done);
  emitter.cold(() => {
    emitter.bind(missing);
    emitter.call("map_update_elem", kernelMap(index), addressOf(key), addressOf(scope.zeroes(map.valueSize)), constant(UpdateFlag.NOEXIST));
    emitter.move(entry, lookup(scope, instruction.map, key));
    emitter.branchConstant(Jump.JNE, entry, 0n, found);
    countFailure(scope, instruction.map);
    emitter.jump(done);
  });
}

/** Adds a value to the words at a place. */
function update(scope: FunctionScope, type: AggregateType, words: Memory, { value, time }: Of<"aggregate">, atomic: boolean): void {
  const { emitter } = scope;
  switch (type.aggregate) {
    case "count": return bump(scope, words, undefined, atomic);
    case "sum":
      bump(scope, words, value, atomic);
      return emitter.storeConstant(at(words, 8), 8, 1n);
    case "avg":
    case "stats":
      bump(scope, words, value, atomic);
      return bump(scope, at(words, 8), undefined, atomic);
    case "min":
    case "max": return keepExtreme(scope, type, words, value);
    case "hist": return bumpBucket(scope, words, log2Bucket(scope, needed(scope, value), type.bits ?? 0, bitsOf(scope, value)), atomic);
    case "lhist": return bumpBucket(scope, words, linearBucket(scope, needed(scope, value), type), atomic);
    case "tseries": return addToSeries(scope, type, words, needed(scope, value), needed(scope, time), atomic);
  }
}

/** Into the cell of the interval that `time` lies in, which takes the place of one that is over (language/series.ts). */
function addToSeries(scope: FunctionScope, type: AggregateType, words: Memory, value: Register, time: Register, atomic: boolean): void {
  const { emitter } = scope;
  const { interval, intervals, kind } = seriesOf(type);
  const number = emitter.copy(time);
  emitter.alu(Alu.DIV, number, emitter.constant(interval));
  const cell = emitter.copy(number);
  emitter.aluConstant(Alu.MOD, cell, BigInt(intervals));
  clamp(scope, cell, intervals - 1);
  emitter.aluConstant(Alu.MUL, cell, BigInt(seriesCellWords * 8));
  emitter.alu(Alu.ADD, cell, emitter.addressRegister({ ...words, offset: 0 }));
  const at = (word: number): Memory => behind(cell, words.offset + word * 8);
  const join = emitter.label();
  const done = emitter.label();
  const before = emitter.register();
  emitter.load(before, at(0), 8);
  emitter.branch(Jump.JEQ, before, number, join);
  emitter.store(at(0), 8, number);
  emitter.store(at(1), 8, value);
  if (kind === "last") emitter.store(at(2), 8, time);
  else emitter.storeConstant(at(2), 8, kind === "avg" ? 1n : 0n);
  emitter.jump(done);
  emitter.bind(join);
  switch (kind) {
    case "last":
      emitter.store(at(1), 8, value);
      emitter.store(at(2), 8, time);
      break;
    case "avg":
      add(scope, at(1), value, atomic);
      add(scope, at(2), 1n, atomic);
      break;
    case "sum":
      add(scope, at(1), value, atomic);
      break;
    case "min":
    case "max": {
      const current = emitter.register();
      emitter.load(current, at(1), 8);
      emitter.branch(staying(kind, type.signed), value, current, done);
      emitter.store(at(1), 8, value);
    }
  }
  emitter.bind(done);
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

function keepExtreme(scope: FunctionScope, type: AggregateType, words: Memory, value: Value | undefined): void {
  const { emitter } = scope;
  const candidate = needed(scope, value);
  const take = emitter.label();
  const done = emitter.label();
  const set = emitter.register();
  const current = emitter.register();
  emitter.load(set, at(words, 8), 8);
  emitter.branchConstant(Jump.JEQ, set, 0n, take);
  emitter.load(current, words, 8);
  emitter.branch(staying(type.aggregate === "min" ? "min" : "max", type.signed), candidate, current, done);
  emitter.bind(take);
  emitter.store(words, 8, candidate);
  emitter.storeConstant(at(words, 8), 8, 1n);
  emitter.bind(done);
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
    case "builtin": return definition.name === "cpu" ? 32 : 64;
    case "binary": {
      const shift = definition.kind === "lshr" ? scope.constantOf(definition.right) : undefined;
      return shift === undefined ? 64 : 64 - Number(shift & 63n);
    }
    case "extend": return definition.signed ? 64 : definition.bits;
    case "load":
    case "load-context":
    case "read": return definition.signed ? 64 : definition.size * 8;
    default: return 64;
  }
}

/**
 * floor(log2(value)) of a positive value of so many bits, without branches: halve the range four times, or less often. The
 * verifier knows it to be below the bits, rounded up to a power of two.
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
    eachCpu(scope, count, (cpu, next) => {
      const base = scope.addStripes(map, emitter.copy(cpu), stripe, count);
      accumulate(scope, type, behind(base, storage.offset + 8), total, second, next);
    });
  } else {
    const { index, map } = scope.kernelMapOf(instruction.map);
    const key = keyMemory(scope, instruction.map, instruction.key);
    const perCpu = map.type === MapType.PERCPU_HASH || map.type === MapType.LRU_PERCPU_HASH;
    if (perCpu && helperExists("map_lookup_percpu_elem", scope.options.capabilities.kernel)) {
      eachCpu(scope, scope.options.capabilities.cpus, (cpu, next, stop) => {
        const entry = emitter.callFor("map_lookup_percpu_elem", kernelMap(index), addressOf(key), inRegister(cpu));
        emitter.branchConstant(Jump.JEQ, entry, 0n, stop);
        accumulate(scope, type, behind(entry), total, second, next);
      });
      emitter.touch(key);
    } else {
      // Before Linux 5.19 a program sees only its own CPU's copy.
      const entry = lookup(scope, instruction.map, key);
      const missing = emitter.label();
      emitter.branchConstant(Jump.JEQ, entry, 0n, missing);
      const next = emitter.label();
      accumulate(scope, type, behind(entry), total, second, next);
      emitter.bind(next);
      emitter.bind(missing);
    }
  }
  const result = scope.resultRegister(instruction.result);
  if (type.aggregate === "avg" || type.aggregate === "stats") averageOf(scope, result, total, second, instruction.signed);
  else emitter.move(result, total);
}

function eachCpu(scope: FunctionScope, cpus: number, body: (cpu: Register, next: number, stop: number) => void): void {
  const { emitter } = scope;
  const cpu = emitter.constant(0n);
  const again = emitter.label();
  const next = emitter.label();
  const stop = emitter.label();
  emitter.bind(again);
  body(cpu, next, stop);
  emitter.bind(next);
  emitter.add(cpu, 1);
  emitter.branchConstant(Jump.JLT, cpu, BigInt(cpus), again);
  emitter.bind(stop);
}

/** Adds one CPU's words; `next` is where to go without adding. */
function accumulate(scope: FunctionScope, type: AggregateType, words: Memory, total: Register, second: Register, next: number): void {
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
      const keeps = type.aggregate === "min" ? (type.signed ? Jump.JSGE : Jump.JGE) : type.signed ? Jump.JSLE : Jump.JLE;
      emitter.branch(keeps, word, total, next);
      emitter.bind(take);
      emitter.move(total, word);
      return emitter.set(second, 1n);
    }
    case "hist":
    case "lhist":
    case "tseries": return;
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
