// Math, as far as handlers go: the least and the greatest, signs, and which way a division rounds.
import { handlerCalls } from "../../messages/typescript-calls.ts";
import type * as js from "acorn";
import type { Expression } from "../program.ts";
import { refusedGlobals } from "../../messages/typescript-refused.ts";
import { kept } from "./tables.ts";
import type { Reader } from "./reader.ts";
import { binary, call, conditional, integer } from "./reader.ts";

/** `args` reads what it is called with. */
export function mathCall(
  reader: Reader,
  node: js.CallExpression,
  name: string,
  args: () => readonly Expression[],
): Expression {
  const span = reader.span(node);
  const only = (): Expression =>
    node.arguments.length === 1 ? args()[0] : reader.refuse(node, handlerCalls.mathTakesOneArgument(name));
  const zero = integer(0n, span);
  switch (name) {
    case "min":
    case "max": {
      if (node.arguments.length === 0) return reader.refuse(node, handlerCalls.mathWantsNumbers(name));
      return args().reduce((best, next) =>
        kept(reader, best, span, (left) =>
          kept(reader, next, span, (right) =>
            conditional(binary(name === "min" ? "<" : ">", right, left, span), right, left, span),
          ),
        ),
      );
    }
    case "abs":
      return kept(reader, only(), span, (x) =>
        conditional(
          binary("<", x, zero, span),
          { kind: "unary", operator: "-", operand: x, span, type: x.type },
          x,
          span,
        ),
      );
    case "sign":
      return kept(reader, only(), span, (x) =>
        conditional(
          binary("<", x, zero, span),
          integer(-1n, span),
          conditional(binary("!=", x, zero, span), integer(1n, span), zero, span),
          span,
        ),
      );
    case "trunc":
      return call("trunc", [only()], span);
    case "floor":
    case "ceil":
      return rounded(reader, name, only(), span);
    case "round":
      return reader.refuse(node, handlerCalls.thereNoMathRoundKernel());
    default:
      return reader.refuse(node, handlerCalls.thereNoMathKernel(name, refusedGlobals.Math().help));
  }
}

/** A division that does not truncate; of anything else there is nothing to round. */
function rounded(reader: Reader, name: "floor" | "ceil", value: Expression, span: Expression["span"]): Expression {
  if (value.kind !== "binary" || value.operator !== "/") return call(name, [value], span);
  const zero = integer(0n, span);
  return kept(reader, value.left, span, (a) =>
    kept(reader, value.right, span, (b) => {
      const whole = binary("/", a, b, span);
      const rest = binary("%", a, b, span);
      const step = integer(name === "floor" ? -1n : 1n, span);
      // The rest has the sign of what is divided: below zero the quotient was rounded up, if the divisor is positive.
      const below = binary("<", rest, zero, span);
      const above = binary(">", rest, zero, span);
      const positive = binary(">", b, zero, span);
      const off =
        b.kind === "integer" && b.value > 0n
          ? name === "floor"
            ? below
            : above
          : conditional(positive, name === "floor" ? below : above, name === "floor" ? above : below, span);
      return conditional(off, binary("+", whole, step, span), whole, span);
    }),
  );
}
