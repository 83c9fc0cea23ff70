// Texts, bytes, addresses and times that calls make.
import type { Call, Expression } from "../../language/program.ts";
import { constantOf } from "../../language/check/constants.ts";
import type { Type } from "../../language/types.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Place, Source, Value } from "../ir/ir.ts";
import { textPlace } from "./equality.ts";
import { addressOf, at, placeOf, probeSpace, sourceOf } from "./memory.ts";
import { isRegister } from "./registers.ts";
import type { FunctionState, Located } from "./state.ts";
import { clock, literalText, pointed, writeBytes } from "./call-arguments.ts";

/** Text that is here already, up to a length that only running tells. */
export function cutText(f: FunctionState, e: Call): Located | undefined {
  const [subject, wanted] = e.args;
  if (wanted === undefined || subject.type.kind !== "string" || constantOf(wanted) !== undefined) return undefined;
  const text = textPlace(f, subject);
  const length = countedLength(f, wanted);
  const to = f.slot("text", e.type);
  f.build.emit({ op: "cut-string", to, capacity: sizeOf(e.type), text, length });
  return { at: "place", place: to };
}

/** The length counts the end of the text; no length takes nothing. */
function countedLength(f: FunctionState, wanted: Expression): Value {
  const count = f.value(wanted);
  return f.build.binary("sub", count, f.build.compare("ne", count, f.build.constant(0n)));
}

export function textAt(f: FunctionState, e: Call): Source {
  const [subject, wanted] = e.args;
  const { type } = e;
  if (type.kind !== "string") return f.fault(e.span, "str() whose type is not a string");
  if (!isRegister(subject.type)) {
    return sourceOf(f, f.locate(subject), subject.type, type, true);
  }
  const memory = pointed(f, subject);
  if (memory.at !== "memory") return f.fault(subject.span, "str() of what is not in memory");
  let limit: { limit?: Value } = {};
  if (wanted !== undefined && wanted.kind !== "integer") {
    limit = { limit: countedLength(f, wanted) };
  }
  const address = addressOf(f, memory);
  return { kind: "string", space: probeSpace(memory.space), address, ...limit, size: type.capacity, padded: true };
}

export function bufferOf(f: FunctionState, e: Call): Located {
  const { build } = f;
  const [data, wanted] = e.args;
  const { type } = e;
  if (type.kind !== "buffer") return f.fault(e.span, "buf() whose type is not a buffer");
  const { capacity } = type;
  const own = isRegister(data.type) ? capacity : Math.min(capacity, bytesIn(data.type));
  const length = wanted === undefined ? build.constant(BigInt(own)) : f.value(wanted);
  const memory = pointed(f, data);
  if (memory.at === "memory") {
    const address = addressOf(f, memory);
    return {
      at: "source",
      source: { kind: "buffer", space: probeSpace(memory.space), address, length, capacity, padded: true },
    };
  }
  const place = f.slot("buffer", type);
  build.emit({ op: "zero", at: place, size: sizeOf(type) });
  build.emit({ op: "store", to: place, value: length, size: 4 });
  build.emit({
    op: "fill",
    to: at(place, 4),
    source: { kind: "copy", from: placeOf(f, memory, data.type), size: own },
  });
  return { at: "place", place };
}

/** Bytes of an array; a `char[N]` member is a text of N + 1. */
function bytesIn(type: Type): number {
  return type.kind === "string" ? type.capacity - 1 : sizeOf(type);
}

const AF_INET = 2n;
const AF_INET6 = 10n;

export function internetAddress(f: FunctionState, e: Call): Place {
  const { build } = f;
  const address = e.args[e.args.length - 1];
  const place = f.slot("inet", e.type);
  build.emit({ op: "zero", at: place, size: sizeOf(e.type) });
  const number = isRegister(address.type) && address.type.kind !== "pointer";
  const bytes = number ? 4 : address.type.kind === "pointer" ? sizeOf(address.type.target) : bytesIn(address.type);
  const family = e.args.length > 1 ? f.value(e.args[0]) : build.constant(bytes >= 16 ? AF_INET6 : AF_INET);
  build.emit({ op: "store", to: place, value: family, size: 4 });
  const to = at(place, 8);
  if (number) build.emit({ op: "store", to, value: f.value(address), size: 4 });
  else writeBytes(f, address, bytes >= 16 ? 16 : 4, to);
  return place;
}

export function timestamp(f: FunctionState, e: Call): Place {
  const { build } = f;
  const [format, time, of] = e.args;
  const { timeFormats } = f.module;
  const text = literalText(format);
  const known = timeFormats.indexOf(text);
  const index = known >= 0 ? known : timeFormats.push(text) - 1;
  const isUtc = of?.kind === "identifier" && of.name === "utc";
  const realTime =
    of === undefined
      ? time.kind === "call" && time.name === "nsecs" && /tai|wall/.test(clock(time.args[0]))
      : isUtc || clock(of) === "nsecs-wall";
  const place = f.slot("timestamp", e.type);
  build.emit({ op: "store", to: place, value: f.value(time), size: 8 });
  build.emit({ op: "store", to: at(place, 8), value: build.constant(BigInt(index)), size: 4 });
  build.emit({ op: "store", to: at(place, 12), value: build.constant(isUtc ? 2n : realTime ? 1n : 0n), size: 4 });
  return place;
}
