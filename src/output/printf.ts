// printf: what a format and its fields are as code that writes a line (line-code.ts), and the conversions that code
// calls.
import type { EventField } from "../compiler/plan.ts";
import { InternalError } from "../base/internal-error.ts";
import { sizeOf } from "../language/layout.ts";
import { mostWidth, type PrintfConversion, type PrintfFormat } from "../language/printf.ts";
import { textBytes } from "../language/text-bytes.ts";
import { bitsOfDouble } from "../language/floating.ts";
import { isFloat, type Type } from "../language/types.ts";
import type { ConsumerServices, RecordMemory } from "../session/events.ts";
import { ByteWriter } from "./bytes.ts";
import { LineCode, type RecordWriter, type Step } from "./line-code.ts";
import {
  bufferText,
  forTerminal,
  hasLines,
  isCharacter,
  mayBeCut,
  readBuffer,
  readFloat,
  readInteger,
  valueText,
} from "./values.ts";
import { mostDigits } from "./write-bytes.ts";
import { lazy } from "../base/lazy.ts";

// Loaded for `%gr`-like conversions.
const flagNames = lazy<typeof import("./gfp-flags.ts")>(() => require("./gfp-flags.ts"));

/** Few formats have %f. */
const floatText = lazy<typeof import("./float-text.ts")>(() => require("./float-text.ts"));

/** The line is the inside of a JSON string between these. */
export interface JsonFrame {
  readonly before: Uint8Array;
  readonly behind: Uint8Array;
}

/** A writer of `format` over the schema's fields, which follow each other as the conversions do. */
export function printfWriter(
  format: PrintfFormat,
  fields: readonly EventField[],
  memory: RecordMemory,
  out: ByteWriter,
  services: ConsumerServices,
  to?: JsonFrame | "terminal",
): RecordWriter {
  const json = to === "terminal" ? undefined : to;
  const line = new LineCode(json === undefined ? (to === "terminal" ? to : "bytes") : "json");
  if (json) line.bare(json.before);
  let next = 0;
  for (const piece of format.pieces) {
    if (typeof piece === "string") {
      line.constant(textBytes(piece));
      continue;
    }
    const precision = piece.precision === -2 ? fields[next++] : undefined;
    const field = fields[next++];
    const step = precision ? undefined : stepOf(piece, field, services);
    if (step) line.step(step);
    else if (to === "terminal" && (hasLines(field.type) || piece.letter === "rd"))
      line.other(conversionWriter(piece, field, precision, memory, out, forTerminal(services)), true);
    else line.other(conversionWriter(piece, field, precision, memory, out, services));
  }
  if (json) line.bare(json.behind);
  return line.writer(memory, out);
}

function conversionWriter(
  conversion: PrintfConversion,
  { type, offset }: EventField,
  precision: EventField | undefined,
  memory: RecordMemory,
  out: ByteWriter,
  services: ConsumerServices,
): RecordWriter {
  return (record) => {
    const digits = precision
      ? Math.min(mostWidth, Number(readScalar(precision.type, memory, record + precision.offset)))
      : conversion.precision;
    out.text(converted({ ...conversion, precision: digits }, type, memory, record + offset, services));
  };
}

/** `%d` of 32 bits is an `int`'s, as in C: -1 of all ones. */
function isInt({ letter, bits }: PrintfConversion, type: Type): boolean {
  return (letter === "d" || letter === "i") && bits === undefined && type.kind === "integer" && type.bits === 32;
}

/**
 * `%x`, `%u` and the like of a signed 64-bit number: a negative one that fits an `int` is shown as that, the bits it is
 * extended by left out.
 */
function asInt({ letter, bits }: PrintfConversion, type: Type): boolean {
  return (
    letter !== "d" && letter !== "i" && bits === undefined && type.kind === "integer" && type.bits === 64 && type.signed
  );
}

/** Whether a length modifier makes another number of the value. */
function cuts({ bits, letter }: PrintfConversion, type: Type): boolean {
  if (bits === undefined) return false;
  const own = type.kind === "integer" || type.kind === "enum" ? type : { bits: 64, signed: false };
  return bits < own.bits || (bits === 64 && own.bits < 64 && own.signed && letter !== "d" && letter !== "i");
}

/** The conversions that most scripts are made of. */
function stepOf(
  conversion: PrintfConversion,
  { type, offset }: EventField,
  { plan }: ConsumerServices,
): Step | undefined {
  const { flags, width, letter } = conversion;
  if ((flags !== "" && flags !== "-") || conversion.precision !== -1 || cuts(conversion, type)) return undefined;
  const padding = { width, left: flags === "" };
  if (letter !== "s") {
    const call = numberCall(conversion, type, offset);
    return call === undefined ? undefined : { call, most: mostDigits, ...padding };
  }
  const capacity =
    type.kind === "string" ? type.capacity : type.kind === "array" && isCharacter(type.element) ? type.length : 0;
  if (capacity === 0) return undefined;
  const { stringTrailer } = plan.config;
  const cut = type.kind === "string" && mayBeCut(type, plan);
  if ((cut && width !== 0) || (type.kind === "string" && type.zeros === true)) return undefined;
  const trailer = cut ? { trailer: { behind: capacity - 1, bytes: new TextEncoder().encode(stringTrailer) } } : {};
  return {
    call: `cString(data, at, view, o + ${offset}, ${capacity})`,
    most: capacity,
    text: true,
    ...padding,
    ...trailer,
  };
}

/** A call that writes the field's number as `letter` says. */
function numberCall(conversion: PrintfConversion, type: Type, offset: number): string | undefined {
  const { letter } = conversion;
  const bits = type.kind === "pointer" ? 64 : type.kind === "integer" || type.kind === "enum" ? type.bits : 0;
  const word = `(o >> 2) + ${offset >> 2}`;
  const at = `o + ${offset}`;
  // Sign comes from the conversion, width from the value: %u of a negative int is its 32-bit pattern.
  const signed = letter === "d" || letter === "i";
  if (asInt(conversion, type) && (letter === "x" || letter === "u")) {
    const [narrow, wide] =
      letter === "x"
        ? [`hex32(data, at, view.getInt32(${at}, true))`, `hex64(data, at, words, ${word})`]
        : [`decimal(data, at, view.getUint32(${at}, true))`, `unsigned64(data, at, words, ${word})`];
    return `(view.getInt32(${at} + 4, true) === -1 && view.getInt32(${at}, true) < 0 ? ${narrow} : ${wide})`;
  }
  if (letter === "x" && bits === 64) return `hex64(data, at, words, ${word})`;
  if (letter === "x" && bits === 32) return `hex32(data, at, view.getInt32(${at}, true))`;
  if (bits === 0 || (!signed && letter !== "u")) return undefined;
  // A value is extended by its own signedness first, as a C call's argument would be.
  const valueSigned = type.kind === "integer" || type.kind === "enum" ? type.signed : false;
  if (bits === 64) return `${signed ? "signed64" : "unsigned64"}(data, at, words, ${word})`;
  if (signed && (valueSigned || isInt(conversion, type)))
    return `decimalSigned(data, at, view.getInt${bits}(${at}, true))`;
  if (valueSigned && bits < 32) return undefined;
  return `decimal(data, at, view.getUint${bits}(${at}, true))`;
}

function readScalar(type: Type, memory: RecordMemory, offset: number): bigint {
  switch (type.kind) {
    case "integer":
    case "enum":
      return readInteger(type.bits, type.signed, memory, offset);
    case "boolean":
      return BigInt(memory.bytes[offset]);
    default:
      return memory.view.getBigUint64(offset, true);
  }
}

const bufferStyles = { r: "printable", rh: "hex", rx: "escaped", rd: "dump" } as const;

/** What %r shows: a buffer's bytes, a string's up to its end, and of an array those that it has. */
function rawBytes(type: Type, memory: RecordMemory, offset: number): Uint8Array {
  if (type.kind === "buffer") return readBuffer(memory, offset);
  const bytes = memory.bytes.subarray(offset, offset + sizeOf(type));
  const end = type.kind === "string" ? bytes.indexOf(0) : -1;
  return end < 0 ? bytes : bytes.subarray(0, end);
}

/** Any conversion, the slow way. */
function converted(
  conversion: PrintfConversion,
  type: Type,
  memory: RecordMemory,
  offset: number,
  services: ConsumerServices,
): string {
  const { letter } = conversion;
  if (letter === "s") {
    const text = cut(valueText(type, memory, offset, services), conversion.precision);
    // Of `%#s` the lines of a stack begin at the left.
    const left = type.kind === "stack" && conversion.flags.includes("#");
    return padText(left ? text.replaceAll(/^ +/gm, "") : text, conversion);
  }
  if (letter === "r" || letter === "rx" || letter === "rh" || letter === "rd") {
    return padText(bufferText(rawBytes(type, memory, offset), bufferStyles[letter]), conversion);
  }
  if (isFloat(type)) return floatConverted(conversion, readFloat(type, memory, offset));
  const whole = readScalar(type, memory, offset);
  const bits = isInt(conversion, type) ? 32 : conversion.bits;
  const value =
    bits === undefined || bits === 64
      ? whole
      : letter === "d" || letter === "i"
        ? BigInt.asIntN(bits, whole)
        : BigInt.asUintN(bits, whole);
  switch (letter) {
    case "c":
      return padText(String.fromCharCode(Number(value & 0xffn)), conversion);
    case "gr":
      return padText(flagNames().gfpFlags(value), conversion);
    case "p":
      return padText(value === 0n ? "0" : `0x${BigInt.asUintN(64, value).toString(16)}`, conversion);
    case "d":
    case "i": {
      const negative = value < 0n;
      const sign = negative ? "-" : conversion.flags.includes("+") ? "+" : conversion.flags.includes(" ") ? " " : "";
      return padNumber(sign, grouped((negative ? -value : value).toString(), conversion), conversion);
    }
    case "u":
      return padNumber("", grouped(unsigned(value, type, conversion).toString(), conversion), conversion);
    case "x":
    case "X": {
      const digits = unsigned(value, type, conversion).toString(16);
      const prefix = conversion.flags.includes(value === 0n ? "##" : "#") ? "0x" : "";
      return letter === "x"
        ? padNumber(prefix, digits, conversion)
        : padNumber(prefix.toUpperCase(), digits.toUpperCase(), conversion);
    }
    case "o":
      return padNumber(
        conversion.flags.includes("#") ? "0" : "",
        unsigned(value, type, conversion).toString(8),
        conversion,
      );
    case "b":
    case "B":
      return padNumber(
        conversion.flags.includes("#") ? `0${letter}` : "",
        unsigned(value, type, conversion).toString(2),
        conversion,
      );
    default:
      throw new InternalError(`unknown conversion %${letter}`);
  }
}

/** %f, %e, %g; as in C, what is no number has a sign, too. */
function floatConverted(conversion: PrintfConversion, value: number): string {
  const { flags, letter, precision } = conversion;
  const negative = bitsOfDouble(value) < 0n;
  const sign = negative ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  const size = negative ? -value : value;
  if (!Number.isFinite(size)) {
    const name = Number.isNaN(size) ? "nan" : "inf";
    return padText(sign + (letter === letter.toLowerCase() ? name : name.toUpperCase()), conversion);
  }
  const digits = floatText().floatDigits(size, { letter, precision, alternate: flags.includes("#") });
  // A precision is not of the width's zeros here.
  const [, whole = "", rest = ""] = /^(\d+)(.*)$/.exec(digits) ?? [];
  return padNumber(sign, grouped(whole, conversion) + rest, { ...conversion, precision: -1 });
}

/** The bit pattern of a value in its own width, but a C int at least: what %u and %x of a negative number show. */
function unsigned(value: bigint, type: Type, conversion: PrintfConversion): bigint {
  const { bits: wanted } = conversion;
  if (asInt(conversion, type) && value < 0n && value >= -0x8000_0000n) return BigInt.asUintN(32, value);
  const own = type.kind === "integer" || type.kind === "enum" ? Math.max(32, type.bits) : 64;
  return BigInt.asUintN(wanted === undefined ? own : Math.max(own, wanted), value);
}

function grouped(digits: string, { flags }: PrintfConversion): string {
  return flags.includes("'") ? digits.replace(/\B(?=(\d{3})+$)/g, ",") : digits;
}

function cut(text: string, precision: number): string {
  return precision >= 0 ? text.slice(0, precision) : text;
}

function padText(text: string, { flags, width }: PrintfConversion): string {
  return flags.includes("-") ? text.padEnd(width) : text.padStart(width);
}

function padNumber(prefix: string, digits: string, { flags, width, precision }: PrintfConversion): string {
  if (precision >= 0) digits = digits.padStart(precision, "0");
  if (flags.includes("-")) return (prefix + digits).padEnd(width);
  if (flags.includes("0") && precision < 0) return prefix + digits.padStart(width - prefix.length, "0");
  return (prefix + digits).padStart(width);
}

/** Formats a record's fields as a string: for commands and paths, which are no hot path. */
export function printfFormatter(
  format: PrintfFormat,
  fields: readonly EventField[],
  memory: RecordMemory,
  services: ConsumerServices,
): (offset: number) => string {
  const out = new ByteWriter();
  const write = printfWriter(format, fields, memory, out, services);
  return (offset) => {
    out.clear();
    write(offset);
    return new TextDecoder().decode(out.view());
  };
}
