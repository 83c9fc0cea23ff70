// Which unit's code holds an address: by .debug_aranges where it tells, else by what each unit says of itself.
import { firstIndex } from "../../base/first-index.ts";
import { Cursor, DwarfError } from "./cursor.ts";
import { keptBytes, keptParts, numbersOf, wordsOf } from "./kept-arrays.ts";
import { isDropped, rangesOf } from "./ranges.ts";
import type { DwarfFile } from "./units.ts";
import type { UnitHeader } from "./unit-headers.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";

/** Where what was found is kept from one start to the next. */
export interface Kept {
  read(): Buffer | undefined;
  write(bytes: Buffer): void;
}

const LAYOUT = "strobe units 1";

export class UnitAddresses {
  /** In order of `lows`. */
  readonly #lows: Float64Array;
  readonly #highs: Float64Array;
  /** Where each of them begins. */
  readonly #units: Uint32Array;
  readonly #file: DwarfFile;

  constructor(file: DwarfFile, kept?: Kept) {
    this.#file = file;
    const origin = kept === undefined ? 0 : file.sections.get("debug_info").size;
    const bytes = kept?.read();
    const parts = bytes && keptParts(bytes, LAYOUT, origin);
    if (parts?.length === 3) {
      this.#lows = numbersOf(parts[0]);
      this.#highs = numbersOf(parts[1]);
      this.#units = wordsOf(parts[2]);
      return;
    }
    const found = new Found();
    const told = rangesTold(file, found);
    for (const unit of file.headers()) {
      if (told.has(unit.offset) || unit.signature !== undefined) continue;
      for (const { low, high } of rangesOf(file.root(unit))) found.add(low, high, unit);
    }
    const order = Uint32Array.from(found.lows, (_, i) => i).sort((a, b) => found.lows[a] - found.lows[b]);
    this.#lows = Float64Array.from(order, (i) => found.lows[i]);
    this.#highs = Float64Array.from(order, (i) => found.highs[i]);
    this.#units = Uint32Array.from(order, (i) => found.units[i].offset);
    kept?.write(keptBytes(LAYOUT, origin, [this.#lows, this.#highs, this.#units]));
  }

  /** Units that say they hold an address, the likeliest first: data and damaged tables make for more than one. */
  *at(address: number): Iterable<UnitHeader> {
    const low = firstIndex(this.#lows.length, (i) => this.#lows[i] > address);
    for (let i = low - 1; i >= 0 && i >= low - 16; i--)
      if (address < this.#highs[i]) yield this.#file.headerStarting(this.#units[i]);
  }
}

class Found {
  readonly lows: number[] = [];
  readonly highs: number[] = [];
  readonly units: UnitHeader[] = [];

  add(low: number, high: number, unit: UnitHeader): void {
    this.lows.push(low);
    this.highs.push(high);
    this.units.push(unit);
  }
}

/** Reads .debug_aranges; gives the units that it speaks of. Damage in it is no loss: units tell the same. */
function rangesTold(file: DwarfFile, found: Found): ReadonlySet<number> {
  const told = new Set<number>();
  const data = file.sections.find("debug_aranges");
  if (data === undefined) return told;
  const units = new Map(file.headers().map((header) => [header.offset, header]));
  try {
    const cursor = new Cursor(data.whole);
    while (cursor.at < cursor.end) {
      const start = cursor.at;
      const { length, offsetSize } = cursor.unitLength();
      const end = cursor.at + length;
      if (end > cursor.end) throw new DwarfError(damagedDwarf().arangesTooShort());
      cursor.u16();
      const unit = units.get(cursor.offset(offsetSize));
      const size = cursor.u8();
      cursor.u8();
      const tuple = 2 * size;
      cursor.skip((tuple - ((cursor.at - start) % tuple)) % tuple);
      while (cursor.at + tuple <= end) {
        const low = cursor.address(size);
        const bytes = cursor.address(size);
        if (low === 0 && bytes === 0) break;
        if (unit === undefined || bytes <= 0 || isDropped(low)) continue;
        found.add(low, low + bytes, unit);
        told.add(unit.offset);
      }
      cursor.at = end;
    }
  } catch (error) {
    if (!(error instanceof DwarfError)) throw error;
  }
  return told;
}
