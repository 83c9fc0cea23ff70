// Numbers that were seen: open addressing, so that millions cost little.

export class SeenNumbers {
  #slots = new Float64Array(1 << 12);
  #count = 0;

  /** Whether it is new. Never 0. */
  add(key: number): boolean {
    if (this.#count * 2 > this.#slots.length) this.#grow();
    if (!insert(this.#slots, key)) return false;
    this.#count++;
    return true;
  }

  #grow(): void {
    const larger = new Float64Array(this.#slots.length * 4);
    for (const key of this.#slots) if (key !== 0) insert(larger, key);
    this.#slots = larger;
  }
}

function insert(slots: Float64Array, key: number): boolean {
  const mask = slots.length - 1;
  for (let at = (key % 0x7fffffff) & mask; ; at = (at + 1) & mask) {
    if (slots[at] === key) return false;
    if (slots[at] !== 0) continue;
    slots[at] = key;
    return true;
  }
}
