// Values of libraries as their languages show them: elements copied one by one or all at once, and one of several
// alternatives.
import type { ChoiceLiteral, SequenceLiteral } from "../../language/program.ts";
import { mostPlaces, sequenceHeader, sizeOf } from "../../language/layout.ts";
import type { ChoiceType, SequenceType } from "../../language/types.ts";
import type { Place, Value } from "../ir/ir.ts";
import { at } from "./memory.ts";
import type { FunctionState } from "./state.ts";

/** Offsets in the header (SequenceType). */
const brokeOff = 8;
const copiedBytes = 12;

/** Writes a value that the checker made of a library's. */
export function shapedInto(f: FunctionState, e: SequenceLiteral | ChoiceLiteral, place: Place): void {
  if (e.kind === "sequence" && e.type.kind === "sequence") sequenceInto(f, e, e.type, place);
  else if (e.kind === "choice" && e.type.kind === "choice") choiceInto(f, e, e.type, place);
  else f.fault(e.span, "a value of a library whose type is not its own");
}

/** Writes a sequence: what it says of itself, then as many elements as there is room for. */
function sequenceInto(f: FunctionState, e: SequenceLiteral, type: SequenceType, place: Place): void {
  for (const statement of e.before) f.run(statement);
  const length = f.value(e.length);
  if (e.data !== undefined) sideBySide(f, f.value(e.data), length, type, place);
  else walk(f, e, length, type, place);
}

/** One read of what lies side by side. */
function sideBySide(f: FunctionState, address: Value, length: Value, type: SequenceType, place: Place): void {
  const { build } = f;
  const { capacity, stride } = type;
  const bytes = build.newVariable();
  const edges = build.branch(build.compare("ult", length, build.constant(BigInt(capacity))));
  const join = build.newBlock();
  build.start(edges.then);
  build.write(bytes, build.binary("mul", length, build.constant(BigInt(stride))));
  build.jump(join);
  build.start(edges.otherwise);
  // An impossible number has no elements.
  const impossible = build.compare("eq", length, build.constant(-1n));
  build.write(
    bytes,
    build.binary("mul", build.binary("xor", impossible, build.constant(1n)), build.constant(BigInt(capacity * stride))),
  );
  build.jump(join);
  build.seal(join);
  build.start(join);
  build.emit({ op: "zero", at: place, size: sizeOf(type) });
  build.emit({ op: "store", to: place, value: length, size: 8 });
  const copied = build.newValue();
  build.emit({
    op: "fill",
    to: at(place, copiedBytes),
    length: copied,
    source: {
      kind: "buffer",
      space: "user",
      address,
      length: build.read(bytes),
      capacity: capacity * stride,
      padded: false,
    },
  });
  build.emit({ op: "store", to: at(place, copiedBytes), value: copied, size: 4 });
}

/** Element by element: through links, or through a table with free places. */
function walk(f: FunctionState, e: SequenceLiteral, length: Value, type: SequenceType, place: Place): void {
  const { walk: way } = e;
  if (way === undefined) return f.fault(e.span, "elements without a place");
  const { build } = f;
  const { capacity, stride, element } = type;
  const [none, one] = [build.constant(0n), build.constant(1n)];
  build.emit({ op: "zero", at: place, size: sizeOf(type) });
  build.emit({ op: "store", to: place, value: length, size: 8 });
  const [count, left] = [build.newVariable(), build.newVariable()];
  build.write(count, none);
  build.write(left, build.constant(BigInt(way.has === undefined ? capacity : mostPlaces)));
  const [head, body, next, broke, exit] = [
    build.newBlock(),
    build.newBlock(),
    build.newBlock(),
    build.newBlock(),
    build.newBlock(),
  ];
  build.jump(head);
  build.start(head);
  const guard = build.guard(way.has === undefined ? capacity : mostPlaces);
  build.start(guard.exit);
  build.jump(exit);
  build.start(guard.body);
  // An impossible number has no elements.
  for (const going of [
    () => build.compare("ne", build.read(left), none),
    () => build.compare("ult", build.read(count), build.constant(BigInt(capacity))),
    () => build.compare("ult", build.read(count), length),
    () => build.compare("ne", length, build.constant(-1n)),
  ]) {
    const edges = build.branch(going());
    build.start(edges.otherwise);
    build.jump(exit);
    build.start(edges.then);
  }
  f.condition(way.more, body, broke);
  build.seal(body);
  build.start(body);
  build.write(left, build.binary("sub", build.read(left), one));
  if (way.has !== undefined) {
    const taken = build.newBlock();
    f.condition(way.has, taken, next);
    build.seal(taken);
    build.start(taken);
  }
  const source = f.source(way.item, element, true);
  build.emit({
    op: "fill-element",
    to: at(place, sequenceHeader),
    index: build.read(count),
    count: capacity,
    stride,
    source,
  });
  build.write(count, build.binary("add", build.read(count), one));
  build.jump(next);
  build.seal(next);
  build.start(next);
  for (const statement of way.next) f.run(statement);
  build.jump(head);
  build.seal(head);
  build.seal(broke);
  build.start(broke);
  build.emit({ op: "store", to: at(place, brokeOff), value: one, size: 4 });
  build.jump(exit);
  build.seal(exit);
  build.start(exit);
  build.emit({
    op: "store",
    to: at(place, copiedBytes),
    value: build.binary("mul", build.read(count), build.constant(BigInt(stride))),
    size: 4,
  });
}

/** Writes the first alternative whose test holds. */
function choiceInto(f: FunctionState, e: ChoiceLiteral, type: ChoiceType, place: Place): void {
  const { build } = f;
  build.emit({ op: "zero", at: place, size: sizeOf(type) });
  const join = build.newBlock();
  e.alternatives.forEach(({ test, value }, index) => {
    const otherwise = build.newBlock();
    if (test !== undefined) {
      const here = build.newBlock();
      f.condition(test, here, otherwise);
      build.seal(here);
      build.start(here);
    }
    build.emit({ op: "store", to: place, value: build.constant(BigInt(index)), size: 8 });
    const own = type.alternatives[index]?.type;
    if (value !== undefined && own !== undefined) f.into(value, own, at(place, 8));
    build.jump(join);
    if (test === undefined) return;
    build.seal(otherwise);
    build.start(otherwise);
  });
  build.seal(join);
  build.start(join);
}
