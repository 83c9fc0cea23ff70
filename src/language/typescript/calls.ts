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
import type { Outcome, Reference, Reader } from "./reader.ts";
import { binary, call, cast, expressionStatement, hostText, integer, not, text } from "./reader.ts";

export function callExpression(reader: Reader, node: js.CallExpression): Outcome {
  const { callee } = node;
  if (callee.type === "ArrowFunctionExpression" || callee.type === "FunctionExpression")
    return calledAtOnce(reader, node, callee);
  const method = callee.type === "MemberExpression" ? methodCall(reader, node, callee) : undefined;
  if (method !== undefined) return method;
  const target = refer(reader, callee);
  switch (target.kind) {
    case "builtin":
      return builtinCall(reader, node, target.name);
    case "special":
      return specialCall(reader, node, target.name);
    case "function":
      return { kind: "value", expression: functionCall(reader, node, target.source) };
    case "global":
      return globalCall(reader, node, target.name);
    case "map":
      return reader.refuse(node, handlerCalls.mapCannotCalled(mapUsage));
    case "event":
      return reader.refuse(node, handlerCalls.eventCannotCalled());
    case "type":
      return reader.refuse(node, handlerCalls.typeCannotCalled(target.name));
    case "inner":
      return innerCall(reader, node, target);
    case "module":
    case "nothing":
    case "entry":
    case "value":
      return reader.refuse(callee, handlerCalls.cannotCalledHandler());
  }
}

// ── methods ──────────────────────────────────────────────────────────────────────────────────────────────────────────

function methodCall(reader: Reader, node: js.CallExpression, callee: js.MemberExpression): Outcome | undefined {
  const { property } = callee;
  if (callee.computed || property.type !== "Identifier") return undefined;
  const { name } = property;
  const args = (): Expression[] => node.arguments.map((argument) => argumentValue(reader, argument));
  if (callee.object.type === "Literal" && "regex" in callee.object && name === "test")
    return { kind: "value", expression: matches(reader, node, callee.object, args()) };
  if (callee.object.type === "Identifier" && callee.object.name === "Math" && isGlobal(reader, "Math"))
    return { kind: "value", expression: mathCall(reader, node, name, args) };
  const object = refer(reader, callee.object);
  switch (object.kind) {
    case "map":
      return mapMethod(reader, node, object, name, property);
    case "entry":
      return entryMethod(reader, node, object.access, name, property);
    case "event": {
      if (name !== "emit") return reader.refuse(property, handlerCalls.eventNoHandler(name));
      return emit(reader, node, object.name);
    }
    case "global":
      return object.name === "console"
        ? consoleCall(reader, node, name)
        : reader.refuse(node, handlerCalls.thereNoHandler(object.name, name));
    case "builtin":
    case "value": {
      if (name === "toString") return reader.refuse(node, handlerCalls.numbersBecomeTextWhereThey());
      if (name === "includes" && callee.object.type === "ArrayExpression")
        return { kind: "value", expression: isOneOfWritten(reader, node, callee.object) };
      return {
        kind: "value",
        expression: textMethod(reader, node, valueOf(reader, object, callee.object), name, property, args),
      };
    }
    case "module":
      return tableMethod(reader, node, object, name, property);
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
  reader: Reader,
  node: js.CallExpression,
  module: Extract<Reference, { kind: "module" }>,
  name: string,
  property: js.Node,
): Outcome | undefined {
  const form = module.table?.form;
  if (form === undefined || module.member(name) !== undefined) return undefined;
  const asked = (): Expression => {
    if (node.arguments.length !== 1) return reader.refuse(node, handlerCalls.takesOneArgumentHandler(name));
    return argumentValue(reader, node.arguments[0]);
  };
  if (form === "list" && name === "includes")
    return { kind: "value", expression: isOneOf(reader, asked(), itemsOf(reader, module, node), node) };
  if ((form === "set" || form === "map") && name === "has")
    return { kind: "value", expression: hasEntry(reader, module, asked(), node) };
  if (form === "map" && name === "get") return { kind: "value", expression: entryAt(reader, module, asked(), node) };
  const has = {
    list: "includes() and `length`",
    object: "its members alone",
    set: "has() and `size`",
    map: "get(), has() and `size`",
  }[form];
  return reader.refuse(
    property,
    handlerCalls.noMethodOfValue(name, module.what, missingMethods[name] ?? `it has ${has}`),
  );
}

/** `["read", "write"].includes(name)` */
function isOneOfWritten(reader: Reader, node: js.CallExpression, list: js.ArrayExpression): Expression {
  if (node.arguments.length !== 1) return reader.refuse(node, handlerCalls.includesTakesOneArgumentHandler());
  const items = list.elements.map((element) =>
    element === null ? reader.fault(list, "a list with a hole") : argumentValue(reader, element),
  );
  return isOneOf(reader, argumentValue(reader, node.arguments[0]), items, node);
}

function emit(reader: Reader, node: js.CallExpression, event: string): Outcome {
  const [value] = node.arguments;
  const span = reader.span(node);
  if (node.arguments.length !== 1 || value.type === "SpreadElement")
    return reader.refuse(node, handlerCalls.emitTakesOneRecordEmit());
  if (value.type !== "ObjectExpression") return reader.refuse(value, handlerCalls.emitWantsRecord());
  const fields = record(reader, value);
  for (const property of value.properties) {
    if (property.type !== "Property" || property.key.type !== "Identifier" || !isBigInt(reader, property.value))
      continue;
    const exact = reader.translation.exact.get(event) ?? new Set<string>();
    reader.translation.exact.set(event, exact.add(property.key.name));
  }
  return { kind: "statement", statement: expressionStatement(call("emit", [text(event, span), fields], span), span) };
}

/** Whether TypeScript takes it for a bigint. */
function isBigInt(reader: Reader, node: js.Expression): boolean {
  switch (node.type) {
    case "CallExpression":
      return node.callee.type === "Identifier" && node.callee.name === "BigInt" && reader.find("BigInt") === undefined;
    case "Literal":
      return typeof node.value === "bigint";
    case "Identifier": {
      if (reader.find(node.name) !== undefined) return false;
      const binding = reader.source.resolve(node.name);
      return binding?.kind === "constant" && typeof binding.value === "bigint";
    }
    case "UnaryExpression":
      return isBigInt(reader, node.argument);
    case "BinaryExpression":
      return Object.hasOwn(arithmetic, node.operator) && isBigInt(reader, node.right);
    case "ConditionalExpression":
      return isBigInt(reader, node.consequent);
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

function consoleCall(reader: Reader, node: js.CallExpression, name: string): Outcome {
  switch (name) {
    case "log":
    case "info":
    case "debug":
      return printCall(reader, node, "printf");
    case "warn":
      return printCall(reader, node, "warnf");
    case "error":
      return printCall(reader, node, "errorf");
    default:
      return reader.refuse(node, handlerCalls.thereNoConsoleHandler(name));
  }
}

// ── functions ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Builtins whose words are bare in other languages, and strings in this one: nsecs("monotonic"). */
const worded = new Set(["pid", "tid", "nsecs", "kstack", "ustack", "dw_ustack"]);
const formatted = new Set(["printf", "errorf", "warnf", "system", "cat"]);

function builtinCall(reader: Reader, node: js.CallExpression, name: string): Outcome {
  const span = reader.span(node);
  const spec = findBuiltin(name);
  const form = spec?.form;
  if (form === "value") return reader.refuse(node, handlerCalls.value());
  let args: Expression[];
  const [first] = node.arguments;
  if (formatted.has(name) && first?.type === "TemplateLiteral" && node.arguments.length === 1) {
    const { format, values } = valueFormat(reader, first);
    args = [text(format, reader.span(first)), ...values];
  } else {
    args = node.arguments.map((argument, i) =>
      name === "container_of" && i === 1 ? structArgument(reader, argument) : argumentValue(reader, argument),
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
function structArgument(reader: Reader, node: js.Expression | js.SpreadElement): Expression {
  const { name, tag, pointers, dimensions, span } = typeArgument(reader, node);
  if (tag === "enum" || pointers > 0 || dimensions.length > 0)
    return reader.refuse(node, handlerCalls.structWantedHere());
  return { kind: "identifier", name, span, type: unknownType };
}

function specialCall(
  reader: Reader,
  node: js.CallExpression,
  name: Extract<Reference, { kind: "special" }>["name"],
): Outcome {
  const span = reader.span(node);
  const value = (expression: Expression): Outcome => ({ kind: "value", expression });
  const wants = (count: number, usage: string): readonly (js.Expression | js.SpreadElement)[] => {
    if (node.arguments.length !== count)
      reader.refuse(node, handlerCalls.takes(name, count === 1 ? "one argument" : `${count} arguments`, usage));
    return node.arguments;
  };
  if (isCast(name)) {
    const [operand] = wants(1, `${name}(value)`);
    return value(cast({ name: casts[name], pointers: 0, dimensions: [], span }, argumentValue(reader, operand), span));
  }
  switch (name) {
    case "print":
      return printCall(reader, node, "print");
    case "emit":
      return emit(reader, node, "");
    case "range":
      return reader.refuse(node, handlerCalls.rangeStandsLoop());
    case "enums":
      return reader.refuse(node, handlerCalls.enumsNamedNotCalled());
    case "pointerTo":
    case "arrayOf":
      return reader.refuse(node, handlerCalls.type(name));
    case "addressOf": {
      const [operand] = wants(1, "addressOf(variable)");
      return value({ kind: "unary", operator: "&", operand: argumentValue(reader, operand), span, type: unknownType });
    }
    case "deref": {
      const [operand] = wants(1, "deref(pointer)");
      return value({ kind: "unary", operator: "*", operand: argumentValue(reader, operand), span, type: unknownType });
    }
    case "cast": {
      const [operand, to] = wants(2, 'cast(value, "struct sock *")');
      return value(cast(addressType(typeArgument(reader, to)), argumentValue(reader, operand), span));
    }
    case "sizeof": {
      const [of] = wants(1, 'sizeof("struct sock")');
      return value({ kind: "sizeof", of: typed(reader, of), span, type: unknownType });
    }
    case "offsetof": {
      const [of, path] = wants(2, 'offsetof("struct sock", "sk_family")');
      const written = argumentValue(reader, path);
      if (written.kind !== "string") return reader.refuse(path, handlerCalls.offsetofWantsMemberNameString());
      return value({
        kind: "offsetof",
        of: typed(reader, of),
        path: written.value.split("."),
        span,
        type: unknownType,
      });
    }
  }
}

/** A type, where it is written as one; else a value, whose type is meant. */
function typed(reader: Reader, node: js.Expression | js.SpreadElement): TypeName | Expression {
  if (node.type === "UnaryExpression" && node.operator === "typeof") return reader.grammar.value(reader, node.argument);
  if (node.type === "SpreadElement" || (node.type === "Literal" && typeof node.value === "string"))
    return typeArgument(reader, node);
  if (node.type === "CallExpression") {
    const callee =
      node.callee.type === "Identifier" || node.callee.type === "MemberExpression"
        ? refer(reader, node.callee)
        : undefined;
    if (callee?.kind === "special" && (callee.name === "pointerTo" || callee.name === "arrayOf"))
      return typeArgument(reader, node);
    return argumentValue(reader, node);
  }
  if (node.type === "Identifier" || node.type === "MemberExpression") {
    const reference = refer(reader, node);
    if (
      reference.kind === "type" ||
      (reference.kind === "special" && isCast(reference.name)) ||
      (reference.kind === "value" && reference.expression.kind === "string")
    )
      return typeArgument(reader, node);
  }
  return argumentValue(reader, node);
}

/** `/x/.test(text)` */
function matches(
  reader: Reader,
  node: js.CallExpression,
  { regex }: js.Literal,
  args: readonly Expression[],
): Expression {
  const span = reader.span(node);
  if (args.length !== 1 || !regex) return reader.refuse(node, handlerCalls.takesOneArgumentHandler("test"));
  const found = hostText("hasPattern", [args[0], text(regex.pattern, span), text(regex.flags, span)], span);
  return binary("!=", found, integer(0n, span), span);
}

function globalCall(reader: Reader, node: js.CallExpression, name: string): Outcome {
  if (name === "parseInt" && node.arguments.length === 2) {
    const [of, base] = node.arguments.map((one) => argumentValue(reader, one));
    return { kind: "value", expression: hostText("parsedInteger", [of, base], reader.span(node)) };
  }
  const [argument] = node.arguments;
  if (node.arguments.length !== 1) return reader.refuse(node, handlerCalls.takesOneArgumentHandler(name));
  const operand = argumentValue(reader, argument);
  const span = reader.span(node);
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
        expression: not(not(reader.grammar.condition(reader, argument as js.Expression), span), span),
      };
    default:
      return reader.refuse(node, handlerCalls.nameCannotBeCalled(name));
  }
}
