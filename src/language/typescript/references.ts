// Names, members, `m.at(key)`: what an expression stands for.
import { handlerNames } from "../../messages/typescript-names.ts";
import { isRefusedGlobal, refusedGlobals } from "../../messages/typescript-refused.ts";
import type * as js from "acorn";
import { aggregations } from "../aggregations/table.ts";
import { findBuiltin } from "../builtins/table.ts";
import type { Span } from "../diagnostic.ts";
import type { Expression, MapAccess } from "../program.ts";
import { unknownType } from "../types.ts";
import type { Binding } from "./binding.ts";
import { constant } from "./constants.ts";
import { entryAt } from "./tables.ts";
import { typeNameOf } from "./type-names.ts";
import type { Reference, Reader } from "./reader.ts";
import { builtin, call, cast, hostText, integer, mapAccess, member, variable, writtenKey } from "./reader.ts";

/** Objects of every program that mean something here. */
const globals = new Set(["console", "Number", "BigInt", "Boolean", "String", "parseInt", "undefined"]);

/** Whether a name is JavaScript's own here. */
export function isGlobal(reader: Reader, name: string): boolean {
  return reader.find(name) === undefined && reader.source.resolve(name) === undefined;
}

export function refer(reader: Reader, node: js.Expression | js.Super): Reference {
  return reader.nested(node, () => referWithin(reader, node));
}

function referWithin(reader: Reader, node: js.Expression | js.Super): Reference {
  switch (node.type) {
    case "Identifier":
      return referName(reader, node);
    case "MemberExpression":
      return referMember(reader, node);
    case "ChainExpression":
      return refer(reader, node.expression);
    case "ParenthesizedExpression":
      return refer(reader, node.expression);
    case "CallExpression": {
      const at = entryOf(reader, node);
      if (at !== undefined) return at;
      break;
    }
    case "Super":
      return reader.refuseSyntax(node, "Super");
    default:
  }
  return { kind: "value", expression: reader.grammar.value(reader, node) };
}

function referName(reader: Reader, node: js.Identifier): Reference {
  const span = reader.span(node);
  const { name } = node;
  const meaning = reader.find(name);
  if (meaning !== undefined) {
    return meaning.kind === "alias" ? meaning.refer(span) : { kind: "value", expression: variable(meaning.name, span) };
  }
  const binding = reader.source.resolve(name);
  if (binding !== undefined) return bound(reader, binding, name, node);
  if (globals.has(name)) return { kind: "global", name };
  if (isRefusedGlobal(name)) return reader.refuse(node, refusedGlobals[name]());
  return reader.source.complete
    ? reader.refuse(node, handlerNames.unknownName(name))
    : reader.refuse(node, handlerNames.whatCannotSeenFromHandler(name, howToTell(name)));
}

/** What makes a name known, by who made the name. */
function howToTell(name: string): string {
  if (/^__vi(te|_import)_/.test(name)) {
    return 'Vite and vitest gave an import this name: add strobe\'s plugin to their configuration, `plugins: [strobe()]` with `import { strobe } from "strobe/vite"`';
  }
  if (name.includes("__WEBPACK_")) {
    return "webpack gave an import this name: run the bundle, not minified, with `node --import strobe/register`; or put what it holds in a constant, and pass that along";
  }
  const pass = `pass it along: tracepoint(…, handler, { ${name} })`;
  const rewritten =
    "run the file with `strobe run` or `node --import strobe/register`, or bundle it with strobe's plugin for esbuild, Vite or Rollup, which do that";
  // `strobe_1`, `_probes`, `import_probes`: no name of the program.
  return /^(import_\w+|_\w+|\w+_\d+)$/.test(name)
    ? `a compiler gave an import this name: ${rewritten}; or put what it holds in a constant, and pass that along`
    : `${pass}; or ${rewritten}`;
}

export function bound(reader: Reader, binding: Binding, name: string, node: js.Node): Reference {
  switch (binding.kind) {
    case "constant":
      return { kind: "value", expression: constant(reader, binding.value, node, name) };
    case "map":
      return { kind: "map", map: binding.map, name: reader.translation.mapName(binding.map, name, reader.span(node)) };
    case "event":
      return { kind: "event", name: reader.translation.eventName(binding.event, name) };
    case "type":
      return { kind: "type", type: binding.type, name };
    case "nothing":
    case "unusable":
      return reader.refuse(node, handlerNames.whichHandlerCannotUse(name, binding.what));
    case "builtin":
    case "special":
    case "function":
    case "module":
      return binding;
  }
}

/** `text.split(separator)[1]`: there are no lists of texts, and one part is a text. */
function partOfText(
  reader: Reader,
  { object, computed, property, ...node }: js.MemberExpression,
): Expression | undefined {
  if (!computed || object.type !== "CallExpression" || object.callee.type !== "MemberExpression") return undefined;
  const { callee, arguments: args } = object;
  if (callee.computed || callee.property.type !== "Identifier" || callee.property.name !== "split") return undefined;
  const index = literalIndex(property);
  if (index === undefined || args.length !== 1) return undefined;
  const span = reader.span(node);
  const of = reader.grammar.value(reader, callee.object as js.Expression);
  return hostText("partOfText", [of, argumentValue(reader, args[0]), integer(BigInt(index), span)], span);
}

function referMember(reader: Reader, node: js.MemberExpression): Reference {
  const part = partOfText(reader, node);
  if (part !== undefined) return { kind: "value", expression: part };
  const object = refer(reader, node.object);
  const span = reader.span(node);
  const { property } = node;
  if (property.type === "PrivateIdentifier") return reader.refuseSyntax(node, "ClassExpression");
  const name = node.computed
    ? (literalName(property) ?? (object.kind === "module" ? literalIndex(property) : undefined))
    : property.type === "Identifier"
      ? property.name
      : undefined;
  switch (object.kind) {
    case "module": {
      const binding = name === undefined ? undefined : object.member(name);
      if (name === "size" && (object.table?.form === "set" || object.table?.form === "map"))
        return { kind: "value", expression: integer(BigInt(object.table.entries().length), span) };
      if (name === undefined)
        return { kind: "value", expression: entryAt(reader, object, reader.grammar.value(reader, property), node) };
      if (binding === undefined) return reader.refuse(property, handlerNames.thereNo(name));
      return bound(reader, binding, name, node);
    }
    case "special":
      if (object.name === "enums" && name !== undefined)
        return { kind: "value", expression: { kind: "identifier", name, span, type: unknownType } };
      break;
    case "map":
      if (name === "value") return { kind: "value", expression: ownEntry(object, span) };
      if (name === "size") return { kind: "value", expression: call("len", [mapAccess(object.name, [], span)], span) };
      if (isResult(name)) return { kind: "value", expression: resultOf(ownEntry(object, span), name) };
      return reader.refuse(property, handlerNames.mapNoHandler(name ?? "[…]", mapUsage));
    case "entry":
      if (name === "value") return { kind: "value", expression: { ...object.access, span } };
      if (isResult(name)) return { kind: "value", expression: resultOf({ ...object.access, span }, name) };
      return reader.refuse(property, handlerNames.entryMapNo(name ?? "[…]"));
    case "event":
      return reader.refuse(property, handlerNames.eventNoHandler(name ?? "[…]"));
    case "function":
    case "inner":
      return reader.refuse(node, handlerNames.functionNoMembersHandler());
    case "type":
      return { kind: "value", expression: enumConstant(reader, object, name, node) };
    case "global":
      return reader.refuse(node, handlerNames.thereNoHandler(object.name, name ?? "[…]"));
    case "nothing":
      return reader.refuse(node, handlerNames.nothingGivenWhichNoMembers());
    case "value":
    case "builtin":
      return { kind: "value", expression: memberOf(reader, valueOf(reader, object, node.object), node) };
  }
  return reader.refuse(node, handlerNames.noMembers());
}

/** Numbers that come of a statistic. */
function isResult(name: string | undefined): name is string {
  const row = aggregations.get(name ?? "");
  return row?.shape === "number" && row.parameters === undefined;
}

function resultOf(of: MapAccess, aggregate: string): Expression {
  return { kind: "result", of, aggregate, parameters: [], span: of.span, type: unknownType };
}

/** A member of a value, by its name or its number. */
export function memberOf(reader: Reader, of: Expression, node: js.MemberExpression): Expression {
  const span = reader.span(node);
  const { property } = node;
  if (property.type === "PrivateIdentifier") return reader.refuseSyntax(node, "ClassExpression");
  const name = node.computed ? literalName(property) : property.type === "Identifier" ? property.name : undefined;
  if (name !== undefined) {
    // Settings are spelled as in TypeScript: config.maxStrlen.
    const own =
      of.kind === "builtin" && of.name === "config"
        ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
        : name;
    return member(of, own, reader.span(property), span);
  }
  if (of.kind === "builtin" && of.name === "args") return numberedArgument(reader, property, span);
  return { kind: "index", object: of, index: reader.grammar.value(reader, property), span, type: unknownType };
}

/** `Color.RED` of an enumeration that the program described. */
function enumConstant(
  reader: Reader,
  { type, name: captured }: Extract<Reference, { kind: "type" }>,
  name: string | undefined,
  node: js.MemberExpression,
): Expression {
  if (type.kind !== "enum") return reader.refuse(node, handlerNames.typeNoMembersHandler(captured));
  const value = name === undefined ? undefined : type.constants.get(name);
  if (value === undefined)
    return reader.refuse(
      node.property,
      handlerNames.no(captured, name ?? "[…]", [...type.constants.keys()].join(", ")),
    );
  return cast(typeNameOf(reader, type, node, captured), integer(value, reader.span(node)), reader.span(node));
}

export const mapUsage = "m.at(key) is an entry: count(), sum(n), hist(n), set(v), get(), delete(), has()";

/** `args["name"]`; undefined for any other index. */
function literalName(property: js.Expression): string | undefined {
  return property.type === "Literal" && typeof property.value === "string" ? property.value : undefined;
}

/** `list[0]`, of a list outside of the handler. */
function literalIndex(property: js.Expression | js.PrivateIdentifier): string | undefined {
  return property.type === "Literal" && typeof property.value === "number" ? String(property.value) : undefined;
}

/** `args[0]` is the first argument as a bare number. */
function numberedArgument(reader: Reader, property: js.Expression, span: Span): Expression {
  if (
    property.type === "Literal" &&
    typeof property.value === "number" &&
    Number.isInteger(property.value) &&
    property.value < 1000
  ) {
    return builtin(`arg${property.value}`, span);
  }
  return reader.refuse(property, handlerNames.argumentNumberMustWrittenOut());
}

/** The entry of a map without keys, or of this thread. */
export function ownEntry(
  { map, name }: Extract<Reference, { kind: "map" }>,
  span: Span,
): Extract<Expression, { kind: "map" }> {
  return mapAccess(name, map.threadLocal === true ? [builtin("tid", span)] : [], span);
}

/** `m.at(key, …)`, and nothing else. */
function entryOf(reader: Reader, node: js.CallExpression): Reference | undefined {
  const { callee } = node;
  if (
    callee.type !== "MemberExpression" ||
    callee.computed ||
    callee.property.type !== "Identifier" ||
    callee.property.name !== "at"
  )
    return undefined;
  const object = refer(reader, callee.object);
  if (object.kind !== "map") return undefined;
  return { kind: "entry", access: mapAccess(object.name, keys(reader, node.arguments), reader.span(node)) };
}

export function keys(reader: Reader, nodes: readonly (js.Expression | js.SpreadElement)[]): Expression[] {
  return nodes.map((node) =>
    node.type === "SpreadElement" ? reader.refuseSyntax(node, "SpreadElement") : keyValue(reader, node),
  );
}

/** Keys may be records: `m.at({ pid, comm })`. */
function keyValue(reader: Reader, node: js.Expression): Expression {
  return node.type === "ObjectExpression" ? record(reader, node) : reader.grammar.value(reader, node);
}

export function record(reader: Reader, node: js.ObjectExpression): Extract<Expression, { kind: "record" }> {
  const fields = node.properties.map((property) => {
    if (property.type === "SpreadElement") return reader.refuseSyntax(property, "SpreadElement");
    const { key } = property;
    const name = writtenKey(property);
    if (name === undefined) return reader.refuse(key, handlerNames.fieldNameMustWrittenOut());
    if (property.kind !== "init" || property.method) return reader.refuseSyntax(property, "FunctionExpression");
    return { name, value: keyValue(reader, property.value) };
  });
  if (fields.length === 0) reader.refuse(node, handlerNames.recordNeedsField());
  return { kind: "record", fields, span: reader.span(node), type: unknownType };
}

/** What can stand as a value does; the rest says what it is. */
export function valueOf(reader: Reader, reference: Reference, node: js.Node): Expression {
  const span = reader.span(node);
  switch (reference.kind) {
    case "value":
      return reference.expression;
    case "builtin": {
      const form = findBuiltin(reference.name)?.form;
      if (form === "value" || form === "both") return builtin(reference.name, span);
      return reader.refuse(node, handlerNames.functionMessage());
    }
    case "entry":
      return reader.refuse(node, handlerNames.entryMapNoValue());
    case "map":
      return reference.map.threadLocal === true
        ? reader.refuse(node, handlerNames.threadVariableNoValueItself())
        : reader.refuse(node, handlerNames.mapNoValue(mapUsage));
    case "event":
      return reader.refuse(node, handlerNames.eventNoValue());
    case "function":
    case "inner":
    case "special":
      return reader.refuse(node, handlerNames.functionMessage());
    case "module":
      return reader.refuse(
        node,
        node.type === "Identifier"
          ? handlerNames.memberCannotBeUsed((node as js.Identifier).name, reference.what)
          : handlerNames.noValueHandler(reference.what),
      );
    case "type":
      return reader.refuse(node, handlerNames.typeNoValue(reference.name));
    case "nothing":
      return reader.refuse(
        node,
        handlerNames.notGiven(node.type === "Identifier" ? `\`${(node as js.Identifier).name}\`` : "this"),
      );
    case "global":
      if (reference.name === "undefined") return reader.refuseSyntax(node, "undefined");
      return reader.refuse(node, handlerNames.nameNotValue(reference.name));
  }
}

/** A value; a map as a whole for those that take one. */
export function argumentValue(reader: Reader, node: js.Expression | js.SpreadElement): Expression {
  if (node.type === "SpreadElement") return reader.refuseSyntax(node, "SpreadElement");
  if (node.type === "Identifier" || node.type === "MemberExpression" || node.type === "CallExpression") {
    const reference: Reference = refer(reader, node);
    if (reference.kind === "map" && reference.map.threadLocal !== true)
      return mapAccess(reference.name, [], reader.span(node));
    if (reference.kind === "entry") return reference.access;
    return valueOf(reader, reference, node);
  }
  return reader.grammar.value(reader, node);
}
