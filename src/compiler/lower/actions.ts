// Calls that do something: events for the host, and acts on the traced process.
import { parsePrintf, type PrintfConversion, type PrintfFormat } from "../../language/printf.ts";
import type { Call, Expression, MapAccess, MapLayout } from "../../language/program.ts";
import { sizeOf } from "../../language/layout.ts";
import type { StringType, Type } from "../../language/types.ts";
import { i64, integer, u64 } from "../../language/types.ts";
import type { EventAction } from "../plan.ts";
import { literalText, pointed } from "./call-arguments.ts";
import type { Value } from "../ir/ir.ts";
import { idValue, plainBuiltin } from "./builtins.ts";
import { contextOf } from "./fetch.ts";
import { keyPlace, mapOf } from "./map-access.ts";
import { addressOf } from "./memory.ts";
import { send, type Field } from "./send.ts";
import { printInto, printIntoTrace } from "./sequence.ts";
import type { FunctionState } from "./state.ts";

/** Lowers an action; false when the call is not one. */
export function action(f: FunctionState, e: Call): boolean {
  const { args } = e;
  const sequence = contextOf(f)?.program.sequence;
  if (sequence !== undefined && isOfSession(e.name)) {
    printInto(f, e, sequence);
    return true;
  }
  switch (e.name) {
    case "printf":
      formatted(f, e, (format) => ({ kind: "printf", format, to: "output" }));
      return true;
    case "errorf":
      formatted(f, e, (format) => ({ kind: "printf", format, to: "error" }));
      return true;
    case "sayf":
      formatted(f, e, (format) => ({ kind: "printf", format, to: "said" }));
      return true;
    case "warnf":
      formatted(f, e, (format) => ({ kind: "printf", format, to: "warning" }));
      return true;
    case "debugf":
      printIntoTrace(f, e);
      return true;
    case "cat":
      formatted(f, e, (format) => ({ kind: "cat", format }));
      return true;
    case "system":
      formatted(f, e, (format) => ({
        kind: "system",
        format,
        ...(f.rules.trusted?.includes("system") === true ? { trusted: true } : {}),
      }));
      return true;
    case "reopen":
      formatted(f, e, (format) => ({ kind: "reopen", format }));
      return true;
    case "truncate_output":
      send(f, e, { kind: "truncate" }, []);
      return true;
    case "print_rows":
      printRows(f, e);
      return true;
    case "print":
      print(f, e);
      return true;
    case "emit": {
      const [name, record] = args;
      if (record?.kind !== "record") return f.fault(e.span, "emit() without a record");
      send(
        f,
        e,
        { kind: "data", name: literalText(name) },
        record.fields.map((part) => field(f, part.name, part.value)),
      );
      return true;
    }
    case "time":
      send(f, e, { kind: "time", format: args[0] === undefined ? "%H:%M:%S\n" : literalText(args[0]) }, []);
      return true;
    case "join":
      join(f, e);
      return true;
    case "clear":
    case "zero": {
      const [map] = args;
      if (map?.kind !== "map") return f.fault(e.span, "an argument that is not a map");
      const { index } = mapOf(f, map);
      if (e.name === "clear") send(f, e, { kind: "clear-map", map: index }, []);
      else {
        const extremes = f.rules.maps.zeroedExtreme === "farthest" ? ({ extremes: true } as const) : {};
        send(f, e, { kind: "zero-map", map: index, ...extremes }, []);
      }
      return true;
    }
    case "watch":
      send(f, e, { kind: "watch", name: literalText(args[0]) }, [
        field(f, "address", args[1], u64),
        computed("pid", () => idValue(f, "pid")),
        computed("time", () => plainBuiltin(f, "nsecs-boot")),
      ]);
      return true;
    case "unwatch":
      send(f, e, { kind: "unwatch" }, [field(f, "address", args[0], u64), computed("pid", () => idValue(f, "pid"))]);
      return true;
    case "exit": {
      const code = args[0];
      send(f, e, { kind: "exit" }, code === undefined ? [] : [field(f, "code", code, i64)]);
      return true;
    }
    case "signal":
    case "signal_thread": {
      const signal = f.value(args[0]);
      // Needs nothing of the context.
      f.build.emit({ op: "signal", signal, thread: e.name === "signal_thread" });
      return true;
    }
    case "override":
      f.build.emit({ op: "override", value: f.value(args[0]) });
      return true;
    case "static_assert":
    case "assert_str":
      return true;
    case "fail":
      return f.fault(e.span, "fail()");
    default:
      return false;
  }
}

/** What an event asks the session, or whoever listens to it, to do. */
function isOfSession(name: string): boolean {
  return [
    "printf",
    "errorf",
    "sayf",
    "warnf",
    "cat",
    "system",
    "reopen",
    "truncate_output",
    "print",
    "emit",
    "time",
    "join",
    "clear",
    "zero",
    "watch",
    "unwatch",
    "exit",
  ].includes(name);
}

function field(f: FunctionState, name: string, e: Expression, type: Type = e.type): Field {
  return { name, type: plain(type), source: () => f.source(e, type, false) };
}

function computed(name: string, value: () => Value): Field {
  return { name, type: u64, source: () => ({ kind: "value", value: value(), width: 8 }) };
}

/** Without what only the checker cares for. */
function plain(type: Type): Type {
  return type.kind === "integer" ? integer(type.bits, type.signed) : type;
}

function formatted(f: FunctionState, e: Call, make: (format: ReturnType<typeof parsePrintf>) => EventAction): void {
  const [first, ...values] = e.args;
  const { format, left } = withLiterals(parsePrintf(literalText(first)), values);
  send(
    f,
    e,
    make(format),
    left.map((value, i) => field(f, `arg${i}`, value)),
  );
}

/**
 * A format with what `%s` and `%c` say of literals in it: that is the script's own text, as the rest of the format is.
 */
function withLiterals(
  { text, pieces }: PrintfFormat,
  values: readonly Expression[],
): { readonly format: PrintfFormat; readonly left: readonly Expression[] } {
  const left: Expression[] = [];
  let next = 0;
  const written = pieces.map((piece) => {
    if (typeof piece === "string") return piece;
    if (piece.precision === -2) left.push(values[next++]);
    const value = values[next++];
    const literal =
      piece.flags === "" && piece.width === 0 && piece.precision === -1 ? literalIn(piece, value) : undefined;
    if (literal === undefined) left.push(value);
    return literal ?? piece;
  });
  return { format: { text, pieces: written }, left };
}

function literalIn({ letter }: PrintfConversion, value: Expression): string | undefined {
  if (letter === "s" && value.kind === "string" && value.outside !== true) return value.value.replace(/\0.*/s, "");
  if (letter === "c" && value.kind === "integer") return String.fromCharCode(Number(value.value & 0xffn));
  return undefined;
}

function print(f: FunctionState, e: Call): void {
  const [subject, top, divisor] = e.args;
  if (subject.kind === "result" && subject.type.kind === "aggregate")
    return printAggregate(f, e, subject.of, subject.asked);
  if (subject.kind !== "map") {
    send(f, e, { kind: "print-value" }, [field(f, "value", subject)]);
    return;
  }
  const { index, map } = mapOf(f, subject);
  if (subject.keys.length === 0) {
    send(f, e, { kind: "print-map", map: index }, [number(f, "top", top), number(f, "divisor", divisor)]);
    return;
  }
  if (subject.type.kind === "aggregate") {
    return printAggregate(f, e, subject);
  }
  const keys =
    subject.keys.length === map.keys.length
      ? subject.keys.map((key, i) => field(f, `key${i}`, key, map.keys[i]))
      : [field(f, "key", subject.keys[0], { kind: "tuple", elements: map.keys })];
  send(f, e, { kind: "print-entry", map: index }, [...keys, field(f, "value", subject)]);
}

function number(f: FunctionState, name: string, from: Expression | undefined): Field {
  return {
    name,
    type: u64,
    source: () => ({ kind: "value", value: from === undefined ? f.build.constant(0n) : f.value(from), width: 8 }),
  };
}

function printRows(f: FunctionState, e: Call): void {
  const [layout, ...rest] = e.args;
  const maps = rest.filter((arg): arg is MapAccess => arg.kind === "map");
  const divisors = rest.filter((_, i) => i % 2 === 1);
  const [map] = maps;
  const rows = JSON.parse(literalText(layout)) as MapLayout;
  if (map.keys.length > 0) return printAggregate(f, e, map, undefined, divisors[0], rows);
  send(
    f,
    e,
    {
      kind: "print-rows",
      maps: maps.map((one) => mapOf(f, one).index),
      layout: rows,
    },
    divisors.map((divisor) => number(f, "divisor", divisor)),
  );
}

/** What is kept for each CPU on its own is gathered when the event is handled. `of`: which result of a statistic. */
function printAggregate(
  f: FunctionState,
  e: Call,
  subject: MapAccess,
  of?: number,
  divisor?: Expression,
  layout?: MapLayout,
): void {
  const { index, map } = mapOf(f, subject);
  const key: Type = { kind: "tuple", elements: map.keys };
  const from = keyPlace(f, subject);
  const fields: Field[] = [];
  if (from !== undefined)
    fields.push({ name: "key", type: key, source: () => ({ kind: "copy", from, size: sizeOf(key) }) });
  if (divisor !== undefined) fields.push(number(f, "divisor", divisor));
  const more = { ...(of === undefined ? {} : { of }), ...(layout === undefined ? {} : { layout }) };
  send(f, e, { kind: "print-aggregate", map: index, ...more }, fields);
}

/** As many as execve(2) traces usually show. */
const joined = 16;

function join(f: FunctionState, e: Call): void {
  const [strings, separator] = e.args;
  const list = pointed(f, strings);
  if (list.at !== "memory") return f.fault(strings.span, "join() of what is not in memory");
  const space = list.space === "user" ? "user" : "kernel";
  const text: StringType = { kind: "string", capacity: f.module.checked.config.maxStringLength };
  const base = addressOf(f, list);
  const fields = Array.from({ length: joined }, (_, i): Field => ({
    name: `word${i}`,
    type: text,
    source: () => {
      const address = f.build.give((result) => ({
        op: "read",
        result,
        space,
        address: base,
        offset: i * 8,
        size: 8,
        signed: false,
      }));
      return { kind: "string", space, address, size: text.capacity, padded: false };
    },
  }));
  send(f, e, { kind: "join", separator: separator === undefined ? " " : literalText(separator) }, fields);
}
