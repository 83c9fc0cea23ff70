// Stacks that handlers in this process have taken: each once, by a number.

export class TakenStacks {
  readonly #stacks: BigUint64Array[] = [];
  readonly #numbers = new Map<string, number>();

  /** The number of a stack of so many frames at most. */
  take(addresses: BigUint64Array, limit: number): number {
    const kept = addresses.subarray(0, limit);
    const name = Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength).toString("latin1");
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#stacks.push(kept.slice()) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }

  stack(number: bigint): BigUint64Array | undefined {
    return this.#stacks[Number(number)];
  }
}

/** A StackType value: the number (-1: there is none), process and thread. */
export function stackValue(number: number, pid: number, tid: number): Uint8Array {
  const value = new DataView(new ArrayBuffer(16));
  value.setBigInt64(0, BigInt(number), true);
  value.setUint32(8, pid, true);
  value.setUint32(12, tid, true);
  return new Uint8Array(value.buffer);
}
