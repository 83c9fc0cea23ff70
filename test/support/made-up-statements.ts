// A made-up language: bpftrace's, with calls that stand for what its text has no words for. So that the trees which other
// languages write go through the checker, the compiler and both executors.
//
//     if (attempt($e)) { … } else { … }              try, with the names of failures behind the variable
//     throw("text"); next();
//     while (again(condition)) { … }                 do … while
//     while (step(condition, $i++, …)) { … }         C's for
//     for ($kv : @m) { loop(keys($a, $b), value($v), by(1), most(3), only(any, 5)); … }      a loop over a map; by(-2): down by the second key, by(9): by the value
//     $self_x                                                                     a variable of the thread
//     if (choose($s, value)) { if (of(1, 2)) { … } if (otherwise()) { … } }      switch
//     takes(@m[k], value); taken(@m[k], "sum")                                      a value of a statistic, and a result of it
//     assigned($x, value), assigned(@m[k], value, "+")                           an assignment as a value
import { faultKinds, type FaultKind } from "../../src/language/faults.ts";
import type {
  BinaryOperator,
  Block,
  Call,
  Expression,
  Program,
  Statement,
  SwitchCase,
  Variable,
} from "../../src/language/program.ts";

export function withMadeUpStatements(program: Program): Program {
  return {
    ...program,
    functions: program.functions.map((one) => ({ ...one, body: inBlock(one.body) })),
    probes: program.probes.map((probe) => ({
      ...probe,
      ...(probe.predicate === undefined ? {} : { predicate: inNode(probe.predicate) }),
      body: inBlock(probe.body),
    })),
  };
}

function inBlock(block: Block): Block {
  return { ...block, statements: block.statements.map(inStatement) };
}

function callOf(e: Expression, name: string): Call | undefined {
  return e.kind === "call" && e.name === name ? e : undefined;
}

function variableOf(e: Expression | undefined): Variable | undefined {
  return e?.kind === "variable" ? e : undefined;
}

function inStatement(s: Statement): Statement {
  const { span } = s;
  if (s.kind === "if") {
    const attempt = callOf(s.condition, "attempt");
    if (attempt !== undefined) {
      const [first, ...others] = attempt.args;
      const caught = variableOf(first);
      const kinds = (caught === undefined ? attempt.args : others).flatMap((e): FaultKind[] =>
        e.kind === "string" ? faultKinds.filter((kind) => kind === e.value) : [],
      );
      return {
        kind: "try",
        body: inBlock(s.then),
        ...(kinds.length === 0 ? {} : { kinds }),
        ...(caught === undefined ? {} : { caught }),
        handler: s.otherwise === undefined ? { kind: "block", statements: [], span } : inBlock(s.otherwise),
        span,
      };
    }
    const choose = callOf(s.condition, "choose");
    const subject = variableOf(choose?.args[0]);
    if (choose !== undefined && subject !== undefined)
      return { kind: "switch", subject, of: inNode(choose.args[1]), cases: s.then.statements.flatMap(caseOf), span };
  }
  if (s.kind === "while") {
    const again = callOf(s.condition, "again");
    if (again !== undefined) return { kind: "do-while", body: inBlock(s.body), condition: inNode(again.args[0]), span };
    const step = callOf(s.condition, "step");
    if (step !== undefined) {
      const [condition, ...steps] = step.args.map(inNode);
      return {
        kind: "for",
        before: [],
        condition,
        step: steps.map((expression) => ({ kind: "expression", expression, span })),
        body: inBlock(s.body),
        span,
      };
    }
  }
  if (s.kind === "for-map") return mapLoop(s);
  if (s.kind === "expression" && s.expression.kind === "call") {
    const { name, args } = s.expression;
    if (name === "throw") return { kind: "throw", value: inNode(args[0]), span };
    if (name === "next") return { kind: "next", span };
    const [target, value] = args.map((arg) => inNode(arg));
    if (name === "takes" && target.kind === "map")
      return { kind: "aggregate", target, aggregate: "statistic", value, parameters: [], span };
  }
  return inNode(s);
}

function mapLoop(s: Extract<Statement, { kind: "for-map" }>): Statement {
  const [first, ...others] = s.body.statements;
  const how = first?.kind === "expression" ? callOf(first.expression, "loop") : undefined;
  if (how === undefined) return { ...s, body: inBlock(s.body) };
  const part = (name: string): Call | undefined => how.args.flatMap((arg) => callOf(arg, name) ?? [])[0];
  const variables = (call: Call | undefined): Variable[] => (call?.args ?? []).flatMap((arg) => variableOf(arg) ?? []);
  const [keys, [value], order, most, only] = [
    variables(part("keys")),
    variables(part("value")),
    part("by")?.args[0],
    part("most")?.args[0],
    part("only")?.args,
  ];
  const number =
    order?.kind === "integer"
      ? Number(order.value)
      : order?.kind === "unary" && order.operand.kind === "integer"
        ? -Number(order.operand.value)
        : undefined;
  return {
    ...s,
    ...(keys.length === 0 ? {} : { keys }),
    ...(value === undefined ? {} : { value }),
    ...(number === undefined
      ? {}
      : {
          order:
            Math.abs(number) === 9
              ? { by: "value", descending: number < 0 }
              : { by: "key", part: Math.abs(number) - 1, descending: number < 0 },
        }),
    ...(most === undefined ? {} : { limit: inNode(most) }),
    ...(only === undefined
      ? {}
      : { slice: only.map((one) => (one.kind === "identifier" && one.name === "any" ? undefined : inNode(one))) }),
    body: inBlock({ ...s.body, statements: others }),
  };
}

function caseOf(s: Statement): SwitchCase[] {
  if (s.kind !== "if" || s.condition.kind !== "call") return [];
  const { name, args } = s.condition;
  return [{ values: args.map(inNode), ...(name === "otherwise" ? { otherwise: true } : {}), body: inBlock(s.then) }];
}

function isStatement(node: object): node is Statement {
  return "kind" in node && ["if", "while", "expression", "for-map"].includes(String(node.kind));
}

/** The tree is plain data: whatever is in a node is gone through, but for types. */
function inNode<T extends object>(node: T): T {
  if ("kind" in node && node.kind === "variable" && "name" in node && String(node.name).startsWith("self_"))
    return { ...node, lives: "thread" };
  if ("kind" in node && node.kind === "call" && "name" in node && node.name === "taken") {
    const [of, result, ...parameters] = (node as unknown as Call).args.map((arg) => inNode(arg));
    return { ...node, kind: "result", of, aggregate: result.kind === "string" ? result.value : "", parameters };
  }
  if ("kind" in node && node.kind === "call" && "name" in node && node.name === "assigned") {
    const [target, value, operator] = (node as unknown as Call).args;
    return {
      ...node,
      kind: "assignment",
      target: inNode(target),
      operator: operator?.kind === "string" ? (operator.value as BinaryOperator) : null,
      value: inNode(value),
    };
  }
  const made = Object.entries(node).map(([key, part]: [string, unknown]) => {
    if (typeof part !== "object" || part === null || key === "type" || key === "span") return [key, part] as const;
    const one = (inner: unknown): unknown =>
      typeof inner !== "object" || inner === null ? inner : isStatement(inner) ? inStatement(inner) : inNode(inner);
    return [key, Array.isArray(part) ? part.map(one) : one(part)] as const;
  });
  return Object.fromEntries(made) as T;
}
