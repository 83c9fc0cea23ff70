// Statements: assignments, branches, loops over numbers, and ways out.
import { partOf } from "../../language/aggregations/table.ts";
import type { Block, Expression, MapAccess, Statement, Variable } from "../../language/program.ts";
import { float64, isFloat, type Type } from "../../language/types.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Source, Value } from "../ir/ir.ts";
import { action } from "./actions.ts";
import { divide } from "./division.ts";
import { incrementValue } from "./expressions.ts";
import { inlineCall, isScriptFunction } from "./inline.ts";
import { leave, leaveHandler } from "./exits.ts";
import { forMap } from "./map-loop.ts";
import { keyPlace, mapOf, mapValue } from "./map-access.ts";
import { isRegister, isSigned, storedType, widthOf } from "./registers.ts";
import { arithmetic, convert, floats, isComparison } from "./scalars.ts";
import type { FunctionState } from "./state.ts";

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
      build.emit({
        op: "aggregate",
        map: index,
        ...(key === undefined ? {} : { key }),
        ...(value === undefined ? {} : { value }),
        ...(time === undefined ? {} : { time }),
      });
      return;
    }
    case "if":
      return ifElse(f, s);
    case "while":
      return whileLoop(f, s);
    case "unroll":
      return unroll(f, s);
    case "for-range":
      return forRange(f, s);
    case "for-map":
      return forMap(f, s);
    case "for-value":
      return f.refuse(s.span, "this has no elements");
    case "break":
    case "continue": {
      const loop = f.loops[f.loops.length - 1];
      if (loop === undefined) return f.refuse(s.span, `\`${s.kind}\` outside a loop`);
      if (loop.kind === "callback") build.return(s.kind === "break");
      else {
        build.jump(s.kind === "break" ? loop.exit : loop.next);
        build.startUnreachable();
      }
      return;
    }
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

/** A chain of `else if` is as long as it is: each goes on in the block that the one before leads to otherwise. */
function ifElse(f: FunctionState, first: Extract<Statement, { kind: "if" }>): void {
  const { build } = f;
  const joins: number[] = [];
  for (let s: typeof first | undefined = first; s !== undefined;) {
    const [then, otherwise, join] = [build.newBlock(), build.newBlock(), build.newBlock()];
    joins.push(join);
    f.condition(s.condition, then, otherwise);
    build.seal(then);
    build.start(then);
    f.run(s.then);
    build.jump(join);
    build.seal(otherwise);
    build.start(otherwise);
    const { otherwise: rest }: typeof first = s;
    const only: Statement | undefined = rest?.statements.length === 1 ? rest.statements[0] : rest;
    s = only?.kind === "if" ? only : undefined;
    if (s === undefined && only !== undefined) f.run(only);
  }
  for (const join of joins.reverse()) {
    build.jump(join);
    build.seal(join);
    build.start(join);
  }
}

/** What a condition decides between, and both ways go on together. */
function eitherWay(f: FunctionState, condition: Expression, then: () => void, otherwise: () => void): void {
  const { build } = f;
  const ways = [
    [build.newBlock(), then],
    [build.newBlock(), otherwise],
  ] as const;
  const join = build.newBlock();
  f.condition(condition, ways[0][0], ways[1][0]);
  for (const [block, way] of ways) {
    build.seal(block);
    build.start(block);
    way();
    build.jump(join);
  }
  build.seal(join);
  build.start(join);
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
  else if (e.kind === "call") f.refuse(e.span, `\`${e.name}()\` cannot be compiled yet`);
}

function declare(f: FunctionState, variable: Variable, value: Expression | undefined): void {
  const home = f.home(slotOf(f, variable));
  if (value !== undefined) {
    store(f, home, value);
  } else if (isRegister(home.type)) {
    f.storeHome(home, f.build.constant(0n));
  } else if (home.kind === "memory") {
    f.markWritten(home);
    f.build.emit({ op: "zero", at: home.place, size: Math.max(1, sizeOf(home.type)) });
  }
}

function slotOf(f: FunctionState, variable: Variable): number {
  return variable.slot ?? f.refuse(variable.span, `${f.spelling.variable(variable.name)} has no place`);
}

function store(f: FunctionState, home: ReturnType<FunctionState["home"]>, e: Expression): void {
  if (isRegister(home.type)) {
    f.storeHome(home, convert(f, f.value(e), e.type, home.type));
  } else if (home.kind === "memory") {
    f.markWritten(home);
    f.into(e, home.type, home.place);
  } else {
    f.refuse(e.span, "a loop's variable cannot be assigned");
  }
}

function assign(f: FunctionState, s: Statement & { kind: "assign" }): void {
  const { target, operator, value } = s;
  if (target.kind === "variable") {
    const home = f.home(slotOf(f, target));
    if (operator === null) {
      store(f, home, value);
      return;
    }
    f.storeHome(home, combined(f, s, f.loadHome(home), home.type));
    return;
  }
  const { index, map } = mapOf(f, target);
  if (map.value.kind === "aggregate") return f.refuse(s.span, `${f.spelling.map(map.name)} holds an aggregation`);
  if (operator === "+" || operator === "-") {
    const added = mapAddend(f, value, target, operator);
    if (added !== undefined) {
      const key = keyPlace(f, target);
      f.build.emit({ op: "map-add", map: index, ...(key === undefined ? {} : { key }), value: added });
      return;
    }
  }
  const stored = storedType(map.value);
  let source: Source;
  if (operator === null) source = f.source(value, stored, true);
  else source = { kind: "value", value: combined(f, s, mapValue(f, target), stored), width: widthOf(stored) };
  const key = keyPlace(f, target);
  f.build.emit({ op: "map-store", map: index, ...(key === undefined ? {} : { key }), source });
}

/** What `@m += v` adds to the 64 bits of an entry; undefined where adding is more than that. */
function mapAddend(f: FunctionState, value: Expression, target: MapAccess, operator: "+" | "-"): Value | undefined {
  const { map } = mapOf(f, target);
  if (map.value.kind !== "integer" && map.value.kind !== "enum") return undefined;
  const added = f.value(value);
  return operator === "+" ? added : f.build.binary("sub", f.build.constant(0n), added);
}

/** `old OPERATOR value`, as a value of the target's type. */
function combined(f: FunctionState, s: Statement & { kind: "assign" }, old: Value, type: Type): Value {
  const { operator, value } = s;
  if (operator === null || operator === "&&" || operator === "||" || isComparison(operator)) {
    return f.refuse(s.span, "this operator does not assign");
  }
  const operand = { value: f.value(value), type: value.type };
  const wide: Type =
    type.kind === "pointer" ? type : isFloat(type) ? float64 : { kind: "integer", bits: 64, signed: isSigned(type) };
  const before = { value: old, type };
  const result =
    operator === "/" || operator === "%"
      ? divide(f, operator, before, operand, wide, s)
      : arithmetic(f, operator, before, operand, wide);
  return convert(f, result, wide, type);
}

// ── loops over numbers ──

function whileLoop(f: FunctionState, s: Statement & { kind: "while" }): void {
  const { build } = f;
  const [head, body, exit] = [build.newBlock(), build.newBlock(), build.newBlock()];
  build.jump(head);
  build.start(head);
  const edges = build.guard();
  build.start(edges.exit);
  countCut(f, s);
  build.jump(exit);
  build.start(edges.body);
  f.condition(s.condition, body, exit);
  build.seal(body);
  build.start(body);
  runRound(f, s.body, { next: head, exit });
  build.jump(head);
  build.seal(head);
  build.seal(exit);
  build.start(exit);
}

/** Where the kernel cuts a loop short. */
function countCut({ build, module, handler }: FunctionState, { span }: Statement): void {
  if (handler.placement !== "kernel") return;
  // One however often it is compiled.
  const known = module.loops.findIndex(
    (loop) => loop.unkept === undefined && loop.span.start === span.start && loop.span.end === span.end,
  );
  build.emit({ op: "loop-cut", loop: known >= 0 ? known : module.loops.push({ span }) - 1 });
}

/** A loop's body: `continue` goes to the next round, `break` to the exit. */
function runRound(f: FunctionState, body: Block, to: { readonly next: number; readonly exit: number }): void {
  f.loops.push({ kind: "blocks", ...to });
  f.run(body);
  f.loops.pop();
}

/** More than the verifier should walk through one by one. */
const mostPlainRounds = 64n;

function forRange(f: FunctionState, s: Statement & { kind: "for-range" }): void {
  const { build } = f;
  const [from, to] = [f.value(s.from), f.value(s.to)];
  const [first, end] = [build.constantOf(from), build.constantOf(to)];
  const rounds =
    first !== undefined && end !== undefined && end - first <= mostPlainRounds
      ? Math.max(0, Number(end - first))
      : undefined;
  const home = f.home(slotOf(f, s.variable));
  const counter = build.newVariable();
  const [head, body, next, exit] = [build.newBlock(), build.newBlock(), build.newBlock(), build.newBlock()];
  build.write(counter, from);
  build.jump(head);
  build.start(head);
  const edges = build.guard(rounds);
  build.start(edges.exit);
  countCut(f, s);
  build.jump(exit);
  build.start(edges.body);
  const more = build.branch(build.compare("slt", build.read(counter), to));
  build.start(more.otherwise);
  build.jump(exit);
  build.start(more.then);
  build.jump(body);
  build.seal(body);
  build.start(body);
  f.storeHome(home, convert(f, build.read(counter), { kind: "integer", bits: 64, signed: true }, home.type));
  runRound(f, s.body, { next, exit });
  build.jump(next);
  build.seal(next);
  build.start(next);
  build.write(counter, build.binary("add", build.read(counter), build.constant(1n)));
  build.jump(head);
  build.seal(head);
  build.seal(exit);
  build.start(exit);
}

/** Each round is blocks of its own, and what walks the blocks goes down them. */
const mostUnrolled = 2500;

function unroll(f: FunctionState, s: Statement & { kind: "unroll" }): void {
  const { build } = f;
  const rounds = build.constantOf(f.value(s.count));
  if (rounds === undefined) return f.refuse(s.count.span, "`unroll` wants a constant");
  const within = f.unrolled;
  f.unrolled *= Number(rounds);
  if (f.unrolled > mostUnrolled) {
    return f.refuse(
      s.count.span,
      `unrolled with what is around it, this is there ${f.unrolled} times: ${mostUnrolled} is the most`,
      "use a loop",
    );
  }
  const exit = build.newBlock();
  for (let i = 0n; i < rounds; i++) {
    const next = build.newBlock();
    runRound(f, s.body, { next, exit });
    build.jump(next);
    build.seal(next);
    build.start(next);
  }
  build.jump(exit);
  build.seal(exit);
  build.start(exit);
  f.unrolled = within;
}
