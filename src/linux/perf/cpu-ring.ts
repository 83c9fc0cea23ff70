// A perf event of one CPU, and the ring that the kernel writes its records to.
import { closeFd, mmap, munmap, pageSize, pollDescriptor, PROT_READ, PROT_WRITE } from "../ffi.ts";
import { PerfRing } from "./perf-ring.ts";
import type { PollHandle } from "../timed-poll.ts";

export class CpuRing implements Disposable {
  readonly ring: PerfRing;
  readonly #fd: number;
  readonly #memory: ArrayBuffer;
  #poll: PollHandle | undefined;

  /** Owns the event's descriptor. `pages`: of data, a power of two. @throws LinuxError, with the descriptor closed */
  constructor(fd: number, pages: number) {
    const page = pageSize();
    try {
      this.#memory = mmap(fd, (1 + pages) * page, PROT_READ | PROT_WRITE, 0);
    } catch (error) {
      closeFd(fd);
      throw error;
    }
    this.#fd = fd;
    this.ring = new PerfRing(this.#memory, page);
  }

  /** Calls when there is as much as the event says. Does not keep the process alive by itself once disposed. */
  onFilling(callback: () => void): void {
    this.#poll ??= pollDescriptor(this.#fd, callback);
  }

  [Symbol.dispose](): void {
    this.#poll?.close();
    munmap(this.#memory);
    closeFd(this.#fd);
  }
}
