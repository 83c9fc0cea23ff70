// What may be missing: entries of maps, what lies behind them or behind an address, and variables that were given such.
// A value of the tree is never missing, it is 0 or empty; whether it was there is a value beside it.
import type * as js from "acorn";
import type { Expression, Statement, Variable } from "../program.ts";
import { isNothing, knownTruth, outside } from "./known.ts";
import { memberOf } from "./references.ts";
import { entryAt, hasEntry } from "./tables.ts";
import type { Reference, Unit } from "./unit.ts";
import { behind, binary, block, boolean, hasKey, isPlain, presence, variable } from "./unit.ts";

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
export function isThere(unit: Unit, node: js.Expression, asked: "null" | "undefined"): Expression {
  const found = missable(unit, node);
  return found === undefined ? presence(asked, unit.grammar.value(unit, node)) : behind(found.before, found.there);
}

/** The variable that says whether a name was given something. */
export function knownThere(unit: Unit, node: js.Expression | js.Pattern): string | undefined {
  const meaning = node.type === "Identifier" ? unit.find(node.name) : undefined;
  return meaning?.kind === "variable" ? meaning.there : undefined;
}

/** A value that may be missing, by its form; undefined for one that is always there. */
export function missable(unit: Unit, node: js.Expression): Missable | undefined {
  return unit.nested(node, () => missableWithin(unit, node));
}

function missableWithin(unit: Unit, node: js.Expression): Missable | undefined {
  const span = unit.span(node);
  if (isNothing(unit, node) || outside(unit, node)?.kind === "nothing")
    return { before: [], there: boolean(false, span) };
  switch (node.type) {
    case "ParenthesizedExpression":
    case "ChainExpression":
      return missable(unit, node.expression);
    case "Identifier": {
      const meaning = unit.find(node.name);
      if (meaning?.kind !== "variable" || meaning.there === undefined) return undefined;
      return { before: [], there: variable(meaning.there, span), value: variable(meaning.name, span) };
    }
    case "MemberExpression":
      return isEntryRead(node)
        ? (entryRead(unit, node) ?? chain(unit, node))
        : (lookedUp(unit, node) ?? chain(unit, node));
    case "CallExpression":
      return (
        lookedUp(unit, node) ??
        (isEntryRead(node) ? entryRead(unit, node) : undefined) ??
        calledOn(unit, node) ??
        called(unit, node)
      );
    case "ConditionalExpression": {
      const known = knownTruth(unit, node.test);
      if (known !== undefined) return missable(unit, known ? node.consequent : node.alternate);
      if (!mayMiss(unit, node.consequent) && !mayMiss(unit, node.alternate)) return undefined;
      const test = unit.grammar.condition(unit, node.test);
      return either(unit, node, test, node.consequent, node.alternate);
    }
    case "LogicalExpression": {
      // `a && b` that is not true is a, whatever that is: its truth is asked for part by part.
      if (node.operator === "&&" || !mayMiss(unit, node.right)) return undefined;
      const left = missable(unit, node.left);
      if (left === undefined) return undefined;
      const kept = keep(unit, left, span);
      const first = either(
        unit,
        node,
        node.operator === "??" ? kept.there : isTrue(kept),
        { ...kept, before: [] },
        node.right,
      );
      return { ...first, before: [...kept.before, ...first.before] };
    }
    case "SequenceExpression": {
      const last = missable(unit, node.expressions.at(-1)!);
      return (
        last && {
          ...last,
          before: [...node.expressions.slice(0, -1).flatMap((each) => unit.grammar.effect(unit, each)), ...last.before],
        }
      );
    }
    case "AssignmentExpression": {
      const there = knownThere(unit, node.left);
      return there === undefined
        ? undefined
        : {
            before: unit.grammar.effect(unit, node),
            there: variable(there, span),
            value: variable((unit.find((node.left as js.Identifier).name) as { readonly name: string }).name, span),
          };
    }
    default:
      return undefined;
  }
}

/** Whether a form may give nothing: asked before anything of it is read. */
function mayMiss(unit: Unit, node: js.Expression): boolean {
  switch (node.type) {
    case "ParenthesizedExpression":
    case "ChainExpression":
      return mayMiss(unit, node.expression);
    case "Identifier":
      return isNothing(unit, node) || knownThere(unit, node) !== undefined || outside(unit, node)?.kind === "nothing";
    case "MemberExpression":
      return node.optional || isEntryRead(node) || (node.object.type !== "Super" && mayMiss(unit, node.object));
    case "ConditionalExpression":
      return mayMiss(unit, node.consequent) || mayMiss(unit, node.alternate);
    case "LogicalExpression":
      return node.operator !== "&&" && mayMiss(unit, node.left) && mayMiss(unit, node.right);
    case "SequenceExpression":
      return mayMiss(unit, node.expressions.at(-1)!);
    case "CallExpression":
      return isEntryRead(node) || unit.grammar.called(unit, node)?.mayMiss === true;
    default:
      return isNothing(unit, node);
  }
}

/** One of two, by a condition. */
function either(
  unit: Unit,
  node: js.Node,
  test: Expression,
  first: js.Expression | Missable,
  second: js.Expression,
): Missable {
  const span = unit.span(node);
  const { statements, there, kept } = results(unit, span);
  const given = (from: js.Expression | Missable): Statement[] => giving(unit, from, there, kept);
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
  unit: Unit,
  span: Expression["span"],
): { readonly statements: Statement[]; readonly there: Variable; readonly kept: Variable } {
  const [there, kept] = [variable(unit.temporary("there"), span), variable(unit.temporary("kept"), span)];
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
export function giving(unit: Unit, from: js.Expression | Missable, there: Variable, to: Variable): Statement[] {
  const found = isNode(from) ? missable(unit, from) : from;
  const { span } = to;
  const assign = (target: typeof to, of: Expression): Statement => ({
    kind: "assign",
    target,
    operator: null,
    value: of,
    span,
  });
  if (found === undefined)
    return isNode(from) ? [assign(to, unit.grammar.value(unit, from)), assign(there, boolean(true, span))] : [];
  return [...found.before, assign(there, found.there), ...(found.value === undefined ? [] : [assign(to, found.value)])];
}

/** Reads a value that may be missing once, however often it is named. */
function keep(unit: Unit, found: Missable, span: Expression["span"]): Missable {
  if (found.value === undefined || (isPlain(found.there) && isPlain(found.value))) return found;
  const [there, kept] = [variable(unit.temporary("there"), span), variable(unit.temporary("kept"), span)];
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

function entryRead(unit: Unit, node: js.CallExpression | js.MemberExpression): Missable | undefined {
  const read = unit.grammar.value(unit, node);
  if (read.kind !== "map") return undefined;
  const before: Statement[] = [];
  // What is computed for a key is computed once.
  const keys = read.keys.map((key): Expression => {
    if (isPlain(key)) return key;
    const kept = variable(unit.temporary("key"), key.span);
    before.push({ kind: "declare", variable: kept, value: key, span: key.span });
    return kept;
  });
  const access = { ...read, keys };
  return { before, there: hasKey(access, unit.span(node)), value: access };
}

/** `names[args.family]`, `names.get(args.family)`, of what is around the handler. */
function lookedUp(unit: Unit, node: js.CallExpression | js.MemberExpression): Missable | undefined {
  const looked = lookup(unit, node);
  if (looked === undefined) return undefined;
  const key = looked.key();
  const kept = isPlain(key) ? key : variable(unit.temporary("key"), key.span);
  return {
    before: kept === key ? [] : [{ kind: "declare", variable: kept as Variable, value: key, span: key.span }],
    there: hasEntry(unit, looked.module, kept, node),
    value: entryAt(unit, looked.module, kept, node),
  };
}

/** `a?.b`, and `.b` of what may be missing. */
function chain(unit: Unit, node: js.MemberExpression): Missable | undefined {
  if (node.object.type === "Super") return undefined;
  const object = missable(unit, node.object);
  if (object === undefined && !node.optional) return undefined;
  const span = unit.span(node);
  if (object !== undefined && object.value === undefined) return object;
  const whole = object?.value ?? unit.grammar.value(unit, node.object);
  // Reading a map's entry once more costs nothing.
  const once = isPlain(whole) || whole.kind === "map" ? whole : variable(unit.temporary("kept"), whole.span);
  const before: Statement[] = [...(object?.before ?? [])];
  if (once !== whole) before.push({ kind: "declare", variable: once as Variable, value: whole, span });
  const leads = presence("null", once);
  const there = object === undefined ? leads : node.optional ? binary("&&", object.there, leads, span) : object.there;
  return { before, there, value: memberOf(unit, once, node) };
}

/** `text?.startsWith("a")`, of a text that may be missing. */
function calledOn(unit: Unit, node: js.CallExpression): Missable | undefined {
  const { callee } = node;
  if (
    callee.type !== "MemberExpression" ||
    callee.object.type === "Super" ||
    !mayMiss(unit, callee.object) ||
    isNothing(unit, callee.object)
  )
    return undefined;
  const object = missable(unit, callee.object);
  return object === undefined || object.before.length > 0
    ? undefined
    : { before: [], there: object.there, value: unit.grammar.value(unit, node) };
}

/** A function that may return nothing. */
function called(unit: Unit, node: js.CallExpression): Missable | undefined {
  const fn = unit.grammar.called(unit, node);
  if (fn?.mayMiss !== true) return undefined;
  const { statements, there, kept } = results(unit, unit.span(node));
  return { before: [...statements, ...fn.give(there, kept)], there, value: kept };
}

/** `names[args.family]`, `names.get(args.family)`, of what is around the handler. */
function lookup(
  unit: Unit,
  node: js.CallExpression | js.MemberExpression,
): { readonly module: Extract<Reference, { kind: "module" }>; readonly key: () => Expression } | undefined {
  if (node.type === "MemberExpression") {
    const { property } = node;
    const module = node.computed ? outside(unit, node.object) : undefined;
    return module?.kind !== "module" || property.type === "PrivateIdentifier"
      ? undefined
      : { module, key: () => unit.grammar.value(unit, property) };
  }
  if (node.callee.type !== "MemberExpression" || !isNamed(node.callee, "get")) return undefined;
  const module = outside(unit, node.callee.object);
  const [key] = node.arguments;
  if (
    module?.kind !== "module" ||
    module.table?.form !== "map" ||
    node.arguments.length !== 1 ||
    key.type === "SpreadElement"
  )
    return undefined;
  return { module, key: () => unit.grammar.value(unit, key) };
}

// ── who asks ──

/** Whether the function asks anywhere if a name is there, or hands it on to where it may be asked. */
export function isAskedFor(unit: Unit, name: string): boolean {
  return asks(unit, unit.root, name);
}

function asks(unit: Unit, node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node)) return node.some((each) => asks(unit, each, name));
  if (!("type" in node)) return false;
  const at = node as js.AnyNode;
  if (at.type === "Identifier") return at.name === name;
  return Object.entries(readParts(unit, at)).some(([, part]) => asks(unit, part, name));
}

/** The parts of a node in which a name alone asks whether it is there; those that only want its value are left out. */
function readParts(unit: Unit, node: js.AnyNode): object {
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
      return isNothing(unit, node.left) || isNothing(unit, node.right)
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
      const hands = node.callee.type === "Identifier" && unit.grammar.called(unit, node) !== undefined;
      const boolean = node.callee.type === "Identifier" && node.callee.name === "Boolean";
      return { callee: unless(node.callee), arguments: hands || boolean ? node.arguments : node.arguments.map(unless) };
    }
    case "ExpressionStatement":
      return { expression: unless(node.expression) };
    default:
      return node;
  }
}
