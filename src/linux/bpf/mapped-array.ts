// An array map created with BPF_F_MMAPABLE, as memory shared with the kernel: read and written without system calls.
import { mmap, munmap, pageSize, PROT_READ, PROT_WRITE } from "../ffi.ts";

export const BPF_F_MMAPABLE = 0x400;

export class MappedArray implements Disposable {
  /** Little-endian views of the same bytes. Not to be used after disposal: the memory is gone. */
  words: BigUint64Array;
  u32: Uint32Array;
  bytes: Uint8Array;
  view: DataView;
  readonly #buffer: ArrayBuffer;

  /** `bytes`: size of a value, rounded up to 8, times the entries. The descriptor stays the caller's. */
  constructor(fd: number, bytes: number) {
    const page = pageSize();
    const size = Math.ceil(bytes / 8) * 8;
    this.#buffer = mmap(fd, Math.ceil(size / page) * page, PROT_READ | PROT_WRITE, 0);
    this.words = new BigUint64Array(this.#buffer, 0, size / 8);
    this.u32 = new Uint32Array(this.#buffer, 0, size / 4);
    this.bytes = new Uint8Array(this.#buffer, 0, size);
    this.view = new DataView(this.#buffer, 0, size);
  }

  [Symbol.dispose](): void {
    // Later reads through this object find nothing, rather than a hole in the address space.
    this.words = new BigUint64Array(0);
    this.u32 = new Uint32Array(0);
    this.bytes = new Uint8Array(0);
    this.view = new DataView(new ArrayBuffer(0));
    munmap(this.#buffer);
  }
}
