// Statements, copied and typed.
import { InternalError } from "../../base/internal-error.ts";
import { types as typeMessages } from "../../messages/types.ts";
import { maps as mapsMessages } from "../../messages/maps.ts";
import { statements as statementsMessages } from "../../messages/statements.ts";
import type {
  Assignment,
  Block,
  BlockExpression,
  Expression,
  MapAccess,
  SequenceLiteral,
  Statement,
  Variable,
} from "../program.ts";
import type { IntegerType, Type } from "../types.ts";
import { u64, unknownType, voidType } from "../types.ts";
import { roundUp, sizeOf } from "../layout.ts";
import { RETURNED } from "./returned.ts";
import { constantOf } from "./constants.ts";
import type { Inside } from "./control.ts";
import { checkFor, checkJump, checkLoop, checkSwitch, checkThrow, checkTry, checkWhile } from "./control.ts";
import { fits, isIntegral, literalType, settled } from "./integers.ts";
import { checkAggregate, checkOrder } from "./aggregations.ts";
import { aggregateValue, checkMapEntry, isUndefined, nearMaps, threadEntry, wholeMaps } from "./map-access.ts";
import { binaryType } from "./operators.ts";
import { plainMapLoop, type MapLoop } from "./map-loops.ts";
import type { Body } from "./pass.ts";
import {
  assignVariable,
  bindVariable,
  declareVariable,
  defaultSpace,
  findVariable,
  integerLiteral,
  livesInHandler,
  mapState,
  mergeValue,
  report,
  resolveType,
  statementCall,
  variableType,
  warn,
} from "./pass.ts";
import { asLoop } from "./shapes.ts";
import { inSpace, withSpacesOf } from "./spaces.ts";
import { castHelp, functionName, mapName, variableName } from "./spelling.ts";
import { describe, describeOne, isKnown, sameType, unify, widen } from "./unify.ts";
import { checkCondition, checkExpression, checkPlace, checkValue } from "./values.ts";

export function checkBlock(block: Block, body: Body): Block {
  body.scopes.push(new Map());
  const statements = block.statements.map((statement) => checkStatement(statement, body));
  body.scopes.pop();
  const left = block.statements.findIndex(leaves);
  const behind = left < 0 ? undefined : block.statements[left + 1];
  // `exit(); return;` says the same twice.
  if (behind !== undefined && (behind.kind !== "return" || block.statements[left].kind !== "expression"))
    warn(body, behind.span, statementsMessages.unreachableStatement());
  return { ...block, statements };
}

/** Nothing behind it in its block runs. */
function leaves(statement: Statement): boolean {
  switch (statement.kind) {
    case "return":
    case "break":
    case "continue":
    case "next":
    case "throw":
      return true;
    case "expression":
      return (
        (statement.expression.kind === "call" || statement.expression.kind === "builtin") &&
        statement.expression.name === "exit"
      );
    case "block":
      return statement.statements.some(leaves);
    case "if":
      return statement.otherwise !== undefined && leaves(statement.then) && leaves(statement.otherwise);
    case "try":
      return leaves(statement.body) && leaves(statement.handler);
    default:
      return false;
  }
}

export function checkBlockExpression(node: BlockExpression, body: Body): Expression {
  body.scopes.push(new Map());
  const statements = node.statements.map((statement) => checkStatement(statement, body));
  const value = checkExpression(node.value, body);
  body.scopes.pop();
  return { ...node, statements, value, type: value.type };
}

/** Bytes of elements that one value copies at most. */
const mostCopied = 8192;

export function checkSequence(node: SequenceLiteral, body: Body): Expression {
  body.scopes.push(new Map());
  const before = node.before.map((statement) => checkStatement(statement, body));
  const length = checkValue(node.length, body);
  const data = node.data === undefined ? undefined : checkValue(node.data, body);
  const walk =
    node.walk === undefined
      ? undefined
      : {
          more: checkCondition(node.walk.more, body),
          ...(node.walk.has === undefined ? {} : { has: checkCondition(node.walk.has, body) }),
          item: checkValue(node.walk.item, body),
          next: node.walk.next.map((statement) => checkStatement(statement, body)),
        };
  body.scopes.pop();
  const checked = {
    ...node,
    before,
    length,
    ...(data === undefined ? {} : { data }),
    ...(walk === undefined ? {} : { walk }),
  };
  const element =
    walk !== undefined
      ? settled(walk.item.type)
      : data?.type.kind === "pointer"
        ? inSpace(data.type.target, data.type.space)
        : unknownType;
  if (!isKnown(element) || length.type.kind === "unknown") return { ...checked, type: unknownType };
  const size = sizeOf(element);
  const stride = data !== undefined || size <= 2 || size === 4 ? size : roundUp(size, 8);
  const capacity = Math.max(1, Math.min(node.capacity, Math.floor(mostCopied / Math.max(1, stride))));
  return { ...checked, type: { kind: "sequence", form: node.form, element, stride, capacity } };
}

function checkStatement(node: Statement, body: Body): Statement {
  switch (node.kind) {
    case "block":
      return checkBlock(node, body);
    case "clause": {
      const predicate = node.predicate === undefined ? undefined : checkCondition(node.predicate, body);
      return { ...node, ...(predicate === undefined ? {} : { predicate }), body: checkBlock(node.body, body) };
    }
    case "expression":
      return checkExpressionStatement(node, body);
    case "assign":
      return checkAssign(node, body);
    case "declare":
      return checkDeclare(node, body);
    case "aggregate":
      return checkAggregate(node, body);
    case "if": {
      const condition = checkCondition(node.condition, body);
      const decided = constantOf(condition);
      if (decided !== undefined) {
        const taken = decided === 0n ? node.otherwise : node.then;
        return taken === undefined ? nothing(node) : checkBlock(taken, body);
      }
      return {
        ...node,
        condition,
        then: checkBlock(node.then, body),
        ...(node.otherwise === undefined ? {} : { otherwise: checkBlock(node.otherwise, body) }),
      };
    }
    case "while":
    case "do-while":
      return checkWhile(node, body, inside);
    case "for":
      return checkFor(node, body, inside);
    case "switch":
      return checkSwitch(node, body, inside);
    case "unroll": {
      const count = checkValue(node.count, body);
      const times = constantOf(count);
      if (times === undefined && count.type.kind !== "unknown")
        report(body, node.count.span, statementsMessages.unrollNeedsConstant());
      if (times !== undefined && (times < 1n || times > 100n))
        report(
          body,
          node.count.span,
          times < 1n ? statementsMessages.unrollMinimumValue() : statementsMessages.unrollMaximumValue(),
        );
      return {
        ...node,
        count: integerLiteral(times ?? 1n, literalType(times ?? 1n), node.count.span),
        body: checkLoop(node.body, body, inside),
      };
    }
    case "for-range":
      return checkRange(node, body);
    case "for-map":
      return checkForMap(node, body);
    case "for-value":
      return checkForValue(node, body);
    case "break":
    case "continue":
      return checkJump(node, body);
    case "next":
      return node;
    case "try":
      return checkTry(node, body, inside);
    case "throw":
      return checkThrow(node, body);
    case "return":
      return checkReturn(node, body);
  }
}

function nothing(at: Statement): Block {
  return { kind: "block", statements: [], span: at.span };
}

const inside: Inside = { block: checkBlock, statement: checkStatement };

function checkExpressionStatement(node: Extract<Statement, { kind: "expression" }>, body: Body): Statement {
  const { expression } = node;
  const { functions } = body.pass;
  if (
    expression.kind === "call" &&
    expression.name === "assert" &&
    expression.args.length === 2 &&
    !functions.has("assert")
  )
    return expandAssert(expression, node, body);
  const checked = checkExpression(expression, body);
  if (checked.kind === "call" && (checked.name === "static_assert" || checked.name === "assert_str"))
    return nothing(node);
  if (!hasEffect(expression, checked, body) && node.discard !== true && checked.type.kind !== "unknown")
    warn(body, node.span, statementsMessages.returnValueDiscarded());
  return { ...node, expression: checked };
}

/** Does it do more than give a value? */
function hasEffect(written: Expression, checked: Expression, body: Body): boolean {
  if (["assignment", "increment", "conditional", "block-expression"].includes(checked.kind)) return true;
  if (written.kind !== "call") return checked.kind === "call";
  const { name } = written;
  return (
    checked.type.kind === "void" ||
    ["delete", "find", "write_user", "write_user_text", "skboutput"].includes(name) ||
    body.pass.functions.has(name)
  );
}

/** assert(c, m) → if (!c) { errorf(m); exit(1); } */
function expandAssert(call: Extract<Expression, { kind: "call" }>, node: Statement, body: Body): Statement {
  const [condition, message] = call.args as readonly [Expression, Expression];
  const { span } = node;
  const text: Expression =
    message.kind === "string"
      ? { ...message, value: `assert failed: ${message.value.replaceAll("%", "%%")}` }
      : message;
  return checkStatement(
    {
      kind: "if",
      span,
      condition: { kind: "unary", operator: "!", operand: condition, span, type: unknownType },
      then: {
        kind: "block",
        span,
        statements: [
          { kind: "expression", expression: statementCall("errorf", [text], span), span },
          {
            kind: "expression",
            expression: statementCall("exit", [integerLiteral(1n, unknownType, span)], span),
            span,
          },
        ],
      },
    },
    body,
  );
}

// ── assignment ───────────────────────────────────────────────────────────────────────────────────────────────────────

type Assign = Extract<Statement, { kind: "assign" }>;

/** One whose value is used: that of what was assigned to. */
export function checkAssignment(node: Assignment, body: Body): Expression {
  const { target, value } = checkAssign({ ...node, kind: "assign" }, body);
  return { ...node, target, value, type: target.type };
}

function checkAssign(node: Assign, body: Body): Assign {
  const target = node.target.kind === "map" ? node.target : (threadEntry(node.target) ?? node.target);
  return target.kind === "map" ? assignMap(node, target, body) : assignToVariable(node, target, body);
}

/** Where a variable lives that is assigned without a declaration. */
function implicitScope({ pass, scopes }: Body): Map<string, number> | undefined {
  return livesInHandler(pass) ? scopes[0] : scopes.at(-1);
}

function assignToVariable(node: Assign, variable: Variable, body: Body): Assign {
  const { operator, span } = node;
  if (operator !== null && body.pass.program.rules.integers.widths === "C") {
    // It is computed as wide as both are together, not as the variable is.
    const value: Expression = { kind: "binary", operator, left: variable, right: node.value, span, type: unknownType };
    return assignToVariable({ ...node, operator: null, value }, variable, body);
  }
  const value = checkValue(node.value, body);
  let slot = findVariable(body, variable.name);
  if (slot === undefined) {
    if (node.operator !== null && !livesInHandler(body.pass)) {
      report(body, variable.span, statementsMessages.undefinedOrUndeclaredVariable(variableName(body, variable.name)));
      return { ...node, value };
    }
    slot = declareVariable(body, variable, undefined, implicitScope(body));
  }
  const before = variableType(body, slot);
  const type =
    node.operator === null
      ? value.type
      : binaryType(node.operator, { ...variable, slot, type: before }, value, node.span, body);
  intoVariable(body, slot, type, node.operator === null ? value : undefined, variable, node.span);
  return { ...node, target: { ...variable, slot, type: variableType(body, slot) }, value };
}

/** `value` is there when it is what the variable becomes, as it is. */
function intoVariable(
  body: Body,
  slot: number,
  type: Type,
  value: Expression | undefined,
  variable: Variable,
  span: Statement["span"],
): void {
  const { declared } = body.slots[slot].state;
  if (!assignVariable(body, slot, type)) {
    report(
      body,
      span,
      typeMessages.mismatch(
        "variable",
        variableName(body, variable.name),
        describe(declared ?? variableType(body, slot)),
        describe(settled(type)),
      ),
    );
    return;
  }
  const constant = declared?.kind === "integer" && value?.kind === "integer" ? value.value : undefined;
  if (constant !== undefined && declared?.kind === "integer" && !fits(constant, declared)) {
    report(
      body,
      span,
      statementsMessages.doesNotFit(
        constant,
        describe(declared),
        castHelp(body, "cast it: ", describe(declared), String(constant)),
      ),
    );
  }
  if (value !== undefined && declared?.kind === "integer" && losesSome(value, declared)) {
    warn(
      body,
      value.span,
      statementsMessages.notEveryFits(
        describe(value.type),
        describe(declared),
        castHelp(body, "a cast says that it is meant: ", describe(declared)),
      ),
    );
  }
}

/**
 * A number as it was stored or came from outside, into a type that cuts bits or the sign off. What is computed is 64
 * bits wide anyway.
 */
function losesSome(value: Expression, into: IntegerType): boolean {
  if (!["variable", "map", "member", "index", "builtin"].includes(value.kind) || value.type.kind !== "integer")
    return false;
  const { bits, signed } = value.type;
  return (
    into.bits < bits || (into.bits === bits && into.bits < 64 && into.signed !== signed) || (signed && !into.signed)
  );
}

function assignMap(node: Assign, target: MapAccess, body: Body): Assign {
  const value = checkValue(node.value, body);
  const { access, map } = checkMapEntry(target, body, "store");
  const finished = (): Assign => ({ ...node, target: { ...access, type: settled(map.value) }, value });
  if (map.value.kind === "aggregate") {
    report(
      body,
      node.span,
      typeMessages.mismatch("map", mapName(body, map.name), describe(map.value), describe(settled(value.type))),
    );
    return finished();
  }
  let { type } = value;
  if (node.operator !== null) {
    // A missing entry reads as 0, so `@x += n` may be the first use.
    const before = map.value.kind === "unknown" ? literalType(0n) : map.value;
    type = binaryType(node.operator, { ...access, type: before }, value, node.span, body);
  }
  if (!mergeValue(body, map, type)) {
    report(
      body,
      node.span,
      typeMessages.mismatch("map", mapName(body, map.name), describe(settled(map.value)), describe(settled(type))),
    );
  }
  return finished();
}

function checkDeclare(node: Extract<Statement, { kind: "declare" }>, body: Body): Statement {
  const { variable } = node;
  const value = node.value === undefined ? undefined : checkValue(node.value, body);
  let declared: Type | undefined;
  if (node.declared !== undefined) {
    const resolved = resolveType(node.declared, defaultSpace(body), body);
    if ("type" in resolved) declared = resolved.type;
    else report(body, node.declared.span, resolved.problem);
  }
  if (findVariable(body, variable.name) !== undefined) {
    report(body, variable.span, statementsMessages.variableWasAlreadyDeclared(variableName(body, variable.name)));
  }
  const slot = declareVariable(body, variable, declared);
  if (value !== undefined) intoVariable(body, slot, value.type, value, variable, node.span);
  const { assigned, addressed } = body.slots[slot].state;
  if (!assigned && addressed !== true)
    warn(body, variable.span, statementsMessages.variableWasNeverAssigned(variableName(body, variable.name)));
  return {
    ...node,
    variable: { ...variable, slot, type: variableType(body, slot) },
    ...(value === undefined ? {} : { value }),
  };
}

// ── loops ────────────────────────────────────────────────────────────────────────────────────────────────────────────

function checkRange(node: Extract<Statement, { kind: "for-range" }>, body: Body): Statement {
  const from = checkValue(node.from, body);
  const to = checkValue(node.to, body);
  for (const bound of [from, to]) {
    if (bound.type.kind !== "unknown" && !isIntegral(bound.type))
      report(body, bound.span, statementsMessages.rangeGoesOverIntegersNot(describe(bound.type)));
  }
  body.scopes.push(new Map());
  const slot = declareLoopVariable(node.variable, body);
  assignVariable(body, slot, widen(settled(unify(from.type, to.type) ?? unknownType)));
  const checked = checkLoop(node.body, body, inside);
  body.scopes.pop();
  return { ...node, from, to, variable: { ...node.variable, slot, type: variableType(body, slot) }, body: checked };
}

function declareLoopVariable(variable: Variable, body: Body): number {
  if (findVariable(body, variable.name) !== undefined) {
    report(body, variable.span, statementsMessages.loopVariableWasAlreadyDeclared(variableName(body, variable.name)));
  }
  return declareVariable(body, variable);
}

function checkForMap(node: MapLoop, body: Body): Statement {
  const plain = plainMapLoop(node);
  if (plain !== undefined) return checkStatement(plain, body);
  const map = mapState(body, node.map.name, node.map.span);
  if (node.map.keys.length > 0) throw new InternalError("a front-end made a loop over an entry of a map");
  if (isUndefined(map))
    report(body, node.map.span, mapsMessages.undefinedMap(mapName(body, map.name), nearMaps(map.name, body)));
  if (map.keys?.length === 0)
    report(body, node.map.span, statementsMessages.noExplicitKeysScalarMap(mapName(body, map.name)));
  if (map.keys === undefined && !isUndefined(map))
    report(body, node.map.span, statementsMessages.nothingSaysWhatKeys(mapName(body, map.name)));
  const limit = node.limit === undefined ? undefined : checkValue(node.limit, body);
  const beside = node.beside === undefined ? undefined : wholeMaps([node.map, ...node.beside], body).slice(1);
  let { order } = node;
  if (order !== undefined) {
    body.hostNeeds.push({ what: "a loop in an order", span: node.map.span });
    if (order.by === "value") order = checkOrder(order, map, node.map.span, body);
    const { part } = order;
    if (part !== undefined && map.keys !== undefined && part >= map.keys.length)
      report(
        body,
        node.map.span,
        statementsMessages.keysNoKeyOrdered(mapName(body, map.name), map.keys.length, part + 1),
      );
  }
  body.scopes.push(new Map());
  body.callbacks++;
  const slot = declareLoopVariable(node.variable, body);
  let value = settled(map.value);
  if (map.value.kind === "aggregate") {
    const single = node.keysOnly ? u64 : aggregateValue(map.value, node.map, body);
    if (single === undefined)
      report(
        body,
        node.map.span,
        statementsMessages.valuesWhichNoSingleValue(mapName(body, map.name), map.value.aggregate),
      );
    value = single ?? u64;
  }
  if (map.keys !== undefined && map.keys.length > 0 && isKnown(value)) {
    const keys = map.keys.map(settled);
    bindVariable(body, slot, {
      kind: "tuple",
      elements: [keys.length === 1 ? keys[0] : { kind: "tuple", elements: keys }, value],
    });
  }
  const checked = checkLoop(node.body, body, inside);
  body.callbacks--;
  body.scopes.pop();
  return {
    ...node,
    ...(order === undefined ? {} : { order }),
    ...(beside === undefined ? {} : { beside }),
    map: { ...node.map, keys: [], map: map.index, type: map.value },
    ...(limit === undefined ? {} : { limit }),
    variable: { ...node.variable, slot, type: variableType(body, slot) },
    body: checked,
  };
}

/** A loop over the elements of a program's value: they are read one by one, as many as `max_elements` says. */
function checkForValue(node: Extract<Statement, { kind: "for-value" }>, body: Body): Statement {
  const loop = asLoop(node, body);
  if (loop !== undefined) return checkStatement(loop, body);
  const { type } = checkPlace(node.of, body);
  if (type.kind !== "unknown") report(body, node.of.span, statementsMessages.loopGoesOverMapRange(describeOne(type)));
  return nothing(node);
}

function returned(value: Expression, { span }: Statement): Statement {
  const record: Expression = {
    kind: "record",
    fields: [{ name: "value", value }],
    span,
    type: { kind: "record", fields: [{ name: "value", type: value.type }] },
  };
  const name: Expression = {
    kind: "string",
    value: RETURNED,
    span,
    type: { kind: "string", capacity: RETURNED.length + 1 },
  };
  const told: Statement = {
    kind: "expression",
    expression: { kind: "call", name: "emit", args: [name, record], span, type: voidType },
    span,
  };
  return { kind: "block", statements: [told, { kind: "return", span }], span };
}

function hasVerdict({ context }: Body): boolean {
  return context !== undefined && context !== "host" && context.returnsVerdict === true;
}

function checkReturn(node: Extract<Statement, { kind: "return" }>, body: Body): Statement {
  const value = node.value === undefined ? undefined : checkValue(node.value, body);
  const state = body.function;
  if (state === undefined) {
    // A test says by a number whether it failed; of any other probe nothing reads it.
    if (value !== undefined && hasVerdict(body)) return returned(value, node);
    if (
      value !== undefined &&
      value.type.kind !== "unknown" &&
      value.type.kind !== "boolean" &&
      value.type.kind !== "pointer" &&
      !isIntegral(value.type)
    ) {
      report(body, node.span, statementsMessages.probeCanReturnIntegersOnly(describeOne(value.type)));
    }
    return { kind: "return", span: node.span };
  }
  if (value !== undefined) {
    const unified = state.declaredResult
      ? state.result
      : unify(state.result.kind === "void" ? unknownType : state.result, widen(value.type));
    if (
      unified === undefined ||
      (state.declaredResult &&
        unify(state.result, value.type) === undefined &&
        value.type.kind !== "unknown" &&
        !isIntegral(value.type))
    ) {
      report(
        body,
        node.span,
        statementsMessages.givesCannotReturn(
          functionName(body, state.declaration.name),
          describe(state.result),
          describe(settled(value.type)),
        ),
      );
    } else if (unified.kind !== "unknown") {
      const result = settled(state.declaredResult ? withSpacesOf(unified, value.type) : unified);
      if (!sameType(result, state.result)) {
        state.result = result;
        body.pass.changed = true;
      }
    }
  } else if (state.declaredResult && state.result.kind !== "void") {
    report(
      body,
      node.span,
      statementsMessages.mustReturn(functionName(body, state.declaration.name), describe(state.result)),
    );
  }
  return { ...node, ...(value === undefined ? {} : { value }) };
}
