// Elements of arrays by an index that only running tells: outside of the array the result is 0, and a warning says so.
import { parsePrintf } from "../../language/printf.ts";
import type { Expression, IndexAccess } from "../../language/program.ts";
import type { Value } from "../ir/ir.ts";
import { raise } from "./faults.ts";
import { send } from "./send.ts";
import type { FunctionState } from "./state.ts";

/** bpftrace's words, and what becomes of it here. */
const warning = "Array access out of bounds. This can lead to unexpected results. 0 is being used as the result.";

/** An address that nothing can be read from, in the kernel or in a program: what is read there is zeroes. */
const nowhere = 1n << 63n;

/** What `read` reads of an access, or 0 when an index in it is outside of its array. */
export function withinBounds(f: FunctionState, access: Expression, read: () => Value): Value {
  const { build } = f;
  const outer = f.outside;
  const outside = { elements: elementsIn(access), block: undefined as number | undefined };
  f.outside = outside;
  const value = read();
  f.outside = outer;
  if (outside.block === undefined) return value;
  const result = build.newVariable();
  const join = build.newBlock();
  build.write(result, value);
  build.jump(join);
  build.seal(outside.block);
  build.start(outside.block);
  build.write(result, build.constant(0n));
  build.jump(join);
  build.seal(join);
  build.start(join);
  return build.read(result);
}

/** On the way to a number: goes on only where the index is in the array, else with 0 as what is read. */
export function checkBounds(f: FunctionState, e: IndexAccess, index: Value): void {
  const { build, outside } = f;
  const length = lengthOf(e);
  if (length === undefined || !outside?.elements.has(e)) return;
  const { then, otherwise } = build.branch(build.compare("ult", index, build.constant(BigInt(length))));
  build.start(otherwise);
  if (!warn(f, e)) build.jump((outside.block ??= build.newBlock()));
  build.start(then);
}

/** Where an element is; nowhere for an index outside of its array, when more than a number is read. */
export function addressWithinBounds(f: FunctionState, e: IndexAccess, index: Value, address: () => Value): Value {
  const { build, outside } = f;
  const length = lengthOf(e);
  if (length === undefined) return address();
  if (outside?.elements.has(e)) {
    checkBounds(f, e, index);
    return address();
  }
  const result = build.newVariable();
  const join = build.newBlock();
  const { then, otherwise } = build.branch(build.compare("ult", index, build.constant(BigInt(length))));
  build.start(otherwise);
  if (!warn(f, e)) {
    build.write(result, build.constant(nowhere));
    build.jump(join);
  }
  build.start(then);
  build.write(result, address());
  build.jump(join);
  build.seal(join);
  build.start(join);
  return build.read(result);
}

/** True when it goes on elsewhere, since somebody looks at what fails. */
function warn(f: FunctionState, e: IndexAccess): boolean {
  if (raise(f, "index", "index outside of the array", e.span)) return true;
  send(f, e, { kind: "printf", format: parsePrintf(warning), to: "runtime" }, []);
  return false;
}

/**
 * How many elements there are; what a pointer points to, and an array without a length at a struct's end, have any
 * number.
 */
function lengthOf({ object: { type } }: IndexAccess): number | undefined {
  const length = type.kind === "array" ? type.length : type.kind === "string" ? type.capacity : 0;
  return length > 0 ? length : undefined;
}

/** The elements on the way to what an access reads, as far as it goes without reading a pointer. */
function elementsIn(access: Expression): ReadonlySet<IndexAccess> {
  const found = new Set<IndexAccess>();
  for (let e = access; e.kind === "index" || e.kind === "member" || e.kind === "tuple-index"; e = e.object) {
    if (e.object.type.kind === "pointer") break;
    if (e.kind === "index") found.add(e);
  }
  return found;
}
