// Loops over maps that bind keys and values by themselves, go over a part of the entries, or over so many at most: as
// the plain loop that the compiler has. Whatever needs no order goes on in the kernel.
import type { Span } from "../diagnostic.ts";
import type { BinaryOperator, Expression, Statement, Variable } from "../program.ts";
import { unknownType } from "../types.ts";

export type MapLoop = Extract<Statement, { kind: "for-map" }>;

/** A node stands for what it declares in each pass. */
const plain = new WeakMap<MapLoop, Statement>();

/** The same over the whole map, with one variable; undefined when it is that already. */
export function plainMapLoop(node: MapLoop): Statement | undefined {
  if (node.keys === undefined && node.value === undefined && node.slice === undefined && !countsRounds(node))
    return undefined;
  let made = plain.get(node);
  if (made === undefined) plain.set(node, (made = written(node)));
  return made;
}

/** In an order the host counts entries; what is left out of a part of the map is not counted. */
function countsRounds({ limit, order, slice }: MapLoop): boolean {
  return limit !== undefined && (order === undefined || slice !== undefined);
}

function written(node: MapLoop): Statement {
  const { keys = [], value, slice = [], limit, variable: entry, span, ...rest } = node;
  const several = Math.max(keys.length, slice.length) > 1;
  const part = (object: Expression, index: number): Expression => ({
    kind: "tuple-index",
    object,
    index,
    span,
    type: unknownType,
  });
  const key = (i: number): Expression => (several ? part(part(entry, 0), i) : part(entry, 0));
  const before: Statement[] = [];
  const inside: Statement[] = [];
  const kept = (name: string, of: Expression): Variable => {
    const variable = own(`${entry.name}#${name}`, of.span);
    before.push(declare(variable, of));
    return variable;
  };
  slice.forEach((wanted, i) => {
    if (wanted !== undefined)
      inside.push(when(binary("!=", key(i), kept(`part${i}`, wanted)), { kind: "continue", span: wanted.span }));
  });
  const counts = countsRounds(node);
  if (limit !== undefined && counts) {
    const [most, rounds] = [kept("limit", limit), kept("rounds", integer(0n, limit.span))];
    inside.push(when(binary(">=", rounds, most), { kind: "break", span: limit.span }), {
      kind: "assign",
      target: rounds,
      operator: "+",
      value: integer(1n, limit.span),
      span: limit.span,
    });
  }
  keys.forEach((variable, i) => inside.push(declare(variable, key(i))));
  if (value !== undefined) inside.push(declare(value, part(entry, 1)));
  const loop: MapLoop = {
    ...rest,
    variable: entry,
    ...(keys.length > 0 && value === undefined ? { keysOnly: true } : {}),
    ...(limit === undefined || counts ? {} : { limit }),
    body: { ...node.body, statements: [...inside, node.body] },
    span,
  };
  return before.length === 0 ? loop : { kind: "block", statements: [...before, loop], span };
}

function own(name: string, span: Span): Variable {
  return { kind: "variable", name, span, type: unknownType };
}

function declare(variable: Variable, value: Expression): Statement {
  return { kind: "declare", variable, value, span: variable.span };
}

function binary(operator: BinaryOperator, left: Expression, right: Expression): Expression {
  return { kind: "binary", operator, left, right, span: right.span, type: unknownType };
}

function integer(value: bigint, span: Span): Expression {
  return { kind: "integer", value, span, type: unknownType };
}

function when(condition: Expression, then: Statement): Statement {
  const { span } = then;
  return { kind: "if", condition, then: { kind: "block", statements: [then], span }, span };
}
