import { writeSync } from "node:fs";

/** The reader of our output is gone (`strobe … | head`): the session ends quietly. */
export class OutputClosed extends Error {
  constructor() {
    super("the output was closed");
    this.name = "OutputClosed";
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Writes all of the bytes to a descriptor, waiting where it is a full non-blocking pipe. */
export function writeFully(descriptor: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) {
    try {
      at += writeSync(descriptor, bytes, at, bytes.length - at);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "EPIPE") throw new OutputClosed();
      if (code !== "EAGAIN") throw error;
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
}
