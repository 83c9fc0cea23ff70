// Captured stacks: which stack map a capture goes to.
import type { Expression } from "../../language/program.ts";
import type { Source } from "../ir/ir.ts";
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
        entries: 16384,
        stacks: { frames, buildId, unwind },
      }) - 1;
  }
  return { kind: "stack", space: type.space, map, limit: frames, mode: buildId ? "build_id" : "address", unwind };
}
