// Macros: `macro name($variable, @map, expression) { … }`. A use reads the macro's body again in the place of the call,
// with the arguments read again wherever the body names them, so every use has nodes of its own. Variables that the
// body makes get a number behind their name (`x#2`), which keeps them apart from the caller's.
import { macros } from "../../messages/macros.ts";
import type { Span } from "../diagnostic.ts";
import type { Expression } from "../program.ts";
import { unknownType } from "../types.ts";
import { blockValue, type Argument, type Body, type Cursor, type Macro } from "./cursor.ts";
import { scan, type Token } from "./tokens.ts";
import { parseType } from "./type-names.ts";

/** Finds every macro's name and parameters before anything is parsed: they may be used above their definition. */
export function collectMacros(p: Cursor): void {
  if (!p.text.includes("macro")) return;
  let depth = 0;
  for (let token = scan(p.text, 0); token.kind !== "end"; token = scan(p.text, token.end)) {
    if (token.kind === "bad" && token.end >= p.text.length) {
      // A path that looks like the start of a comment or of a string; what is behind it may well be tokens.
      token = { ...token, end: token.start + 2 };
    } else if (token.kind === "punctuation" && token.text === "{") {
      depth++;
    } else if (token.kind === "punctuation" && token.text === "}") {
      depth = Math.max(0, depth - 1);
    } else if (depth === 0 && token.kind === "identifier" && token.text === "macro") {
      const macro = readSignature(p.text, token.end);
      if (macro !== undefined) p.macros.set(macro.name, [...(p.macros.get(macro.name) ?? []), macro]);
    }
  }
}

/** The macro whose definition has its body at this offset. */
export function macroAt(p: Cursor, body: number): Macro | undefined {
  for (const overloads of p.macros.values()) for (const macro of overloads) if (macro.body === body) return macro;
  return undefined;
}

/** From behind `macro`; undefined when it is not well-formed. */
export function readSignature(text: string, offset: number): Macro | undefined {
  let token = scan(text, offset);
  if (token.kind !== "identifier") return undefined;
  const name = token.text;
  const parameters: Macro["parameters"][number][] = [];
  token = scan(text, token.end);
  if (token.text === "(" && token.kind === "punctuation") {
    do {
      token = scan(text, token.end);
      if (token.kind === "variable" || token.kind === "map") parameters.push({ kind: token.kind, name: token.text });
      else if (token.kind === "identifier") parameters.push({ kind: "expression", name: token.text });
      else if (token.text === ")" && parameters.length === 0) break;
      else return undefined;
      token = scan(text, token.end);
    } while (token.text === "," && token.kind === "punctuation");
    if (token.text !== ")" || token.kind !== "punctuation") return undefined;
    token = scan(text, token.end);
  }
  return token.text === "{" && token.kind === "punctuation" ? { name, parameters, body: token.start } : undefined;
}

function sigil(kind: Macro["parameters"][number]["kind"]): string {
  return kind === "variable" ? "$" : kind === "map" ? "@" : "";
}

/** Reads the body where it is defined, for the errors in it. */
export function checkDefinition(p: Cursor, macro: Macro): Body {
  const bound = new Map<string, Argument>(
    macro.parameters.map((parameter) => [sigil(parameter.kind) + parameter.name, { kind: "parameter" }]),
  );
  p.expansion = { macro, arguments: bound, number: 0, caller: undefined };
  try {
    return p.grammar.body(p, `of the macro \`${macro.name}\``);
  } finally {
    p.expansion = undefined;
  }
}

/**
 * A use of a macro, the cursor on its name. Undefined, with the cursor there still, when no macro of this name takes
 * these arguments but a builtin of the name may.
 */
export function callMacro(p: Cursor, name: Token, called: boolean, marked: boolean): Expression | undefined {
  const overloads = p.macros.get(name.text);
  const { start } = name;
  if (overloads === undefined) {
    // Of a file that is imported, where the text alone is looked at.
    p.report("error", name, macros.unknown(name.text));
    p.advance();
    p.advance();
    const args = p.at("(") ? callArguments(p, name.text, () => p.grammar.expression(p)) : [];
    return { kind: "call", name: name.text, args, type: unknownType, span: { start, end: p.last } };
  }
  const { statement } = p;
  p.advance();
  if (marked) p.advance();
  const args = called || (marked && p.at("(")) ? macroArguments(p, name.text) : [];
  const call = { start, end: p.last };
  const fitting = overloads.filter((m) => m.parameters.length === args.length);
  const macro = fitting.find((m) => bind(m, args) !== undefined);
  if (macro === undefined) {
    if (fitting.length === 0 && !marked && (p.builtins.isFunction(name.text) || p.builtins.isValue(name.text))) {
      p.seek(start);
      return undefined;
    }
    const counts = [...new Set(overloads.map((m) => m.parameters.length))].sort((a, b) => a - b).join(" or ");
    const wrong = fitting[0]?.parameters.findIndex((parameter, i) => !fits(parameter.kind, args[i])) ?? -1;
    if (wrong < 0) return p.fail(macros.wrongCount(name.text, counts, args.length), call);
    const { kind, name: parameter } = fitting[0].parameters[wrong];
    return p.fail(macros.wrongKind(name.text, `${sigil(kind)}${parameter}`, kind), args[wrong].span);
  }

  for (let expansion = p.expansion; expansion !== undefined; expansion = expansion.caller) {
    if (expansion.macro === macro) return p.fail(macros.recursive(name.text), call);
  }
  const where = { macro, arguments: bind(macro, args)!, number: ++p.expansions, caller: p.expansion };
  const body = p.replay({ text: p.sourceText, start: macro.body, where, at: name }, () =>
    p.grammar.body(p, `of the macro \`${macro.name}\``),
  );
  const value = blockValue(body);
  if (value !== undefined) return relocated(value, body, call);
  if (statement === start && (p.at(";") || p.at("}"))) {
    p.withoutValue = body;
    return { kind: "integer", value: 0n, type: unknownType, span: call };
  }
  return p.fail(macros.withoutValue(name.text), call);
}

/** Diagnostics about the value as a whole point at the call; those about its inside point into the macro. */
function relocated(value: Expression, body: Body, call: Span): Expression {
  return value.span.start >= body.span.start && value.span.end <= body.span.end ? { ...value, span: call } : value;
}

interface Given {
  readonly argument: Argument;
  readonly span: Span;
}

function macroArguments(p: Cursor, name: string): Given[] {
  return callArguments(p, name, (): Given => {
    const { start, kind, text } = p.token;
    if (kind === "identifier" && text === "typeof" && p.peek().text === "(") {
      p.advance();
      p.advance();
      const type = parseType(p);
      p.expect(")", "after `typeof(…`");
      return { argument: { kind: "type", type }, span: { start, end: p.last } };
    }
    // The use in the body reads it again, where macros are what they are here.
    const where = p.expansion;
    const from = p.text;
    const value = p.grammar.expression(p);
    const span = { start, end: p.last };
    if (value.kind === "variable" && kind === "variable")
      return { argument: { kind: "variable", name: value.name }, span };
    if (value.kind === "map" && kind === "map" && value.keys.length === 0)
      return { argument: { kind: "map", name: value.name }, span };
    return { argument: { kind: "expression", start, where, text: from }, span };
  });
}

function fits(kind: Macro["parameters"][number]["kind"], { argument }: Given): boolean {
  return kind === "expression" || argument.kind === kind;
}

function bind(macro: Macro, args: readonly Given[]): Map<string, Argument> | undefined {
  if (!macro.parameters.every((parameter, i) => fits(parameter.kind, args[i]))) return undefined;
  return new Map(macro.parameters.map((parameter, i) => [sigil(parameter.kind) + parameter.name, args[i].argument]));
}

/** A parameter's name in a macro's body, the cursor behind it. */
export function expandParameter(
  p: Cursor,
  token: Token,
  argument: Argument,
  parse: (p: Cursor) => Expression,
): Expression {
  const span = { start: token.start, end: token.end };
  switch (argument.kind) {
    case "variable":
      return { kind: "variable", name: argument.name, type: unknownType, span };
    case "map":
      return { kind: "map", name: argument.name, keys: [], type: unknownType, span };
    case "parameter":
      return { kind: "identifier", name: token.text, type: unknownType, span };
    case "type":
      return p.fail(macros.typeParameter(token.text), span);
    case "expression":
      return p.replay({ text: argument.text, start: argument.start, where: argument.where, at: token }, () => parse(p));
  }
}

/** What `$name` is called outside: a parameter is the caller's variable, anything else in a macro is its own. */
export function localName(p: Cursor, name: string): string {
  if (p.expansion === undefined) return name;
  const argument = p.expansion.arguments.get(`$${name}`);
  return argument?.kind === "variable" ? argument.name : `${name}#${p.expansion.number}`;
}

export function mapName(p: Cursor, token: Token): string {
  const name = token.text;
  if (p.expansion === undefined) return name;
  const argument = p.expansion.arguments.get(`@${name}`);
  if (argument === undefined) {
    p.report("error", token, macros.foreignMap(p.expansion.macro.name, name));
  }
  return argument?.kind === "map" ? argument.name : name;
}

/** From `(` to `)`. */
export function callArguments<T>(p: Cursor, name: string, read: () => T): T[] {
  p.expect("(", `after \`${name}\``);
  const outer = p.predicate;
  p.predicate = false;
  const args: T[] = [];
  while (!p.at(")")) {
    args.push(read());
    if (!p.accept(",")) break;
  }
  p.predicate = outer;
  p.expect(")", args.length === 0 ? `after \`${name}(\`` : `after the arguments of \`${name}\``);
  return args;
}
