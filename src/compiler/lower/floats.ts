// Doubles in integer code, for there are no others in eBPF: a value is its 64 bits. IEEE 754's arithmetic, rounding to
// the nearest, bit for bit what the traced program's own instructions give (x86-64, for what a result that is no number
// looks like). Mantissas are worked on with their highest bit at bit 62, so that comparisons of them are those of
// signed numbers. Masks of all ones or none take the place of branches where they can: a branch doubles what the
// kernel's verifier may have to walk.
import { bitsOfDouble } from "../../language/floating.ts";
import { isFloat, type Type } from "../../language/types.ts";
import { isSigned } from "./registers.ts";
import type { BinaryOp, CompareOp, Value } from "../ir/ir.ts";
import type { FunctionState } from "./state.ts";

type Build = FunctionState["build"];

const signBit = -(1n << 63n);
const magnitudeBits = (1n << 63n) - 1n;
const infinity = 0x7ffn << 52n;
/** What x86-64 gives where there is no number: 0/0, infinity less infinity. */
const notNumber = 0xfff8n << 48n;
const quiet = 1n << 51n;
const fractionBits = (1n << 52n) - 1n;
/**
 * Of a double whose exponent field is `e` and whose mantissa's highest bit is at bit 52, moved to 62: the field of that
 * is as before.
 */
const guardBits = 10n;

/** Operations on values and small constants, in one word each. */
class Words {
  readonly build: Build;
  constructor(build: Build) {
    this.build = build;
  }
  value(of: Value | bigint): Value {
    return typeof of === "bigint" ? this.build.constant(of) : of;
  }
  op(kind: BinaryOp, left: Value | bigint, right: Value | bigint): Value {
    return this.build.binary(kind, this.value(left), this.value(right));
  }
  add(l: Value | bigint, r: Value | bigint): Value {
    return this.op("add", l, r);
  }
  sub(l: Value | bigint, r: Value | bigint): Value {
    return this.op("sub", l, r);
  }
  and(l: Value | bigint, r: Value | bigint): Value {
    return this.op("and", l, r);
  }
  or(l: Value | bigint, r: Value | bigint): Value {
    return this.op("or", l, r);
  }
  xor(l: Value | bigint, r: Value | bigint): Value {
    return this.op("xor", l, r);
  }
  left(l: Value | bigint, r: Value | bigint): Value {
    return this.op("shl", l, r);
  }
  right(l: Value | bigint, r: Value | bigint): Value {
    return this.op("lshr", l, r);
  }
  /** All ones where a signed number is negative, else 0. */
  negative(value: Value): Value {
    return this.op("ashr", value, 63n);
  }
  /** 1 where a number is not 0, else 0. */
  isSet(value: Value): Value {
    return this.right(this.or(value, this.sub(0n, value)), 63n);
  }
  /** One of two, by a mask. */
  pick(mask: Value, yes: Value | bigint, no: Value | bigint): Value {
    return this.xor(this.value(no), this.and(mask, this.xor(this.value(yes), this.value(no))));
  }
  /** The lesser of two signed numbers that are not far apart. */
  least(left: Value, right: Value | bigint): Value {
    const difference = this.sub(left, right);
    return this.add(right, this.and(difference, this.negative(difference)));
  }
  atLeast(left: Value, right: bigint): Value {
    const difference = this.sub(left, right);
    return this.add(right, this.and(difference, this.xor(this.negative(difference), -1n)));
  }
  /** Right by a count of 0 to 63; what is lost is kept as the lowest bit. */
  jam(value: Value, count: Value): Value {
    const lost = this.and(value, this.sub(this.left(1n, count), 1n));
    return this.or(this.right(value, count), this.isSet(lost));
  }
}

/** A finite number: its sign's bit, the field of its exponent and its mantissa, of 53 bits at most. */
interface Parts {
  readonly sign: Value;
  readonly exponent: Value;
  readonly mantissa: Value;
}

function partsOf(w: Words, bits: Value): Parts {
  const field = w.and(w.right(bits, 52n), 0x7ffn);
  const isNormal = w.isSet(field);
  return {
    sign: w.and(bits, signBit),
    exponent: w.or(field, w.xor(isNormal, 1n)),
    mantissa: w.or(w.and(bits, fractionBits), w.left(isNormal, 52n)),
  };
}

/**
 * A mantissa above 0 and below 2^63, with its highest bit moved up to bit 62, and the field of its exponent lowered
 * with it.
 */
function normal(w: Words, exponent: Value, mantissa: Value): { exponent: Value; mantissa: Value } {
  for (const power of [5n, 4n, 3n, 2n, 1n, 0n]) {
    // By 2^power, or not at all. No mask of ones: verifiers since Linux 7 walk both ways of those that a constant is
    // taken through.
    const by = w.left(w.right(w.sub(mantissa, 1n << (63n - (1n << power))), 63n), power);
    mantissa = w.left(mantissa, by);
    exponent = w.sub(exponent, by);
  }
  return { exponent, mantissa };
}

/** Rounds a mantissa below 2^63; `exponent` is the field that a double has whose highest bit is at bit 62 of it. */
function packed(w: Words, sign: Value, before: Value, wide: Value): Value {
  const { exponent, mantissa } = normal(w, before, wide);
  // Too small for a mantissa of its own: fewer bits of it.
  const missing = w.least(w.atLeast(w.sub(1n, exponent), 0n), 63n);
  const fitting = w.jam(mantissa, missing);
  const field = w.least(w.atLeast(exponent, 1n), 0x7ffn);
  const even = w.and(w.right(fitting, guardBits), 1n);
  const rounded = w.right(w.add(w.add(fitting, (1n << (guardBits - 1n)) - 1n), even), guardBits);
  // The mantissa's highest bit, where there is one, adds the last 1 to the exponent, and so does what rounding carries.
  const magnitude = w.add(w.left(w.sub(field, 1n), 52n), rounded);
  const large = w.negative(w.sub(infinity - 1n, magnitude));
  return w.or(sign, w.and(w.pick(large, infinity, magnitude), w.sub(0n, w.isSet(wide))));
}

/** 1 for what is no number, else 0. */
function isNaN(w: Words, bits: Value): Value {
  return w.right(w.sub(infinity, w.and(bits, magnitudeBits)), 63n);
}

/** One of two ways to a value. */
function branch(w: Words, condition: Value, then: () => Value, otherwise: () => Value): Value {
  const { build } = w;
  const result = build.newVariable();
  const join = build.newBlock();
  const edges = build.branch(condition);
  for (const [block, make] of [
    [edges.then, then],
    [edges.otherwise, otherwise],
  ] as const) {
    build.start(block);
    build.write(result, make());
    build.jump(join);
  }
  build.seal(join);
  build.start(join);
  return build.read(result);
}

/** 1 where the exponent's bits are all set: infinite, or no number. */
function isSpecial(w: Words, bits: Value): Value {
  return w.xor(w.right(w.sub(w.and(bits, magnitudeBits), infinity), 63n), 1n);
}

/** What is no number stays what it was, the first of two; else what `otherwise` gives. */
function passingNaN(w: Words, left: Value, right: Value, otherwise: () => Value): Value {
  return branch(
    w,
    isNaN(w, left),
    () => w.or(left, quiet),
    () => branch(w, isNaN(w, right), () => w.or(right, quiet), otherwise),
  );
}

function sum(w: Words, left: Value, right: Value): Value {
  return branch(
    w,
    w.or(isSpecial(w, left), isSpecial(w, right)),
    () =>
      passingNaN(w, left, right, () =>
        branch(
          w,
          isSpecial(w, left),
          () =>
            branch(
              w,
              w.and(isSpecial(w, right), w.right(w.xor(left, right), 63n)),
              () => w.value(notNumber),
              () => left,
            ),
          () => right,
        ),
      ),
    () => {
      // The larger one first.
      const swapped = w.and(
        w.xor(left, right),
        w.negative(w.sub(w.and(left, magnitudeBits), w.and(right, magnitudeBits))),
      );
      const [a, b] = [partsOf(w, w.xor(left, swapped)), partsOf(w, w.xor(right, swapped))];
      // Bit 61, so that a sum stays below 2^63.
      const larger = w.left(a.mantissa, guardBits - 1n);
      const smaller = w.jam(w.left(b.mantissa, guardBits - 1n), w.least(w.sub(a.exponent, b.exponent), 63n));
      const differ = w.negative(w.xor(a.sign, b.sign));
      const total = w.add(larger, w.sub(w.xor(smaller, differ), differ));
      // What cancels out is 0, and -0 only where both were.
      const sign = w.and(a.sign, w.or(b.sign, w.sub(0n, w.isSet(total))));
      return packed(w, sign, w.add(a.exponent, 1n), total);
    },
  );
}

/** Both mantissas with their highest bits at bit 62. */
function normalParts(w: Words, bits: Value): Parts {
  const { sign, exponent, mantissa } = partsOf(w, bits);
  return { sign, ...normal(w, w.add(exponent, guardBits), mantissa) };
}

function product(w: Words, left: Value, right: Value): Value {
  const sign = w.and(w.xor(left, right), signBit);
  return branch(
    w,
    w.or(isSpecial(w, left), isSpecial(w, right)),
    () =>
      passingNaN(w, left, right, () => {
        const zero = w.xor(w.and(w.isSet(w.left(left, 1n)), w.isSet(w.left(right, 1n))), 1n);
        return branch(
          w,
          zero,
          () => w.value(notNumber),
          () => w.or(sign, infinity),
        );
      }),
    () => {
      const [a, b] = [normalParts(w, left), normalParts(w, right)];
      // 128 bits of product, by halves; the lower 64 count as one bit.
      const [a0, a1] = [w.and(a.mantissa, 0xffff_ffffn), w.right(a.mantissa, 32n)];
      const [b0, b1] = [w.and(b.mantissa, 0xffff_ffffn), w.right(b.mantissa, 32n)];
      const low = w.op("mul", a0, b0);
      const middle = w.add(w.op("mul", a1, b0), w.right(low, 32n));
      const other = w.add(w.op("mul", a0, b1), w.and(middle, 0xffff_ffffn));
      const high = w.add(w.add(w.op("mul", a1, b1), w.right(middle, 32n)), w.right(other, 32n));
      const lost = w.or(w.left(other, 32n), w.and(low, 0xffff_ffffn));
      return packed(w, sign, w.add(w.add(a.exponent, b.exponent), -1021n), w.or(high, w.isSet(lost)));
    },
  );
}

function quotient(w: Words, left: Value, right: Value): Value {
  const sign = w.and(w.xor(left, right), signBit);
  const isZero = (bits: Value): Value => w.xor(w.isSet(w.left(bits, 1n)), 1n);
  const special = w.or(w.or(isSpecial(w, left), isSpecial(w, right)), isZero(right));
  return branch(
    w,
    special,
    () =>
      passingNaN(w, left, right, () => {
        const neither = w.or(w.and(isSpecial(w, left), isSpecial(w, right)), w.and(isZero(left), isZero(right)));
        return branch(
          w,
          neither,
          () => w.value(notNumber),
          () =>
            branch(
              w,
              w.or(isSpecial(w, left), isZero(right)),
              () => w.or(sign, infinity),
              () => sign,
            ),
        );
      }),
    () => {
      const [a, b] = [normalParts(w, left), normalParts(w, right)];
      const divisor = w.right(b.mantissa, guardBits);
      let rest = w.right(a.mantissa, guardBits);
      let result = w.op("udiv", rest, divisor);
      rest = w.op("umod", rest, divisor);
      // Eleven bits at a time: 53 of the rest and 11 are 64.
      for (let i = 0; i < 5; i++) {
        const more = w.left(rest, 11n);
        result = w.or(w.left(result, 11n), w.op("udiv", more, divisor));
        rest = w.op("umod", more, divisor);
      }
      return packed(w, sign, w.add(w.sub(a.exponent, b.exponent), 1023n), w.or(w.left(result, 7n), w.isSet(rest)));
    },
  );
}

/** `+`, `-`, `*` and `/` of two doubles. */
export function floatArithmetic(f: FunctionState, operator: "+" | "-" | "*" | "/", left: Value, right: Value): Value {
  const w = new Words(f.build);
  switch (operator) {
    case "+":
      return sum(w, left, right);
    // What is no number keeps its sign.
    case "-":
      return sum(w, left, w.xor(right, w.left(w.xor(isNaN(w, right), 1n), 63n)));
    case "*":
      return product(w, left, right);
    case "/":
      return quotient(w, left, right);
  }
}

export function negated({ build }: FunctionState, bits: Value): Value {
  return build.binary("xor", bits, build.constant(signBit));
}

/** A double without its fraction. */
export function withoutFraction(f: FunctionState, way: "floor" | "ceil" | "trunc" | "round", bits: Value): Value {
  const w = new Words(f.build);
  // What is less than a half by as little as a double can be: a half would round what is below a half by as little.
  const half = bitsOfDouble(0.49999999999999994);
  const from = way === "round" ? sum(w, bits, w.or(w.and(bits, signBit), half)) : bits;
  const power = w.sub(w.and(w.right(from, 52n), 0x7ffn), 1023n);
  const kept = w.left(-1n, w.sub(52n, w.least(power, 52n)));
  const whole = w.and(from, w.pick(w.negative(power), signBit, kept));
  if (way === "trunc" || way === "round") return whole;
  const [less, greater] = way === "floor" ? [bits, whole] : [whole, bits];
  const step = w.value(bitsOfDouble(way === "floor" ? -1 : 1));
  return branch(
    w,
    f.build.compare("slt", orderOf(f, less), orderOf(f, greater)),
    () => sum(w, whole, step),
    () => whole,
  );
}

/**
 * A number whose order among signed integers is the double's among doubles: its magnitude's bits, with its sign. -0 is
 * 0.
 */
export function orderOf({ build }: FunctionState, bits: Value): Value {
  const w = new Words(build);
  const sign = w.negative(bits);
  return w.sub(w.xor(w.and(bits, magnitudeBits), sign), sign);
}

/** The double of such a number. */
export function ofOrder({ build }: FunctionState, order: Value): Value {
  const w = new Words(build);
  const sign = w.negative(order);
  return w.or(w.sub(w.xor(order, sign), sign), w.and(order, signBit));
}

export function isNotNumber({ build }: FunctionState, bits: Value): Value {
  return isNaN(new Words(build), bits);
}

/** Compares two doubles: what is no number is neither equal to anything, nor less, nor greater. */
export function floatCompare(f: FunctionState, kind: CompareOp, left: Value, right: Value): Value {
  const w = new Words(f.build);
  const compared = f.build.compare(kind, orderOf(f, left), orderOf(f, right));
  const unordered = w.or(isNaN(w, left), isNaN(w, right));
  return kind === "ne" ? w.or(compared, unordered) : w.and(compared, w.xor(unordered, 1n));
}

/** A number of one type as one of another, one of which is a float or a double. */
export function convertFloat(f: FunctionState, value: Value, from: Type, to: Type): Value {
  const w = new Words(f.build);
  if (isFloat(from) && isFloat(to))
    return from.of === to.of ? value : to.of === "float64" ? widened(w, value) : narrowed(w, value);
  if (isFloat(from)) {
    const whole = from.of === "float64" ? value : widened(w, value);
    return to.kind === "boolean" ? w.isSet(w.left(whole, 1n)) : truncated(w, whole, isSigned(to));
  }
  const double = ofInteger(w, value, isSigned(from));
  return isFloat(to) && to.of === "float32" ? narrowed(w, double) : double;
}

/** The double that a float is: each is one. */
function widened(w: Words, bits: Value): Value {
  const known = w.build.constantOf(bits);
  if (known === 0n) return bits;
  const sign = w.left(w.and(bits, 0x8000_0000n), 32n);
  const field = w.and(w.right(bits, 23n), 0xffn);
  const fraction = w.and(bits, 0x7f_ffffn);
  return branch(
    w,
    w.op("udiv", w.add(field, 1n), 256n),
    () => {
      const number = w.or(w.or(sign, infinity), w.left(fraction, 29n));
      return w.or(number, w.left(w.isSet(fraction), 51n));
    },
    () => {
      const isNormal = w.isSet(field);
      const mantissa = w.or(fraction, w.left(isNormal, 23n));
      return packed(w, sign, w.add(w.or(field, w.xor(isNormal, 1n)), 1023n - 127n), w.left(mantissa, 62n - 23n));
    },
  );
}

/** The float that is nearest to a double. */
function narrowed(w: Words, bits: Value): Value {
  const sign = w.right(w.and(bits, signBit), 32n);
  return branch(
    w,
    isSpecial(w, bits),
    () => {
      const fraction = w.and(w.right(bits, 29n), 0x7f_ffffn);
      return w.or(w.or(sign, 0x7f80_0000n), w.or(fraction, w.left(isNaN(w, bits), 22n)));
    },
    () => {
      const { exponent, mantissa } = partsOf(w, bits);
      const field = w.sub(exponent, 1023n - 127n);
      const missing = w.least(w.atLeast(w.sub(1n, field), 0n), 63n);
      const fitting = w.jam(w.left(mantissa, guardBits), missing);
      const even = w.and(w.right(fitting, 39n), 1n);
      const rounded = w.right(w.add(w.add(fitting, (1n << 38n) - 1n), even), 39n);
      const magnitude = w.add(w.left(w.sub(w.least(w.atLeast(field, 1n), 0xffn), 1n), 23n), rounded);
      return w.or(sign, w.least(magnitude, 0x7f80_0000n));
    },
  );
}

/** The nearest double to an integer of 64 bits. */
function ofInteger(w: Words, value: Value, signed: boolean): Value {
  const known = w.build.constantOf(value);
  if (known !== undefined) return w.value(bitsOfDouble(Number(signed ? known : BigInt.asUintN(64, known))));
  const sign = signed ? w.negative(value) : w.value(0n);
  const magnitude = w.sub(w.xor(value, sign), sign);
  // One bit less where the highest is in use, for the mantissa to be below 2^63.
  const high = w.right(magnitude, 63n);
  const mantissa = w.jam(magnitude, high);
  return packed(w, signed ? w.and(value, signBit) : w.value(0n), w.add(1023n + 62n, high), mantissa);
}

/**
 * Towards zero. What does not fit, and what is no number, is the least int64, as x86-64 has it; C says nothing of it.
 * Unsigned, so are numbers of 2^64 and more, and those below zero are as their int64.
 */
function truncated(w: Words, bits: Value, signed: boolean): Value {
  const { exponent, mantissa } = partsOf(w, bits);
  // Of a mantissa at bit 52: how far up its lowest bit is.
  const up = w.sub(exponent, 1023n + 52n);
  const places = w.atLeast(up, 0n);
  const down = w.least(w.sub(places, up), 63n);
  const magnitude = w.right(w.left(mantissa, w.least(places, 11n)), down);
  const sign = w.negative(bits);
  const number = w.sub(w.xor(magnitude, sign), sign);
  // The highest bit at 63 is too much for an int64, but that of its least; at 64 for a uint64.
  const room = w.sub(signed ? 10n : 11n, up);
  return w.pick(w.negative(room), signBit, number);
}
