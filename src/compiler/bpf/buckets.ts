// The bucket of a histogram that a value falls into (language/aggregations/buckets.ts), within its bounds for the verifier
// too.
import { Alu, Jump } from "../../bpf/instruction.ts";
import { bucketCount, mirroredZero, type Buckets, type Piece } from "../../language/aggregations/buckets.ts";
import type { Value } from "../ir/ir.ts";
import type { Register } from "./machine.ts";
import type { FunctionScope } from "./scope.ts";

/** `definition`: whose number is in the register. */
export function bucketOf(
  scope: FunctionScope,
  buckets: Buckets,
  value: Register,
  definition: Value | undefined,
): Register {
  switch (buckets.by) {
    case "power":
      return powerBucket(scope, value, buckets.bits, bitsOf(scope, definition));
    case "mirrored":
      return mirroredBucket(scope, value, bitsOf(scope, definition));
    case "step":
      return linearBucket(scope, value, buckets);
    case "pieces":
      return pieceBucket(scope, value, buckets.pieces);
  }
}

/** A value is not negative and below 2 to the power of this; 64: nothing is known. */
export function bitsOf(scope: FunctionScope, value: Value | undefined): number {
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
 * The verifier knows it to be below the bits, rounded up to a power of two: its bits are added, since before Linux 6.10
 * it keeps no bounds of what is joined by or (adjust_scalar_min_max_vals() in kernel/bpf/verifier.c).
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
    else emitter.alu(Alu.ADD, power, above);
  }
  // Below 16 is left: two bits for each.
  const last = emitter.constant(0xffff_aa50n);
  emitter.aluConstant(Alu.LSH, rest, 1n);
  emitter.alu(Alu.RSH, last, rest);
  emitter.aluConstant(Alu.AND, last, 3n);
  if (power === undefined) return last;
  emitter.alu(Alu.ADD, power, last);
  return power;
}

/** The bucket of hist(value, bits), within its bounds for the verifier too. */
function powerBucket(scope: FunctionScope, value: Register, bits: number, valueBits: number): Register {
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
    if (valueBits > 32) clamp(scope, bucket, bucketCount({ by: "power", bits }) - 1);
  } else {
    // 1 + (shift << bits) + (value >> shift)
    emitter.add(power, -bits);
    const top = emitter.copy(value);
    emitter.alu(Alu.RSH, top, power);
    emitter.move(bucket, power);
    emitter.aluConstant(Alu.LSH, bucket, BigInt(bits));
    emitter.alu(Alu.ADD, bucket, top);
    emitter.add(bucket, 1);
    clamp(scope, bucket, bucketCount({ by: "power", bits }) - 1);
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

/** The bucket of shist(value). */
function mirroredBucket(scope: FunctionScope, value: Register, valueBits: number): Register {
  const { emitter } = scope;
  const bucket = emitter.constant(BigInt(mirroredZero));
  const done = emitter.label();
  emitter.branchConstant(Jump.JEQ, value, 0n, done);
  const size = emitter.copy(value);
  const sign = emitter.copy(value);
  emitter.aluConstant(Alu.ARSH, sign, 63n);
  emitter.alu(Alu.XOR, size, sign);
  emitter.alu(Alu.SUB, size, sign);
  emitter.move(bucket, log2(scope, size, valueBits));
  emitter.add(bucket, 1);
  emitter.alu(Alu.XOR, bucket, sign);
  emitter.alu(Alu.SUB, bucket, sign);
  emitter.add(bucket, mirroredZero);
  // -2^63 is one below the first.
  const fine = emitter.label();
  emitter.branchConstant(Jump.JSGE, bucket, 0n, fine);
  emitter.set(bucket, 0n);
  emitter.bind(fine);
  clamp(scope, bucket, bucketCount({ by: "mirrored" }) - 1);
  emitter.bind(done);
  return bucket;
}

/** The bucket of lhist(value, min, max, step). */
function linearBucket(scope: FunctionScope, value: Register, buckets: Extract<Buckets, { by: "step" }>): Register {
  const { emitter } = scope;
  const { min, max, step } = buckets;
  const last = bucketCount(buckets) - 1;
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
export function clamp(scope: FunctionScope, bucket: Register, most: number): void {
  const { emitter } = scope;
  emitter.unspillable.add(bucket);
  const fine = emitter.label();
  emitter.branchConstant(Jump.JLE, bucket, BigInt(most), fine);
  emitter.set(bucket, BigInt(most));
  emitter.bind(fine);
}

/** The bucket of pieces: which piece is found by halves, then one division for all of them. */
function pieceBucket(scope: FunctionScope, value: Register, pieces: readonly Piece[]): Register {
  const { emitter } = scope;
  const last = pieces[pieces.length - 1];
  const bucket = emitter.constant(0n);
  const [from, step, first] = [emitter.register(), emitter.register(), emitter.register()];
  const divide = emitter.label();
  const done = emitter.label();
  emitter.branchConstant(Jump.JSLT, value, pieces[0].from, done);
  emitter.set(bucket, BigInt(last.bucket));
  emitter.branchConstant(Jump.JSGE, value, last.from, done);
  const choose = (low: number, high: number): void => {
    if (high - low === 1) {
      emitter.set(from, pieces[low].from);
      emitter.set(step, pieces[low].step);
      emitter.set(first, BigInt(pieces[low].bucket));
      emitter.jump(divide);
      return;
    }
    const middle = (low + high) >> 1;
    const upper = emitter.label();
    emitter.branchConstant(Jump.JSGE, value, pieces[middle].from, upper);
    choose(low, middle);
    emitter.bind(upper);
    choose(middle, high);
  };
  if (pieces.length > 1) choose(0, pieces.length - 1);
  emitter.bind(divide);
  emitter.move(bucket, value);
  emitter.alu(Alu.SUB, bucket, from);
  emitter.alu(Alu.DIV, bucket, step);
  emitter.alu(Alu.ADD, bucket, first);
  clamp(scope, bucket, last.bucket);
  emitter.bind(done);
  return bucket;
}
