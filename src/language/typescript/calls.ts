// Calls: of builtins, of the program's functions, of maps' and events' methods, and of the few of JavaScript's own that
// have a meaning.
import { handlerCalls } from "../../messages/typescript-calls.ts";
import type * as js from "acorn";
import { findBuiltin } from "../builtins/table.ts";
import type { Expression, TypeName } from "../program.ts";
import { unknownType } from "../types.ts";
import { calledAtOnce, functionCall, innerCall } from "./functions.ts";
import { entryMethod, mapMethod } from "./map-methods.ts";
import { mathCall } from "./mathematics.ts";
import { printCall, valueFormat } from "./printing.ts";
import { argumentValue, isGlobal, mapUsage, record, refer, valueOf } from "./references.ts";
import { missingMethods } from "./missing-methods.ts";
import { casts, isCast } from "./specials.ts";
import { entryAt, hasEntry, isOneOf, itemsOf } from "./tables.ts";
import { textMethod } from "./text-methods.ts";
import { addressType, typeArgument } from "./type-names.ts";
import type { Outcome, Reference, Unit } from "./unit.ts";
import { binary, call, cast, expressionStatement, hostText, integer, not, text } from "./unit.ts";

export function callExpression(unit: Unit, node: js.CallExpression): Outcome {
  const { callee } = node;
  if (callee.type === "ArrowFunctionExpression" || callee.type === "FunctionExpression")
    return calledAtOnce(unit, node, callee);
  const method = callee.type === "MemberExpression" ? methodCall(unit, node, callee) : undefined;
  if (method !== undefined) return method;
  const target = refer(unit, callee);
  switch (target.kind) {
    case "builtin":
      return builtinCall(unit, node, target.name);
    case "special":
      return specialCall(unit, node, target.name);
    case "function":
      return { kind: "value", expression: functionCall(unit, node, target.source) };
    case "global":
      return globalCall(unit, node, target.name);
    case "map":
      return unit.refuse(node, handlerCalls.mapCannotCalled(mapUsage));
    case "event":
      return unit.refuse(node, handlerCalls.eventCannotCalled());
    case "type":
      return unit.refuse(node, handlerCalls.typeCannotCalled(target.name));
    case "inner":
      return innerCall(unit, node, target);
    case "module":
    case "nothing":
    case "entry":
    case "value":
      return unit.refuse(callee, handlerCalls.cannotCalledHandler());
  }
}

// ── methods ──────────────────────────────────────────────────────────────────────────────────────────────────────────

function methodCall(unit: Unit, node: js.CallExpression, callee: js.MemberExpression): Outcome | undefined {
  const { property } = callee;
  if (callee.computed || property.type !== "Identifier") return undefined;
  const { name } = property;
  const args = (): Expression[] => node.arguments.map((argument) => argumentValue(unit, argument));
  if (callee.object.type === "Literal" && "regex" in callee.object && name === "test")
    return { kind: "value", expression: matches(unit, node, callee.object, args()) };
  if (callee.object.type === "Identifier" && callee.object.name === "Math" && isGlobal(unit, "Math"))
    return { kind: "value", expression: mathCall(unit, node, name, args) };
  const object = refer(unit, callee.object);
  switch (object.kind) {
    case "map":
      return mapMethod(unit, node, object, name, property);
    case "entry":
      return entryMethod(unit, node, object.access, name, property);
    case "event": {
      if (name !== "emit") return unit.refuse(property, handlerCalls.eventNoHandler(name));
      return emit(unit, node, object.name);
    }
    case "global":
      return object.name === "console"
        ? consoleCall(unit, node, name)
        : unit.refuse(node, handlerCalls.thereNoHandler(object.name, name));
    case "builtin":
    case "value": {
      if (name === "toString") return unit.refuse(node, handlerCalls.numbersBecomeTextWhereThey());
      if (name === "includes" && callee.object.type === "ArrayExpression")
        return { kind: "value", expression: isOneOfWritten(unit, node, callee.object) };
      return {
        kind: "value",
        expression: textMethod(unit, node, valueOf(unit, object, callee.object), name, property, args),
      };
    }
    case "module":
      return tableMethod(unit, node, object, name, property);
    case "special":
    case "function":
    case "inner":
    case "nothing":
    case "type":
      return undefined;
  }
}

/**
 * `ports.includes(args.port)`, `names.get(args.family)`, `known.has(pid)` of what is around the handler: as many
 * comparisons.
 */
function tableMethod(
  unit: Unit,
  node: js.CallExpression,
  module: Extract<Reference, { kind: "module" }>,
  name: string,
  property: js.Node,
): Outcome | undefined {
  const form = module.table?.form;
  if (form === undefined || module.member(name) !== undefined) return undefined;
  const asked = (): Expression => {
    if (node.arguments.length !== 1) return unit.refuse(node, handlerCalls.takesOneArgumentHandler(name));
    return argumentValue(unit, node.arguments[0]);
  };
  if (form === "list" && name === "includes")
    return { kind: "value", expression: isOneOf(unit, asked(), itemsOf(unit, module, node), node) };
  if ((form === "set" || form === "map") && name === "has")
    return { kind: "value", expression: hasEntry(unit, module, asked(), node) };
  if (form === "map" && name === "get") return { kind: "value", expression: entryAt(unit, module, asked(), node) };
  const has = {
    list: "includes() and `length`",
    object: "its members alone",
    set: "has() and `size`",
    map: "get(), has() and `size`",
  }[form];
  return unit.refuse(
    property,
    handlerCalls.noMethodOfValue(name, module.what, missingMethods[name] ?? `it has ${has}`),
  );
}

/** `["read", "write"].includes(name)` */
function isOneOfWritten(unit: Unit, node: js.CallExpression, list: js.ArrayExpression): Expression {
  if (node.arguments.length !== 1) return unit.refuse(node, handlerCalls.includesTakesOneArgumentHandler());
  const items = list.elements.map((element) =>
    element === null ? unit.fault(list, "a list with a hole") : argumentValue(unit, element),
  );
  return isOneOf(unit, argumentValue(unit, node.arguments[0]), items, node);
}

function emit(unit: Unit, node: js.CallExpression, event: string): Outcome {
  const [value] = node.arguments;
  const span = unit.span(node);
  if (node.arguments.length !== 1 || value.type === "SpreadElement")
    return unit.refuse(node, handlerCalls.emitTakesOneRecordEmit());
  if (value.type !== "ObjectExpression") return unit.refuse(value, handlerCalls.emitWantsRecord());
  const fields = record(unit, value);
  for (const property of value.properties) {
    if (property.type !== "Property" || property.key.type !== "Identifier" || !isBigInt(unit, property.value)) continue;
    const exact = unit.translation.exact.get(event) ?? new Set<string>();
    unit.translation.exact.set(event, exact.add(property.key.name));
  }
  return { kind: "statement", statement: expressionStatement(call("emit", [text(event, span), fields], span), span) };
}

/** Whether TypeScript takes it for a bigint. */
function isBigInt(unit: Unit, node: js.Expression): boolean {
  switch (node.type) {
    case "CallExpression":
      return node.callee.type === "Identifier" && node.callee.name === "BigInt" && unit.find("BigInt") === undefined;
    case "Literal":
      return typeof node.value === "bigint";
    case "Identifier": {
      if (unit.find(node.name) !== undefined) return false;
      const binding = unit.source.resolve(node.name);
      return binding?.kind === "constant" && typeof binding.value === "bigint";
    }
    case "UnaryExpression":
      return isBigInt(unit, node.argument);
    case "BinaryExpression":
      return Object.hasOwn(arithmetic, node.operator) && isBigInt(unit, node.right);
    case "ConditionalExpression":
      return isBigInt(unit, node.consequent);
    default:
      return false;
  }
}

const arithmetic = {
  "+": true,
  "-": true,
  "*": true,
  "/": true,
  "%": true,
  "&": true,
  "|": true,
  "^": true,
  "<<": true,
  ">>": true,
};

function consoleCall(unit: Unit, node: js.CallExpression, name: string): Outcome {
  switch (name) {
    case "log":
    case "info":
    case "debug":
      return printCall(unit, node, "printf");
    case "warn":
      return printCall(unit, node, "warnf");
    case "error":
      return printCall(unit, node, "errorf");
    default:
      return unit.refuse(node, handlerCalls.thereNoConsoleHandler(name));
  }
}

// ── functions ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Builtins whose words are bare in other languages, and strings in this one: nsecs("monotonic"). */
const worded = new Set(["pid", "tid", "nsecs", "kstack", "ustack", "dw_ustack"]);
const formatted = new Set(["printf", "errorf", "warnf", "system", "cat"]);

function builtinCall(unit: Unit, node: js.CallExpression, name: string): Outcome {
  const span = unit.span(node);
  const spec = findBuiltin(name);
  const form = spec?.form;
  if (form === "value") return unit.refuse(node, handlerCalls.value());
  let args: Expression[];
  const [first] = node.arguments;
  if (formatted.has(name) && first?.type === "TemplateLiteral" && node.arguments.length === 1) {
    const { format, values } = valueFormat(unit, first);
    args = [text(format, unit.span(first)), ...values];
  } else {
    args = node.arguments.map((argument, i) =>
      name === "container_of" && i === 1 ? structArgument(unit, argument) : argumentValue(unit, argument),
    );
  }
  const bare = (index: number): boolean => worded.has(name) || (name === "container_of" && index > 0);
  args = args.map((arg, i) =>
    arg.kind === "string" && bare(i)
      ? { kind: "identifier", name: arg.value.replace(/^struct /, ""), span: arg.span, type: unknownType }
      : arg,
  );
  const expression = call(name, args, span);
  return spec?.statement === true
    ? { kind: "statement", statement: expressionStatement(expression, span) }
    : { kind: "value", expression };
}

/** A struct, by its name alone. */
function structArgument(unit: Unit, node: js.Expression | js.SpreadElement): Expression {
  const { name, tag, pointers, dimensions, span } = typeArgument(unit, node);
  if (tag === "enum" || pointers > 0 || dimensions.length > 0)
    return unit.refuse(node, handlerCalls.structWantedHere());
  return { kind: "identifier", name, span, type: unknownType };
}

function specialCall(
  unit: Unit,
  node: js.CallExpression,
  name: Extract<Reference, { kind: "special" }>["name"],
): Outcome {
  const span = unit.span(node);
  const value = (expression: Expression): Outcome => ({ kind: "value", expression });
  const wants = (count: number, usage: string): readonly (js.Expression | js.SpreadElement)[] => {
    if (node.arguments.length !== count)
      unit.refuse(node, handlerCalls.takes(name, count === 1 ? "one argument" : `${count} arguments`, usage));
    return node.arguments;
  };
  if (isCast(name)) {
    const [operand] = wants(1, `${name}(value)`);
    return value(cast({ name: casts[name], pointers: 0, dimensions: [], span }, argumentValue(unit, operand), span));
  }
  switch (name) {
    case "print":
      return printCall(unit, node, "print");
    case "emit":
      return emit(unit, node, "");
    case "range":
      return unit.refuse(node, handlerCalls.rangeStandsLoop());
    case "enums":
      return unit.refuse(node, handlerCalls.enumsNamedNotCalled());
    case "pointerTo":
    case "arrayOf":
      return unit.refuse(node, handlerCalls.type(name));
    case "addressOf": {
      const [operand] = wants(1, "addressOf(variable)");
      return value({ kind: "unary", operator: "&", operand: argumentValue(unit, operand), span, type: unknownType });
    }
    case "deref": {
      const [operand] = wants(1, "deref(pointer)");
      return value({ kind: "unary", operator: "*", operand: argumentValue(unit, operand), span, type: unknownType });
    }
    case "cast": {
      const [operand, to] = wants(2, 'cast(value, "struct sock *")');
      return value(cast(addressType(typeArgument(unit, to)), argumentValue(unit, operand), span));
    }
    case "sizeof": {
      const [of] = wants(1, 'sizeof("struct sock")');
      return value({ kind: "sizeof", of: typed(unit, of), span, type: unknownType });
    }
    case "offsetof": {
      const [of, path] = wants(2, 'offsetof("struct sock", "sk_family")');
      const written = argumentValue(unit, path);
      if (written.kind !== "string") return unit.refuse(path, handlerCalls.offsetofWantsMemberNameString());
      return value({ kind: "offsetof", of: typed(unit, of), path: written.value.split("."), span, type: unknownType });
    }
  }
}

/** A type, where it is written as one; else a value, whose type is meant. */
function typed(unit: Unit, node: js.Expression | js.SpreadElement): TypeName | Expression {
  if (node.type === "UnaryExpression" && node.operator === "typeof") return unit.grammar.value(unit, node.argument);
  if (node.type === "SpreadElement" || (node.type === "Literal" && typeof node.value === "string"))
    return typeArgument(unit, node);
  if (node.type === "CallExpression") {
    const callee =
      node.callee.type === "Identifier" || node.callee.type === "MemberExpression"
        ? refer(unit, node.callee)
        : undefined;
    if (callee?.kind === "special" && (callee.name === "pointerTo" || callee.name === "arrayOf"))
      return typeArgument(unit, node);
    return argumentValue(unit, node);
  }
  if (node.type === "Identifier" || node.type === "MemberExpression") {
    const reference = refer(unit, node);
    if (
      reference.kind === "type" ||
      (reference.kind === "special" && isCast(reference.name)) ||
      (reference.kind === "value" && reference.expression.kind === "string")
    )
      return typeArgument(unit, node);
  }
  return argumentValue(unit, node);
}

/** `/x/.test(text)` */
function matches(unit: Unit, node: js.CallExpression, { regex }: js.Literal, args: readonly Expression[]): Expression {
  const span = unit.span(node);
  if (args.length !== 1 || !regex) return unit.refuse(node, handlerCalls.takesOneArgumentHandler("test"));
  const found = hostText("hasPattern", [args[0], text(regex.pattern, span), text(regex.flags, span)], span);
  return binary("!=", found, integer(0n, span), span);
}

function globalCall(unit: Unit, node: js.CallExpression, name: string): Outcome {
  if (name === "parseInt" && node.arguments.length === 2) {
    const [of, base] = node.arguments.map((one) => argumentValue(unit, one));
    return { kind: "value", expression: hostText("parsedInteger", [of, base], unit.span(node)) };
  }
  const [argument] = node.arguments;
  if (node.arguments.length !== 1) return unit.refuse(node, handlerCalls.takesOneArgumentHandler(name));
  const operand = argumentValue(unit, argument);
  const span = unit.span(node);
  switch (name) {
    // Integers are integers, however they arrive in Node.
    case "Number":
    case "BigInt":
      return { kind: "value", expression: { kind: "unary", operator: "+", operand, span, type: unknownType } };
    case "parseInt":
      return { kind: "value", expression: hostText("parsedInteger", [operand, integer(0n, span)], span) };
    case "String":
      return { kind: "value", expression: call("str_concat", [operand, text("", span)], span) };
    case "Boolean":
      return {
        kind: "value",
        expression: not(not(unit.grammar.condition(unit, argument as js.Expression), span), span),
      };
    default:
      return unit.refuse(node, handlerCalls.nameCannotBeCalled(name));
  }
}
