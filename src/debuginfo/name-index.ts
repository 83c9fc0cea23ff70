// Names of a string section by hash, and records by name: for whoever looks up many. Two open-addressed tables of
// numbers.

/** A table has at least twice as many places as entries, so that a probe is short. */
function places(entries: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(16, entries * 2)));
}

/** Where each of a section's NUL-terminated strings begins, by the string. */
export class StringIndex {
  readonly #strings: Buffer;
  /** Offset + 1 of a string; 0 where there is none. */
  readonly table: Uint32Array;

  /** `table`: that of an index of the same section. */
  constructor(strings: Buffer, table?: Uint32Array) {
    this.#strings = strings;
    this.table = table ?? filled(strings);
  }

  find(name: string): number | undefined {
    const wanted = Buffer.from(`${name}\0`, "latin1");
    const mask = this.table.length - 1;
    let place = hash(wanted, wanted.length - 1) & mask;
    for (let entry = this.table[place]; entry !== 0; entry = this.table[(place = (place + 1) & mask)]) {
      if (wanted.compare(this.#strings, entry - 1, Math.min(entry - 1 + wanted.length, this.#strings.length)) === 0)
        return entry - 1;
    }
    return undefined;
  }
}

function countStrings(strings: Buffer): number {
  const end = strings.length;
  let count = 0;
  for (let at = 0; at < end; at++) if (strings[at] === 0) count++;
  return count;
}

/** FNV-1a. */
function hash(bytes: Buffer, length: number): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < length; i++) value = Math.imul(value ^ bytes[i], 0x01000193);
  return spread(value);
}

function filled(strings: Buffer): Uint32Array {
  const table = new Uint32Array(places(countStrings(strings)));
  const mask = table.length - 1;
  const end = strings.length;
  let start = 0;
  let value = 0x811c9dc5;
  for (let at = 0; at < end; at++) {
    const byte = strings[at];
    if (byte !== 0) {
      value = Math.imul(value ^ byte, 0x01000193);
      continue;
    }
    let place = spread(value) & mask;
    while (table[place] !== 0) place = (place + 1) & mask;
    table[place] = start + 1;
    start = at + 1;
    value = 0x811c9dc5;
  }
  return table;
}

/** High bits into the low ones that choose the place. */
function spread(value: number): number {
  return value ^ (value >>> 15);
}

/** Which records have a name, by the name's offset. A record's first word is that offset. */
export class RecordIndex {
  readonly #words: Uint32Array;
  readonly #records: Uint32Array;
  /** Record + 1 of a name's first record. */
  readonly table: Uint32Array;
  /** Record + 1 of the next record of the same name. */
  readonly next: Uint32Array;

  /** `known`: the tables of an index of the same records. */
  constructor(words: Uint32Array, records: Uint32Array, known?: Pick<RecordIndex, "table" | "next">) {
    this.#words = words;
    this.#records = records;
    this.next = known?.next ?? new Uint32Array(records.length);
    this.table = known?.table ?? new Uint32Array(places(records.length));
    if (known === undefined) this.#fill();
  }

  #fill(): void {
    const words = this.#words;
    const records = this.#records;
    const mask = this.table.length - 1;
    // From the last to the first, each put in front of those behind it.
    for (let record = records.length - 1; record >= 0; record--) {
      const name = words[records[record]];
      if (name === 0) continue;
      let place = spread(Math.imul(name, 0x9e3779b1)) & mask;
      let entry = this.table[place];
      while (entry !== 0 && words[records[entry - 1]] !== name) entry = this.table[(place = (place + 1) & mask)];
      this.next[record] = entry;
      this.table[place] = record + 1;
    }
  }

  /** Records of a name, in their order. */
  find(name: number): number[] {
    const mask = this.table.length - 1;
    let place = spread(Math.imul(name, 0x9e3779b1)) & mask;
    let entry = this.table[place];
    while (entry !== 0 && this.#words[this.#records[entry - 1]] !== name)
      entry = this.table[(place = (place + 1) & mask)];
    const found: number[] = [];
    for (; entry !== 0; entry = this.next[entry - 1]) found.push(entry - 1);
    return found;
  }
}
