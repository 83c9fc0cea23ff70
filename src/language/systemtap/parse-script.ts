// A script: globals, functions, probes and aliases.
import { systemtap } from "../../messages/systemtap.ts";
import type { Diagnostic, Source } from "../diagnostic.ts";
import type { MachineGiven } from "../language.ts";
import { failure } from "../words.ts";
import { Cursor } from "./cursor.ts";
import { parseExpression } from "./expressions.ts";
import { preprocess } from "./preprocess.ts";
import { visitNodes } from "./names.ts";
import { parseBlock } from "./statements.ts";
import type {
  Alias,
  Component,
  FunctionDefinition,
  Global,
  Point,
  ProbeDefinition,
  Script,
  ValueType,
} from "./syntax.ts";

export interface Read {
  readonly script: Script;
  readonly diagnostics: readonly Diagnostic[];
}

/** `macros`: texts whose macros the script may use. */
export function parseScript(
  source: Source,
  positional: readonly string[],
  machine: MachineGiven | undefined,
  macros: readonly string[] = [],
): Read {
  // A first line `#!` is a comment like any other.
  const { tokens, diagnostics } = preprocess(source.text, positional, machine, macros);
  const p = new Cursor(source, tokens, diagnostics);
  const globals: Global[] = [];
  const functions: FunctionDefinition[] = [];
  const probes: ProbeDefinition[] = [];
  const aliases: Alias[] = [];
  while (p.token.kind !== "end" && !p.tooManyErrors) {
    const { index } = p;
    try {
      if (!p.accept(";")) declaration();
    } catch (error) {
      if (error !== failure) throw error;
      recover(p, index);
    }
  }
  return { script: { source, globals, functions, probes, aliases }, diagnostics: p.diagnostics };

  function declaration(): void {
    const { token } = p;
    if (token.kind === "embedded") p.fail(systemtap.embedded());
    // What is private is seen in its file alone: a script is one file.
    const hidden = p.acceptWord("private");
    if (p.atWord("global") || (hidden && p.token.kind === "identifier" && !p.atWord("function"))) {
      p.acceptWord("global");
      do globals.push(global(p));
      while (p.accept(","));
      p.accept(";");
    } else if (p.atWord("function")) functions.push(functionDefinition(p));
    else if (p.atWord("probe")) probe();
    else p.fail(systemtap.expected("`probe`, `global`, `private` or `function`", p.describe()));
  }

  function probe(): void {
    const token = p.advance();
    const first = points(p);
    if (p.at("=") || p.at("+=")) {
      const epilogue = p.advance().text === "+=";
      const [name] = first;
      if (first.length !== 1 || name.condition !== undefined || name.optional)
        p.fail(systemtap.expected("one name before `=`", "another probe point"), name.span);
      const of = points(p);
      const body = parseBlock(p, "behind the alias's probe points");
      const behind = !epilogue && p.accept(",") ? parseBlock(p, "behind `,`") : undefined;
      aliases.push({
        name: name.components,
        points: of,
        body,
        epilogue,
        ...(behind === undefined ? {} : { behind }),
        span: p.from(token),
      });
      return;
    }
    const head = p.from(token);
    probes.push({ points: first, body: parseBlock(p, "behind the probe point"), span: head });
  }
}

function global(p: Cursor): Global {
  const name = p.expectName("a global's name");
  const wraps = p.accept("%");
  let size: number | undefined;
  if (p.accept("[")) {
    if (p.token.kind !== "number") p.fail(systemtap.expected("how many entries the array has", p.describe()));
    size = Number(p.advance().number);
    p.expect("]", "behind the array's size");
  }
  const initial = p.accept("=") ? parseExpression(p) : undefined;
  if (initial !== undefined && initial.kind !== "number" && initial.kind !== "string")
    p.fail(systemtap.expected("a number or a string", "another value"), initial.span);
  return {
    name: name.text,
    wraps,
    ...(size === undefined ? {} : { size }),
    ...(initial === undefined ? {} : { initial }),
    span: p.from(name),
  };
}

function typeName(p: Cursor): ValueType {
  const name = p.expectName("`long` or `string`");
  if (name.text !== "long" && name.text !== "string")
    p.fail(systemtap.expected("`long` or `string`", `\`${name.text}\``), name);
  return name.text;
}

function functionDefinition(p: Cursor): FunctionDefinition {
  const token = p.advance();
  const name = p.expectName("the function's name");
  let result = p.accept(":") ? typeName(p) : undefined;
  p.expect("(", "before the parameters");
  const parameters: { name: string; type?: ValueType; span: { start: number; end: number } }[] = [];
  if (!p.at(")")) {
    do {
      const parameter = p.expectName("a parameter");
      if (parameters.some(({ name: other }) => other === parameter.text))
        p.fail(systemtap.duplicateParameter(parameter.text), parameter);
      const type = p.accept(":") ? typeName(p) : undefined;
      parameters.push({ name: parameter.text, ...(type === undefined ? {} : { type }), span: p.from(parameter) });
    } while (p.accept(","));
  }
  p.expect(")", "behind the parameters");
  let priority: number | undefined;
  if (p.accept(":")) {
    if (p.token.kind === "number") {
      const number = p.advance();
      priority = Number(number.number);
      if (priority < 1) p.fail(systemtap.expected("a priority of 1 or more", "0"), number);
    } else result = typeName(p);
  }
  const body = parseBlock(p, "behind the function's parameters");
  return {
    name: name.text,
    parameters,
    ...(result === undefined ? {} : { result }),
    ...(priority === undefined ? {} : { priority }),
    body,
    span: p.from(token),
  };
}

export function points(p: Cursor): Point[] {
  const found: Point[] = [];
  do found.push(...point(p));
  while (p.accept(","));
  return found;
}

/** `{a, b}.c` is two. */
function point(p: Cursor): Point[] {
  const { token } = p;
  let wholes: Component[][] = [[]];
  do {
    const braces = componentAlternatives(p);
    wholes = wholes.flatMap((before) => braces.map((one) => [...before, ...one]));
  } while (p.accept("."));
  const sufficient = p.accept("!");
  const optional = !sufficient && p.accept("?");
  const span = p.from(token);
  const condition = p.acceptWord("if") ? conditionOf(p) : undefined;
  return wholes.map((components) => ({
    components,
    optional: optional || sufficient,
    sufficient,
    ...(condition === undefined ? {} : { condition }),
    text: componentsText(components),
    span,
  }));
}

function conditionOf(p: Cursor): ReturnType<typeof parseExpression> {
  p.expect("(", "before the probe's condition");
  const condition = parseExpression(p);
  p.expect(")", "behind the probe's condition");
  // It is looked at whenever a global changes: what it asks for is in globals alone.
  visitNodes(condition, (node) => {
    if (node.kind === "call") p.report("error", node.span, systemtap.conditionAsks(`${node.name}()`));
    if (node.kind === "target") p.report("error", node.span, systemtap.conditionAsks("a target variable"));
    if (node.kind === "assign" || node.kind === "increment") p.report("error", node.span, systemtap.conditionStores());
  });
  return condition;
}

/** As in messages, and in what pp() gives. */
export function componentsText(components: readonly Component[]): string {
  return components
    .map(({ name, argument }) =>
      argument === undefined ? name : `${name}(${typeof argument === "string" ? JSON.stringify(argument) : argument})`,
    )
    .join(".");
}

function componentAlternatives(p: Cursor): Component[][] {
  if (!p.at("{")) return [[component(p)]];
  p.advance();
  const found: Component[][] = [];
  do {
    const path: Component[] = [];
    do path.push(component(p));
    while (p.accept("."));
    found.push(path);
  } while (p.accept(","));
  p.expect("}", "behind the alternatives");
  // What touches the brace belongs to each: `{open,close}*`.
  if (!isOfName(p) || p.token.text === "if" || p.token.start !== p.last) return found;
  const { name, argument, span } = component(p);
  return found.map((path) => {
    const last = path[path.length - 1];
    if (last.argument !== undefined) p.fail(systemtap.expected("`.` behind the alternatives", `\`${name}\``));
    const whole = { name: last.name + name, span: last.span };
    return [...path.slice(0, -1), argument === undefined ? whole : { ...whole, argument, span }];
  });
}

function isOfName(p: Cursor): boolean {
  return p.token.kind === "identifier" || p.token.kind === "number" || p.at("*") || p.at("**");
}

function component(p: Cursor): Component {
  const { token } = p;
  let name = "";
  // Words and stars that touch are one name: `sched_*`, `**`.
  while ((isOfName(p) || (name !== "" && p.at("?") && isLetter(p))) && (name === "" || p.token.start === p.last))
    name += p.advance().text;
  if (name === "") p.fail(systemtap.expected("a probe point's component", p.describe()));
  if (!p.accept("(")) return { name, span: p.from(token) };
  const negative = p.accept("-");
  const { token: literal } = p;
  let argument: string | bigint;
  if (literal.kind === "number") {
    const number = p.advance().number!;
    argument = negative ? BigInt.asIntN(64, -number) : number;
  } else if (literal.kind === "string" && !negative) {
    argument = "";
    while (p.token.kind === "string") argument += p.advance().value!;
  } else p.fail(systemtap.expected("a number or a string", p.describe()));
  p.expect(")", `behind the argument of \`${name}\``);
  return { name, argument, span: p.from(token) };
}

/** A `?` in the middle of a name. */
function isLetter(p: Cursor): boolean {
  const next = p.peek();
  return next.kind === "identifier" && next.text !== "if" && next.start === p.token.end;
}

/** Goes on behind what failed: at the next word that begins a declaration at a line's start, or behind its last `}`. */
function recover(p: Cursor, start: number): void {
  if (p.index === start) p.advance();
  const { text } = p.source;
  while (p.token.kind !== "end") {
    const { token } = p;
    const line = text.lastIndexOf("\n", token.start - 1) + 1;
    if (
      token.kind === "identifier" &&
      /^(?:probe|global|function|private)$/.test(token.text) &&
      text.slice(line, token.start).trim() === ""
    )
      return;
    p.advance();
  }
}
