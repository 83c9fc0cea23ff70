// The formats of printf(), system() and printa(), as the tree's printf() takes them.
import { dFormats } from "../../messages/d-formats.ts";
import type { Span } from "../diagnostic.ts";
import * as nodes from "../nodes.ts";
import type { Expression, Statement, TypeName } from "../program.ts";
import { structOf, typeOf } from "./prototypes.ts";
import { isNumber, spelledType, type KeyKind, type Known } from "./types.ts";
import type { Unit } from "./unit.ts";
import { symbolPart } from "./symbols.ts";

/** A format of the tree's, and its arguments. */
export interface Text {
  readonly format: string;
  readonly args: readonly Expression[];
}

/** What a statement leaves: a part of the clause's line, or something that is done. */
export type Item =
  | { readonly text: Text }
  | {
      readonly prints: Statement;
      /** It reads nothing that what is behind it in the clause changes. */
      readonly waits?: true;
    }
  | {
      readonly does: readonly Statement[];
      /** What the clause records behind it is kept for the time being. */
      readonly speculates?: true;
      /** The rest of the clause comes first. */
      readonly last?: true;
    };

const conversion = /%(@?)([-+ #0']*@?)(\*|\d+)?(?:\.(\*|\d*))?(@?)(hh|h|ll|l|j|z|t|L|w)?([a-zA-Z@%])/y;

export interface Piece {
  readonly aggregation: boolean;
  readonly flags: string;
  readonly width: string | undefined;
  readonly precision: string | undefined;
  readonly size: string | undefined;
  readonly letter: string;
  readonly text: string;
  /** The first of a format is 1. */
  readonly number: number;
}

export function pieces(format: string): (string | Piece)[] {
  const found: (string | Piece)[] = [];
  let literal = "";
  let number = 0;
  for (let at = 0; at < format.length;) {
    conversion.lastIndex = at;
    const match = format[at] === "%" ? conversion.exec(format) : null;
    if (match === null) {
      literal += format[at++];
      continue;
    }
    const [text, first = "", flags = "", width, precision, behind = "", size, letter] = match;
    at += text.length;
    if (letter === "%") {
      literal += "%";
      continue;
    }
    if (literal !== "") found.push(literal);
    literal = "";
    const aggregation = first !== "" || behind !== "" || flags.includes("@");
    // Of `-` and `0` the last one counts.
    const own = flags.replace("@", "");
    const counted = own.lastIndexOf("0") > own.lastIndexOf("-") ? own.replaceAll("-", "") : own;
    found.push({ aggregation, flags: counted, width, precision, size, letter, text, number: ++number });
  }
  if (literal !== "") found.push(literal);
  return found;
}

export function plain(text: string): string {
  return text.replaceAll("%", "%%");
}

/** A value as a conversion prints it. */
export function converted(piece: Piece, of: Expression, unit: Unit): Text {
  const { letter, flags, width = "", precision, size = "" } = piece;
  const { span } = of;
  const room = `${flags}${width}${precision === undefined ? "" : `.${precision}`}`;
  const value = unit.value(of);
  switch (letter) {
    case "d":
    case "i":
    case "u":
    case "x":
    case "X":
    case "o":
      return {
        format: `%${room.replace("'", "")}${sizeOf(unit.known(of), size)}${letter}`,
        args: [value],
      };
    case "c":
      return { format: `%${room}c`, args: [value] };
    case "C":
    case "S": {
      const known = unit.known(of);
      const text = isNumber(known) ? nodes.hostText("formattedText", [nodes.text("%c", span), value], span) : value;
      return { format: `%${room}s`, args: [nodes.hostText("escapedText", [text], span)] };
    }
    case "s":
      return { format: `%${room}s`, args: [value] };
    case "p":
      return { format: `%${room}x`, args: [unit.cast("uint64", value)] };
    case "e":
    case "E":
    case "f":
    case "g":
    case "G":
      return { format: `%${room}${letter}`, args: [value] };
    case "a":
      return { format: `%${room}s`, args: [symbolPart("ksym", "place", value, span)] };
    case "A":
      return { format: `%${room}s`, args: [symbolPart("usym", "place", value, span)] };
    case "Y":
      return { format: `%${room}s`, args: [date("%Y %b %e %H:%M:%S", value, span)] };
    case "T":
      return { format: `%${room}s`, args: [date("%a, %d %b %Y %H:%M:%S %Z", value, span)] };
    case "k":
      return { format: `%#${room}s`, args: [value] };
    default:
      return unit.cursor.fail(dFormats.undefinedConversion(piece.number, piece.text), span);
  }
}

/** Nanoseconds since 1970. */
function date(format: string, value: Expression, span: Span): Expression {
  return nodes.call("strftime", [nodes.text(format, span), value, nodes.word("wall", span)], span);
}

/** As many bytes are printed as the value's type has. */
function sizeOf(known: Known | undefined, written: string): string {
  switch (known) {
    case "int8":
    case "uint8":
      return "hh";
    case "int16":
    case "uint16":
      return "h";
    case "int64":
    case "uint64":
      return "l";
    default:
      return written === "h" || written === "hh" ? written : "";
  }
}

export function printfText(name: string, format: string, args: readonly Expression[], span: Span, unit: Unit): Text {
  if (format === "") unit.cursor.fail(dFormats.emptyFormat(name), span);
  let next = 0;
  const made: Text[] = [];
  const found = pieces(format);
  if (/(?:^|[^%])(?:%%)*%[-+ #0']*[\d*]*(?:\.[\d*]*)?(?:hh|h|ll|l|j|z|t|L|w)?$/.test(format))
    unit.cursor.fail(dFormats.endlessConversion(found.filter((piece) => typeof piece !== "string").length + 1), span);
  const wanted = found.reduce(
    (sum, piece) =>
      typeof piece === "string" ? sum : sum + 1 + (piece.width === "*" ? 1 : 0) + (piece.precision === "*" ? 1 : 0),
    0,
  );
  if (wanted !== args.length) {
    // The first whose value is missing.
    let left = args.length;
    const missing = found.find(
      (piece) =>
        typeof piece !== "string" &&
        (left -= 1 + (piece.width === "*" ? 1 : 0) + (piece.precision === "*" ? 1 : 0)) < 0,
    );
    unit.cursor.fail(
      typeof missing === "object"
        ? dFormats.prototypeConversion(name, missing.number, missing.text.replaceAll(/\.?\*/g, ""))
        : dFormats.argumentsUnused(name, wanted + 1),
      span,
    );
  }
  for (const piece of found)
    if (typeof piece !== "string" && piece.size === "hh")
      unit.cursor.fail(dFormats.undefinedConversion(piece.number, piece.text), span);
  for (const piece of found) {
    if (typeof piece === "string") {
      made.push({ format: plain(piece), args: [] });
      continue;
    }
    if (piece.aggregation) unit.cursor.fail(dFormats.aggregationConversion(name), span);
    const room: Expression[] = [];
    for (const [part, sign] of [
      [piece.width, "*"],
      [piece.precision, ".*"],
    ] as const)
      if (part === "*") {
        const given = args[next++];
        const known = unit.known(given);
        if (known === "string")
          unit.cursor.fail(
            dFormats.roomType(name, next + 1, piece.number, roomy(piece, sign), spelledType(known)),
            given.span,
          );
        room.push(unit.cast("int32", given));
      }
    const of = args[next++];
    const known = unit.known(of);
    const number = next + 1;
    const other = unit.aggregates.has(of) ? "aggregation" : unit.voids.has(of) ? "void" : stackType(of);
    if (other !== undefined && (piece.letter !== "k" || other !== "dt_stack_t"))
      refuseOther(name, piece, other, number, of.span, unit);
    checkConversion(name, piece, known, number, of.span, unit);
    checkSize(name, piece, of, number, unit);
    checkPointer(name, piece, unit.pointerOf(of) ?? structOf(of), number, of.span, unit);
    made.push(room.length === 0 ? converted(piece, of, unit) : inRoom(piece, room, of, unit));
  }
  return together(made);
}

/** `% * d`, as DTrace spells it in its complaints. */
function roomy({ letter }: Piece, part: "*" | ".*"): string {
  return `% ${part} ${letter}`;
}

/** In as many columns, or of as many bytes or digits, as arguments say. */
function inRoom(piece: Piece, room: readonly Expression[], of: Expression, unit: Unit): Text {
  const { flags, width = "", precision, letter } = piece;
  const { span } = of;
  const known = unit.known(of);
  // A text is made first; a number's bits are those of its type.
  const isBits = "ouxX".includes(letter) && isNumber(known);
  const { format, args } = isBits
    ? { format: `%${letter}`, args: [unit.cast(`u${known.replace(/^u/, "")}` as Exclude<Known, "string">, of)] }
    : converted({ ...piece, flags: "", width: undefined, precision: undefined }, of, unit);
  const last = format.at(-1)!;
  const shown = `%${flags}${width}${precision === undefined ? "" : `.${precision}`}${last}`;
  return { format: "%s", args: [nodes.hostText("formattedText", [nodes.text(shown, span), ...room, ...args], span)] };
}

/** A text wants a text's conversion, a number a number's. `number`: of the argument. */
export function checkConversion(
  name: string,
  { letter, size, text }: Piece,
  known: Known | undefined,
  number: number,
  span: Span,
  { cursor, given }: Unit,
  conversion = number - 1,
): void {
  if (letter === "s" && known !== undefined && known !== "string")
    cursor.fail(
      dFormats.conversionType(
        name,
        number,
        conversion,
        text,
        "char [] or string (or use stringof)",
        spelledType(known),
      ),
      span,
    );
  if ("fFeEgG".includes(letter) && known !== undefined)
    cursor.fail(
      dFormats.conversionType(name, number, conversion, text, "float, double, or long double", spelledType(known)),
      span,
    );
  if (letter === "k" && known !== undefined)
    cursor.fail(dFormats.conversionType(name, number, conversion, text, "dt_stack_t", spelledType(known)), span);
  if (letter === "a" && known === "string")
    cursor.fail(
      dFormats.conversionType(name, number, conversion, text, "pointer or integer", spelledType(known)),
      span,
    );
  if (letter === "A" && known !== undefined && (known === "string" || given.target === undefined))
    cursor.fail(dFormats.conversionType(name, number, conversion, text, addressPrototype, spelledType(known)), span);
  if ("diuxXocCpYT".includes(letter) && known === "string")
    cursor.fail(
      dFormats.conversionType(name, number, conversion, text, integerPrototype(letter, size), "string"),
      span,
    );
  if ("sS".includes(letter) && (size === "l" || size === "w") && known === "string")
    cursor.fail(dFormats.conversionType(name, number, conversion, text, "wchar_t []", "string"), span);
  if (letter === "S" && isNumber(known))
    cursor.fail(dFormats.conversionType(name, number, conversion, text, textPrototype, spelledType(known)), span);
}

/** `%hd` wants a short, `%ld` a long. */
function checkSize(name: string, { letter, size = "", text }: Piece, of: Expression, number: number, unit: Unit): void {
  const known = unit.known(of);
  const bits = { h: "16", l: "64", ll: "64" }[size];
  if (bits === undefined || !isNumber(known) || !"diuxXo".includes(letter) || known.endsWith(bits)) return;
  const prototype = integerPrototype(letter, size);
  const type = typeOf(of, unit) ?? "int";
  unit.cursor.fail(dFormats.conversionType(name, number, number - 1, text, prototype, type), of.span);
}

/** What no conversion but its own takes. */
function refuseOther(
  name: string,
  { letter, size, text }: Piece,
  type: string,
  number: number,
  span: Span,
  { cursor }: Unit,
): never {
  const prototype =
    letter === "s" || letter === "S"
      ? textPrototype
      : letter === "k"
        ? "dt_stack_t"
        : letter === "A"
          ? addressPrototype
          : integerPrototype(letter, size);
  return cursor.fail(dFormats.conversionType(name, number, number - 1, text, prototype, type), span);
}

function stackType(of: Expression): string | undefined {
  return of.kind === "call" && (of.name === "kstack" || of.name === "ustack") ? "dt_stack_t" : undefined;
}

/** Stacks and symbols, as keys are, have conversions of their own. */
export function checkKeyConversion(
  { letter, text, number: conversion }: Piece,
  kind: KeyKind | undefined,
  number: number,
  span: Span,
  { cursor }: Unit,
): void {
  const refuse = (prototype: string, type: string): never =>
    cursor.fail(dFormats.conversionType("printa", number, conversion, text, prototype, type), span);
  if (letter === "k" && kind !== undefined && kind !== "dt_stack_t") refuse("dt_stack_t", kind);
  if (letter === "A" && kind === "_symaddr") refuse(addressPrototype, kind);
  if (kind !== "dt_stack_t" || letter === "k") return;
  if (letter === "s") refuse(textPrototype, kind);
  if (letter === "A") refuse(addressPrototype, kind);
  if ("diuxXoca".includes(letter)) refuse(integerPrototype(letter), kind);
}

const textPrototype = "char [] or string (or use stringof)";
const addressPrototype = "pointer or integer (with -p/-c) or _usymaddr (without -p/-c)";

/** A pointer is no text, and no number that has a sign; a struct is neither. */
function checkPointer(
  name: string,
  { letter, size, text }: Piece,
  pointer: TypeName | undefined,
  number: number,
  span: Span,
  { cursor }: Unit,
): void {
  if (pointer === undefined) return;
  const prototype =
    letter === "s"
      ? textPrototype
      : "dicuxXo".includes(letter) || (pointer.pointers === 0 && letter === "p")
        ? integerPrototype(letter, size)
        : undefined;
  if (prototype !== undefined)
    cursor.fail(dFormats.conversionType(name, number, number - 1, text, prototype, spelledType(pointer)), span);
}

function integerPrototype(letter: string, size = ""): string {
  if (letter === "p" || letter === "a") return "pointer or integer";
  if (letter === "c" || letter === "C") return "char, short, or int";
  if (letter === "Y" || letter === "T") return "int64_t";
  return { h: "short", l: "long", ll: "long long" }[size] ?? "char, short, int, long, or long long";
}

export function together(texts: readonly Text[]): Text {
  return { format: texts.map(({ format }) => format).join(""), args: texts.flatMap(({ args }) => args) };
}
