// The constants of lquantize() and llquantize(), in the order in which DTrace looks at them. What it takes and the tree
// does not is refused by the aggregation itself.
import { dAggregations } from "../../messages/d-aggregations.ts";
import type { Message } from "../../messages/message.ts";
import type { Expression } from "../program.ts";
import { checkPrototype } from "./prototypes.ts";
import { constantValue } from "./type-names.ts";
import type { Unit } from "./unit.ts";

interface Constant {
  /** In tags: `D_LQUANT_BASETYPE`. */
  readonly tag: string;
  /** How the tag of one that is another than before is spelled, and what it is called then. */
  readonly match: readonly [tag: string, name: string];
  readonly type?: string;
  readonly least: bigint;
  readonly most: bigint;
  readonly range: string;
  readonly prototype: string;
}

interface Quantizing {
  readonly tag: string;
  readonly spaced: string;
  readonly constants: readonly Constant[];
  /** What is wrong with them together. */
  readonly together: (of: readonly bigint[]) => Message | undefined;
}

const [least32, most32] = [-(1n << 31n), (1n << 31n) - 1n];
const most16 = 0xffffn;
const positive = "a non-zero positive integer constant";
const unsigned16 = "an unsigned 16-bit quantity";

const of32 = (tag: string, match: readonly [string, string]): Constant => ({
  tag,
  match,
  least: least32,
  most: most32,
  range: "a 32-bit quantity",
  prototype: "int32_t",
});

const of16 = (tag: string, match: readonly [string, string], least = 0n, range = unsigned16): Constant => ({
  tag,
  match,
  least,
  most: most16,
  range,
  prototype: "int32_t",
});

const quantizing: Readonly<Record<string, Quantizing>> = {
  lquantize: {
    tag: "LQUANT",
    spaced: "lquantize( )",
    constants: [
      of32("BASE", ["BASE", "base"]),
      of32("LIM", ["LIM", "limit"]),
      { ...of16("STEP", ["STEP", "step"], 1n, "a 16-bit quantity"), type: positive },
    ],
    together: ([base, limit, step]) => {
      if (limit <= base) return dAggregations.quantizeMismatch();
      if (step > limit - base)
        return dAggregations.quantizeStep("LARGE", "large: must have at least one quantization level");
      if ((limit - base) / step > most16)
        return dAggregations.quantizeStep("SMALL", "small: number of quantization levels must be a 16-bit quantity");
      return undefined;
    },
  },
  llquantize: {
    tag: "LLQUANT",
    spaced: "llquantize()",
    constants: [
      of16("FACTOR", ["FACTOR", "factor"], 2n, `${unsigned16} greater than or equal to 2`),
      of16("LMAG", ["LMAG", "lmag"]),
      of16("HMAG", ["HMAG", "hmag"]),
      { ...of16("STEP", ["STEPS", "steps"], 1n), type: positive },
    ],
    together: ([factor, low, high, steps]) => {
      if (high < low) return dAggregations.quantizeHigh("must be at least argument #2 (low magnitude)");
      // Not computed where it is huge.
      if (high >= 64n || factor ** (high + 1n) >= 1n << 64n)
        return dAggregations.quantizeHigh("will cause overflow of 64 bits");
      if (steps < factor && factor % steps !== 0n)
        return dAggregations.quantizeSteps("evenly divide argument #1 (factor) when steps<factor");
      if (steps <= factor) return undefined;
      if (steps % factor !== 0n)
        return dAggregations.quantizeSteps("be a multiple of argument #1 (factor) when steps>factor");
      if (low === 0n && (factor * factor) % steps !== 0n)
        return dAggregations.quantizeSteps(
          "evenly divide the square of argument #1 (factor) when steps>factor and lmag==0",
        );
      return undefined;
    },
  },
};

/** Behind the value. `before`: those with which the aggregation was first used. @returns them, as far as they are looked at */
export function checkQuantized(
  unit: Unit,
  name: string,
  given: readonly Expression[],
  before: readonly bigint[],
): readonly bigint[] {
  if (!Object.hasOwn(quantizing, name)) return [];
  const { tag, spaced, constants, together } = quantizing[name];
  checkPrototype(unit, name, [undefined, ...given] as Expression[], ["", ...constants.map((one) => one.prototype)]);
  const values = constants.map((one, i) => {
    const argument = given.at(i);
    if (argument === undefined) return 1n;
    const value = constantValue(argument, unit);
    const must = (of: "TYPE" | "VAL", what: string): never =>
      unit.cursor.fail(dAggregations.quantizeConstant(name, `D_${tag}_${one.tag}${of}`, i + 1, what), argument.span);
    if (value === undefined || (one.type !== undefined && value < one.least))
      return must("TYPE", one.type ?? "an integer constant");
    return value < one.least || value > one.most ? must("VAL", one.range) : value;
  });
  const [first] = given;
  const wrong = together(values);
  if (wrong !== undefined) unit.cursor.fail(wrong, first.span);
  for (const [i, { match }] of constants.entries())
    if (before[i] !== undefined && before[i] !== values[i])
      unit.cursor.fail(
        dAggregations.quantizeOther(spaced, `D_${tag}_MATCH${match[0]}`, match[1], i + 1, before[i], values[i]),
        first.span,
      );
  return values;
}
