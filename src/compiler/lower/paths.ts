// path(): the kernel's name of a file. The verifier wants to know what it is given.
import { sizeOf } from "../../language/layout.ts";
import type { Call } from "../../language/program.ts";
import { contextOf } from "./fetch.ts";
import { addressOf } from "./memory.ts";
import type { FunctionState, Located } from "./state.ts";

export function pathText(f: FunctionState, e: Call, memory: Located & { at: "memory" }): Located {
  const size = sizeOf(e.type);
  const offsets = contextOf(f)?.pathsFromContext ? offsetsFromContext(f, memory) : undefined;
  if (offsets === undefined) return { at: "source", source: { kind: "path", address: addressOf(f, memory), size } };
  return pathFromContext(f, offsets, memory, e);
}

/**
 * Where each pointer lies in what the one before points to, from the context on; undefined for addresses from
 * elsewhere.
 */
function offsetsFromContext(f: FunctionState, memory: Located & { at: "memory" }): number[] | undefined {
  const offsets: number[] = [];
  for (let value = memory.address; ;) {
    const origin = f.build.originOf(value);
    if (origin?.op === "builtin" && origin.name === "context") return offsets;
    if (origin?.op !== "read" || origin.size !== 8 || origin.space === "user") return undefined;
    offsets.unshift(origin.offset);
    value = origin.address;
  }
}

/**
 * An iterator's pointers may each be null, and the verifier lets nothing be added to one, nor the kernel's function
 * have it, before it was compared: so the pointers are followed once more, with a way out at each. Without one the text
 * is empty.
 */
function pathFromContext(
  f: FunctionState,
  offsets: readonly number[],
  memory: Located & { at: "memory" },
  { type }: Call,
): Located {
  const { build } = f;
  const size = sizeOf(type);
  const place = f.slot("path", type);
  build.emit({ op: "zero", at: place, size });
  const join = build.newBlock();
  let address = memory.address;
  offsets.forEach((offset, i) => {
    const from = address;
    address = build.give((result) =>
      i === 0
        ? { op: "load-context", result, offset, size: 8, signed: false }
        : { op: "read", result, space: "typed", address: from, offset, size: 8, signed: false },
    );
    const edges = build.branch(address);
    build.start(edges.otherwise);
    build.jump(join);
    build.start(edges.then);
  });
  build.emit({ op: "fill", to: place, source: { kind: "path", address: addressOf(f, { ...memory, address }), size } });
  build.jump(join);
  build.seal(join);
  build.start(join);
  return { at: "place", place };
}
