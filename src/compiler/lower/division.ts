// Division: by 0 it fails in a `try`; else the result is 1, and a warning says so. A quotient may be rounded down.
import { parsePrintf } from "../../language/printf.ts";
import type { Span } from "../../language/diagnostic.ts";
import { isFloat, type Type } from "../../language/types.ts";
import type { Value } from "../ir/ir.ts";
import { raise } from "./faults.ts";
import { isSigned } from "./registers.ts";
import { arithmetic, type Operand } from "./scalars.ts";
import { send } from "./send.ts";
import type { FunctionState } from "./state.ts";

const warning = "Divide or modulo by 0 detected. This can lead to unexpected results. 1 is being used as the result.";

/** `/` and `%`. `node` is what stands in the script, by which its warning is known. */
export function divide(
  f: FunctionState,
  operator: "/" | "%",
  left: Operand,
  right: Operand,
  type: Type,
  node: { readonly span: Span },
): Value {
  const { build } = f;
  // Floating-point numbers have infinities.
  if (isFloat(type)) return arithmetic(f, operator, left, right, type);
  const known = build.constantOf(right.value);
  if (known !== undefined && known !== 0n) return rounded(f, operator, left, right, type);
  const result = build.newVariable();
  const join = build.newBlock();
  const edges = build.branch(right.value);
  build.start(edges.then);
  build.write(result, rounded(f, operator, left, right, type));
  build.jump(join);
  build.start(edges.otherwise);
  if (!raise(f, "division", "division by zero", node.span)) {
    send(f, node, { kind: "printf", format: parsePrintf(warning), to: "runtime" }, []);
    build.write(result, build.constant(1n));
    build.jump(join);
  }
  build.seal(join);
  build.start(join);
  return build.read(result);
}

/** As the language rounds: the processor's way is toward zero. */
function rounded(f: FunctionState, operator: "/" | "%", left: Operand, right: Operand, type: Type): Value {
  const { build } = f;
  if (f.rules.integers.division === "truncates" || !isSigned(type)) return arithmetic(f, operator, left, right, type);
  const rest = arithmetic(f, "%", left, right, type);
  // 1 where something is left that has not the divisor's sign.
  const zero = build.constant(0n);
  const below = build.binary(
    "and",
    build.compare("ne", rest, zero),
    build.compare("slt", build.binary("xor", rest, right.value), zero),
  );
  if (operator === "%") return build.binary("add", rest, build.binary("mul", below, right.value));
  return build.binary("sub", arithmetic(f, "/", left, right, type), below);
}
