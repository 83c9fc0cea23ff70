// Little-endian numbers into bytes that grow, and out of bytes that may be anybody's.
import { RecordingError } from "./damaged-recording.ts";
import type { BlockRoom } from "./block-room.ts";
import { damagedRecording } from "../messages/on-demand.ts";

export class ByteBuffer {
  #bytes: Buffer;
  #length = 0;

  constructor(room = 1 << 12) {
    this.#bytes = Buffer.allocUnsafe(room);
  }

  /** What was written so far: valid until more is. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  get length(): number {
    return this.#length;
  }

  u8(value: number): void {
    // Growing replaces the bytes, so the place is asked for first.
    const at = this.room(1);
    this.#bytes[at] = value;
  }

  u16(value: number): void {
    const at = this.room(2);
    this.#bytes.writeUInt16LE(value, at);
  }

  u32(value: number): void {
    const at = this.room(4);
    this.#bytes.writeUInt32LE(value, at);
  }

  u64(value: bigint): void {
    const at = this.room(8);
    this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), at);
  }

  put(bytes: Uint8Array): void {
    const at = this.room(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** Makes room for so many bytes, which the caller fills; gives where they begin. */
  room(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}

/** @throws RecordingError, all of them, where there are not as many bytes */
export class ByteReader {
  readonly #bytes: Buffer;
  /** Where what is read goes. */
  readonly room: BlockRoom | undefined;
  #at = 0;

  constructor(bytes: Uint8Array, room?: BlockRoom) {
    this.room = room;
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  get rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  u8(): number {
    return this.#bytes[this.skip(1)];
  }

  u16(): number {
    return this.#bytes.readUInt16LE(this.skip(2));
  }

  u32(): number {
    return this.#bytes.readUInt32LE(this.skip(4));
  }

  u64(): bigint {
    return this.#bytes.readBigUInt64LE(this.skip(8));
  }

  take(bytes: number): Buffer {
    const at = this.skip(bytes);
    return this.#bytes.subarray(at, at + bytes);
  }

  skip(bytes: number): number {
    if (bytes > this.left) throw new RecordingError(damagedRecording().blockEndsEarly());
    const at = this.#at;
    this.#at += bytes;
    return at;
  }
}
