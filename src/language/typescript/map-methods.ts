// Methods of maps and of their entries: assignments, aggregations, questions.
import { handlerCalls } from "../../messages/typescript-calls.ts";
import { handlerNames } from "../../messages/typescript-names.ts";
import type * as js from "acorn";
import { aggregations } from "../aggregations/table.ts";
import { builtinsFor } from "../builtins/table.ts";
import type { Expression, MapAccess, Statement } from "../program.ts";
import { assigned } from "./expressions.ts";
import { keys as keysOf, mapUsage, ownEntry } from "./references.ts";
import { missingMethods } from "./missing-methods.ts";
import type { Outcome, Reference, Reader } from "./reader.ts";
import { call, expressionStatement, hasKey, mapAccess, oneKey } from "./reader.ts";
import { typescriptRules } from "./rules.ts";

const value = (expression: Expression): Outcome => ({ kind: "value", expression });
const statement = (made: Statement): Outcome => ({ kind: "statement", statement: made });

/** `m.set(key, value)`, `m.count()` of a map without keys, `m.clear()`. */
export function mapMethod(
  reader: Reader,
  node: js.CallExpression,
  map: Extract<Reference, { kind: "map" }>,
  name: string,
  at: js.Node,
): Outcome {
  const span = reader.span(node);
  const own = ownEntry(map, span);
  if (builtinsFor(typescriptRules).aggregate(name) !== undefined) return entryMethod(reader, node, own, name, at);
  if (Object.hasOwn(missingMethods, name))
    return reader.refuse(at, handlerCalls.thereNoMapHandler(name, missingMethods[name]));
  const args = keysOf(reader, node.arguments);
  const entry = (keys: readonly Expression[]): MapAccess => ({ ...own, keys: [...own.keys, ...keys] });
  switch (name) {
    case "set":
      if (args.length === 0) return reader.refuse(node, handlerCalls.setWantsKeysValue());
      return assign(entry(args.slice(0, -1)), args.at(-1)!, span);
    case "get":
      return value(entry(args));
    case "has":
      return value(hasKey(entry(args), span));
    case "delete":
      return remove(entry(args), span);
    case "clear":
    case "zero":
      return statement(expressionStatement(call(name, [mapAccess(map.name, [], span)], span), span));
    case "at":
      return reader.refuse(node, handlerNames.entryMapNoValue());
    default:
      return reader.refuse(at, handlerCalls.mapNoMethodHandler(name, mapUsage));
  }
}

export function entryMethod(
  reader: Reader,
  node: js.CallExpression,
  access: MapAccess,
  name: string,
  at: js.Node,
): Outcome {
  const span = reader.span(node);
  const args = keysOf(reader, node.arguments);
  const none = (): void => {
    if (args.length > 0) reader.refuse(node, handlerCalls.entryTakesNoArguments(name));
  };
  const aggregate = builtinsFor(typescriptRules).aggregate(name);
  if (aggregate !== undefined) {
    const counts = aggregations.get(aggregate)?.takes === "nothing";
    const [first, parameters] = counts ? [undefined, args] : [args.at(0), args.slice(1)];
    return statement({
      kind: "aggregate",
      target: access,
      aggregate,
      ...(first === undefined ? {} : { value: first }),
      parameters,
      span,
    });
  }
  switch (name) {
    case "set":
      if (args.length !== 1) return reader.refuse(node, handlerCalls.setEntryTakesValue());
      return assign(access, args[0], span);
    case "get":
      none();
      return value({ ...access, span });
    case "has":
      none();
      return value(hasKey(access, span));
    case "delete":
      none();
      return remove(access, span);
    default:
      return reader.refuse(at, handlerCalls.entryMapNoMethod(name, mapUsage));
  }
}

function assign(target: MapAccess, to: Expression, span: Expression["span"]): Outcome {
  return statement(assigned(target, to, span));
}

function remove({ name, keys }: MapAccess, span: Expression["span"]): Outcome {
  return value(call("delete", [mapAccess(name, [], span), ...(keys.length === 0 ? [] : [oneKey(keys, span)])], span));
}
