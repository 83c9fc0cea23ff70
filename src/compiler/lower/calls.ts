// Functions that give a value.
import type { Call, Expression } from "../../language/program.ts";
import { i64 } from "../../language/types.ts";
import { hostText, isHostText, parameterAt } from "../../language/host-texts.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Instruction, Place, Value, Width } from "../ir/ir.ts";
import { parseAddress } from "../javascript/parse-address.ts";
import { idValue, plainBuiltin, userSymbol } from "./builtins.ts";
import { capacityOf, endedText, equalStrings, textPlace } from "./equality.ts";
import { argumentPlace, argumentValue, contextOf, fetchValue } from "./fetch.ts";
import { programVariable } from "./program-variable.ts";
import { copyEntry, entryValue, hasEntry, keyPlace, mapOf } from "./map-access.ts";
import { at, copy, loadBytes, part, placeOf } from "./memory.ts";
import { pathText } from "./paths.ts";
import { isRegister, widthOf } from "./registers.ts";
import { lazy } from "../../base/lazy.ts";
import { convert } from "./scalars.ts";
import { stackSource } from "./stacks.ts";
import type { FunctionState, Located } from "./state.ts";
import { bufferOf, cutText, internetAddress, textAt, timestamp } from "./made-texts.ts";
import { clock, literalNumber, literalText, mapArgument, pointed, writeBytes } from "./call-arguments.ts";
import { writtenBytes, writtenNumber } from "./written-memory.ts";

// Loaded for addresses as texts.
const hexTexts = lazy<typeof import("./hex-text.ts")>(() => require("./hex-text.ts"));
const countedTexts = lazy<typeof import("./counted-text.ts")>(() => require("./counted-text.ts"));
const floats = lazy<typeof import("./floats.ts")>(() => require("./floats.ts"));

// ── numbers ──

function packet(f: FunctionState, e: Call): Value {
  if (!contextOf(f)?.kernelTypes) return f.fault(e.span, "skboutput() where the kernel's types are not known");
  const { packetFiles } = f.module;
  const path = literalText(e.args[0]);
  const known = packetFiles.indexOf(path);
  const file = known >= 0 ? known : packetFiles.push(path) - 1;
  const [, skb, length, skipped, whole] = e.args.map((arg, i) => (i === 0 ? f.build.constant(0n) : f.value(arg)));
  return f.build.give((result) => ({ op: "packet", result, file, skb, length, skipped, whole }));
}

export function callValue(f: FunctionState, e: Call): Value {
  const { build } = f;
  const { name, args } = e;
  const zero = (): Value => build.constant(0n);
  switch (name) {
    // maps
    case "delete":
      return deleteEntry(f, e);
    case "has_key":
      return hasKey(f, e);
    case "find":
      return find(f, e);
    case "len":
    case "stack_frame":
      return length(f, e);

    // text and bytes
    case "strlen":
      return textLength(f, args[0]);
    case "strcap":
      return build.constant(BigInt(capacityOf(args[0].type)));
    case "strncmp":
      return equalStrings(f, args[0], args[1], Number(literalNumber(f, args[2])));
    case "memcmp":
      return compareMemory(f, e);
    case "strcontains":
      return build.compare("sge", findText(f, args[0], args[1]), zero());
    case "strstr":
      return findText(f, args[0], args[1]);
    case "write_memory":
      return writtenNumber(f, e);
    case "host_text":
      return build.give((result) => ({ op: "host-text", ...hostTextOf(f, e), result }));
    case "floor":
    case "ceil":
    case "trunc":
    case "round":
      return floats().withoutFraction(
        f,
        e.name as "floor" | "ceil" | "trunc" | "round",
        convert(f, f.value(args[0]), args[0].type, e.type),
      );
    case "bswap": {
      // As wide as the checker found it: a literal is narrower than its type.
      const width = widthOf(e.type);
      const value = f.value(args[0]);
      if (width === 1) return convert(f, value, args[0].type, e.type);
      return build.give((result) => ({
        op: "swap-bytes",
        result,
        value,
        bits: width === 2 ? 16 : width === 4 ? 32 : 64,
      }));
    }

    // addresses
    case "kptr":
    case "uptr":
      return f.value(args[0]);
    case "uaddr": {
      const symbol = contextOf(f)?.userSymbol?.(literalText(args[0]));
      return symbol === undefined || typeof symbol === "string"
        ? f.fault(e.span, "a symbol of a program that is not known")
        : fetchValue(f, symbol.fetch);
    }
    case "var":
      return argumentValue(f, programVariable(f, e));
    case "percpu_kaddr": {
      const symbol = literalText(args[0]);
      const cpu = args[1] === undefined ? {} : { cpu: f.value(args[1]) };
      return build.give((result) => ({ op: "percpu-address", result, symbol, ...cpu }));
    }
    case "reg": {
      const fetch = contextOf(f)?.registers?.get(literalText(args[0]));
      return fetch === undefined ? f.fault(e.span, "a register that the context does not have") : fetchValue(f, fetch);
    }
    case "is_err":
      return build.compare("uge", f.value(args[0]), build.constant(-4095n));
    case "skboutput":
      return packet(f, e);
    case "socket_cookie": {
      const socket = f.value(args[0]);
      return build.give((result) => ({ op: "socket-cookie", result, socket }));
    }

    // clocks and ids with a choice
    case "nsecs":
      return plainBuiltin(f, clock(args[0]));
    case "cgroup":
      return plainBuiltin(f, `cgroup-at:${Number(literalNumber(f, args[0]))}`);
    case "pid":
    case "tid":
      return idValue(f, name, args[0].kind === "identifier" && args[0].name === "init");

    // numbers with a name
    case "probe_part": {
      const probe = f.value(args[0]);
      if (e.type.kind !== "named" || e.type.part !== "flow") return probe;
      return build.binary("or", build.binary("shl", plainBuiltin(f, "cpu"), build.constant(32n)), probe);
    }
    case "ksym":
    case "ksym_part":
    case "cgroup_path":
    case "strerror":
    case "signal_name":
    case "comm":
    case "syscall_name":
      return f.value(args[0]);
    case "macaddr": {
      const bytes = pointed(f, args[0]);
      const low = loadBytes(f, bytes, 4, false);
      const high = loadBytes(f, part(f, bytes, args[0].type, 4), 2, false);
      return build.binary("or", build.binary("shl", high, build.constant(32n)), low);
    }

    // acts that tell how they went
    case "write_user": {
      const address = f.value(args[0]);
      const size = Number(literalNumber(f, args[2]));
      const from = f.slotOf("written", Math.max(1, size));
      build.emit({ op: "zero", at: from, size: Math.max(1, size) });
      writeBytes(f, args[1], size, from);
      const failed = build.give((result) => ({ op: "write-user", result, address, from, size }));
      return build.compare("eq", failed, zero());
    }
    case "write_user_text": {
      const [to, of, end] = args;
      const address = f.value(to);
      const size = sizeOf(of.type);
      const from = f.slot("written", of.type);
      build.emit({ op: "fill", to: from, source: f.source(of, of.type, true) });
      const last = f.value(end);
      const failed = build.give((result) => ({ op: "write-user", result, address, from, size, last }));
      return build.compare("eq", failed, zero());
    }
    default:
      return f.fault(e.span, "a function without code");
  }
}

function deleteEntry(f: FunctionState, e: Call): Value {
  const access = mapArgument(f, e);
  const key = keyPlace(f, access);
  const map = { map: mapOf(f, access).index, ...(key === undefined ? {} : { key }) };
  return f.build.give((result) => ({ op: "map-delete", result, ...map }));
}

function hasKey(f: FunctionState, e: Call): Value {
  const access = mapArgument(f, e);
  return hasEntry(f, mapOf(f, access).index, keyPlace(f, access));
}

export function find(f: FunctionState, e: Call): Value {
  const { build } = f;
  const join = build.newBlock();
  const found = findEither(f, e, join, join);
  build.seal(join);
  build.start(join);
  return found;
}

/**
 * Goes one of two ways, which the caller seals: an entry is in the variable on the first. Gives whether there is one.
 */
export function findEither(f: FunctionState, e: Call, then: number, otherwise: number): Value {
  const { build } = f;
  const access = mapArgument(f, e);
  const variable = e.args[e.args.length - 1];
  if (variable.kind !== "variable" || variable.slot === undefined) return f.fault(e.span, "find() without a variable");
  const { index, map } = mapOf(f, access);
  const key = keyPlace(f, access);
  const found = hasEntry(f, index, key);
  const known = f.frame.homes.has(variable.slot);
  const home = f.home(variable.slot);
  const inMemory = home.kind === "memory" && !isRegister(home.type);
  // Declared here, and perhaps never filled: then it reads as zeros.
  if (inMemory && !known) build.emitFirst({ op: "zero", at: home.place, size: Math.max(1, sizeOf(home.type)) });
  const edges = build.branch(found);
  build.start(edges.then);
  if (inMemory) {
    const value = map.value.kind === "aggregate" ? access.type : map.value;
    const copied = f.slot("found", value);
    copyEntry(f, index, key, sizeOf(value), copied);
    f.markWritten(home);
    copy(f, { at: "place", place: copied }, value, home.type, home.place);
  } else {
    f.storeHome(home, convert(f, entryValue(f, access, key), access.type, home.type));
  }
  build.jump(then);
  build.start(edges.otherwise);
  build.jump(otherwise);
  return found;
}

export function length(f: FunctionState, e: Call): Value {
  const [subject] = e.args;
  if (subject.kind === "map" && subject.keys.length === 0 && subject.type.kind !== "stack") {
    const { index } = mapOf(f, subject);
    return f.build.give((result) => ({ op: "map-length", result, map: index }));
  }
  const stack = placeOf(f, f.locate(subject), subject.type);
  const frame = e.name === "stack_frame" ? { frame: Number(literalNumber(f, e.args[1])) } : {};
  return f.build.give((result) => ({ op: "stack-length", result, stack, ...frame }));
}

function textLength(f: FunctionState, e: Expression): Value {
  const { build } = f;
  if (e.kind === "string") return build.constant(BigInt(endedText(e.value).length - 1));
  if (e.type.kind === "string") {
    const source = f.source(e, e.type, true);
    if (source.kind === "string") {
      // Reading a text tells its length.
      const to = f.slot("text", e.type);
      const result = build.newValue();
      build.emit({ op: "fill", to, source, length: result });
      return result;
    }
    // What makes a text is run once.
    if (e.kind === "block-expression") {
      const text = f.slot("text", e.type);
      build.emit({ op: "fill", to: text, source });
      return build.give((result) => ({ op: "string-length", result, text, capacity: sizeOf(e.type) }));
    }
  }
  const text = textPlace(f, e);
  return build.give((result) => ({
    op: "string-length",
    result,
    text,
    capacity: capacityOf(e.type) + (e.type.kind === "string" ? 0 : 1),
  }));
}

function findText(f: FunctionState, haystack: Expression, needle: Expression): Value {
  const text = textPlace(f, haystack);
  const literal = needle.kind === "string" ? endedText(needle.value) : undefined;
  const wanted = literal ?? textPlace(f, needle);
  const size = (e: Expression): number => capacityOf(e.type) + (e.type.kind === "string" ? 0 : 1);
  return f.build.give((result) => ({
    op: "find-string",
    result,
    text,
    capacity: size(haystack),
    needle: wanted,
    needleCapacity: literal?.length ?? size(needle),
  }));
}

/**
 * -1, 0 or 1, as the first bytes that differ are: compared in words, whose order in memory is that of big-endian
 * numbers.
 */
function compareMemory(f: FunctionState, e: Call): Value {
  const { build } = f;
  const [left, right, count] = e.args;
  const size = Number(literalNumber(f, count));
  const place = (operand: Expression): Place => {
    const own = f.slotOf("compared", Math.max(1, size));
    f.build.emit({ op: "zero", at: own, size: Math.max(1, size) });
    writeBytes(f, operand, size, own);
    return own;
  };
  const first = place(left);
  const second = place(right);
  const result = build.newVariable();
  const [differ, join] = [build.newBlock(), build.newBlock()];
  const words = [build.newVariable(), build.newVariable()];
  const ordered = (place: Place, offset: number, width: Width): Value => {
    const word = build.give((loaded) => ({
      op: "load",
      result: loaded,
      from: at(place, offset),
      size: width,
      signed: false,
    }));
    return width === 1
      ? word
      : build.give((swapped) => ({
          op: "swap-bytes",
          result: swapped,
          value: word,
          bits: width === 2 ? 16 : width === 4 ? 32 : 64,
        }));
  };
  for (let offset = 0; offset < size;) {
    const left = size - offset;
    const width: Width = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    const [a, b] = [ordered(first, offset, width), ordered(second, offset, width)];
    build.write(words[0], a);
    build.write(words[1], b);
    const edges = build.branch(build.compare("ne", a, b));
    build.start(edges.then);
    build.jump(differ);
    build.start(edges.otherwise);
    offset += width;
  }
  build.write(result, build.constant(0n));
  build.jump(join);
  build.seal(differ);
  if (size > 0) {
    build.start(differ);
    const [a, b] = words.map((word) => build.read(word));
    build.write(result, build.binary("sub", build.compare("ugt", a, b), build.compare("ult", a, b)));
    build.jump(join);
  }
  build.seal(join);
  build.start(join);
  return build.read(result);
}

// ── text, bytes and other memory ──

export function callLocated(f: FunctionState, e: Call): Located {
  const { name, args, type } = e;
  const { build } = f;
  switch (name) {
    case "str":
      return cutText(f, e) ?? { at: "source", source: textAt(f, e) };
    case "buf":
      return bufferOf(f, e);
    case "str_concat": {
      const [left, right] = args.map((arg) => textPlace(f, arg));
      const to = f.slot("text", type);
      const [leftCapacity, rightCapacity] = args.map((arg) => capacityOf(arg.type));
      build.emit({ op: "concat-strings", to, capacity: sizeOf(type), left, leftCapacity, right, rightCapacity });
      return { at: "place", place: to };
    }
    case "counted_text":
      return { at: "place", place: countedTexts().countedText(f, e) };
    case "hex_text":
      return { at: "place", place: hexTexts().hexText(f, f.value(args[0])) };
    case "write_memory":
      if (isRegister(type)) break;
      return writtenBytes(f, e);
    case "host_text": {
      if (isRegister(type)) break;
      const to = f.slot("text", type);
      build.emit({ op: "host-text", ...hostTextOf(f, e), to, capacity: sizeOf(type) });
      return { at: "place", place: to };
    }
    case "path": {
      const memory = pointed(f, args[0]);
      if (memory.at !== "memory") return f.fault(args[0].span, "path() of what is not in memory");
      return pathText(f, e, memory);
    }
    case "kstack":
    case "ustack":
    case "dw_ustack":
      return { at: "source", source: stackSource(f, e) };
    case "comm":
      return { at: "source", source: { kind: "comm" } };
    case "usym":
    case "usym_part":
      return { at: "place", place: userSymbol(f, type, f.value(args[0])) };
    case "ntop":
      return { at: "place", place: internetAddress(f, e) };
    case "pton": {
      const bytes = parseAddress(new TextEncoder().encode(literalText(args[0])));
      return { at: "source", source: { kind: "constant", bytes, size: bytes.length } };
    }
    case "strftime":
      return { at: "place", place: timestamp(f, e) };
    case "var":
      if (isRegister(type)) break;
      return argumentPlace(f, programVariable(f, e));
    default:
  }
  if (isRegister(type))
    return { at: "source", source: { kind: "value", value: callValue(f, e), width: widthOf(type) } };
  return f.fault(e.span, "a function without code");
}

function hostTextOf(
  f: FunctionState,
  { args: [name, ...given], span }: Call,
): Pick<Extract<Instruction, { op: "host-text" }>, "name" | "args" | "shown"> {
  if (name.kind !== "identifier" || !isHostText(name.name))
    return f.fault(span, "a computation on texts without a name");
  const spec = hostText(name.name);
  const args = given.map((arg, i) => {
    if (isRegister(arg.type)) return convert(f, f.value(arg), arg.type, i64);
    if (parameterAt(spec, i) === "bytes")
      return { text: placeOf(f, f.locate(arg), arg.type), capacity: sizeOf(arg.type) };
    return { text: textPlace(f, arg), capacity: capacityOf(arg.type) + (arg.type.kind === "string" ? 0 : 1) };
  });
  return { name: name.name, args, ...(spec.shows === true ? { shown: given[0].type } : {}) };
}
