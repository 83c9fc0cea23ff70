// Reads numbers out of a section. Addresses are JavaScript numbers here, taken as signed 64-bit: a program's and a
// kernel's (which are small negative numbers then) are both exact, and compare in order.
import { DamageError } from "../damage.ts";
import { damagedDwarf } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

/** The debug information is damaged, or of a kind that is not understood. */
export class DwarfError extends DamageError {
  constructor(what: Reason, file?: string) {
    super("debug information", what, file);
    this.name = "DwarfError";
  }
}

export class Cursor {
  readonly bytes: Buffer;
  at: number;
  end: number;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    if (at < 0 || at > end || end > bytes.length) throw new DwarfError(damagedDwarf().outsideSection());
  }

  /** Moves on; what is moved over lies inside. */
  skip(count: number): number {
    const at = this.at;
    if (!(count >= 0 && at + count <= this.end)) throw new DwarfError(damagedDwarf().valueBehindEnd());
    this.at = at + count;
    return at;
  }

  u8(): number {
    if (this.at >= this.end) throw new DwarfError(damagedDwarf().valueBehindEnd());
    return this.bytes[this.at++];
  }

  s8(): number {
    return (this.u8() << 24) >> 24;
  }

  u16(): number {
    const at = this.skip(2);
    return this.bytes[at] | (this.bytes[at + 1] << 8);
  }

  u24(): number {
    const at = this.skip(3);
    return this.bytes[at] | (this.bytes[at + 1] << 8) | (this.bytes[at + 2] << 16);
  }

  u32(): number {
    return this.bytes.readUInt32LE(this.skip(4));
  }

  /** An offset or a size; those behind 2^53 lie outside any file. */
  u64(): number {
    const at = this.skip(8);
    return this.bytes.readUInt32LE(at) + this.bytes.readUInt32LE(at + 4) * 2 ** 32;
  }

  u64Exact(): bigint {
    return this.bytes.readBigUInt64LE(this.skip(8));
  }

  /** An address, as a signed number. */
  address(size: number): number {
    switch (size) {
      case 8: {
        const at = this.skip(8);
        return this.bytes.readUInt32LE(at) + this.bytes.readInt32LE(at + 4) * 2 ** 32;
      }
      case 4:
        return this.u32();
      case 2:
        return this.u16();
      case 1:
        return this.u8();
      default:
        throw new DwarfError(damagedDwarf().addressBytes(size));
    }
  }

  /** An offset into a section: 4 bytes, or 8 in the 64-bit format. */
  offset(size: number): number {
    return size === 8 ? this.u64() : this.u32();
  }

  uleb(): number {
    let byte = this.u8();
    if (byte < 0x80) return byte;
    let result = byte & 0x7f;
    let scale = 128;
    do {
      byte = this.u8();
      result += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte >= 0x80);
    return result;
  }

  sleb(): number {
    let byte = this.u8();
    let result = byte & 0x7f;
    let scale = 128;
    while (byte >= 0x80) {
      byte = this.u8();
      result += (byte & 0x7f) * scale;
      scale *= 128;
    }
    return (byte & 0x40) === 0 ? result : result - scale;
  }

  ulebExact(): bigint {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.u8();
      if (shift < 70n) result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, result);
    }
  }

  slebExact(): bigint {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.u8();
      if (shift < 70n) result |= BigInt(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) !== 0 && shift < 63n) result -= 1n << (shift + 7n);
      return BigInt.asIntN(64, result);
    }
  }

  skipLeb(): void {
    while (this.u8() >= 0x80) {
      /* the last byte is below */
    }
  }

  /** Text up to a NUL. */
  text(): string {
    const end = this.bytes.indexOf(0, this.at);
    if (end < 0 || end >= this.end) throw new DwarfError(damagedDwarf().textEndless());
    const text = this.bytes.toString("utf8", this.at, end);
    this.at = end + 1;
    return text;
  }

  skipText(): void {
    const end = this.bytes.indexOf(0, this.at);
    if (end < 0 || end >= this.end) throw new DwarfError(damagedDwarf().textEndless());
    this.at = end + 1;
  }

  take(count: number): Buffer {
    const at = this.skip(count);
    return this.bytes.subarray(at, at + count);
  }

  /**
   * The initial length of a unit: where it ends, and how large offsets in it are. The cursor may be a window of the
   * section.
   */
  unitLength(): { readonly length: number; readonly offsetSize: 4 | 8 } {
    const length = this.u32();
    if (length === 0xffffffff) return { length: this.u64(), offsetSize: 8 };
    if (length >= 0xfffffff0) throw new DwarfError(damagedDwarf().reservedLength());
    return { length, offsetSize: 4 };
  }
}

/** An address for the world outside: unsigned, 64 bits. */
export const exactAddress = (address: number): bigint => BigInt.asUintN(64, BigInt(address));

/** An address from there. */
export const signedAddress = (address: bigint): number => Number(BigInt.asIntN(64, address));
