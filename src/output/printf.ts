// printf as a chain of small writers, built once a format and run once an event.
import type { EventField } from "../compiler/plan.ts";
import type { PrintfConversion, PrintfFormat } from "../language/printf.ts";
import { textBytes } from "../language/text-bytes.ts";
import type { Type } from "../language/types.ts";
import type { ConsumerServices, RecordMemory } from "../session/events.ts";
import { ByteWriter } from "./bytes.ts";
import { gfpFlags } from "./gfp-flags.ts";
import { bufferText, isCharacter, readBuffer, readInteger, valueText } from "./values.ts";

/** Writes one record, which begins at `offset`. */
export type RecordWriter = (offset: number) => void;

/** A writer of `format` over the schema's fields, which follow each other as the conversions do. */
export function printfWriter(
  format: PrintfFormat, fields: readonly EventField[], memory: RecordMemory, out: ByteWriter, services: ConsumerServices,
): RecordWriter {
  const writers: RecordWriter[] = [];
  let next = 0;
  for (const piece of format.pieces) {
    if (typeof piece === "string") {
      const bytes = textBytes(piece);
      writers.push(() => out.constant(bytes));
      continue;
    }
    const precision = piece.precision === -2 ? fields[next++] : undefined;
    writers.push(conversionWriter(piece, fields[next++], precision, memory, out, services));
  }
  return chain(writers);
}

/** Calling a known few closures is cheaper than looping over an array of them. */
function chain(writers: readonly RecordWriter[]): RecordWriter {
  if (writers.length === 0) return () => {};
  const [a, b, c, d, e, f, g, h, ...rest] = writers;
  switch (writers.length) {
    case 1: return a;
    case 2: return (o) => { a(o); b(o); };
    case 3: return (o) => { a(o); b(o); c(o); };
    case 4: return (o) => { a(o); b(o); c(o); d(o); };
    case 5: return (o) => { a(o); b(o); c(o); d(o); e(o); };
    case 6: return (o) => { a(o); b(o); c(o); d(o); e(o); f(o); };
    case 7: return (o) => { a(o); b(o); c(o); d(o); e(o); f(o); g(o); };
    case 8: return (o) => { a(o); b(o); c(o); d(o); e(o); f(o); g(o); h(o); };
    default: {
      const tail = chain(rest);
      return (o) => { a(o); b(o); c(o); d(o); e(o); f(o); g(o); h(o); tail(o); };
    }
  }
}

function conversionWriter(
  conversion: PrintfConversion, field: EventField, precision: EventField | undefined,
  memory: RecordMemory, out: ByteWriter, services: ConsumerServices,
): RecordWriter {
  const { type, offset } = field;
  const { flags, width } = conversion;
  if ((flags === "" || flags === "-") && conversion.precision === -1 && !cuts(conversion, type)) {
    const fast = fastWriter(conversion, type, offset, memory, out, services);
    if (fast && width === 0) return fast;
    const padded = conversion.letter === "s"
      ? paddedString(conversion, type, offset, memory, out)
      : fast && paddedNumber(fast, width, flags === "", out);
    if (padded) return padded;
  }
  return (record) => {
    const digits = precision ? Number(readScalar(precision.type, memory, record + precision.offset)) : conversion.precision;
    out.text(converted({ ...conversion, precision: digits }, type, memory, record + offset, services));
  };
}

/** Whether a length modifier makes another number of the value. */
function cuts({ bits, letter }: PrintfConversion, type: Type): boolean {
  if (bits === undefined) return false;
  const own = type.kind === "integer" || type.kind === "enum" ? type : { bits: 64, signed: false };
  return bits < own.bits || (bits === 64 && own.bits < 64 && own.signed && letter !== "d" && letter !== "i");
}

/** The conversions that most scripts are made of, without their width. */
function fastWriter(
  { letter }: PrintfConversion, type: Type, at: number, memory: RecordMemory, out: ByteWriter, { plan }: ConsumerServices,
): RecordWriter | undefined {
  const { bytes, words, view } = memory;
  if (letter === "s") {
    if (type.kind === "string" && type.capacity === plan.config.maxStringLength) {
      const trailer = new TextEncoder().encode(plan.config.stringTrailer);
      return (o) => {
        if (out.cString(bytes, o + at, type.capacity) === type.capacity - 1) out.constant(trailer);
      };
    }
    if (type.kind === "string") return (o) => void out.cString(bytes, o + at, type.capacity);
    if (type.kind === "array" && isCharacter(type.element)) return (o) => void out.cString(bytes, o + at, type.length);
    return undefined;
  }
  const bits = type.kind === "pointer" ? 64 : type.kind === "integer" || type.kind === "enum" ? type.bits : 0;
  // Sign comes from the conversion, width from the value: %u of a negative int is its 32-bit pattern.
  const signed = letter === "d" || letter === "i";
  if (letter === "x" && bits === 64) {
    const word = at >> 2;
    return (o) => out.hex64(words, (o >> 2) + word);
  }
  if (letter === "x" && bits === 32) return (o) => out.hex32(view.getInt32(o + at, true));
  if (bits === 0 || (!signed && letter !== "u")) return undefined;
  // A value is extended by its own signedness first, as a C call's argument would be.
  const valueSigned = type.kind === "integer" || type.kind === "enum" ? type.signed : false;
  switch (bits) {
    case 64: {
      const word = at >> 2;
      return signed
        ? (o) => out.signed64(words, (o >> 2) + word)
        : (o) => out.unsigned64(words, (o >> 2) + word);
    }
    case 32:
      if (signed && valueSigned) return (o) => decimalSigned(out, view.getInt32(o + at, true));
      return (o) => out.decimal(view.getUint32(o + at, true));
    case 16:
      if (signed && valueSigned) return (o) => decimalSigned(out, view.getInt16(o + at, true));
      return valueSigned ? undefined : (o) => out.decimal(view.getUint16(o + at, true));
    default:
      if (signed && valueSigned) return (o) => decimalSigned(out, view.getInt8(o + at));
      return valueSigned ? undefined : (o) => out.decimal(bytes[o + at]);
  }
}

function decimalSigned(out: ByteWriter, value: number): void {
  if (value < 0) {
    out.byte(45);
    value = -value;
  }
  out.decimal(value);
}

const space = 32;

/** `%-6d` and `%6d`: the digits are written, then moved. */
function paddedNumber(write: RecordWriter, width: number, left: boolean, out: ByteWriter): RecordWriter {
  return (o) => {
    const from = out.length;
    write(o);
    out.pad(from, width, left);
  };
}

/** `%-16s` and `%16s` of text in place. */
function paddedString(
  { flags, width }: PrintfConversion, type: Type, at: number, { bytes }: RecordMemory, out: ByteWriter,
): RecordWriter | undefined {
  const capacity = type.kind === "string" ? type.capacity : type.kind === "array" && isCharacter(type.element) ? type.length : 0;
  if (capacity === 0) return undefined;
  const left = flags.includes("-");
  return (o) => {
    let end = o + at;
    while (end < o + at + capacity && bytes[end] !== 0) end++;
    const padding = width - (end - o - at);
    if (!left) for (let i = 0; i < padding; i++) out.byte(space);
    out.cString(bytes, o + at, end - o - at);
    if (left) for (let i = 0; i < padding; i++) out.byte(space);
  };
}

function readScalar(type: Type, memory: RecordMemory, offset: number): bigint {
  switch (type.kind) {
    case "integer":
    case "enum": return readInteger(type.bits, type.signed, memory, offset);
    case "boolean": return BigInt(memory.bytes[offset]);
    default: return memory.view.getBigUint64(offset, true);
  }
}

/** Any conversion, the slow way. */
function converted(
  conversion: PrintfConversion, type: Type, memory: RecordMemory, offset: number, services: ConsumerServices,
): string {
  const { letter } = conversion;
  if (letter === "s") return padText(cut(valueText(type, memory, offset, services), conversion.precision), conversion);
  if (letter === "r" || letter === "rx" || letter === "rh") {
    const bytes = type.kind === "buffer" ? readBuffer(memory, offset) : memory.bytes.subarray(offset, offset + 8);
    return padText(bufferText(bytes, letter === "r" ? "printable" : letter === "rh" ? "hex" : "escaped"), conversion);
  }
  const whole = readScalar(type, memory, offset);
  const { bits } = conversion;
  const value = bits === undefined || bits === 64 ? whole : letter === "d" || letter === "i" ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole);
  switch (letter) {
    case "c": return padText(String.fromCharCode(Number(value & 0xffn)), conversion);
    case "gr": return padText(gfpFlags(value), conversion);
    case "p": return padText(value === 0n ? "0" : `0x${BigInt.asUintN(64, value).toString(16)}`, conversion);
    case "d":
    case "i": {
      const negative = value < 0n;
      const sign = negative ? "-" : conversion.flags.includes("+") ? "+" : conversion.flags.includes(" ") ? " " : "";
      return padNumber(sign, grouped((negative ? -value : value).toString(), conversion), conversion);
    }
    case "u": return padNumber("", grouped(unsigned(value, type, bits).toString(), conversion), conversion);
    case "x":
    case "X": {
      const digits = unsigned(value, type, bits).toString(16);
      const prefix = conversion.flags.includes("#") && value !== 0n ? "0x" : "";
      return letter === "x" ? padNumber(prefix, digits, conversion) : padNumber(prefix.toUpperCase(), digits.toUpperCase(), conversion);
    }
    case "o": return padNumber(conversion.flags.includes("#") ? "0" : "", unsigned(value, type, bits).toString(8), conversion);
    case "b":
    case "B": return padNumber(conversion.flags.includes("#") ? `0${letter}` : "", unsigned(value, type, bits).toString(2), conversion);
    default: throw new Error(`strobe: unknown conversion %${letter}`);
  }
}

/** The bit pattern of a value in its own width, but a C int at least: what %u and %x of a negative number show. */
function unsigned(value: bigint, type: Type, wanted?: number): bigint {
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
  format: PrintfFormat, fields: readonly EventField[], memory: RecordMemory, services: ConsumerServices,
): (offset: number) => string {
  const out = new ByteWriter();
  const write = printfWriter(format, fields, memory, out, services);
  return (offset) => {
    out.clear();
    write(offset);
    return new TextDecoder().decode(out.view());
  };
}
