// Captured stacks: which stack map a capture goes to.
import type { Expression } from "../../language/program.ts";
import type { IrMap, Source } from "../ir/ir.ts";
import type { FunctionState } from "./state.ts";

/** A capture as its type says: one stack map for each number of frames and each kind of frame. */
export function stackSource(f: FunctionState, e: Expression): Source {
  const { type } = e;
  if (type.kind !== "stack") return f.fault(e.span, "a stack whose type is not a stack");
  // Unwound stacks are addresses; which files they were in is known to whoever shows them.
  const buildId = type.mode === "build_id" && type.unwind !== true;
  const frames = type.limit;
  const { maps } = f.module;
  const unwind = type.unwind === true;
  let map = maps.findIndex(
    ({ stacks }) => stacks?.frames === frames && stacks.buildId === buildId && stacks.unwind === unwind,
  );
  if (map < 0) {
    map =
      maps.push({
        name: `stacks_${frames}${buildId ? "_id" : ""}${unwind ? "_unwound" : ""}`,
        shown: "the map of stacks",
        keys: [],
        value: type,
        entries: roomForStacks(maps, unwind),
        stacks: { frames, buildId, unwind },
      }) - 1;
  }
  return { kind: "stack", space: type.space, map, limit: frames, mode: buildId ? "build_id" : "address", unwind };
}

/** Stacks that no map is made for: those that are printed. */
const leastStacks = 1 << 14;
/** Of the kernel's map of stacks, whose memory is allocated at once: 128 MB with 127 frames. */
const mostAtOnce = 1 << 17;

/** As many stacks as the largest map that has them as keys has entries. */
function roomForStacks(maps: readonly IrMap[], unwind: boolean): number {
  const keyed = maps.flatMap(({ keys, entries }) => (keys.some(({ kind }) => kind === "stack") ? [entries] : []));
  const wanted = Math.max(leastStacks, ...keyed);
  return unwind ? wanted : Math.min(wanted, mostAtOnce);
}
