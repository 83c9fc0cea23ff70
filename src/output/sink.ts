// Where output goes: all of it, waiting where the reader is slow.
import { fstatSync, readlinkSync } from "node:fs";
import { EAGAIN, EINTR, EPIPE, LinuxError } from "../linux/error.ts";
import { addressOf, isTerminal, syscall, SYS } from "../linux/ffi.ts";
import { waitUntilWritable } from "../linux/sleep.ts";
import { attempts } from "../messages/on-demand.ts";

/** The reader of our output is gone (`strobe … | head`): the session ends quietly. */
export class OutputClosed extends Error {
  constructor() {
    super("the output was closed");
    this.name = "OutputClosed";
  }
}

/** The session is to end, and whoever has the other end of our output has not read for a second. */
export class OutputStuck extends OutputClosed {
  override readonly name = "OutputStuck";
  override readonly message = "the output is not read: what was left of it is lost";
}

/** What a pipe takes without a wait when it takes anything (PIPE_BUF). */
const atOnce = 4096;

/** Writes all of the bytes to a descriptor. @throws OutputClosed, LinuxError */
export function writeFully(descriptor: number, bytes: Uint8Array): void {
  new Sink(descriptor).write(bytes, bytes.length);
}

/** Whether two descriptors lead to one terminal, pipe or file. */
export function sameFile(one: number, other: number): boolean {
  if (one === other) return true;
  try {
    // `bigint`: see `patience`.
    const [a, b] = [one, other].map((descriptor) => fstatSync(descriptor, { bigint: true }));
    return a.dev === b.dev && a.ino === b.ino;
  } catch {
    return false;
  }
}

/** Milliseconds that lines of a stream may wait on their way into a file. */
const filePatience = 50;

/** What a writer hands its bytes to. */
export type Destination = Pick<Sink, "terminal" | "patience" | "hurry" | "write">;

/**
 * A descriptor that lines are written to, from buffers that are used again and again: by a tenth of what Node does for
 * a write.
 */
export class Sink {
  readonly #descriptor: number;
  #terminal: boolean | undefined;
  #hurried = false;
  #buffer: Uint8Array | undefined;
  #address = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** A file by its path, for who is told that it cannot be written. */
  #place(): string {
    try {
      const path = readlinkSync(`/proc/self/fd/${this.#descriptor}`);
      if (path.startsWith("/")) return `to "${path}"`;
    } catch {
      // Without /proc.
    }
    return "the output";
  }

  /** Whether it is a terminal: asked once. */
  get terminal(): boolean {
    return (this.#terminal ??= isTerminal(this.#descriptor));
  }

  /** Consumer.patience: who watches a terminal or reads from a pipe does so at once, but nobody a file. */
  get patience(): number | undefined {
    try {
      // `bigint`: what a program imports next may be behind a link (`fromPackage`).
      return fstatSync(this.#descriptor, { bigint: true }).isFile() ? filePatience : undefined;
    } catch {
      // Not open: said when there is something to write.
      return undefined;
    }
  }

  /** The session is to end: no longer waits for a reader who does not read. */
  hurry(): void {
    this.#hurried = true;
  }

  /** Writes the first `length` bytes of a buffer. @throws OutputClosed, OutputStuck, LinuxError */
  write(buffer: Uint8Array, length: number): void {
    if (buffer !== this.#buffer && length > 0) {
      // Held, it stays where it is.
      this.#buffer = buffer;
      this.#address = addressOf(buffer);
    }
    for (let at = 0; at < length;) {
      if (this.#hurried && !waitUntilWritable(this.#descriptor)) throw new OutputStuck();
      const result = syscall(
        SYS.write,
        this.#descriptor,
        this.#address + at,
        this.#hurried ? Math.min(length - at, atOnce) : length - at,
      );
      if (result >= 0) at += result;
      else if (result === -EPIPE) throw new OutputClosed();
      else if (result === -EAGAIN) waitUntilWritable(this.#descriptor);
      // A signal that ends the session: see interruptsCalls.
      else if (result === -EINTR) this.#hurried = true;
      else throw new LinuxError({ call: "write", code: -result, doing: attempts().writePlace(this.#place()) });
    }
  }
}
