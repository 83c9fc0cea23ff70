// What an instruction asks of the place where it runs.
import { resultAt } from "../../language/aggregations/table.ts";
import { InternalError } from "../../base/internal-error.ts";
import type { Instruction, IrMap, IrModule, Place, Source } from "../ir/ir.ts";
import { sourceSize } from "../ir/ir.ts";
import { mapSlots, writtenSlot } from "../optimize/operands.ts";

/**
 * - `pure`: the same wherever it runs.
 * - `moment`: it depends on the moment of the event: memory, the context, who runs, the time.
 * - `map-read`, `map-write`: where its map is.
 * - `act`: it does something to the kernel or to the process that runs.
 * - `send`: an event, which the host handles.
 * - `loop`: over a map; what its body does counts.
 */
export type Nature = "pure" | "moment" | "map-read" | "map-write" | "act" | "send" | "loop";

export function natureOf(i: Instruction): Nature {
  switch (i.op) {
    case "constant":
    case "binary":
    case "compare":
    case "extend":
    case "swap-bytes":
    case "load":
    case "store":
    case "zero":
    case "compare-strings":
    case "compare-bytes":
    case "find-string":
    case "concat-strings":
    case "cut-string":
    case "string-length":
    case "host-text":
    case "parse-address":
      return "pure";
    case "fill":
    case "fill-element":
      return isOfMoment(i.source) ? "moment" : "pure";
    case "builtin":
    case "load-context":
    case "read":
    case "percpu-address":
    case "socket-cookie":
    case "stack-length":
    case "address-of":
      return "moment";
    case "map-lookup":
    case "entry-load":
    case "entry-copy":
    case "map-load":
    case "map-copy":
    case "map-has":
    case "map-length":
    case "aggregate-read":
      return "map-read";
    case "map-store":
    case "map-make":
    case "map-add":
    case "map-delete":
    case "aggregate":
      return "map-write";
    case "emit":
      return "send";
    case "for-each":
    case "call":
      return "loop";
    case "signal":
    case "override":
    case "write-user":
    case "kernel-print":
    case "packet":
    case "rounds":
    case "loop-cut":
      return "act";
  }
}

/** Whether what a source gives depends on the moment. */
export function isOfMoment({ kind }: Source): boolean {
  return kind !== "value" && kind !== "copy" && kind !== "constant";
}

/** A result (`of`) that is computed of all words of an aggregation, in floating point: the kernel has none. */
export function isGathered(
  { maps }: Pick<IrModule, "maps">,
  { map: index, of, bucket }: Extract<Instruction, { op: "aggregate-read" }>,
): boolean {
  const map = maps[index] as IrMap | undefined;
  if (bucket !== undefined) return true;
  if (map?.value.kind !== "aggregate") return false;
  const result = resultAt(map.value, of);
  return result !== undefined && "double" in result;
}

/** The slots that an instruction reads. */
export function slotsRead(i: Instruction): readonly number[] {
  const slots: number[] = [];
  const read = (slot: number): number => (slots.push(slot), slot);
  mapSlots(
    i,
    read,
    i.op === "for-each" || i.op === "call" || i.op === "address-of" || i.op === "rounds" ? read : (slot) => slot,
  );
  return slots;
}

/** The slot that it writes into. */
export function slotWritten(i: Instruction): number | undefined {
  if (i.op === "for-each") return i.captures;
  return i.op === "call" || i.op === "rounds" ? i.frame : writtenSlot(i);
}

/** Where it writes, and how many bytes. `slots`: sizes of the function's slots. */
export function written(i: Instruction, slots: readonly { readonly size: number }[]): { to: Place; size: number } {
  switch (i.op) {
    case "fill":
      return { to: i.to, size: sourceSize(i.source) };
    case "fill-element":
      return { to: i.to, size: i.count * i.stride };
    case "entry-copy":
    case "map-copy":
      return { to: i.to, size: i.size };
    case "for-each":
      if (i.captures !== undefined)
        return { to: { kind: "slot", slot: i.captures, offset: 0 }, size: slots[i.captures].size };
      break;
    case "call":
      return { to: { kind: "slot", slot: i.frame, offset: 0 }, size: slots[i.frame].size };
    default:
  }
  throw new InternalError(`${i.op} writes nothing that is captured`);
}
