// Where output goes: all of it, waiting where the reader is slow.
import { writeSync } from "node:fs";
import { EAGAIN, EINTR, EPIPE, LinuxError } from "../linux/error.ts";
import { addressOf, syscall, SYS } from "../linux/ffi.ts";
import { sleepInThread } from "../linux/sleep.ts";

/** The reader of our output is gone (`strobe … | head`): the session ends quietly. */
export class OutputClosed extends Error {
  constructor() {
    super("the output was closed");
    this.name = "OutputClosed";
  }
}

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
      sleepInThread(1);
    }
  }
}

/** A descriptor that lines are written to, from buffers that are used again and again: by a tenth of what Node does for a write. */
export class Sink {
  readonly #descriptor: number;
  #buffer: Uint8Array | undefined;
  #address = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Writes the first `length` bytes of a buffer. @throws OutputClosed, LinuxError */
  write(buffer: Uint8Array, length: number): void {
    if (buffer !== this.#buffer) {
      // Held, it stays where it is.
      this.#buffer = buffer;
      this.#address = addressOf(buffer);
    }
    for (let at = 0; at < length;) {
      const result = syscall(SYS.write, this.#descriptor, this.#address + at, length - at);
      if (result >= 0) at += result;
      else if (result === -EPIPE) throw new OutputClosed();
      else if (result === -EAGAIN) sleepInThread(1);
      else if (result !== -EINTR) throw new LinuxError({ call: "write", code: -result, doing: "write the output" });
    }
  }
}
