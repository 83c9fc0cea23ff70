// Points inside of functions of programs: `.callee("g")`, `.callees`, `.label("l")`. Each is a point of its own for every
// function that is called, and for every label.
import { Failure } from "../../base/failure.ts";
import { machineReasons } from "../../messages/on-demand.ts";
import { systemtap } from "../../messages/systemtap.ts";
import type { Message } from "../../messages/message.ts";
import type { Span } from "../diagnostic.ts";
import type { CalledFunction, Given, Label, MachineGiven } from "../language.ts";
import { nearest } from "../nearest.ts";
import type { Expression } from "../program.ts";
import { loaded } from "./library/memory.ts";
import { componentsText } from "./parse-script.ts";
import { programOf } from "./whose-points.ts";
import type { Component, Point } from "./syntax.ts";
import * as tree from "./tree.ts";
import { wildcard } from "./wildcard.ts";

export interface Inside {
  readonly point: Point;
  /** It is called from where it is wanted. */
  readonly guard?: Expression;
  readonly label?: string;
}

/** The points that one stands for; undefined where it is none of those. */
export function insideOf(point: Point, given: Given): readonly Inside[] | { readonly problem: Message } | undefined {
  const { components } = point;
  const at = components.findIndex(({ name }) => name === "callee" || name === "callees" || name === "label");
  if (at < 1) return undefined;
  const of = components[at - 1];
  const which = components[at];
  const behind = components.slice(at + 1).filter(({ name }) => name !== "call");
  const returns = which.name !== "label" && behind.length === 1 && behind[0].name === "return";
  const refused = (why: string, help?: string): { readonly problem: Message } => ({
    problem: systemtap.pointNotSupported(point.text, why, help),
  });
  if (components[0].name !== "process")
    return refused(
      `\`.${which.name}\` is of functions of programs`,
      which.name === "label"
        ? 'kernel.statement("FUNCTION@FILE:LINE") is where one stands'
        : "ask in the handler who called: caller()",
    );
  if (of.name !== "function" || typeof of.argument !== "string" || of.argument.includes("@"))
    return { problem: systemtap.expected(`.function("NAME") before .${which.name}`, `\`${point.text}\``) };
  if (behind.length > 0 && !returns)
    return refused(
      which.name === "label"
        ? "nothing may stand behind `.label`"
        : `nothing but \`.call\` and \`.return\` may stand behind \`.${which.name}\``,
    );
  if (which.name === "callees" && typeof which.argument === "bigint" && which.argument > 1n)
    return refused("who called the caller is not known where a function is entered", "`.callees` are the first level");
  if (which.name !== "callees" && typeof which.argument !== "string")
    return { problem: systemtap.expected(`a name in quotes, as in .${which.name}("…")`, `\`${point.text}\``) };
  const path = programOf(components, given);
  if (path === undefined) return undefined;
  const wanted = which.name === "callees" ? "*" : String(which.argument);
  const before = components.slice(0, at - 1);
  const whole = (last: Component): Point => {
    const all: Point["components"] = [...before, last, ...behind];
    return { ...point, components: all, text: componentsText(all) };
  };
  const asks = which.name === "label" ? "labels" : "calledFunctions";
  const known = knownOf(given.machine, asks, path, of.argument);
  if (known instanceof Failure) return refused(known.reason);
  const chosen = known.filter(({ name }) => wildcard(wanted).test(name));
  if (chosen.length === 0) return { problem: noneOf(point, which.name, wanted, known) };
  return chosen.map((one) =>
    "address" in one
      ? {
          point: {
            ...whole({ name: "statement", argument: one.address, span: which.span }),
            text: componentsText([...before, { ...of, argument: one.function }, { ...which, argument: one.name }]),
          },
          label: one.name,
        }
      : {
          point: whole({ name: "function", argument: one.name, span: which.span }),
          guard: isCalledFrom(one.returns, point.span),
        },
  );
}

function knownOf(
  machine: MachineGiven | undefined,
  asks: "labels" | "calledFunctions",
  path: string,
  functions: string,
): readonly (CalledFunction | Label)[] | Failure {
  return machine?.[asks]?.(path, functions) ?? new Failure(machineReasons().programsUnknown());
}

function noneOf({ text }: Point, what: string, wanted: string, known: readonly { readonly name: string }[]): Message {
  const names = [...new Set(known.map(({ name }) => name))];
  const [near] = nearest(wanted, names);
  const some = `there are ${names.slice(0, 8).join(", ")}${names.length > 8 ? ", …" : ""}`;
  const none =
    what === "label"
      ? "the function has no labels that debug information tells of"
      : "it calls none of its own file's functions by their names; what is inlined into it is not called";
  return systemtap.unresolvedPoint(
    text,
    near !== undefined ? `did you mean \`${near}\`?` : names.length === 0 ? none : some,
  );
}

/** At a function's entry what is on the stack is where it returns to. */
function isCalledFrom(returns: readonly bigint[], span: Span): Expression {
  const register = (name: string): Expression => tree.toLong(tree.call("reg", [tree.text(name, span)], span));
  const distance = (): Expression =>
    tree.binary("-", loaded("uptr", "int64", register("sp"), span), register("ip"), span);
  return returns
    .map((one) => tree.binary("==", distance(), tree.integer(one, span), span))
    .reduce((all, one) => tree.binary("||", all, one, span));
}
