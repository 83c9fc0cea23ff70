// A number as text, without calls: 0x and its digits.
import type { Place, Value } from "../ir/ir.ts";
import { at } from "./memory.ts";
import type { FunctionState } from "./state.ts";

const digits = 16;

/** Text of 19 bytes with its end, and zeroes behind it. */
export function hexText(f: FunctionState, number: Value): Place {
  const { build } = f;
  const constant = (value: number): Value => build.constant(BigInt(value));
  const to = f.slotOf("digits", 3 + digits);
  build.emit({ op: "zero", at: to, size: 3 + digits });
  const store = (offset: number, value: Value): void => build.emit({ op: "store", to: at(to, offset), value, size: 1 });
  store(0, constant(0x30));
  store(1, constant(0x78));
  // Zeros in front are shifted away, but for the last digit.
  let left = number;
  let count = constant(digits);
  for (let i = 1; i < digits; i++) {
    const isZero = build.compare("eq", build.binary("lshr", left, constant(60)), constant(0));
    left = build.binary("shl", left, build.binary("shl", isZero, constant(2)));
    count = build.binary("sub", count, isZero);
  }
  for (let i = 0; i < digits; i++) {
    const digit = build.binary("lshr", left, constant(60));
    left = build.binary("shl", left, constant(4));
    // From 9 on to a: 39 characters are between.
    const letters = build.binary("mul", build.compare("ugt", digit, constant(9)), constant(39));
    const character = build.binary("add", build.binary("add", digit, constant(0x30)), letters);
    store(2 + i, build.binary("mul", character, build.compare("ult", constant(i), count)));
  }
  return to;
}
