/** What a handler needs is more than the kernel has: the script's to change. */
export class TooLarge extends Error {}

/** Of scratch memory: what a per-CPU value of the kernel holds (PCPU_MIN_UNIT_SIZE). */
export const mostScratchBytes = 32 * 1024;

/** Of scratch memory. */
export class TooMuchMemory extends TooLarge {
  readonly bytes: number;

  constructor(bytes: number) {
    super(`it needs ${bytes} bytes of working memory`);
    this.bytes = bytes;
  }
}
