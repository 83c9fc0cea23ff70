// A clause's statements. What a clause records is one line: its parts are printed together, as far as nothing is done
// between them.
import { dExpressions } from "../../messages/d-expressions.ts";
import { dNames } from "../../messages/d-names.ts";
import { dSyntax } from "../../messages/d-syntax.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import { precedence } from "../precedence.ts";
import type { Block, Expression, Statement } from "../program.ts";
import { action, destructiveActions } from "./actions.ts";
import { aggregation } from "./aggregations.ts";
import { expression } from "./expressions.ts";
import { together, type Item, type Text } from "./formats.ts";
import { mayFail } from "./may-fail.ts";
import { unlessQuiet } from "./setopt.ts";
import type { Token } from "./tokens.ts";
import type { Unit } from "./unit.ts";
import { partHere } from "./variables.ts";

const controlWords = ["while", "for", "do", "switch", "goto", "return", "break", "continue"];

/** `{ … }` of a clause, or of a branch in it: each records for itself. */
export function body(unit: Unit): Block {
  const p = unit.cursor;
  const first = p.expect("{");
  const items: Item[] = [];
  let written = false;
  const order = new Recording();
  while (!p.at("}")) {
    if (p.token.kind === "end") p.unexpected("`}`");
    if (p.accept(";")) continue;
    written = true;
    const { token } = p;
    const made = statement(unit);
    order.take(token, made, unit);
    items.push(...made);
    if (!p.at("}") && !p.accept(";") && items.at(-1) !== undefined && !branched) p.unexpected("`;`");
    branched = false;
  }
  p.expect("}");
  const span = p.from(first);
  // The status is the one that was given last.
  const ends = (item: Item): boolean => "does" in item && item.last === true;
  const all = [...items.filter((item) => !ends(item)), ...items.filter(ends).slice(-1)];
  // The default action: the line alone.
  return nodes.block(lines(unit, written ? all : [{ text: { format: "", args: [] } }], span), span);
}

/** What a clause may not do behind what: it records, keeps what it records, or shows what was kept. */
class Recording {
  #records = false;
  #speculates = false;
  #commits = false;

  take(token: Token, items: readonly Item[], { cursor }: Unit): void {
    const refuse = (tag: string, message: string): never => cursor.fail(dSyntax.notBehind(tag, message), token);
    const name = token.text;
    const records = items.some((item) => "text" in item || "prints" in item);
    if (this.#speculates && token.kind === "aggregation")
      refuse("D_AGG_SPEC", "aggregating actions may not follow speculate( )");
    if (name === "speculate" || name === "commit") {
      if (this.#speculates && name === "speculate") refuse("D_SPEC_SPEC", "speculate( ) may not follow speculate( )");
      if (this.#commits && name === "speculate") refuse("D_SPEC_COMM", "speculate( ) may not follow commit( )");
      if (this.#records)
        refuse(`D_${name.slice(0, 4).toUpperCase()}_DREC`, `${name}( ) may not follow data-recording action(s)`);
      if (name === "speculate") this.#speculates = true;
      else this.#commits = true;
    } else if (records) {
      if (this.#speculates && name === "exit") refuse("D_EXIT_SPEC", "exit( ) may not follow speculate( )");
      if (this.#commits) refuse("D_DREC_COMM", "data-recording actions may not follow commit( )");
      this.#records = true;
    }
    if (this.#speculates && destructiveActions.has(name))
      refuse("D_ACT_SPEC", "destructive actions may not follow speculate( )");
  }
}

/** What was read last ended with a block. */
let branched = false;

function statement(unit: Unit): readonly Item[] {
  const p = unit.cursor;
  const { token } = p;
  if (token.kind === "aggregation") {
    const gathers = aggregation(unit);
    if (p.at(",")) p.fail(dExpressions.joined("D_OP_DYN", "of dynamic type"));
    return [{ does: [gathers] }];
  }
  if (p.atWord("if")) return [{ does: [condition(unit)] }];
  const isReturn = p.atWord("return") && p.peek().text === "(";
  if (p.atWord("return") && !isReturn && p.peek().kind === "punctuation")
    p.fail(dNames.notAScalar("tracing function", "return"), token);
  if (token.kind === "identifier" && controlWords.includes(token.text) && !isReturn)
    p.fail(
      dSyntax.controlFlow(token.text === "return" ? p.peek().text : token.text),
      token.text === "return" ? p.peek() : token,
    );
  const done = action(unit);
  if (done !== undefined && p.token.kind === "punctuation" && Object.hasOwn(precedence, p.token.text))
    p.fail(dExpressions.incompatible("void", p.token.text, "int"));
  if (done !== undefined && p.at(",")) p.fail(dExpressions.joined("D_OP_ACT", "actions"));
  if (done !== undefined) return done;
  return [{ does: effects(expression(unit)) }];
}

function condition(unit: Unit): Statement {
  const p = unit.cursor;
  const first = p.advance();
  p.expect("(");
  const asked = expression(unit);
  p.expect(")");
  const then = branch(unit);
  const otherwise = p.acceptWord("else")
    ? p.atWord("if")
      ? nodes.block([condition(unit)], p.token)
      : branch(unit)
    : undefined;
  branched = true;
  return {
    kind: "if",
    condition: asked,
    then,
    ...(otherwise === undefined ? {} : { otherwise }),
    span: p.from(first),
  };
}

function branch(unit: Unit): Block {
  const p = unit.cursor;
  if (p.at("{")) return body(unit);
  const { token } = p;
  const items = statement(unit);
  if (!p.at("}")) p.accept(";");
  const span = p.from(token);
  return nodes.block(lines(unit, items, span), span);
}

/** An expression whose value is not used, as statements. */
function effects(e: Expression): Statement[] {
  const { span } = e;
  switch (e.kind) {
    case "assignment":
      return [{ kind: "assign", target: e.target, operator: e.operator, value: e.value, span }];
    case "cast":
      return effects(e.operand);
    case "block-expression":
      return [...e.statements, ...effects(e.value)];
    case "conditional":
      return [
        {
          kind: "if",
          condition: e.condition,
          then: nodes.block(effects(e.then), e.then.span),
          otherwise: nodes.block(effects(e.otherwise), e.otherwise.span),
          span,
        },
      ];
    default:
      return [nodes.statement(e)];
  }
}

/** Texts that stand together are printed at once; around all of them is what a line begins and ends with. */
function lines(unit: Unit, all: readonly Item[], span: Span): Statement[] {
  const speculates = all.findIndex((item) => "does" in item && item.speculates === true);
  if (speculates < 0) return recorded(unit, all, span);
  return [
    ...merged(unit, all.slice(0, speculates + 1), span),
    ...recorded(unit, [{ text: { format: "", args: [] } }, ...all.slice(speculates + 1)], span),
    nodes.statement(nodes.hostText("speculated", [], span)),
  ];
}

function recorded(unit: Unit, items: readonly Item[], span: Span): Statement[] {
  const records = items.some((item) => "text" in item || "prints" in item);
  if (!records || (unit.options.quiet && !unit.switched.has("quiet"))) return merged(unit, items, span);
  if (unit.switched.has("quiet")) {
    const { format, args } = lineStart(unit, span);
    const [start, end] = [unlessQuiet(format, args, span), unlessQuiet("\n", [], span)];
    return merged(unit, [{ prints: start }, ...items, { prints: end }], span);
  }
  const last = items.findLastIndex((item) => "text" in item || "prints" in item);
  return merged(
    unit,
    [{ text: lineStart(unit, span) }, ...items.slice(0, last + 1), { text: lineEnd }, ...items.slice(last + 1)],
    span,
  );
}

const lineEnd: Text = { format: "\n", args: [] };

/** CPU, number and place. */
function lineStart(unit: Unit, span: Span): Text {
  unit.rows = true;
  if (unit.options.flowindent) {
    const flow = partHere("flow", span, unit);
    if (unit.given.settings?.has("blankids")) return { format: "%-41s ", args: [flow] };
    return { format: "%3d %-41s ", args: [nodes.builtin("cpu", span), flow] };
  }
  if (unit.given.settings?.has("blankids")) return { format: "%32s ", args: [partHere("place", span, unit)] };
  return {
    format: "%3d %6s %32s ",
    args: [nodes.builtin("cpu", span), partHere("id", span, unit), partHere("place", span, unit)],
  };
}

/** What is recorded, in its order: texts that stand together are one. A clause that fails records nothing. */
function merged(unit: Unit, items: readonly Item[], span: Span): Statement[] {
  const made: Statement[] = [];
  let waiting: (Text | Statement)[] = [];
  const flush = (): void => {
    let texts: Text[] = [];
    const flushTexts = (): void => {
      const { format, args } = together(texts);
      if (format !== "") made.push(nodes.statement(nodes.call("printf", [nodes.text(format, span), ...args], span)));
      texts = [];
    };
    for (const one of waiting) {
      if ("format" in one) {
        texts.push(one);
        continue;
      }
      flushTexts();
      made.push(one);
    }
    flushTexts();
    waiting = [];
  };
  const mayWait = (one: Text | Statement): boolean => !("format" in one) || one.args.every((arg) => canWait(arg, unit));
  const keepAll = (): void => {
    waiting = waiting.map((one) =>
      "format" in one ? { format: one.format, args: one.args.map((arg) => kept(arg, made, unit)) } : one,
    );
  };
  const fails = items.findLastIndex((item) =>
    mayFail("does" in item ? item.does : "text" in item ? item.text.args : []),
  );
  for (const [at, item] of items.entries()) {
    if ("text" in item) {
      waiting.push(item.text);
      // Values are read before anything is shown.
      if (waiting.some((one) => !("format" in one)) && mayFail(item.text.args) && waiting.every(mayWait)) keepAll();
    } else if ("prints" in item) {
      if (item.waits !== true || at > fails) flush();
      waiting.push(item.prints);
      if (item.waits !== true || at > fails) flush();
    } else if (at <= fails && waiting.every(mayWait)) {
      keepAll();
      made.push(...item.does);
    } else {
      flush();
      made.push(...item.does);
    }
  }
  flush();
  return made;
}

/** The same wherever in the clause it is asked. */
function isFixed({ kind, ...e }: Expression): boolean {
  return (
    ["integer", "string", "builtin"].includes(kind) ||
    (kind === "call" && "name" in e && e.name === "probe_part") ||
    (kind === "variable" && "name" in e && e.name.startsWith("kept#"))
  );
}

function canWait(e: Expression, unit: Unit): boolean {
  return isFixed(e) || unit.known(e) !== undefined;
}

/** A value as it is now, for what is printed later. */
function kept(e: Expression, statements: Statement[], unit: Unit): Expression {
  if (isFixed(e)) return e;
  const name = unit.name("kept");
  statements.push(nodes.declare(name, e));
  return unit.typed(nodes.variable(name, e.span), unit.known(e));
}
