// .gdb_index, versions 7 to 9 (https://sourceware.org/gdb/current/onlinedocs/gdb.html/Index-Section-Format.html): which
// units define a name. gdb and some linkers write it. It has no linkage names, and nothing of what was only inlined.
import { Cursor, DwarfError } from "./cursor.ts";
import type { NameList, NameSection, Told } from "./name-section.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

const KINDS: Readonly<Record<NameList, number>> = { types: 1, variables: 2, functions: 3 };
const UNIT = 0xffffff;
const [kindShift, kindMask] = [28, 7];
const [oldest, newest] = [7, 9];

export class GdbIndex implements NameSection {
  readonly units: ReadonlySet<number>;
  readonly inlined = false;
  readonly #bytes: Buffer;
  readonly #unitOffsets: readonly number[];
  readonly #symbols: number;
  readonly #slots: number;
  readonly #pool: number;

  /** @throws DwarfError when it is damaged or of another version */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const cursor = new Cursor(bytes);
    const version = cursor.u32();
    if (version < oldest || version > newest) throw new DwarfError(damagedDwarf().gdbIndexVersion(version));
    const [units, types, addresses, symbols] = [cursor.u32(), cursor.u32(), cursor.u32(), cursor.u32()];
    // Version 9 has the program's main function in between.
    const symbolsEnd = cursor.u32();
    this.#pool = version >= 9 ? cursor.u32() : symbolsEnd;
    this.#symbols = symbols;
    this.#slots = (symbolsEnd - symbols) / 8;
    const inOrder =
      units <= types &&
      types <= addresses &&
      addresses <= symbols &&
      symbols <= symbolsEnd &&
      this.#pool <= bytes.length;
    if (
      !inOrder ||
      symbolsEnd > this.#pool ||
      !Number.isInteger(this.#slots) ||
      (this.#slots & (this.#slots - 1)) !== 0
    )
      throw new DwarfError(damagedDwarf().gdbIndex());
    const offsets: number[] = [];
    const list = new Cursor(bytes, units, types);
    while (list.at + 16 <= list.end) {
      offsets.push(list.u64());
      list.u64();
    }
    this.units = new Set(offsets);
    // Units of types are counted behind the others.
    const typeUnits = new Cursor(bytes, types, addresses);
    while (typeUnits.at + 24 <= typeUnits.end) {
      offsets.push(typeUnits.u64());
      typeUnits.skip(16);
    }
    this.#unitOffsets = offsets;
  }

  *find(list: NameList, name: string): Iterable<Told> {
    const vector = this.#vectorOf(name);
    if (vector === undefined) return;
    const cursor = new Cursor(this.#bytes, this.#pool + vector);
    const seen = new Set<number>();
    for (let count = cursor.u32(); count > 0; count--) {
      const word = cursor.u32();
      const unit = this.#unitOffsets[word & UNIT];
      if (((word >>> kindShift) & kindMask) !== KINDS[list] || unit === undefined || seen.has(unit)) continue;
      seen.add(unit);
      yield { unit };
    }
  }

  /** Names are whole ones, as C++ qualifies them. */
  mayMeanMore(name: string): boolean {
    const within = (text: string): boolean => this.#bytes.indexOf(text, this.#pool) >= 0;
    return within(`::${name}\0`) || within(`${name}<`) || within(`${name}(`);
  }

  #vectorOf(name: string): number | undefined {
    if (this.#slots === 0) return undefined;
    const hash = hashOf(name);
    const mask = this.#slots - 1;
    const step = ((Math.imul(hash, 17) >>> 0) & mask) | 1;
    const wanted = Buffer.from(`${name}\0`);
    for (let at = hash & mask, tries = 0; tries < this.#slots; at = (at + step) & mask, tries++) {
      const slot = this.#symbols + 8 * at;
      const text = this.#bytes.readUInt32LE(slot);
      const vector = this.#bytes.readUInt32LE(slot + 4);
      if (text === 0 && vector === 0) return undefined;
      const from = this.#pool + text;
      if (wanted.equals(this.#bytes.subarray(from, from + wanted.length))) return vector;
    }
    return undefined;
  }
}

function hashOf(name: string): number {
  let hash = 0;
  for (const byte of Buffer.from(name))
    hash = (Math.imul(hash, 67) + (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte) - 113) >>> 0;
  return hash;
}
