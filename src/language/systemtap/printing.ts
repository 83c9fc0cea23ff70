// print(), println(), printf(), their s… forms, log(), warn() and error(): text is put together where it is printed, as
// one format of the tree's printf(), whatever sprintf() and library functions it is made of.
import { Failure } from "../../base/failure.ts";
import { systemtap } from "../../messages/systemtap.ts";
import type { Expression, Statement } from "../program.ts";
import { parseFormat, type Conversion } from "./formats.ts";
import type { Text } from "./library/function.ts";
import { libraryFunction, printers } from "./library.ts";
import type { Expr } from "./syntax.ts";
import * as tree from "./tree.ts";
import type { Unit } from "./unit.ts";
import { histogramOf } from "./histograms.ts";
import { visitNodes } from "./names.ts";

type Call = Extract<Expr, { kind: "call" }>;

const plain = (text: string): Text => ({ format: text.replaceAll("%", "%%"), args: [] });
const empty = plain("");

function together(parts: readonly Text[]): Text {
  return { format: parts.map(({ format }) => format).join(""), args: parts.flatMap(({ args }) => args) };
}

/** A text or a number as it is printed. */
function shown(e: Expr, unit: Unit): Text {
  if (unit.types.of(e, unit.scope) !== "string") return { format: "%d", args: [unit.value(e)] };
  switch (e.kind) {
    case "string":
      return plain(e.value);
    case "name": {
      const meant = unit.texts.get(e.name);
      if (meant !== undefined) return shown(meant, unit);
      break;
    }
    case "binary":
      if (e.operator === ".") return together([shown(e.left, unit), shown(e.right, unit)]);
      break;
    case "call": {
      if (unit.types.function(e.name, e.args.length) !== undefined) break;
      if (printers.has(e.name) && e.name.startsWith("s")) return printedText(e, unit);
      const known = libraryFunction(e.name);
      const least = known?.least ?? known?.parameters.length ?? 0;
      if (known?.text === undefined || e.args.length < least) break;
      if (unit.stores && known.value !== undefined) break;
      return known.text(
        e.args.map((arg) => unit.value(arg)),
        e.span,
        unit,
      );
    }
    default:
      break;
  }
  return { format: "%s", args: [unit.value(e)] };
}

/** What a call of a printer writes. */
export function printedText(e: Call, unit: Unit): Text {
  const [first, ...rest] = e.args;
  const line = e.name.endsWith("ln");
  switch (e.name.replace(/^s(?=print)/, "").replace(/ln$/, "")) {
    case "printf":
      return first?.kind === "string" ? formatted(first, rest, unit) : empty;
    case "printd": {
      const delimiter = first === undefined ? empty : shown(first, unit);
      const parts = rest.flatMap((arg, i) => (i === 0 ? [shown(arg, unit)] : [delimiter, shown(arg, unit)]));
      return together([...parts, line ? plain("\n") : empty]);
    }
    default:
      return together([...e.args.map((arg) => shown(arg, unit)), line ? plain("\n") : empty]);
  }
}

function formatted(format: Extract<Expr, { kind: "string" }>, args: readonly Expr[], unit: Unit): Text {
  let next = 0;
  const parts: Text[] = [];
  const pieces = parseFormat(format.value);
  // It was said already that it is none.
  if (pieces instanceof Failure) return empty;
  for (const piece of pieces) {
    if (typeof piece === "string") {
      parts.push(plain(piece));
      continue;
    }
    const { flags, letter } = piece;
    let { width, precision } = piece;
    const given: Expression[] = [];
    if (width === "*") {
      const of = args[next++];
      if (of?.kind === "number") width = of.value > 0n ? String(of.value) : "";
      else if (of !== undefined) {
        const text = paddedText(letter, of, args[next], unit) ?? measured(piece, of, args.slice(next), unit);
        next += precision === "*" ? 2 : 1;
        parts.push(text);
        continue;
      }
    }
    if (precision === "*") {
      const of = args[next++];
      if (of?.kind === "number") precision = of.value > 0n ? String(of.value) : "0";
      else if (of !== undefined) given.push(fromZero(of, unit));
    }
    const arg = args[next++];
    if (arg === undefined) continue;
    const modifiers = `${flags}${width}${precision === undefined ? "" : `.${precision}`}`;
    parts.push(converted(letter, modifiers, given, arg, unit, piece.text));
  }
  return together(parts);
}

/** `%*s` of a literal that is spaces, or of "": so many spaces. */
function paddedText(letter: string, width: Expr, arg: Expr | undefined, unit: Unit): Text | undefined {
  if (letter !== "s" || arg?.kind !== "string" || arg.value.trim() !== "") return undefined;
  return { format: "%.*s", args: [fromZero(width, unit), tree.text(" ".repeat(64), width.span)] };
}

/** A width or a precision: below zero it is none. */
function fromZero(e: Expr, unit: Unit): Expression {
  const { span } = e;
  const [given, zero] = [tree.variable(unit.shared.name("width"), span), tree.integer(0, span)];
  unit.before.push(tree.declare(given.name, unit.value(e), tree.longType(span)));
  return tree.conditional(tree.binary(">", given, zero, span), given, zero, span);
}

/** A width that is computed: the host puts the text together. */
function measured(
  { flags, precision, letter, text }: Conversion,
  width: Expr,
  args: readonly Expr[],
  unit: Unit,
): Text {
  if (!/[sdiuxXo]/.test(letter))
    return {
      format: "",
      args: [unit.refuse(width.span, systemtap.notYet(`a computed width of the conversion ${text}`))],
    };
  const format = `%${flags}*${precision === undefined ? "" : `.${precision}`}${letter}`;
  const sizes = [width, ...(precision === "*" ? args.slice(0, 1) : [])].map((arg) => fromZero(arg, unit));
  const given = [...sizes, ...args.slice(sizes.length - 1, sizes.length).map((arg) => unit.value(arg))];
  return {
    format: "%s",
    args: [tree.hostText("formattedText", [tree.text(format, width.span), ...given], width.span)],
  };
}

function converted(
  letter: string,
  modifiers: string,
  given: readonly Expression[],
  arg: Expr,
  unit: Unit,
  text: string,
): Text {
  if (letter === "s") {
    const of = shown(arg, unit);
    if (modifiers === "") return of;
    if (of.args.length === 0)
      return { format: `%${modifiers}s`, args: [...given, tree.text(of.format.replaceAll("%%", "%"), arg.span)] };
    if (of.format === "%s") return { format: `%${modifiers}s`, args: [...given, ...of.args] };
    return { format: `%${modifiers}s`, args: [...given, unit.storing(() => unit.value(arg))] };
  }
  if (letter === "b") return blob(modifiers, unit.value(arg), arg, unit);
  if (letter === "m" || letter === "M") return memory(letter, modifiers, given, unit.value(arg), arg, unit);
  const of = unit.value(arg);
  // As the kernel has them: %#x of 0 is 0x0, and a 0 behind another flag is none.
  const [, flags = "", size = ""] = /^([-+ #0]*)(.*)$/.exec(modifiers) ?? [];
  const own = (flags[0] === "0" ? flags : flags.replaceAll("0", "")).replace("#", "##");
  switch (letter) {
    case "p":
      return { format: `%${own.replaceAll("#", "")}##${size}lx`, args: [...given, of] };
    case "d":
    case "i":
      return { format: `%${own}${size}ld`, args: [...given, of] };
    case "u":
    case "x":
    case "X":
    case "o":
      return { format: `%${own}${size}l${letter}`, args: [...given, of] };
    case "c":
      if (flags.includes("#"))
        return {
          format: `%${own.replaceAll("#", "")}${size}s`,
          args: [...given, tree.hostText("escapedCharacter", [of], arg.span)],
        };
      return { format: `%${modifiers}c`, args: [...given, of] };
    default:
      return { format: "", args: [unit.refuse(arg.span, systemtap.notYet(`the conversion ${text}`))] };
  }
}

/**
 * `%b`: the value's bytes as they are: as many as the precision says, else the width, where that is a size of numbers; else
 * eight. NULs fill what is left of the width, before them.
 */
function blob(modifiers: string, of: Expression, { span }: Expr, unit: Unit): Text {
  const [, flags = "", width = "", precision = width] = /^([-+ #0]*)(\d*)(?:\.(\d+))?$/.exec(modifiers) ?? [];
  const bytes = [1, 2, 4, 8].find((size) => size === Number(precision)) ?? 8;
  const room = "\0".repeat(Math.max(0, Number(width) - bytes));
  const value = tree.variable(unit.shared.name("blob"), span);
  unit.before.push(tree.declare(value.name, of, tree.longType(span)));
  const shifted = (by: number): Expression => tree.binary(">>", value, tree.integer(by, span), span);
  return {
    format: flags.includes("-") ? "%c".repeat(bytes) + room : room + "%c".repeat(bytes),
    args: Array.from({ length: bytes }, (_, i) => shifted(8 * i)),
  };
}

/** Bytes that are read one by one: more are read at once. */
const mostSingly = 64;

/** `%.4m`, `%.4M`: what is in memory, as it is or in hexadecimal; a byte of the kernel's, of the process's with `#`. */
function memory(
  letter: "m" | "M",
  modifiers: string,
  [given]: readonly Expression[],
  address: Expression,
  { span }: Expr,
  unit: Unit,
): Text {
  const [, flags = "", width = "", precision = "1"] = /^([-+ #0]*)(\d*)(?:\.(\d*|\*))?$/.exec(modifiers) ?? [];
  const space = flags.includes("#") ? "uptr" : "kptr";
  const left = flags.includes("-") ? "-" : "";
  if (given !== undefined || Number(precision) > mostSingly) {
    const size = given ?? tree.integer(Number(precision), span);
    const bytes = tree.call("buf", [tree.call(space, [address], span), size], span);
    const text = tree.hostText(letter === "M" ? "hexOfBytes" : "textOfBytes", [bytes], span);
    return { format: `%${left}${width}s`, args: [text] };
  }
  const count = Number(precision);
  const base = tree.variable(unit.shared.name("memory"), span);
  unit.before.push(tree.declare(base.name, address, tree.longType(span)));
  const type = { ...tree.typeName("uint8", span), pointers: 1 };
  const byteAt = (i: number): Expression => ({
    kind: "unary",
    operator: "*",
    operand: tree.call(space, [tree.cast(type, tree.binary("+", base, tree.integer(i, span), span))], span),
    span,
    type: { kind: "unknown" },
  });
  const room = " ".repeat(Math.max(0, Number(width) - count * (letter === "M" ? 2 : 1)));
  const bytes = (letter === "M" ? "%02x" : "%c").repeat(count);
  return {
    format: left === "" ? `${room}${bytes}` : `${bytes}${room}`,
    args: Array.from({ length: count }, (_, i) => byteAt(i)),
  };
}

/** A call of a printer as statements. */
export function printStatements(e: Call, unit: Unit): Statement[] {
  const { span } = e;
  const histogram = e.args.find((arg) => arg.kind === "histogram");
  if (histogram?.kind === "histogram" && histogram.index === undefined && /^print(?:ln)?$/.test(e.name))
    return [
      ...orEmpty(histogram, unit),
      drawn(histogram, unit),
      ...(e.name === "println" ? printed("printf", plain("\n"), e) : []),
    ];
  const [first] = e.args;
  switch (e.name) {
    case "error":
      return first === undefined ? [] : thrown(first, e, unit);
    case "log":
      return printed("printf", together([shownOr(first, unit), plain("\n")]), e);
    case "warn":
      return printed("warnf", shownOr(first, unit), e);
    default:
      if (e.name.startsWith("s")) return [tree.statement(tree.integer(0, span))];
      return printed("printf", printedText(e, unit), e);
  }
}

function shownOr(e: Expr | undefined, unit: Unit): Text {
  return e === undefined ? empty : shown(e, unit);
}

function printed(by: string, { format, args }: Text, { span }: Expr): Statement[] {
  return format === "" && args.length === 0
    ? []
    : [tree.statement(tree.call(by, [tree.text(format, span), ...args], span))];
}

/** There is nothing to draw where nothing was added. Keys are looked at twice: those that store something are not. */
function orEmpty(e: Extract<Expr, { kind: "histogram" }>, unit: Unit): Statement[] {
  const { span } = e;
  let stores = false;
  visitNodes(e.of, ({ kind }) => {
    if (kind === "assign" || kind === "increment" || kind === "call") stores = true;
  });
  const of = stores ? undefined : unit.storage(e.of);
  if (of?.kind !== "map") return [];
  const none = tree.binary("==", tree.toLong(tree.result(of, "count", [], span)), tree.integer(0, span), span);
  const fails: Statement = { kind: "throw", value: tree.text("empty aggregate", span), span };
  return [{ kind: "if", condition: none, then: tree.block([fails], span), span }];
}

/** print(@hist_log(s)) */
function drawn(e: Extract<Expr, { kind: "histogram" }>, unit: Unit): Statement {
  const { span } = e;
  const access = unit.storage(e.of);
  if (access.kind !== "map")
    return tree.statement(unit.refuse(span, systemtap.expected("statistics", "another value")));
  const result = tree.result(access, ...histogramOf(e), span);
  return tree.statement(tree.call("print", [result], span));
}

/** error(): what a `try` around sees; else the end of the script. */
function thrown(message: Expr, { span }: Call, unit: Unit): Statement[] {
  const { format, args } = shown(message, unit);
  if (args.length === 0) return [{ kind: "throw", value: tree.text(format.replaceAll("%%", "%"), message.span), span }];
  if (format === "%s") return [{ kind: "throw", value: args[0], span }];
  return [{ kind: "throw", value: unit.value(message), span }];
}
