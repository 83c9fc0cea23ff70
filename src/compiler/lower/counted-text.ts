// Text of a known length, which may hold zero bytes. Wherever else it goes it ends at the first: those within are written
// as bytes that stand for one (text-bytes.ts).
import type { Call } from "../../language/program.ts";
import { sizeOf } from "../../language/layout.ts";
import { zeroWithin } from "../../language/text-bytes.ts";
import type { Place, Value } from "../ir/ir.ts";
import { addressOf, constantString, probeSpace } from "./memory.ts";
import { endedText } from "./equality.ts";
import type { FunctionState } from "./state.ts";
import { pointed } from "./call-arguments.ts";

/** Zero bytes of a text that are written; text from one more on is left out, and said to be cut. */
const mostZeros = 16;

const unreadable = endedText("<unreadable>");

/** Reads the text as if it had no zero byte; what is behind one that it had is read in another round. */
export function countedText(f: FunctionState, e: Call): Place {
  const { build } = f;
  const [data, length] = e.args;
  const memory = pointed(f, data);
  if (memory.at !== "memory") return f.fault(data.span, "text that is not in memory");
  const [address, total] = [addressOf(f, memory), f.value(length)];
  const space = probeSpace(memory.space);
  const capacity = sizeOf(e.type);
  const [one, most] = [build.constant(1n), build.constant(BigInt(capacity - 1))];
  const read = (to: Place, skipped: Value): Value => {
    const copied = build.newValue();
    const [from, limit] = [build.binary("add", address, skipped), build.binary("sub", total, skipped)];
    const source = { kind: "string", space, address: from, limit, size: capacity, padded: true } as const;
    build.emit({ op: "fill", to, source, length: copied });
    return copied;
  };
  const text = f.slot("text", e.type);
  const [written, consumed, left] = [build.newVariable(), build.newVariable(), build.newVariable()];
  const first = read(text, build.constant(0n));
  build.write(written, first);
  build.write(consumed, first);
  build.write(left, build.constant(BigInt(mostZeros)));
  const [head, cut, exit] = [build.newBlock(), build.newBlock(), build.newBlock()];
  build.jump(head);
  build.start(head);
  const guard = build.guard(mostZeros);
  build.start(guard.exit);
  build.jump(cut);
  build.start(guard.body);
  for (const [so, end] of [
    [consumed, total],
    [written, most],
  ] as const) {
    const edges = build.branch(build.compare("ult", build.read(so), end));
    build.start(edges.otherwise);
    build.jump(exit);
    build.start(edges.then);
  }
  const ended = build.branch(build.compare("ne", build.read(left), build.constant(0n)));
  build.start(ended.otherwise);
  build.jump(cut);
  build.start(ended.then);
  // Where a part of the memory cannot be read, nothing was, and what is here is no zero byte.
  const here = build.binary("add", address, build.read(consumed));
  const failed = build.newValue();
  const byte = f.slotOf("byte", 1);
  build.emit({ op: "fill", to: byte, source: { kind: "memory", space, address: here, size: 1 }, failed });
  const found = build.give((result) => ({ op: "load", result, from: byte, size: 1, signed: false }));
  const isZero = build.branch(build.compare("eq", build.binary("or", found, failed), build.constant(0n)));
  build.start(isZero.otherwise);
  append(f, text, capacity, [constantPlace(f, unreadable), unreadable.length]);
  build.jump(exit);
  build.start(isZero.then);
  const zero = Uint8Array.of(...zeroWithin, 0);
  const rest = f.slot("text", e.type);
  const skipped = build.binary("add", build.read(consumed), one);
  const copied = read(rest, skipped);
  append(f, text, capacity, [constantPlace(f, zero), zero.length], [rest, capacity]);
  build.write(consumed, build.binary("add", skipped, copied));
  const longer = build.constant(BigInt(zeroWithin.length));
  build.write(written, build.binary("add", build.binary("add", build.read(written), longer), copied));
  build.write(left, build.binary("sub", build.read(left), one));
  build.jump(head);
  build.seal(head);
  build.seal(cut);
  build.start(cut);
  const trailer = endedText(f.module.checked.config.stringTrailer);
  append(f, text, capacity, [constantPlace(f, trailer), trailer.length]);
  build.jump(exit);
  build.seal(exit);
  build.start(exit);
  return text;
}

function constantPlace(f: FunctionState, bytes: Uint8Array): Place {
  const place = f.slotOf("constant", bytes.length);
  f.build.emit({
    op: "fill",
    to: place,
    source: constantString(bytes, { kind: "string", capacity: bytes.length }),
  });
  return place;
}

/** Puts texts behind another, as far as there is room. */
function append(
  f: FunctionState,
  text: Place,
  capacity: number,
  ...parts: readonly (readonly [Place, number])[]
): void {
  const { build } = f;
  let [left, leftCapacity] = [text, capacity];
  for (const [right, rightCapacity] of parts) {
    const size = leftCapacity + rightCapacity - 1;
    const to = f.slotOf("text", size);
    build.emit({ op: "concat-strings", to, capacity: size, left, leftCapacity, right, rightCapacity });
    [left, leftCapacity] = [to, size];
  }
  build.emit({ op: "cut-string", to: text, capacity, text: left, length: build.constant(BigInt(capacity - 1)) });
}
