// Whether a function may return by what it is called with alone: of a call with such constants a compiler leaves nothing.
import { flowOf } from "./code-flow.ts";
import type { CodeRange } from "./function-ends.ts";
import { iced } from "./instructions.ts";

/** Instructions that are looked at. */
const most = 4096;

/**
 * True where a way leads from the entry to a return that calls nothing and touches no memory but the stack: x86-64.
 *
 * @param ranges the function's body and its parts elsewhere
 */
export function mayReturnAtOnce(ranges: readonly CodeRange[], entry: bigint): boolean {
  const flow = flowOf(ranges, entry);
  const start = flow.at(entry);
  if (start === undefined) return false;
  const seen = new Set([start]);
  for (const at of seen) {
    if (flow.leaving.get(at) === "return") return true;
    const kind = flow.flows[at];
    if (seen.size > most || (kind !== "next" && kind !== "jump" && kind !== "branch")) continue;
    if (touchesMemory(flow.bytes(at))) continue;
    for (const next of flow.successors[at]) seen.add(next);
  }
  return false;
}

/** Reads or writes memory that is not on the stack. */
function touchesMemory(instruction: Uint8Array): boolean {
  const { Decoder, DecoderOptions, InstructionInfoFactory, OpAccess, Register } = iced();
  const decoder = new Decoder(64, instruction, DecoderOptions.None);
  const decoded = decoder.decode();
  const factory = new InstructionInfoFactory();
  const info = factory.info(decoded);
  try {
    let touched = false;
    for (const used of info.usedMemory()) {
      const { access, base } = used;
      touched ||=
        access !== OpAccess.None && access !== OpAccess.NoMemAccess && base !== Register.RSP && base !== Register.RBP;
      used.free();
    }
    return touched;
  } finally {
    info.free();
    factory.free();
    decoded.free();
    decoder.free();
  }
}
