// What fails: in a `try` each thing that can fail branches, and goes on in the handler of errors. Outside of one nothing
// is looked at, and nothing is emitted, unless the language's rules end the handler there.
import { InternalError } from "../../base/internal-error.ts";
import { catchable, type FaultKind } from "../../language/faults.ts";
import type { Span } from "../../language/diagnostic.ts";
import { fieldLayout, sizeOf } from "../../language/layout.ts";
import { parsePrintf } from "../../language/printf.ts";
import type { Expression, Statement } from "../../language/program.ts";
import type { Rules } from "../../language/rules.ts";
import { textBytes } from "../../language/text-bytes.ts";
import { u64 } from "../../language/types.ts";
import { sourceSize, type Instruction, type Place, type Source, type Value } from "../ir/ir.ts";
import { leaveHandler } from "./exits.ts";
import { at, constantString } from "./memory.ts";
import { lazy } from "../../base/lazy.ts";
import { placeIn } from "./script-places.ts";
import { send, type Field } from "./send.ts";
import type { Catch, FunctionState } from "./state.ts";

// Loaded for languages that have words of their own.
const telling = lazy<typeof import("./told-faults.ts")>(() => require("./told-faults.ts"));

/** `try`: ways that fail in the body meet at the handler's block. */
export function tryCatch(f: FunctionState, s: Extract<Statement, { kind: "try" }>): void {
  const { build } = f;
  const [handler, join] = [build.newBlock(), build.newBlock()];
  const outer = f.catching;
  const slot = s.caught?.slot;
  f.catching = {
    owner: f,
    block: handler,
    kinds: s.kinds === undefined ? catchable : new Set(s.kinds),
    tells: s.tells === true,
    ...(slot === undefined ? {} : { error: f.home(slot) }),
    ...(outer === undefined ? {} : { outer }),
  };
  f.run(s.body);
  f.catching = outer;
  build.jump(join);
  build.seal(handler);
  build.start(handler);
  f.run(s.handler);
  build.jump(join);
  build.seal(join);
  build.start(join);
}

/** What ends a handler when nobody sees it, by the language's rules. */
function endsHandlers(kind: FaultKind, { integers, maps, failedRead }: Rules): boolean {
  switch (kind) {
    case "read":
    case "index":
      return failedRead === "fault";
    case "division":
      return integers.byZero === "fault";
    case "key":
    case "empty":
      return maps.missing === "fault";
    case "full":
    case "error":
      return false;
  }
}

/** Whether something that fails here is looked at. */
function matters(f: FunctionState, kind: FaultKind): boolean {
  return catchOf(f, kind) !== undefined || endsHandlers(kind, f.module.checked.program.rules);
}

/** Who sees that something of a kind fails here. */
function catchOf(f: FunctionState, kind: FaultKind): Catch | undefined {
  let target = f.catching;
  while (target !== undefined && !target.kinds.has(kind)) target = target.outer;
  return target;
}

/** On the way on which something failed: goes to whoever sees it, and nothing follows. False when nobody does. */
export function raise(
  f: FunctionState,
  kind: FaultKind,
  message: string,
  span: Span,
  address?: Value,
  most = 0,
): boolean {
  const target = catchOf(f, kind);
  if (target === undefined) return endHandler(f, kind, message, span, address);
  const words = f.rules.faults === undefined ? message : telling().wordsOf(f, { kind, most, otherwise: message }, span);
  if (target.tells) {
    const fields = address === undefined ? [] : [addressField(address)];
    send(f, { span }, { kind: "printf", format: parsePrintf(telling().told(f, words, span)), to: "error" }, fields);
  }
  const text = textBytes(words);
  tell(f, target, kind, span, address, () => {
    const bytes = new Uint8Array(text.length + 1);
    bytes.set(text);
    return { kind: "constant", bytes };
  });
  goTo(f, target);
  return true;
}

/** Where the language has it so, says what failed and ends the handler. */
function endHandler(f: FunctionState, kind: FaultKind, message: string, span: Span, address?: Value): boolean {
  if (!endsHandlers(kind, f.module.checked.program.rules)) return false;
  const text = message.replaceAll("%", "%%");
  const format = parsePrintf(address === undefined ? text : `${text} at 0x%lx`);
  send(f, { span }, { kind: "printf", format, to: "error" }, address === undefined ? [] : [addressField(address)]);
  leaveHandler(f);
  return true;
}

const addressField = (value: Value): Field => ({
  name: "address",
  type: u64,
  source: () => ({ kind: "value", value, width: 8 }),
});

/** `throw` */
export function throwError(f: FunctionState, s: Extract<Statement, { kind: "throw" }>): void {
  const target = catchOf(f, "error");
  const { value } = s;
  if (target === undefined || target.tells) {
    const message: Expression =
      value.type.kind === "string"
        ? value
        : { kind: "member", object: value, name: "message", nameSpan: s.span, span: s.span, type: messageType(value) };
    const format = parsePrintf(target === undefined ? "%s" : `%s${telling().told(f, "", s.span)}`);
    send(f, s, { kind: "printf", format, to: "error" }, [
      { name: "message", type: message.type, source: () => f.source(message, message.type, false) },
    ]);
    if (target === undefined) return leaveHandler(f);
  }
  if (value.type.kind === "string") tell(f, target, "error", s.span, undefined, () => ({ kind: "value", value }));
  else {
    // An error that was caught is that error again.
    const home = f.errorHome(target);
    if (home?.kind === "memory") f.into(value, home.type, home.place);
  }
  goTo(f, target);
}

function messageType({ type }: Expression): Expression["type"] {
  const field = type.kind === "record" ? type.fields.find(({ name }) => name === "message") : undefined;
  return field?.type ?? { kind: "unknown" };
}

type Message =
  | { readonly kind: "constant"; readonly bytes: Uint8Array }
  | { readonly kind: "value"; readonly value: Expression };

/** Writes what the handler of errors sees, when it looks. */
function tell(
  f: FunctionState,
  target: Catch,
  kind: FaultKind,
  span: Span,
  address: Value | undefined,
  message: () => Message,
): void {
  const home = f.errorHome(target);
  if (home?.kind !== "memory" || home.type.kind !== "record") return;
  const { build } = f;
  const place = { ...placeIn(f.module.checked.program.source, span), instruction: build.instructions };
  const { fields } = home.type;
  const { offsets, size } = fieldLayout(fields.map(({ type }) => type));
  build.emit({ op: "zero", at: home.place, size });
  fields.forEach(({ name, type }, i) => {
    const to = at(home.place, offsets[i]);
    switch (name) {
      case "kind": {
        const bytes = new Uint8Array(sizeOf(type));
        bytes.set(textBytes(kind));
        return build.emit({ op: "fill", to, source: { kind: "constant", bytes, size: bytes.length } });
      }
      case "message": {
        const text = message();
        if (text.kind === "value") return f.into(text.value, type, to);
        if (type.kind === "string") build.emit({ op: "fill", to, source: constantString(text.bytes, type) });
        return;
      }
      case "address":
        return build.emit({ op: "store", to, value: address ?? build.constant(0n), size: 8 });
      case "line":
      case "column":
      case "instruction":
        return build.emit({ op: "store", to, value: build.constant(BigInt(place[name])), size: 8 });
      default:
        throw new InternalError(`an error has no ${name}`);
    }
  });
}

/** To a handler of errors, out of the loops over maps in between. */
export function goTo(f: FunctionState, target: Catch): void {
  if (target.owner !== f) return f.leaveLoop(target);
  f.build.jump(target.block);
  f.build.startUnreachable();
}

/** Goes on where something is there (a value that is not 0), and fails otherwise, where anybody looks. */
export function orFails(
  f: FunctionState,
  kind: FaultKind,
  there: () => Value,
  message: string,
  span: Span,
  address?: Value,
): void {
  if (!matters(f, kind)) return;
  unlessFailed(f, f.build.compare("eq", there(), f.build.constant(0n)), () => {
    raise(f, kind, message, span, address);
  });
}

/** Goes on only where a value is 0. */
function unlessFailed(f: FunctionState, failed: Value, fail: () => void): void {
  const edges = f.build.branch(failed);
  f.build.start(edges.then);
  fail();
  f.build.start(edges.otherwise);
}

/**
 * What is left to emit of an instruction in a `try`, when what it may fail with was looked at. Undefined: nothing.
 */
export function looked(f: FunctionState, i: Instruction, span: Span | undefined): Instruction | undefined {
  if (span === undefined) return i;
  switch (i.op) {
    case "read": {
      const { space, address, offset, size, signed, result } = i;
      if (!matters(f, "read")) return i;
      if (space === "typed") {
        // The verifier knows what it points to, if anywhere.
        const nowhere = f.build.compare("eq", address, f.build.constant(0n));
        unlessFailed(f, nowhere, () => {
          raise(f, "read", `cannot read ${size} bytes of kernel memory`, span, f.build.constant(BigInt(offset)));
        });
        return i;
      }
      const from = f.slotOf("read", 8);
      const where = f.build.binary("add", address, f.build.constant(BigInt(offset)));
      fill(f, { op: "fill", to: from, source: { kind: "memory", space, address: where, size } }, span);
      return { op: "load", result, from, size, signed };
    }
    case "fill":
      return i.failed === undefined ? filled(f, i, span) : i;
    case "fill-element":
      return { ...i, source: madeFirst(f, i.source, span) };
    case "emit":
      return { ...i, fields: i.fields.map((field) => madeFirst(f, field, span)) };
    case "map-store": {
      const source = madeFirst(f, i.source, span);
      makeRoom(f, i, span);
      return { ...i, source };
    }
    case "map-add":
    case "aggregate":
      makeRoom(f, i, span);
      return i;
    case "entry-load":
    case "entry-copy":
      if (matters(f, "key"))
        unlessFailed(f, f.build.compare("eq", i.entry, f.build.constant(0n)), () => {
          raise(f, "key", `${f.spelling.map(f.module.maps[i.map].name)} has no such key`, span);
        });
      return i;
    default:
      return i;
  }
}

type Reading = Extract<Source, { kind: "string" | "memory" | "buffer" }>;

function reads(source: Source): source is Reading {
  return source.kind === "string" || source.kind === "memory" || source.kind === "buffer";
}

type Fill = Extract<Instruction, { op: "fill" }>;

/** Reads, and goes on only where that was possible. */
function fill(f: FunctionState, i: Fill, span: Span): void {
  const { source } = i;
  const { build } = f;
  const failed = build.newValue();
  build.emit({ ...i, failed });
  unlessFailed(f, failed, () => {
    if (!reads(source)) return;
    const what = source.kind === "string" ? "a string" : source.kind === "buffer" ? "bytes" : `${source.size} bytes`;
    raise(f, "read", `cannot read ${what} of ${source.space} memory`, span, source.address);
  });
}

function filled(f: FunctionState, i: Fill, span: Span): Instruction | undefined {
  const { source, to } = i;
  if (!reads(source) || !matters(f, "read")) return i;
  const { length, ...rest } = i;
  fill(f, rest, span);
  if (length === undefined) return undefined;
  return source.kind === "buffer"
    ? { op: "load", result: length, from: to, size: 4, signed: false }
    : { op: "string-length", result: length, text: to, capacity: sourceSize(source) };
}

/** What is read is read before anything is done with it. */
function madeFirst(f: FunctionState, source: Source, around: Span): Source {
  if (!reads(source) || !matters(f, "read")) return source;
  const span = f.written.get(source) ?? around;
  const size = sourceSize(source);
  const place = f.slotOf("read", size);
  const padded = source.kind === "memory" ? source : { ...source, padded: true };
  fill(f, { op: "fill", to: place, source: padded }, span);
  return { kind: "copy", from: place, size };
}

/** A key that the map has no room for is noticed before anything is put there. */
function makeRoom(f: FunctionState, { map, key }: { readonly map: number; readonly key?: Place }, span: Span): void {
  const { evicts, name, entries } = f.module.maps[map];
  if (key === undefined || evicts) return;
  const target = catchOf(f, "full");
  // Where nobody wrote a `try`, it is a mistake only of a map that says how much it holds.
  if (target === undefined || (target.tells && f.module.checked.maps[map]?.entries === undefined)) return;
  const failed = f.build.give((result) => ({ op: "map-make", result, map, key }));
  unlessFailed(f, failed, () => {
    raise(f, "full", `${f.spelling.map(name)} is full`, span, undefined, entries);
  });
}
