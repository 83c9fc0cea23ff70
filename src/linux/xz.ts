// .xz data, by the system's liblzma: what package managers use themselves.
import { addressOf, numberFunction, type NumberFunction } from "./ffi.ts";

/** lzma_ret */
const LZMA_OK = 0;
const LZMA_BUF_ERROR = 10;

/** Of the decoder and of what it makes, in bytes. */
const memoryLimit = 1 << 28;
/** Symbols usually shrink to a fourth. */
const usualRatio = 6;

let decoder: NumberFunction | undefined;
let looked = false;

/**
 * Decompresses one .xz stream; undefined when it is none, when it is damaged or too large, and where there is no
 * liblzma.
 */
export function decompressXz(packed: Uint8Array): Buffer | undefined {
  if (!looked) {
    looked = true;
    decoder = load();
  }
  if (!decoder || packed.length === 0) return undefined;
  for (let size = packed.length * usualRatio; size <= memoryLimit; size *= 4) {
    const out = Buffer.allocUnsafeSlow(size);
    // u64 memory limit; how much was read and written, size_t each
    const counts = new BigUint64Array([BigInt(memoryLimit), 0n, 0n]);
    const at = addressOf(counts);
    const result = decoder(at, 0, 0, addressOf(packed), at + 8, packed.length, addressOf(out), at + 16, size);
    if (result === LZMA_OK) return out.subarray(0, Number(counts[2]));
    // Also what damaged data that ends early gives; then the limit ends it.
    if (result !== LZMA_BUF_ERROR) return undefined;
  }
  return undefined;
}

function load(): NumberFunction | undefined {
  try {
    return numberFunction("liblzma.so.5", "lzma_stream_buffer_decode", 9);
  } catch {
    return undefined;
  }
}
