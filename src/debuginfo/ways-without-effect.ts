// Whether a function can run without leaving a trace: a compiler that inlines such a call with arguments that it knows
// may leave nothing of it.
import type { CodeFlow } from "./code-flow.ts";
import { iced } from "./instructions.ts";

/**
 * Whether control can come from a function's entry to a return of its own on instructions that write no memory but the
 * function's frame, call nothing and trap nowhere.
 */
export function hasWayWithoutEffect(flow: CodeFlow, entry: bigint): boolean {
  const first = flow.at(entry);
  if (first === undefined) return false;
  const seen = new Set([first]);
  const waiting = [first];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (hasEffect(flow, at)) continue;
    if (flow.leaving.get(at) === "return") return true;
    for (const next of flow.successors[at]) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(next);
    }
  }
  return false;
}

function hasEffect({ flows, bytes }: CodeFlow, index: number): boolean {
  switch (flows[index]) {
    case "call":
    case "indirect-call":
    case "trap":
      return true;
    case "next":
      return writesMemory(bytes(index));
    default:
      return false;
  }
}

function writesMemory(code: Uint8Array): boolean {
  const { Decoder, DecoderOptions, Instruction, InstructionInfoFactory, OpAccess, Register } = iced();
  const decoder = new Decoder(64, code, DecoderOptions.None);
  const factory = new InstructionInfoFactory();
  const current = new Instruction();
  const reading = new Set([OpAccess.None, OpAccess.Read, OpAccess.CondRead, OpAccess.NoMemAccess]);
  try {
    decoder.decodeOut(current);
    const info = factory.info(current);
    let writes = false;
    for (const used of info.usedMemory()) {
      const own = used.base === Register.RSP || used.base === Register.RBP;
      if (!own && !reading.has(used.access)) writes = true;
      used.free();
    }
    info.free();
    return writes;
  } finally {
    current.free();
    factory.free();
    decoder.free();
  }
}
