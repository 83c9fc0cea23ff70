// Statements: what each does, or which file knows.
import { partOf } from "../../language/aggregations/table.ts";
import type { Expression, MapAccess, Statement } from "../../language/program.ts";
import { float64 } from "../../language/types.ts";
import type { Value } from "../ir/ir.ts";
import { action } from "./actions.ts";
import { assign, declare, store } from "./assign.ts";
import { eitherWay, ifElse, switchCases } from "./branches.ts";
import { incrementValue } from "./expressions.ts";
import { throwError, tryCatch } from "./faults.ts";
import { inlineCall, isScriptFunction } from "./inline.ts";
import { leave, leaveHandler } from "./exits.ts";
import { doWhileLoop, forLoop, forRange, jump, unroll, whileLoop } from "./loops.ts";
import { forMap } from "./map-loop.ts";
import { keyPlace, mapOf } from "./map-access.ts";
import { isRegister } from "./registers.ts";
import { lazy } from "../../base/lazy.ts";
import { convert } from "./scalars.ts";
import type { FunctionState } from "./state.ts";

const floats = lazy<typeof import("./floats.ts")>(() => require("./floats.ts"));

export function statement(f: FunctionState, s: Statement): void {
  const { build } = f;
  switch (s.kind) {
    case "block":
      for (const inner of s.statements) f.run(inner);
      return;
    case "expression":
      effect(f, s.expression);
      return;
    case "assign":
      assign(f, s);
      return;
    case "declare":
      declare(f, s.variable, s.value);
      return;
    case "aggregate": {
      const { index, map } = mapOf(f, s.target);
      if (map.value.kind === "aggregate" && map.value.float && s.value !== undefined)
        return aggregateFloat(f, s.value, s.target);
      const value = s.value === undefined ? undefined : f.value(s.value);
      const key = keyPlace(f, s.target);
      const time =
        map.value.kind === "aggregate" && partOf(map.value, "series") !== undefined
          ? build.give((result) => ({ op: "builtin", result, name: "nsecs-wall" }), "now")
          : undefined;
      const weight = s.weight === undefined ? undefined : f.value(s.weight);
      build.emit({
        op: "aggregate",
        map: index,
        ...(key === undefined ? {} : { key }),
        ...(value === undefined ? {} : { value }),
        ...(time === undefined ? {} : { time }),
        ...(weight === undefined ? {} : { weight }),
      });
      return;
    }
    case "if":
      return ifElse(f, s);
    case "clause":
      return clause(f, s);
    case "while":
      return whileLoop(f, s);
    case "do-while":
      return doWhileLoop(f, s);
    case "for":
      return forLoop(f, s);
    case "switch":
      return switchCases(f, s);
    case "unroll":
      return unroll(f, s);
    case "for-range":
      return forRange(f, s);
    case "for-map":
      return forMap(f, s);
    case "for-value":
      return f.fault(s.span, "a loop over a value without elements");
    case "break":
    case "continue":
      return jump(f, s);
    case "next":
      return leaveHandler(f);
    case "try":
      return tryCatch(f, s);
    case "throw":
      return throwError(f, s);
    case "return": {
      const result = f.frame.inlined?.result;
      if (s.value !== undefined) {
        if (result !== undefined) store(f, f.reach(result), s.value);
        else effect(f, s.value);
      }
      leave(f);
      return;
    }
  }
}

/**
 * Doubles: sums take their bits; the least and the greatest are those of their order, among which what is no number has
 * none.
 */
function aggregateFloat(f: FunctionState, of: Expression, target: MapAccess): void {
  const { build } = f;
  const { index, map } = mapOf(f, target);
  const bits = convert(f, f.value(of), of.type, float64);
  const key = keyPlace(f, target);
  const add = (value: Value): void =>
    build.emit({ op: "aggregate", map: index, ...(key === undefined ? {} : { key }), value });
  if (map.value.kind !== "aggregate" || partOf(map.value, "extreme") === undefined) return add(bits);
  const join = build.newBlock();
  const edges = build.branch(floats().isNotNumber(f, bits));
  build.start(edges.then);
  build.jump(join);
  build.start(edges.otherwise);
  add(floats().orderOf(f, bits));
  build.jump(join);
  build.seal(join);
  build.start(join);
}

/** What ends the handler in it goes on behind it. */
function clause(f: FunctionState, { predicate, body }: Extract<Statement, { kind: "clause" }>): void {
  const { build } = f;
  const end = build.newBlock();
  f.end = end;
  if (predicate !== undefined) {
    const on = build.newBlock();
    f.condition(predicate, on, end);
    build.seal(on);
    build.start(on);
  }
  f.run(body);
  delete f.end;
  build.jump(end);
  build.seal(end);
  build.start(end);
}

/** An expression for what it does. */
function effect(f: FunctionState, e: Expression): void {
  switch (e.kind) {
    case "call":
      if (isScriptFunction(f, e)) {
        inlineCall(f, e);
        return;
      }
      if (action(f, e)) {
        if (e.name === "exit") leaveHandler(f);
        return;
      }
      break;
    case "assignment":
      assign(f, { ...e, kind: "assign" });
      return;
    case "increment":
      incrementValue(f, e, false);
      return;
    case "conditional":
      return eitherWay(
        f,
        e.condition,
        () => effect(f, e.then),
        () => effect(f, e.otherwise),
      );
    case "block-expression":
      for (const inner of e.statements) f.run(inner);
      effect(f, e.value);
      return;
    default:
  }
  if (isRegister(e.type)) f.value(e);
  else if (e.type.kind !== "void") f.locate(e);
  else if (e.kind === "call") f.fault(e.span, "a function without code");
}
