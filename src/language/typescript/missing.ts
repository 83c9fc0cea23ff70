// What may be missing: entries of maps, what lies behind them or behind an address, and variables that were given such.
// A value of the tree is never missing, it is 0 or empty; whether it was there is a value beside it.
import type * as js from "acorn";
import type { Expression, Statement, Variable } from "../program.ts";
import { isNothing, knownTruth, outside } from "./known.ts";
import { memberOf } from "./references.ts";
import { entryAt, hasEntry } from "./tables.ts";
import type { Reference, Reader } from "./reader.ts";
import { behind, binary, block, boolean, hasKey, isPlain, presence, variable } from "./reader.ts";

/** A value that may be missing. */
export interface Missable {
  /** Run once, before either of the others is read. */
  readonly before: readonly Statement[];
  readonly there: Expression;
  /** 0 or empty where it is missing; absent when it always is: `undefined`. */
  readonly value?: Expression;
}

/** Whether a value that may be missing counts as true: an object does when it is there. */
export function isTrue({ value: of, there }: Missable): Expression {
  return of === undefined ? there : presence("truth", of, there);
}

/** Whether there is anything: an entry in its map, something behind an address. `asked` is what it is compared with. */
export function isThere(reader: Reader, node: js.Expression, asked: "null" | "undefined"): Expression {
  const found = missable(reader, node);
  return found === undefined ? presence(asked, reader.grammar.value(reader, node)) : behind(found.before, found.there);
}

/** The variable that says whether a name was given something. */
export function knownThere(reader: Reader, node: js.Expression | js.Pattern): string | undefined {
  const meaning = node.type === "Identifier" ? reader.find(node.name) : undefined;
  return meaning?.kind === "variable" ? meaning.there : undefined;
}

/** A value that may be missing, by its form; undefined for one that is always there. */
export function missable(reader: Reader, node: js.Expression): Missable | undefined {
  return reader.nested(node, () => missableWithin(reader, node));
}

function missableWithin(reader: Reader, node: js.Expression): Missable | undefined {
  const span = reader.span(node);
  if (isNothing(reader, node) || outside(reader, node)?.kind === "nothing")
    return { before: [], there: boolean(false, span) };
  switch (node.type) {
    case "ParenthesizedExpression":
    case "ChainExpression":
      return missable(reader, node.expression);
    case "Identifier": {
      const meaning = reader.find(node.name);
      if (meaning?.kind !== "variable" || meaning.there === undefined) return undefined;
      return { before: [], there: variable(meaning.there, span), value: variable(meaning.name, span) };
    }
    case "MemberExpression":
      return isEntryRead(node)
        ? (entryRead(reader, node) ?? chain(reader, node))
        : (lookedUp(reader, node) ?? chain(reader, node));
    case "CallExpression":
      return (
        lookedUp(reader, node) ??
        (isEntryRead(node) ? entryRead(reader, node) : undefined) ??
        calledOn(reader, node) ??
        called(reader, node)
      );
    case "ConditionalExpression": {
      const known = knownTruth(reader, node.test);
      if (known !== undefined) return missable(reader, known ? node.consequent : node.alternate);
      if (!mayMiss(reader, node.consequent) && !mayMiss(reader, node.alternate)) return undefined;
      const test = reader.grammar.condition(reader, node.test);
      return either(reader, node, test, node.consequent, node.alternate);
    }
    case "LogicalExpression": {
      // `a && b` that is not true is a, whatever that is: its truth is asked for part by part.
      if (node.operator === "&&" || !mayMiss(reader, node.right)) return undefined;
      const left = missable(reader, node.left);
      if (left === undefined) return undefined;
      const kept = keep(reader, left, span);
      const first = either(
        reader,
        node,
        node.operator === "??" ? kept.there : isTrue(kept),
        { ...kept, before: [] },
        node.right,
      );
      return { ...first, before: [...kept.before, ...first.before] };
    }
    case "SequenceExpression": {
      const last = missable(reader, node.expressions.at(-1)!);
      return (
        last && {
          ...last,
          before: [
            ...node.expressions.slice(0, -1).flatMap((each) => reader.grammar.effect(reader, each)),
            ...last.before,
          ],
        }
      );
    }
    case "AssignmentExpression": {
      const there = knownThere(reader, node.left);
      return there === undefined
        ? undefined
        : {
            before: reader.grammar.effect(reader, node),
            there: variable(there, span),
            value: variable((reader.find((node.left as js.Identifier).name) as { readonly name: string }).name, span),
          };
    }
    default:
      return undefined;
  }
}

/** Whether a form may give nothing: asked before anything of it is read. */
function mayMiss(reader: Reader, node: js.Expression): boolean {
  switch (node.type) {
    case "ParenthesizedExpression":
    case "ChainExpression":
      return mayMiss(reader, node.expression);
    case "Identifier":
      return (
        isNothing(reader, node) || knownThere(reader, node) !== undefined || outside(reader, node)?.kind === "nothing"
      );
    case "MemberExpression":
      return node.optional || isEntryRead(node) || (node.object.type !== "Super" && mayMiss(reader, node.object));
    case "ConditionalExpression":
      return mayMiss(reader, node.consequent) || mayMiss(reader, node.alternate);
    case "LogicalExpression":
      return node.operator !== "&&" && mayMiss(reader, node.left) && mayMiss(reader, node.right);
    case "SequenceExpression":
      return mayMiss(reader, node.expressions.at(-1)!);
    case "CallExpression":
      return isEntryRead(node) || reader.grammar.called(reader, node)?.mayMiss === true;
    default:
      return isNothing(reader, node);
  }
}

/** One of two, by a condition. */
function either(
  reader: Reader,
  node: js.Node,
  test: Expression,
  first: js.Expression | Missable,
  second: js.Expression,
): Missable {
  const span = reader.span(node);
  const { statements, there, kept } = results(reader, span);
  const given = (from: js.Expression | Missable): Statement[] => giving(reader, from, there, kept);
  return {
    before: [
      ...statements,
      { kind: "if", condition: test, then: block(given(first), span), otherwise: block(given(second), span), span },
    ],
    there,
    value: kept,
  };
}

/** Two variables, for a value and whether it is there. */
function results(
  reader: Reader,
  span: Expression["span"],
): { readonly statements: Statement[]; readonly there: Variable; readonly kept: Variable } {
  const [there, kept] = [variable(reader.temporary("there"), span), variable(reader.temporary("kept"), span)];
  return {
    statements: [
      { kind: "declare", variable: there, value: boolean(false, span), span },
      { kind: "declare", variable: kept, span },
    ],
    there,
    kept,
  };
}

function isNode(from: js.Expression | Missable): from is js.Expression {
  return "type" in from;
}

/** Gives two variables a value, and whether it is there. */
export function giving(reader: Reader, from: js.Expression | Missable, there: Variable, to: Variable): Statement[] {
  const found = isNode(from) ? missable(reader, from) : from;
  const { span } = to;
  const assign = (target: typeof to, of: Expression): Statement => ({
    kind: "assign",
    target,
    operator: null,
    value: of,
    span,
  });
  if (found === undefined)
    return isNode(from) ? [assign(to, reader.grammar.value(reader, from)), assign(there, boolean(true, span))] : [];
  return [...found.before, assign(there, found.there), ...(found.value === undefined ? [] : [assign(to, found.value)])];
}

/** Reads a value that may be missing once, however often it is named. */
function keep(reader: Reader, found: Missable, span: Expression["span"]): Missable {
  if (found.value === undefined || (isPlain(found.there) && isPlain(found.value))) return found;
  const [there, kept] = [variable(reader.temporary("there"), span), variable(reader.temporary("kept"), span)];
  return {
    before: [
      ...found.before,
      { kind: "declare", variable: there, value: found.there, span },
      { kind: "declare", variable: kept, value: found.value, span },
    ],
    there,
    value: kept,
  };
}

// ── forms ──

/** `m.get(key)`, `m.at(key).get()`, `m.at(key).value` */
function isEntryRead(node: js.CallExpression | js.MemberExpression): boolean {
  return node.type === "CallExpression"
    ? node.callee.type === "MemberExpression" && isNamed(node.callee, "get")
    : isNamed(node, "value");
}

export function isNamed(node: js.MemberExpression, name: string): boolean {
  return !node.computed && node.property.type === "Identifier" && node.property.name === name;
}

function entryRead(reader: Reader, node: js.CallExpression | js.MemberExpression): Missable | undefined {
  const read = reader.grammar.value(reader, node);
  if (read.kind !== "map") return undefined;
  const before: Statement[] = [];
  // What is computed for a key is computed once.
  const keys = read.keys.map((key): Expression => {
    if (isPlain(key)) return key;
    const kept = variable(reader.temporary("key"), key.span);
    before.push({ kind: "declare", variable: kept, value: key, span: key.span });
    return kept;
  });
  const access = { ...read, keys };
  return { before, there: hasKey(access, reader.span(node)), value: access };
}

/** `names[args.family]`, `names.get(args.family)`, of what is around the handler. */
function lookedUp(reader: Reader, node: js.CallExpression | js.MemberExpression): Missable | undefined {
  const looked = lookup(reader, node);
  if (looked === undefined) return undefined;
  const key = looked.key();
  const kept = isPlain(key) ? key : variable(reader.temporary("key"), key.span);
  return {
    before: kept === key ? [] : [{ kind: "declare", variable: kept as Variable, value: key, span: key.span }],
    there: hasEntry(reader, looked.module, kept, node),
    value: entryAt(reader, looked.module, kept, node),
  };
}

/** `a?.b`, and `.b` of what may be missing. */
function chain(reader: Reader, node: js.MemberExpression): Missable | undefined {
  if (node.object.type === "Super") return undefined;
  const object = missable(reader, node.object);
  if (object === undefined && !node.optional) return undefined;
  const span = reader.span(node);
  if (object !== undefined && object.value === undefined) return object;
  const whole = object?.value ?? reader.grammar.value(reader, node.object);
  // Reading a map's entry once more costs nothing.
  const once = isPlain(whole) || whole.kind === "map" ? whole : variable(reader.temporary("kept"), whole.span);
  const before: Statement[] = [...(object?.before ?? [])];
  if (once !== whole) before.push({ kind: "declare", variable: once as Variable, value: whole, span });
  const leads = presence("null", once);
  const there = object === undefined ? leads : node.optional ? binary("&&", object.there, leads, span) : object.there;
  return { before, there, value: memberOf(reader, once, node) };
}

/** `text?.startsWith("a")`, of a text that may be missing. */
function calledOn(reader: Reader, node: js.CallExpression): Missable | undefined {
  const { callee } = node;
  if (
    callee.type !== "MemberExpression" ||
    callee.object.type === "Super" ||
    !mayMiss(reader, callee.object) ||
    isNothing(reader, callee.object)
  )
    return undefined;
  const object = missable(reader, callee.object);
  return object === undefined || object.before.length > 0
    ? undefined
    : { before: [], there: object.there, value: reader.grammar.value(reader, node) };
}

/** A function that may return nothing. */
function called(reader: Reader, node: js.CallExpression): Missable | undefined {
  const fn = reader.grammar.called(reader, node);
  if (fn?.mayMiss !== true) return undefined;
  const { statements, there, kept } = results(reader, reader.span(node));
  return { before: [...statements, ...fn.give(there, kept)], there, value: kept };
}

/** `names[args.family]`, `names.get(args.family)`, of what is around the handler. */
function lookup(
  reader: Reader,
  node: js.CallExpression | js.MemberExpression,
): { readonly module: Extract<Reference, { kind: "module" }>; readonly key: () => Expression } | undefined {
  if (node.type === "MemberExpression") {
    const { property } = node;
    const module = node.computed ? outside(reader, node.object) : undefined;
    return module?.kind !== "module" || property.type === "PrivateIdentifier"
      ? undefined
      : { module, key: () => reader.grammar.value(reader, property) };
  }
  if (node.callee.type !== "MemberExpression" || !isNamed(node.callee, "get")) return undefined;
  const module = outside(reader, node.callee.object);
  const [key] = node.arguments;
  if (
    module?.kind !== "module" ||
    module.table?.form !== "map" ||
    node.arguments.length !== 1 ||
    key.type === "SpreadElement"
  )
    return undefined;
  return { module, key: () => reader.grammar.value(reader, key) };
}

// ── who asks ──

/** Whether the function asks anywhere if a name is there, or hands it on to where it may be asked. */
export function isAskedFor(reader: Reader, name: string): boolean {
  return asks(reader, reader.root, name);
}

function asks(reader: Reader, node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node)) return node.some((each) => asks(reader, each, name));
  if (!("type" in node)) return false;
  const at = node as js.AnyNode;
  if (at.type === "Identifier") return at.name === name;
  return Object.entries(readParts(reader, at)).some(([, part]) => asks(reader, part, name));
}

/** The parts of a node in which a name alone asks whether it is there; those that only want its value are left out. */
function readParts(reader: Reader, node: js.AnyNode): object {
  const unless = (part: js.AnyNode | null | undefined): unknown => (part?.type === "Identifier" ? undefined : part);
  switch (node.type) {
    case "MemberExpression":
      return {
        object: node.optional ? node.object : unless(node.object),
        property: node.computed ? unless(node.property) : undefined,
      };
    case "Property":
      return { key: node.computed ? node.key : undefined, value: unless(node.value) };
    case "BinaryExpression": {
      if (node.left.type === "PrivateIdentifier") return node;
      return isNothing(reader, node.left) || isNothing(reader, node.right)
        ? node
        : { left: unless(node.left), right: unless(node.right) };
    }
    case "UnaryExpression":
      return node.operator === "!" || node.operator === "typeof" ? node : { argument: unless(node.argument) };
    case "UpdateExpression":
      return {};
    case "AssignmentExpression":
      return node.operator.length === 3 && node.operator !== "**="
        ? node
        : { right: node.operator === "=" ? node.right : unless(node.right) };
    case "TemplateLiteral":
      return { inside: node.expressions.map(unless) };
    case "VariableDeclarator":
      return { init: node.init };
    case "CallExpression": {
      const hands = node.callee.type === "Identifier" && reader.grammar.called(reader, node) !== undefined;
      const boolean = node.callee.type === "Identifier" && node.callee.name === "Boolean";
      return { callee: unless(node.callee), arguments: hands || boolean ? node.arguments : node.arguments.map(unless) };
    }
    case "ExpressionStatement":
      return { expression: unless(node.expression) };
    default:
      return node;
  }
}
