// Decision trees: a value looked up among a few constants, in a logarithm of comparisons.
import type { Value } from "../ir/ir.ts";
import type { FunctionState } from "./state.ts";

/** One of `length` values by a run-time index, which is below that. */
export function chooseByIndex(f: FunctionState, index: Value, length: number, value: (index: number) => Value): Value {
  return decide(
    f,
    index,
    Array.from({ length }, (_, i) => ({ key: BigInt(i), value: () => value(i) })),
  );
}

/** The value that goes with a number among sorted keys; the nearest lower one for a number that is not among them. */
export function decide(
  f: FunctionState,
  subject: Value,
  cases: readonly { readonly key: bigint; readonly value: () => Value }[],
): Value {
  const { build } = f;
  const result = build.newVariable();
  const join = build.newBlock();
  const search = (from: number, to: number): void => {
    if (to - from <= 1) {
      build.write(result, cases[from].value());
      build.jump(join);
      return;
    }
    const middle = (from + to) >> 1;
    const { then, otherwise } = build.branch(build.compare("ult", subject, build.constant(cases[middle].key)));
    build.start(then);
    search(from, middle);
    build.start(otherwise);
    search(middle, to);
  };
  search(0, cases.length);
  build.seal(join);
  build.start(join);
  return build.read(result);
}
