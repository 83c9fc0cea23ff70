// Variables of a program that are named in text.
import { Failure } from "../../base/failure.ts";
import type { Argument } from "../../language/context.ts";
import type { Call } from "../../language/program.ts";
import { literalText } from "./call-arguments.ts";
import { contextOf } from "./fetch.ts";
import type { FunctionState } from "./state.ts";

/** What `var("x")` names. */
export function programVariable(f: FunctionState, e: Call): Argument {
  const variables = contextOf(f)?.variables;
  const found =
    variables === undefined || variables instanceof Failure ? undefined : variables.find(literalText(e.args[0]));
  return found === undefined || found instanceof Failure
    ? f.fault(e.span, "a variable of a program that is not known")
    : found;
}
