// Memory that scripts write: of their structs and arrays, and what they allocate. It is in this process, at addresses of
// its own: no kernel and no process has any there.
import { writtenMemory } from "../language/host-texts.ts";
import type { ScriptMemory } from "../compiler/runtime.ts";

const { start, scratchSize } = writtenMemory;
/** Of all variables together. */
const mostBytes = 1 << 26;

export class WrittenMemory implements ScriptMemory {
  #bytes = new Uint8Array(scratchSize);
  #end = scratchSize;
  #scratch = 8;
  readonly #variables = new Map<string, bigint>();
  /** What was allocated, by where it begins, in 8 bytes: bytes that are its own, a multiple of 8. What was handed out again is the later one's. */
  readonly #allocated = new Map<number, number>();

  read(address: bigint, size: number): Uint8Array | undefined {
    const at = this.#place(address, size);
    // A number behind what was allocated is none. A text's end is not known beforehand.
    if (at === undefined || (size <= 8 && at < scratchSize && !this.#holds(at, size))) return undefined;
    return this.#bytes.slice(at, at + size);
  }

  allocatedMemory(size: bigint): bigint {
    if (size < 0n || size > BigInt(scratchSize - 8)) return 0n;
    const whole = rounded(Number(size));
    if (this.#scratch + whole > scratchSize) this.#scratch = 8;
    const at = this.#scratch;
    this.#bytes.fill(0, at, at + whole);
    for (let old = at; old < at + whole; old += 8) this.#allocated.delete(old);
    this.#allocated.set(at, whole);
    this.#scratch += Math.max(8, whole);
    return start + BigInt(at);
  }

  variableMemory(variable: bigint, size: bigint, ...keys: readonly (bigint | string)[]): bigint {
    const name = [variable, ...keys.map((key) => (typeof key === "string" ? JSON.stringify(key) : key))].join();
    const known = this.#variables.get(name);
    if (known !== undefined) return known;
    const whole = rounded(Number(size));
    if (this.#end + whole > mostBytes) return 0n;
    const address = start + BigInt(this.#end);
    this.#end += whole;
    if (this.#end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#end, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#variables.set(name, address);
    return address;
  }

  writtenNumber(address: bigint, value: bigint, size: bigint, from = 0n, bits = 0n): bigint {
    const at = this.#place(address, Number(size));
    if (at === undefined || !this.#holds(at, Number(size))) return 0n;
    let whole = value;
    if (bits > 0n) {
      const mask = ((1n << bits) - 1n) << from;
      let before = 0n;
      for (let i = Number(size) - 1; i >= 0; i--) before = (before << 8n) | BigInt(this.#bytes[at + i]);
      whole = (before & ~mask) | ((value << from) & mask);
    }
    for (let i = 0; i < Number(size); i++) this.#bytes[at + i] = Number(BigInt.asUintN(8, whole >> BigInt(i * 8)));
    return 1n;
  }

  writtenBytes(address: bigint, bytes: Uint8Array): bigint {
    const at = this.#place(address, bytes.length);
    if (at === undefined || !this.#holds(at, bytes.length)) return 0n;
    this.#bytes.set(bytes, at);
    return 1n;
  }

  copiedMemory(to: bigint, from: bigint, size: bigint): bigint {
    const bytes = size < 0n || size > BigInt(mostBytes) ? undefined : this.read(from, Number(size));
    return bytes === undefined ? 0n : this.writtenBytes(to, bytes);
  }

  /** Whether bytes to write are all of one allocation, where they are allocated: nothing behind it is overwritten. */
  #holds(at: number, size: number): boolean {
    if (at >= scratchSize) return true;
    for (let first = at - (at % 8); first >= 8; first -= 8) {
      const bytes = this.#allocated.get(first);
      if (bytes !== undefined) return at + size <= first + bytes;
    }
    return false;
  }

  /** Where bytes are; undefined where they are not all ours. */
  #place(address: bigint, size: number): number | undefined {
    const at = BigInt.asUintN(64, address) - start;
    return at >= 8n && at + BigInt(size) <= BigInt(this.#end) ? Number(at) : undefined;
  }
}

function rounded(size: number): number {
  return Math.ceil(size / 8) * 8;
}
