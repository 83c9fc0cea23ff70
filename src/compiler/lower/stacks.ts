// Captured stacks: which stack map a capture goes to.
import type { Expression } from "../../language/program.ts";
import type { IrMap, Source, StackForm } from "../ir/ir.ts";
import { displacedStacks } from "../layouts/stack-numbers.ts";
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
        ...roomForStacks(maps, { frames, buildId, unwind }),
      }) - 1;
  }
  return { kind: "stack", space: type.space, map, limit: frames, mode: buildId ? "build_id" : "address", unwind };
}

/** Stacks that no map is made for, those that are printed: in the kernel's map of stacks, and unwound ones. */
const leastStacks = { inBuckets: 1 << 13, unwound: 1 << 14 } as const;
/** Of the kernel's map of stacks, whose memory is allocated at once: 128 MB with 127 frames. */
const mostAtOnce = 1 << 17;

/** As many stacks as the largest map that has them as keys has entries. */
function roomForStacks(
  maps: readonly IrMap[],
  form: Omit<StackForm, "displaced">,
): { readonly entries: number; readonly stacks: StackForm } {
  const keyed = maps.flatMap(({ keys, entries }) => (keys.some(({ kind }) => kind === "stack") ? [entries] : []));
  const wanted = Math.max(form.unwind ? leastStacks.unwound : leastStacks.inBuckets, ...keyed);
  if (form.unwind) return { entries: wanted, stacks: { ...form, displaced: 0 } };
  // Buckets are a power of two, which the kernel rounds up to.
  const entries = Math.min(2 ** Math.ceil(Math.log2(wanted)), mostAtOnce);
  return { entries, stacks: { ...form, displaced: displacedStacks(wanted, entries) } };
}
