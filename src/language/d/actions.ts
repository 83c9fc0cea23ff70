// Actions: statements that print, act, or change what has been gathered.
import { dAggregations } from "../../messages/d-aggregations.ts";
import { dCalls } from "../../messages/d-calls.ts";
import { dFormats } from "../../messages/d-formats.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import { unknownType } from "../types.ts";
import type { Expression, Statement } from "../program.ts";
import { argumentsOf, assignment, skipKeys } from "./expressions.ts";
import { checkCount, checkPrototype, structOf, typeOf } from "./prototypes.ts";
import { isTranslated } from "./translators.ts";
import { printfText, type Item, type Text } from "./formats.ts";
import { address, copied } from "./library.ts";
import { framesOf, stack, symbol, symbols } from "./symbols.ts";
import { normalOf, printed } from "./printa.ts";
import { printedAt } from "./printed.ts";
import { constantValue } from "./type-names.ts";
import { isNumber, named, spelledType, textSize } from "./types.ts";
import { setsOption, unlessQuiet } from "./setopt.ts";
import type { Unit } from "./unit.ts";

interface Action {
  readonly least: number;
  readonly most: number;
  readonly doc: string;
  /** Types of the parameters that are looked at. */
  readonly prototype?: readonly string[];
  /** The first argument is an aggregation. */
  readonly ofAggregation?: true;
  readonly items: (args: readonly Expression[], span: Span, unit: Unit) => readonly Item[];
}

const { call, statement } = nodes;
const nothing: Text = { format: "", args: [] };

const later = (doc: string, least = 0, most = 255, ...prototype: string[]): Action => ({
  least,
  most,
  prototype,
  doc,
  items: (_, span, { cursor }) => cursor.fail(dCalls.notYet(doc), span),
});

/** What no DTrace on Linux does. */
const never = (doc: string, least: number, most: number, ...prototype: string[]): Action => ({
  ...later(doc, least, most, ...prototype),
  items: (_, span, { cursor }) => cursor.fail(dCalls.notImplemented(doc), span),
});

/** A stack, on lines of its own. */
const stackShown = (name: "kstack" | "ustack", most: number, doc: string): Action => ({
  least: 0,
  most,
  doc,
  prototype: ["uint32_t"],
  items: (args, span, { cursor, options }) => [
    stackSize(name, args, span, cursor),
    { text: { format: "%s", args: [stack(name, framesOf(name, args.slice(0, 1), span, options), span)] } },
  ],
});

/** A symbol, in a column of its own. */
const symbolShown = (name: string): Action => ({
  least: 1,
  most: 1,
  doc: symbols[name].shown,
  prototype: ["uintptr_t"],
  items: ([of], span) => [{ text: { format: "  %-50s", args: [symbol(name, of, span)] } }],
});

/** How many frames: a number that is written out. */
function stackSize(name: string, [size, textSize]: readonly Expression[], span: Span, cursor: Unit["cursor"]): Item {
  if (size !== undefined && (size.kind !== "integer" || size.value <= 0n))
    cursor.fail(dCalls.stackSize(name === "kstack" ? "stack" : name), span);
  if (textSize?.kind === "string") cursor.fail(dCalls.argumentType(name, 2, "uint32_t", "string"), span);
  if (textSize !== undefined && (textSize.kind !== "integer" || textSize.value < 0n))
    cursor.fail(dCalls.stackTextSize(name), span);
  return { text: nothing };
}

function traced(name: string, of: Expression, span: Span, unit: Unit): Item {
  if (unit.voids.has(of)) unit.cursor.fail(dCalls.voidTraced(name), span);
  if (unit.aggregates.has(of) || (name === "trace" && isTranslated(of)))
    unit.cursor.fail(
      name === "trace" ? dCalls.aggregationTraced() : dCalls.argumentType(name, 1, "void *", "aggregation"),
      span,
    );
  return { text: nothing };
}

/** DTrace's command shows what is at an address only; strobe's shows a value, too. */
function printedNumber(of: Expression, span: Span, unit: Unit): readonly Item[] {
  if (unit.given.settings?.has("command") === true && isNumber(unit.known(of)))
    unit.cursor.fail(dCalls.argumentType("print", 1, "void *", written(of, unit)), span);
  return [];
}

/** The type of an expression, as far as it is known. */
function written(of: Expression, unit: Unit): string {
  return typeOf(of, unit) ?? "expression";
}

/** A name of an enumeration is its number. */
function plainNumber(of: Expression, unit: Unit): Expression {
  return of.kind === "cast" && of.to.tag === "enum" && of.to.pointers === 0
    ? unit.cast("int32", of.operand, of.span)
    : unit.value(of);
}

/** A format is written out. */
function formatOf(name: string, format: Expression, unit: Unit): string {
  if (format.kind === "string") return format.value;
  const type = written(format, unit);
  const said =
    name === "printf" && isNumber(unit.known(format))
      ? dCalls.argumentType(name, 1, "string", type)
      : dFormats.formatConstant(name, type);
  return unit.cursor.fail(said, format.span);
}

/** The byte at an address of the process. */
function deref(of: Expression, span: Span): Expression {
  const pointer = nodes.cast(named("char", span, 1), address(of, "uptr"), span);
  return { kind: "unary", operator: "*", operand: pointer, span, type: unknownType };
}

/** A struct at an address is traced as its bytes. */
function bytesOfStruct(of: Expression, span: Span): readonly Item[] | undefined {
  if (of.kind !== "unary" || of.operator !== "*" || of.operand.kind !== "cast") return undefined;
  const { to } = of.operand;
  if ((to.tag !== "struct" && to.tag !== "union") || to.pointers !== 1) return undefined;
  const size: Expression = { kind: "sizeof", of: { ...to, pointers: 0 }, span, type: unknownType };
  return [{ text: { format: "%rd", args: [call("buf", [of.operand, size], span)] } }];
}

/** An array of a struct of the script's: as text where it can be printed, else in hexadecimal. */
function bytesOfArray(of: Expression, span: Span, unit: Unit): readonly Item[] | undefined {
  if (of.kind !== "member" || of.object.kind !== "unary" || of.object.operand.kind !== "cast") return undefined;
  const { to } = of.object.operand;
  const member = unit.structs.find((one) => one.name === to.name)?.members.find(({ name }) => name === of.name);
  if (member === undefined || "members" in member.type) return undefined;
  const { type } = member;
  if (type.dimensions.length === 0 || type.name === "string") return undefined;
  const size: Expression = { kind: "sizeof", of: type, span, type: unknownType };
  const width = unit.options.rawBytes ? -1 : unit.options.quiet ? 0 : 33;
  const args = [call("buf", [of, size], span), nodes.integer(4, span), nodes.integer(width, span)];
  return [{ text: { format: "%s", args: [nodes.hostText("tracedBytes", args, span)] } }];
}

/** All bytes of a value, in hexadecimal. */
function rawBytes(of: Expression, span: Span, unit: Unit): readonly Item[] {
  const known = unit.known(of);
  const size = (unit.options.textBytes ?? textSize - 1) + 1;
  const text =
    known === "string"
      ? nodes.hostText("tracedText", [of, nodes.integer(size, span)], span)
      : nodes.hostText(
          "tracedNumber",
          [unit.cast("int64", of), nodes.integer(Number(/\d+$/.exec(known ?? "64")![0]) / 8, span)],
          span,
        );
  return [{ text: { format: "%s", args: [text] } }];
}

const ofMap = (name: string, doc: string): Action => ({
  least: 1,
  most: 1,
  doc,
  ofAggregation: true,
  items: (args, span) => [{ does: [statement(call(name, args, span))] }],
});

const onSpeculation = (name: "speculate" | "commit" | "discard", doc: string): Action => ({
  least: 1,
  most: 1,
  prototype: ["int"],
  doc,
  items: ([id], span, unit) => [
    {
      does: [nodes.statement(nodes.hostText(name, [unit.cast("int64", id)], span))],
      ...(name === "speculate" ? { speculates: true } : {}),
    },
  ],
});

const actions: Readonly<Record<string, Action>> = {
  // ── printing ──
  trace: {
    least: 1,
    most: 1,
    doc: "Prints a value in a column of its own.",
    items: ([of], span, unit) => [
      traced("trace", of, span, unit),
      ...(bytesOfStruct(of, span) ??
        bytesOfArray(of, span, unit) ??
        (unit.options.rawBytes ? rawBytes(of, span, unit) : undefined) ??
        (unit.switched.has("quiet")
          ? [{ prints: unlessQuiet("%#v", [plainNumber(of, unit)], span, "%v") }]
          : [{ text: { format: unit.options.quiet ? "%v" : "%#v", args: [plainNumber(of, unit)] } }])),
    ],
  },
  printf: {
    least: 1,
    most: 255,
    doc: "Prints values by a format.",
    items: ([format, ...args], span, unit) => [
      { text: printfText("printf", formatOf("printf", format, unit), args, span, unit) },
    ],
  },
  print: {
    least: 1,
    most: 1,
    doc: "Prints a value by its type.",
    items: ([of], span, unit) => [
      traced("print", of, span, unit),
      ...printedNumber(of, span, unit),
      printedAt(of, span, unit) ?? { text: { format: "%v\n", args: [unit.value(of)] } },
    ],
  },
  tracemem: {
    least: 2,
    most: 3,
    doc: "Prints memory.",
    prototype: ["", "size_t", "size_t"],
    items: ([of, size, some], span, unit) => {
      const whole = structOf(of);
      if (whole !== undefined) unit.cursor.fail(dCalls.memoryAddress(spelledType(whole)), span);
      if (unit.aggregates.has(of)) unit.cursor.fail(dCalls.memoryAddress("aggregation"), span);
      if (unit.known(of) === "string") unit.cursor.fail(dCalls.memoryAddress("string"), span);
      const most = constantValue(size, unit);
      if (most === undefined || most <= 0n) unit.cursor.fail(dCalls.memorySize(), span);
      const fewer = (): Expression => nodes.binary("<", unit.cast("uint64", some), unit.cast("uint64", size), span);
      const bytes =
        some === undefined
          ? size
          : nodes.conditional(fewer(), unit.cast("uint64", some), unit.cast("uint64", size), span);
      return [{ text: { format: "%rd", args: [call("buf", [of, bytes], span)] } }];
    },
  },
  stack: stackShown("kstack", 1, "Prints the kernel's stack."),
  ustack: stackShown("ustack", 2, "Prints the process's stack."),
  ...Object.fromEntries(Object.keys(symbols).map((name) => [name, symbolShown(name)])),

  // ── ending ──
  exit: {
    least: 1,
    most: 1,
    prototype: ["int"],
    doc: "Ends tracing; END probes still run.",
    items: (args, span) => [{ text: nothing }, { does: [statement(call("exit", args, span))], last: true }],
  },

  // ── aggregations ──
  normalize: {
    least: 2,
    most: 2,
    prototype: ["", "uint64_t"],
    doc: "Divides an aggregation's values by a number where they are printed.",
    ofAggregation: true,
    items: ([of, factor], span, unit) => normalized(unit, of, unit.cast("int64", factor), span),
  },
  denormalize: {
    least: 1,
    most: 1,
    doc: "Prints an aggregation's values as they are again.",
    ofAggregation: true,
    items: ([of], span, unit) => normalized(unit, of, unit.cast("int64", nodes.integer(1, span)), span),
  },
  clear: ofMap("zero", "Sets an aggregation's values to 0; its keys stay."),

  // ── acting on the system ──
  system: {
    least: 1,
    most: 255,
    doc: "Runs a shell command.",
    items: ([format, ...args], span, unit) => {
      const { format: text, args: given } = printfText("system", formatOf("system", format, unit), args, span, unit);
      return [{ prints: statement(call("system", [nodes.text(text, format.span), ...given], span)) }];
    },
  },
  raise: {
    least: 1,
    most: 1,
    prototype: ["int"],
    doc: "Sends a signal to the current process.",
    items: (args, span) => [{ does: [statement(call("signal", args, span))] }],
  },
  copyout: {
    least: 3,
    most: 3,
    prototype: ["void * or text", "uintptr_t", "size_t"],
    doc: "Writes into the process's memory.",
    items: ([from, to, size], span) => [{ does: [statement(call("write_user", [to, from, size], span))] }],
  },

  bcopy: {
    least: 3,
    most: 3,
    prototype: ["void * or text", "void *", "size_t"],
    doc: "Copies bytes into memory that alloca() gave, or of a variable.",
    items: ([from, to, size], span, unit) => [{ does: [statement(copied(to, from, size, span, unit))] }],
  },
  copyinto: {
    least: 3,
    most: 3,
    doc: "The same, from memory of the process.",
    items: ([from, size, to], span, unit) => [
      { does: [statement(copied(to, address(from, "uptr"), size, span, unit))] },
    ],
  },
  setopt: {
    least: 1,
    most: 2,
    prototype: ["char *", "char *"],
    doc: "Sets an option while the script runs: `quiet`, the order of aggregations; rates are taken and change nothing.",
    items: setsOption,
  },
  freopen: {
    least: 1,
    most: 255,
    doc: "Prints what follows into a file, at its end; into none, where it was printed first.",
    items: ([format, ...args], span, unit) => {
      const name = formatOf("freopen", format, unit);
      const { format: text, args: given } =
        name === "" && args.length === 0 ? nothing : printfText("freopen", name, args, span, unit);
      return [{ prints: statement(call("reopen", [nodes.text(text, format.span), ...given], span)) }];
    },
  },
  ftruncate: {
    least: 0,
    most: 0,
    doc: "Empties the file that output goes to.",
    items: (_, span) => [{ prints: statement(call("truncate_output", [], span)) }],
  },
  follow: {
    least: 1,
    most: 1,
    doc: "Remembers an object by its address, of a program's also by its process (strobe's own).",
    items: ([object], span) => [{ does: [statement(call("follow", [object], span))] }],
  },
  unfollow: {
    least: 1,
    most: 1,
    doc: "Forgets an object, where it is freed (strobe's own).",
    items: ([object], span) => [{ does: [statement(call("unfollow", [object], span))] }],
  },
  speculate: onSpeculation("speculate", "What the clause records behind it is kept for a speculation."),
  commit: onSpeculation("commit", "Prints what is kept for a speculation."),
  discard: onSpeculation("discard", "Forgets what is kept for a speculation."),
  jstack: never("jstack()", 0, 2, "uint32_t", "uint32_t"),
  pcap: later("pcap()", 2, 2, "void *", "int"),
  copyoutstr: {
    least: 3,
    most: 3,
    doc: "Writes a text that is written out into the process's memory, so many bytes of it at most.",
    prototype: ["char *", "uintptr_t", "size_t"],
    items: ([text, to, size], span, unit) => {
      // It is said only where nothing is written: the address cannot be read, then.
      const failed = nodes.declare(unit.name("read"), deref(to, span));
      const written = (done: Expression): Statement => ({
        kind: "if",
        condition: nodes.not(done),
        then: nodes.block([failed], span),
        span,
      });
      const most = constantValue(size, unit);
      if (most !== undefined && most <= 0n) return [{ does: [] }];
      if (text.kind === "string" && most !== undefined) {
        const bytes = Math.min(Number(most), Buffer.byteLength(text.value) + 1);
        return [{ does: [written(call("write_user", [to, text, nodes.integer(bytes, span)], span))] }];
      }
      const copied = nodes.variable(unit.name("text"), span);
      const [length, end] = [nodes.variable(unit.name("length"), span), nodes.variable(unit.name("end"), span)];
      const last = nodes.conditional(
        nodes.binary("<", { ...length }, { ...end }, span),
        { ...length },
        { ...end },
        span,
      );
      const writes = [
        nodes.declare(copied.name, text),
        nodes.declare(length.name, unit.cast("uint64", call("strlen", [{ ...copied }], span))),
        nodes.declare(
          end.name,
          unit.cast("uint64", nodes.binary("-", unit.cast("uint64", size), nodes.integer(1, span), span)),
        ),
        written(call("write_user_text", [to, { ...copied }, last], span)),
      ];
      if (most !== undefined) return [{ does: writes }];
      const condition = nodes.binary("!=", unit.cast("uint64", size), nodes.integer(0, span), span);
      return [{ does: [{ kind: "if", condition, then: nodes.block(writes, span), span }] }];
    },
  },
  return: {
    least: 1,
    most: 1,
    prototype: ["int"],
    doc: "Makes a function of the kernel return a value at once, where the kernel allows that.",
    items: ([value], span, { cursor, clause }) => {
      const { provider, name = "", returns } = clause;
      if (!["fbt", "rawfbt"].includes(provider) || returns) cursor.fail(dCalls.noReturn(`${provider}:::${name}`), span);
      return [{ does: [statement(call("override", [value], span))] }];
    },
  },
  stop: never("stop()", 0, 0),
  chill: never("chill()", 1, 1, "int"),
  panic: never("panic()", 0, 0),
  breakpoint: never("breakpoint()", 0, 0),
};

/** What an action does; "" where strobe knows it and has not got it. */
export function actionDoc(name: string): string {
  const doc = Object.hasOwn(actions, name) ? actions[name].doc : "";
  return doc === `${name}()` ? "" : doc;
}

export const actionNames: ReadonlySet<string> = new Set([...Object.keys(actions), "printa", "trunc"]);

const formatted: ReadonlySet<string> = new Set(["printf", "system", "freopen"]);

/** What changes more than strobe's output. */
export const destructiveActions: ReadonlySet<string> = new Set(
  "return system raise copyout copyoutstr stop chill panic breakpoint freopen".split(" "),
);

/** A call of an action as a statement; undefined where it is none. */
export function action(unit: Unit): readonly Item[] | undefined {
  const p = unit.cursor;
  const { token } = p;
  if (token.kind !== "identifier" || p.peek().text !== "(") return undefined;
  if (token.text === "printa" || token.text === "trunc") return printed(unit);
  const found = Object.hasOwn(actions, token.text) ? actions[token.text] : undefined;
  if (found === undefined) return undefined;
  p.advance();
  const inside = p.peek();
  if (["trace", "print"].includes(token.text) && actionNames.has(inside.text) && p.peek(2).text === "(")
    p.fail(dCalls.voidTraced(token.text), token);
  const args = found.ofAggregation === true ? aggregationArguments(unit) : argumentsOf(unit, formatted.has(token.text));
  const span = p.from(token);
  checkCount(unit, token.text, args.length, found.least, found.most, span);
  if (found.ofAggregation === true && (args[0]?.kind !== "map" || args[0].name.endsWith("#0")))
    p.fail(dAggregations.aggregationArgument(token.text, 1, written(args[0], unit)), span);
  checkPrototype(unit, token.text, args, found.prototype ?? []);
  return found.items(args, span, unit);
}

export function checkAction(unit: Unit, name: string, args: readonly Expression[], span: Span): void {
  if (!Object.hasOwn(actions, name)) return;
  const { least, most, prototype = [] } = actions[name];
  checkCount(unit, name, args.length, least, most, span);
  checkPrototype(unit, name, args, prototype);
}

/** What an aggregation's values are divided by is a variable of the script. */
function normalized(unit: Unit, of: Expression, factor: Expression, span: Span): readonly Item[] {
  if (of.kind !== "map") return [];
  unit.normalized.add(`@${of.name}`);
  return [{ does: [nodes.assign(normalOf(`@${of.name}`, span), factor, span)] }];
}

/** `(@name, …)` */
function aggregationArguments(unit: Unit): Expression[] {
  const p = unit.cursor;
  const token = p.peek();
  if (token.kind !== "aggregation") return argumentsOf(unit);
  p.expect("(");
  p.advance();
  if (!unit.aggregations.has(token.text)) p.fail(dAggregations.unknownAggregation(token.text), token);
  const args: Expression[] = [nodes.map(token.text.slice(1), [], { start: token.start, end: token.end })];
  skipKeys(unit);
  while (p.accept(",")) {
    unit.takesAggregations = true;
    args.push(assignment(unit));
  }
  p.expect(")");
  return args;
}
