// Reads numbers and addresses of call frame information.
import { ElfError } from "./elf.ts";
import { damagedFrames } from "../messages/on-demand.ts";

/** Reads from `at` to before `end`. Numbers beyond 2^53 lose their last bits: they are addresses in no program. */
export class FrameReader {
  at: number;
  readonly #view: DataView;
  readonly #end: number;

  constructor(view: DataView, at: number, end: number) {
    this.at = at;
    this.#view = view;
    this.#end = end;
  }

  skip(bytes: number): number {
    const at = this.at;
    if (!(bytes >= 0 && at + bytes <= this.#end)) throw new ElfError(damagedFrames().endsEarly());
    this.at = at + bytes;
    return at;
  }

  u8(): number {
    return this.#view.getUint8(this.skip(1));
  }
  u16(): number {
    return this.#view.getUint16(this.skip(2), true);
  }
  u32(): number {
    return this.#view.getUint32(this.skip(4), true);
  }
  /** Signed, so that the kernel's addresses are exact as numbers. */
  u64(): number {
    return Number(this.#view.getBigInt64(this.skip(8), true));
  }
  i64(): number {
    return Number(this.#view.getBigInt64(this.skip(8), true));
  }

  uleb(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      if (scale > 2 ** 63) throw new ElfError(damagedFrames().endlessNumber());
    }
  }

  sleb(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return (byte & 0x40) === 0 ? value : value - scale * 128;
      if (scale > 2 ** 63) throw new ElfError(damagedFrames().endlessNumber());
    }
  }

  /**
   * An address in one of the DW_EH_PE encodings: absolute, or relative to where it is in the section, which is loaded
   * at `sectionAddress`. Others are not used for code.
   */
  pointer(encoding: number, wordBytes: number, sectionAddress: number): number {
    const place = sectionAddress + this.at;
    const value = this.#encoded(encoding, wordBytes);
    switch (encoding & 0x70) {
      case 0x00:
        return value;
      case 0x10:
        return Number(BigInt.asUintN(wordBytes * 8, BigInt(place) + BigInt(value)));
      default:
        throw new ElfError(damagedFrames().addressEncoding(encoding));
    }
  }

  #encoded(encoding: number, wordBytes: number): number {
    switch (encoding & 0x0f) {
      case 0x00:
        return wordBytes === 8 ? this.u64() : this.u32();
      case 0x01:
        return this.uleb();
      case 0x02:
        return this.u16();
      case 0x03:
        return this.u32();
      case 0x04:
        return this.u64();
      case 0x09:
        return this.sleb();
      case 0x0a:
        return (this.u16() << 16) >> 16;
      case 0x0b:
        return this.u32() | 0;
      case 0x0c:
        return this.i64();
      default:
        throw new ElfError(damagedFrames().valueEncoding(encoding));
    }
  }
}
