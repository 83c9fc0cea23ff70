// Where instructions begin: a breakpoint anywhere else would corrupt the program.
import { createRequire } from "node:module";
import type { Decoder as IcedDecoder } from "iced-x86";

/** A WebAssembly module of two megabytes: loaded when somebody asks about an offset inside a function. */
function decoderOf(code: Uint8Array): IcedDecoder {
  const { Decoder, DecoderOptions } = createRequire(import.meta.url)("iced-x86") as typeof import("iced-x86");
  return new Decoder(64, code, DecoderOptions.None);
}

/**
 * The start of the x86-64 instruction that the byte at `offset` belongs to: `offset` itself when an instruction begins there;
 * undefined behind the code's end, or behind bytes that are no instruction. `code` begins with a whole instruction.
 */
export function instructionAt(code: Uint8Array, offset: number): number | undefined {
  const decoder = decoderOf(code);
  try {
    while (decoder.canDecode) {
      const start = decoder.position;
      const instruction = decoder.decode();
      const invalid = instruction.isInvalid;
      instruction.free();
      if (invalid) return undefined;
      if (decoder.position > offset) return start;
    }
    return undefined;
  } finally {
    decoder.free();
  }
}
