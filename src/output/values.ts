// A value of any type as text, the way print() and maps show it. Not the hot path: printf.ts is.
import { basename } from "node:path";
import { InternalError } from "../base/internal-error.ts";
import { absentText } from "../language/absent.ts";
import { fieldLayout, sizeOf } from "../language/layout.ts";
import { float80 } from "../language/floating.ts";
import { aggregateLayout, aggregationOf } from "../language/aggregations/table.ts";
import { resultOf } from "../language/aggregations/value.ts";
import { partOfName } from "../language/resolved-probe.ts";
import { byteCharacter, bytesText, textLength, zeroWithin } from "../language/text-bytes.ts";
import type {
  AggregateType,
  FloatType,
  Member,
  NamedType,
  StackType,
  SymbolPart,
  StringType,
  StructType,
  Type,
} from "../language/types.ts";
import type { ConsumerServices, Frame } from "../session/events.ts";
import type { Memory } from "./shaped-values.ts";
import { shownText } from "./shown-text.ts";
import { buildIdFrames, buildIdText, stackAddresses, stackFrames } from "./stack-frames.ts";
import { lazy } from "../base/lazy.ts";

const shapedValues = lazy<typeof import("./shaped-values.ts")>(() => require("./shaped-values.ts"));

/** Few scripts indent calls. */
const flows = lazy<typeof import("./dtrace-flow.ts")>(() => require("./dtrace-flow.ts"));
const systemtapFrames = lazy<typeof import("./systemtap-frames.ts")>(() => require("./systemtap-frames.ts"));

// Loaded for the first name, and the first time.
const systemNames = lazy<typeof import("./system-names.ts")>(() => require("./system-names.ts"));
const times = lazy<typeof import("./strftime.ts")>(() => require("./strftime.ts"));

export type { Memory };

export function memoryOf(bytes: Uint8Array): Memory {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/** Text of the value at `offset`. */
export function valueText(type: Type, memory: Memory, offset: number, services: ConsumerServices): string {
  switch (type.kind) {
    case "unknown":
    case "void":
      return "";
    case "boolean":
      return memory.bytes[offset] ? "true" : "false";
    case "integer":
      return String(readInteger(type.bits, type.signed, memory, offset));
    case "enum": {
      const value = readInteger(type.bits, type.signed, memory, offset);
      return type.names.get(value) ?? String(value);
    }
    case "pointer": {
      const address = memory.view.getBigUint64(offset, true);
      return `0x${address.toString(16)}`;
    }
    case "string":
      return named(stringText(type, memory, offset, services).replaceAll("\0", "\\x00"), services);
    case "buffer":
      return bufferText(readBuffer(memory, offset), "printable");
    case "array":
      if (isCharacter(type.element)) return named(readString(memory, offset, type.length), services);
      return `[${Array.from({ length: type.length }, (_, i) => valueText(type.element, memory, offset + i * sizeOf(type.element), services)).join(",")}]`;
    case "tuple":
      return `(${elementTexts(type.elements, memory, offset, services).join(", ")})`;
    case "record": {
      const texts = elementTexts(
        type.fields.map((f) => f.type),
        memory,
        offset,
        services,
      );
      return texts.length === 0 ? "{}" : `{ ${type.fields.map((f, i) => `.${f.name} = ${texts[i]}`).join(", ")} }`;
    }
    case "struct":
      return structText(type, memory, offset, services);
    case "sequence": {
      const { sequenceText } = shapedValues();
      return sequenceText(type, memory, offset, (inner, at) => innerText(inner, memory, at, services));
    }
    case "choice": {
      const { choiceText } = shapedValues();
      return choiceText(type, memory, offset, (inner, at) => innerText(inner, memory, at, services));
    }
    case "stack":
      return stackText(type, memory, offset, services);
    case "named":
      return named(namedText(type, memory, offset, services), services);
    case "aggregate":
      return aggregateText(type, readWords(memory, offset, aggregateSize(type)), 1n);
  }
}

/** Text of a value alone: what a script computes with. */
export function shownValue(type: Type, bytes: Uint8Array, services: ConsumerServices): string {
  return valueText(type, memoryOf(bytes), 0, services);
}

/** The same for a terminal. (What a session changes of its services is seen through these.) */
export function forTerminal(services: ConsumerServices): ConsumerServices {
  return Object.create(services, { terminal: { value: true } }) as ConsumerServices;
}

/** Whether a value's text has lines of its own. */
export function hasLines(type: Type): boolean {
  switch (type.kind) {
    case "stack":
      return true;
    case "tuple":
      return type.elements.some(hasLines);
    case "record":
      return type.fields.some((field) => hasLines(field.type));
    default:
      return false;
  }
}

/** What others have chosen the bytes of: one line, on a terminal. */
function named(text: string, { terminal }: ConsumerServices): string {
  return terminal ? shownText(text) : text;
}

export function elementTexts(
  types: readonly Type[],
  memory: Memory,
  offset: number,
  services: ConsumerServices,
): string[] {
  const { offsets } = fieldLayout(types);
  return types.map((type, i) => valueText(type, memory, offset + offsets[i], services));
}

/** A value within another: its text is quoted, so that one can tell where it ends. */
function innerText(type: Type, memory: Memory, offset: number, services: ConsumerServices): string {
  if (type.kind !== "string") return valueText(type, memory, offset, services);
  const { text, full } = textIn(type, memory, offset);
  return named(`${JSON.stringify(text)}${full ? services.plan.config.stringTrailer : ""}`, services);
}

function structText(type: StructType, memory: Memory, offset: number, services: ConsumerServices): string {
  const members = presentMembers(type, memory, offset).map((member) => {
    const text =
      member.absent !== undefined
        ? absentText(member.absent)
        : member.bitWidth === undefined
          ? valueText(member.type, memory, offset + member.offset, services)
          : bitsText(
              readBits(memory, offset + member.offset, member.bitOffset ?? 0, member.bitWidth, member.type),
              member.type,
            );
    return `.${member.name} = ${text}`;
  });
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function bitsText(value: bigint, type: Type): string {
  switch (type.kind) {
    case "boolean":
      return value === 0n ? "false" : "true";
    case "enum":
      return type.names.get(value) ?? String(value);
    default:
      return String(value);
  }
}

/**
 * The members that are there: of an enum of Rust those of one variant. Members of nameless structs and unions are those
 * of the struct around them, as C has it; so are members of base classes, which have their class before them
 * (`Base::x`) where the name alone would mean another member, or several.
 */
export function presentMembers(type: StructType, memory: Memory, offset: number): readonly Member[] {
  const own = ofVariant(type, memory, offset);
  if (own.every(({ name }) => name !== "")) return own;
  // Padding has no name either.
  const within = own.map(({ name, type: inner, offset: at }) =>
    name === "" && inner.kind === "struct" ? presentMembers(inner, memory, offset + at) : [],
  );
  const uses = new Map<string, number>();
  for (const { name } of [...own, ...within.flat()]) uses.set(name, (uses.get(name) ?? 0) + 1);
  return own.flatMap((member, i) => {
    if (member.name !== "") return [member];
    const { type: base } = member;
    return within[i].map((inner) => ({
      ...inner,
      ...(base.kind === "struct" && base.name !== "" && uses.get(inner.name) !== 1
        ? { name: `${base.name}::${inner.name}` }
        : {}),
      type: inner.type,
      offset: member.offset + inner.offset,
      ...(member.absent === undefined ? {} : { absent: member.absent }),
    }));
  });
}

function ofVariant({ members, variants }: StructType, memory: Memory, offset: number): readonly Member[] {
  if (variants === undefined) return members;
  const { discriminant } = variants;
  const bits = discriminant === undefined ? 0 : sizeOf(discriminant.type) * 8;
  const value =
    discriminant === undefined
      ? undefined
      : BigInt.asUintN(bits, readInteger(bits, false, memory, offset + discriminant.offset));
  const named = variants.variants.find(
    ({ values }) => value !== undefined && values.some((v) => BigInt.asUintN(bits, v) === value),
  );
  const there = named ?? variants.variants.find(({ values }) => values.length === 0);
  const of = new Set(variants.variants.map(({ member }) => member.name));
  return members.filter(({ name }) => name === there?.member.name || (!of.has(name) && name !== discriminant?.name));
}

export function readBits(memory: Memory, offset: number, bitOffset: number, width: number, type: Type): bigint {
  let whole = 0n;
  const bytes = Math.ceil((bitOffset + width) / 8);
  for (let i = bytes - 1; i >= 0; i--) whole = (whole << 8n) | BigInt(memory.bytes[offset + i]);
  const value = whole >> BigInt(bitOffset);
  const signed = (type.kind === "integer" || type.kind === "enum") && type.signed;
  return signed ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value);
}

export function readInteger(bits: number, signed: boolean, { view }: Memory, offset: number): bigint {
  switch (bits) {
    case 8:
      return BigInt(signed ? view.getInt8(offset) : view.getUint8(offset));
    case 16:
      return BigInt(signed ? view.getInt16(offset, true) : view.getUint16(offset, true));
    case 32:
      return BigInt(signed ? view.getInt32(offset, true) : view.getUint32(offset, true));
    default:
      return signed ? view.getBigInt64(offset, true) : view.getBigUint64(offset, true);
  }
}

/** Of a float or a double. */
export function readFloat({ of }: FloatType, { view }: Memory, offset: number): number {
  return of === "float32" ? view.getFloat32(offset, true) : view.getFloat64(offset, true);
}

/** What is no UTF-8 is in it as text-bytes.ts says. */
export function readString({ bytes }: Memory, offset: number, capacity: number): string {
  let end = offset;
  while (end < offset + capacity && bytes[end] !== 0) end++;
  return bytesText(bytes.subarray(offset, end));
}

/** Text that filled all the room that it had was cut, as far as anyone can tell: bpftrace marks what str() gave, too. */
export function stringText(type: StringType, memory: Memory, offset: number, { plan }: ConsumerServices): string {
  const { text, full } = textIn(type, memory, offset);
  return full && mayBeCut(type, plan) ? text + plan.config.stringTrailer : text;
}

/** Half of what stands for a zero byte is not the text's. */
const halfZero = byteCharacter(zeroWithin[0]);

function textIn({ capacity, zeros }: StringType, memory: Memory, offset: number): { text: string; full: boolean } {
  const text = readString(memory, offset, capacity);
  const within = zeros !== true ? 0 : text.split("\0").length - 1;
  const full = textLength(text) + within * (zeroWithin.length - 1) === capacity - 1;
  return { text: zeros === true && full && text.endsWith(halfZero) ? text.slice(0, -1) : text, full };
}

/** Is text of the type cut where it has no room? */
export function mayBeCut({ capacity, cut }: StringType, { config }: ConsumerServices["plan"]): boolean {
  return cut === true || capacity === config.maxStringLength + 1;
}

export function readBuffer({ bytes, view }: Memory, offset: number): Uint8Array {
  return bytes.subarray(offset + 4, offset + 4 + view.getUint32(offset, true));
}

export function isCharacter(type: Type): boolean {
  return type.kind === "integer" && type.character === true;
}

export function elementSize(type: Type): number {
  return fieldLayout([type]).size;
}

/** `printable`: what is printable as it is, the rest as \xNN; `hex`: `0a fe`; `escaped`: `\x0a\xfe`; `dump`: of many lines. */
export function bufferText(bytes: Uint8Array, style: "printable" | "hex" | "escaped" | "dump"): string {
  const hex = (byte: number) => byte.toString(16).padStart(2, "0");
  if (style === "hex") return Array.from(bytes, hex).join(" ");
  if (style === "dump") return bytes.length === 0 ? "" : dumpText(bytes, hex);
  let text = "";
  for (const byte of bytes)
    text += style === "printable" && byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\x${hex(byte)}`;
  return text;
}

/** Lines of 16 bytes, in hexadecimal and as ASCII, below a line that numbers them: as DTrace's tracemem() has them. */
function dumpText(bytes: Uint8Array, hex: (byte: number) => string): string {
  const columns = Array.from({ length: 16 }, (_, i) => i.toString(16));
  const lines = [`${" ".repeat(11)}${columns.map((one) => `  ${one}`).join("")}  ${columns.join("")}`];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = Array.from(bytes.subarray(at, at + 16));
    const shown = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
    lines.push(
      `${at.toString(16).padStart(10)}:${row
        .map((byte) => ` ${hex(byte)}`)
        .join("")
        .padEnd(48)}  ${shown}`,
    );
  }
  return `\n${lines.join("\n")}\n`;
}

/** `\n`, then a line a frame; the indentation is bpftrace's for each mode. JSON keys carry none. */
export function stackText(
  type: StackType,
  memory: Memory,
  offset: number,
  services: ConsumerServices,
  indented = true,
): string {
  const id = memory.view.getBigInt64(offset, true);
  if (id < 0n) return "";
  const pid = memory.view.getUint32(offset + 8, true);
  const lines = frameLines(type, id, pid, services);
  if (type.mode === "systemtap_callers") return lines.join(" ");
  if (type.mode === "systemtap_addresses") return lines.map((line) => `${line} `).join("");
  const indent = indented
    ? {
        bpftrace: "        ",
        perf: "\t",
        raw: "",
        build_id: "",
        dtrace: " ".repeat(14),
        systemtap: " ",
        systemtap_lines: " ",
        systemtap_brief: "",
        systemtap_module: "",
        systemtap_addresses: "",
        systemtap_callers: "",
      }[type.mode]
    : "";
  let text = type.mode.startsWith("systemtap") ? "" : "\n";
  for (const line of lines) text += indent + named(line, services) + "\n";
  return text;
}

function frameLines(type: StackType, id: bigint, pid: number, services: ConsumerServices): string[] {
  if (type.mode === "build_id") {
    return buildIdFrames(type, id, pid, services).map(buildIdText);
  }
  if (type.mode === "systemtap_addresses" || type.mode === "systemtap_callers")
    return stackAddresses(type, id, services).map((address) => `0x${address.toString(16)}`);
  if (type.mode === "raw") return stackAddresses(type, id, services).map((address) => address.toString(16));
  const frames = stackFrames(type, id, pid, services);
  if (type.mode === "bpftrace") return frames.map(keptFrameText);
  if (type.mode === "dtrace")
    return frames.map((frame) =>
      frame.mark === undefined && frame.language === undefined && frame.inlined === undefined
        ? symbolText(type.space === "kernel" ? inKernel(frame) : frame, "place")
        : frameText(frame),
    );
  if (type.mode !== "perf")
    return systemtapFrames().systemtapFrames(frames, type.space === "kernel", type.mode, frameText);
  return frames.map((frame) =>
    frame.mark !== undefined
      ? frameText(frame)
      : `${frame.address.toString(16)} ${frameText(frame)}${frame.module ? ` (${frame.module})` : ""}`,
  );
}

/** Millions of stacks have the same few thousand frames. */
const frameTexts = new WeakMap<Frame, string>();

function keptFrameText(frame: Frame): string {
  let text = frameTexts.get(frame);
  if (text === undefined) frameTexts.set(frame, (text = frameText(frame)));
  return text;
}

function frameText(frame: Frame): string {
  const { symbol, offset, inlined, source, mark, language } = frame;
  if (mark !== undefined) return frame.address === 0n ? `[${mark}]` : `0x${frame.address.toString(16)} [${mark}]`;
  const place = source === undefined ? "" : ` (${basename(source.file)}${source.line > 0 ? `:${source.line}` : ""})`;
  if (language !== undefined) return `${symbol ?? "[unknown]"}${place} [${language}]`;
  if (symbol === undefined) return `${unnamedText(frame)}${place}`;
  return `${symbol}${inlined ? " [inlined]" : `+${offset ?? 0}`}${place}`;
}

/** Of a stripped file, where in it: as `objdump -d` and `addr2line` count. */
function unnamedText({ address, module, offset }: Frame): string {
  if (module === undefined || offset === undefined) return addressName(address);
  return `${module.startsWith("[") ? module : `[${basename(module)}]`}+0x${offset.toString(16)}`;
}

function probeText({ part }: NamedType, value: bigint, { plan }: ConsumerServices): string {
  const index = Number(value & 0xffff_ffffn);
  const name = plan.probeNames[index] ?? "";
  if (part === "flow") return flows().flowText(plan, name, index, Number(value >> 32n));
  return part === undefined ? name : partOfName(name, part, index);
}

function namedText(type: NamedType, memory: Memory, offset: number, services: ConsumerServices): string {
  const value = type.of === "macaddr" || type.of === "float32" ? 0n : memory.view.getBigUint64(offset, true);
  switch (type.of) {
    case "float32":
      return floatText(memory.view.getFloat32(offset, true), 9);
    case "float64":
      return floatText(memory.view.getFloat64(offset, true), 17);
    case "float80":
      return floatText(float80(memory.view, memory.bytes, offset), 17);
    case "ksym": {
      const frame = services.symbols.kernel(value);
      if (type.symbol === undefined) return frame.symbol ?? (value === 0n ? "0" : addressName(value));
      if (isOfD(type.symbol)) return symbolText(inKernel(frame), type.symbol);
      return tapText(frame, type.symbol, "kernel");
    }
    case "usym": {
      const pid = memory.view.getUint32(offset + 8, true);
      const frame = services.symbols.user(value, pid);
      if (type.symbol === undefined) return frame.symbol ?? (value === 0n ? "0" : addressName(value));
      if (isOfD(type.symbol)) return symbolText(frame, type.symbol);
      if (type.symbol === "name" || type.symbol === "data" || type.symbol === "owner")
        return tapText(frame, type.symbol);
      return tapText(services.symbols.inlined?.(value, pid)[0] ?? frame, type.symbol);
    }
    case "inet":
      return addressText(memory.view.getUint32(offset, true), memory.bytes.subarray(offset + 8, offset + 24));
    case "macaddr":
      return Array.from(memory.bytes.subarray(offset, offset + 6), (b) =>
        b.toString(16).padStart(2, "0").toUpperCase(),
      ).join(":");
    case "username":
      return services.symbols.userName(Number(value & 0xffffffffn));
    case "cgroup_path":
      return services.symbols.cgroupPath(value);
    case "strerror":
      return errorText(Number(BigInt.asIntN(64, value)));
    case "process_name":
      return services.symbols.processName?.(Number(value & 0xffffffffn)) ?? "";
    case "signal_name":
      return signalText(BigInt.asIntN(64, value));
    case "syscall_name":
      return services.symbols.systemCallName(Number(value));
    case "probe":
      return probeText(type, value, services);
    case "timestamp": {
      const format = services.plan.timeFormats[memory.view.getUint32(offset + 8, true)] ?? "";
      const clock = memory.view.getUint32(offset + 12, true);
      const milliseconds =
        Number((clock === 0 ? value + services.bootToWall : BigInt.asIntN(64, value)) / 1000n) / 1000;
      return times().strftime(format, milliseconds, Math.floor(positiveModulo(milliseconds * 1000, 1e6)), clock === 2);
    }
  }
}

/** What is in no module is in the kernel itself. */
function inKernel(frame: Frame): Frame {
  return frame.symbol === undefined ? frame : { module: "vmlinux", ...frame };
}

/** As D writes it; of a file without symbols the address behind it, of no file that alone. */
function symbolText({ address, symbol, offset = 0, module }: Frame, part: PartOfD): string {
  if (module === undefined) return addressName(address);
  if (part === "module") return basename(module);
  const within = part === "place" && offset > 0 ? `+0x${offset.toString(16)}` : "";
  return `${basename(module)}\`${symbol === undefined ? addressName(address) : symbol + within}`;
}

type PartOfD = "function" | "place" | "module";

function isOfD(part: SymbolPart): part is PartOfD {
  return part === "function" || part === "place" || part === "module";
}

/** As SystemTap writes it. `home`: what a symbol in no module is in. */
function tapText(
  { address, symbol, offset = 0, module, source }: Frame,
  part: Exclude<SymbolPart, PartOfD>,
  home?: string,
): string {
  const owner = module === undefined ? (symbol === undefined ? undefined : home) : basename(module);
  switch (part) {
    case "name":
      return symbol ?? addressName(address);
    case "owner":
      return owner ?? "<unknown>";
    case "data": {
      const name = symbol === undefined ? addressName(address) : `${symbol}+0x${offset.toString(16)}`;
      return owner === undefined ? name : `${name} [${owner}]`;
    }
    case "file":
      return source?.file ?? addressName(address);
    case "line":
      return source === undefined || source.line === 0 ? addressName(address) : String(source.line);
    case "file and line":
      return source === undefined || source.line === 0 ? addressName(address) : `${source.file}:${source.line}`;
  }
}

/** An address that nothing is known of. */
function addressName(address: bigint): string {
  return `0x${address.toString(16)}`;
}

/** The shortest digits that give the same number again in `digits` at most. */
export function floatText(value: number, digits: 9 | 17): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  if (Object.is(value, -0)) return "-0";
  if (digits === 17) return String(value);
  for (let precision = 1; precision < digits; precision++) {
    const short = Number(value.toPrecision(precision));
    if (Math.fround(short) === value) return String(short);
  }
  return String(value);
}

function positiveModulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

const familyInet = 2;
const familyInet6 = 10;

/** Of another family: nothing. */
function addressText(family: number, bytes: Uint8Array): string {
  if (family === familyInet) return bytes.subarray(0, 4).join(".");
  if (family !== familyInet6) return "";
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[i * 2] << 8) | bytes[i * 2 + 1]);
  // An embedded IPv4 address keeps its dots, as inet_ntop(3) prints it.
  const mapped = groups.slice(0, 5).every((g) => g === 0) && groups[5] === 0xffff;
  if (mapped) return `::ffff:${bytes.subarray(12, 16).join(".")}`;
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const hex = (part: number[]) => part.map((g) => g.toString(16)).join(":");
  if (best.start < 0) return hex(groups);
  return `${hex(groups.slice(0, best.start))}::${hex(groups.slice(best.start + best.length))}`;
}

function errorText(errno: number): string {
  return systemNames().errorMessages.get(Math.abs(errno)) ?? `Unknown error ${errno}`;
}

function signalText(signal: bigint): string {
  if (signal >= 34n && signal <= 64n) return `Real-time signal ${signal - 34n}`;
  return signal < 0n || signal > 64n
    ? "N/A"
    : (systemNames().signalMessages[Number(signal)] ?? `Unknown signal ${signal}`);
}

/** An aggregation that is a number or a record, as text; `divisor` scales what is no count within a record. */
export function aggregateText(type: AggregateType, words: readonly bigint[], divisor: bigint): string {
  const { shape } = aggregationOf(type);
  if (shape !== "number" && shape !== "record") throw new InternalError(`${type.aggregate}() is not a single line`);
  const shown = shownResults(type, words, divisor).map(
    ({ name, value }) => [name, typeof value === "number" ? floatText(value, 17) : String(value)] as const,
  );
  return shape === "number" ? shown[0][1] : `{ ${shown.map(([name, text]) => `.${name} = ${text}`).join(", ")} }`;
}

/** The results that are shown: all of a record, of a number the one that it is. */
export function shownResults(
  type: AggregateType,
  words: readonly bigint[],
  divisor: bigint,
): { readonly name: string; readonly value: bigint | number }[] {
  const { shape, results, value: own } = aggregationOf(type);
  return Object.entries(results(type)).flatMap(([name, result]) => {
    if (shape === "number" && name !== own) return [];
    const value = resultOf(type, result, words);
    if (typeof value === "number") return { name, value: value / Number(divisor) };
    const counts = "part" in result && aggregateLayout(type).parts[result.part].part.kind === "count";
    return { name, value: shape === "record" && counts ? value : value / divisor };
  });
}

export function readWords({ view }: Memory, offset: number, size: number): bigint[] {
  return Array.from({ length: size / 8 }, (_, i) => view.getBigUint64(offset + i * 8, true));
}

function aggregateSize(type: AggregateType): number {
  return elementSize(type);
}
