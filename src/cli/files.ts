// Files that a person names: scripts to read, a file for the output; and standard output. What goes wrong with them is
// said in words.
import { closeSync, openSync, readSync } from "node:fs";
import { textBytes } from "../language/text-bytes.ts";
import { LinuxError, type Doing } from "../linux/error.ts";
import { isTerminal } from "../linux/ffi.ts";
import { shownText } from "../output/shown-text.ts";
import { OutputClosed, writeFully } from "../output/sink.ts";
import { commandLine, attempts } from "../messages/on-demand.ts";
import { UsageError } from "./usage-error.ts";
import { refusalHints } from "../messages/on-demand.ts";

/** Bytes of the largest script. Those that programs write have some megabytes. */
const most = 16 << 20;

/**
 * The text of a script: a path, or 0 for standard input. A byte order mark is left out. @throws LinuxError, UsageError
 */
export function readText(file: string | 0): string {
  const name = file === 0 ? "standard input" : file;
  const bytes = during(
    () => attempts().readFile(name),
    () => readBytes(file),
  );
  if (bytes === undefined) throw new UsageError(commandLine().scriptTooLarge(name, most >> 20));
  const zero = bytes.indexOf(0);
  if (zero >= 0) {
    const wide = bytes.length > 1 && (bytes.readUInt16LE(0) === 0xfeff || bytes.readUInt16LE(0) === 0xfffe);
    throw new UsageError(wide ? commandLine().scriptInUtf16(name) : commandLine().scriptHasZero(name, zero));
  }
  return bytes.toString("utf8", bytes.subarray(0, 3).equals(mark) ? 3 : 0);
}

/** UTF-8's byte order mark. */
const mark = Buffer.from([0xef, 0xbb, 0xbf]);

/** undefined when it is too large. */
function readBytes(file: string | 0): Buffer | undefined {
  const descriptor = file === 0 ? 0 : openSync(file, "r");
  try {
    const chunks: Buffer[] = [];
    for (let left = most + 1; left > 0;) {
      const room = Buffer.allocUnsafe(Math.min(left, 64 << 10));
      const got = readSome(descriptor, room);
      if (got === 0) return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      chunks.push(room.subarray(0, got));
      left -= got;
    }
    return undefined;
  } finally {
    if (descriptor !== 0) closeSync(descriptor);
  }
}

/** Bytes read, 0 at the end. Waits for a terminal or a pipe that is non-blocking. */
export function readSome(descriptor: number, room: Buffer): number {
  for (;;) {
    try {
      return readSync(descriptor, room);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** Opens or makes the file that -o names. @throws LinuxError */
export function openOutput(file: string, appends = false): number {
  return during(
    () => attempts().writeTo(file),
    () => openSync(file, appends ? "a" : "w"),
  );
}

/** Says something on standard error. What names in it would do to a terminal is spelled out. */
export function tell(text: string): void {
  process.stderr.write(process.stderr.isTTY ? shownText(text, true) : text);
}

/**
 * Writes text to standard output, all of it before this is back: Node leaves what a full pipe does not take for later,
 * and the command ends at once. Whoever has stopped reading misses nothing. @throws LinuxError
 */
export function print(text: string): void {
  try {
    during(
      () => attempts().writeOutput(),
      () => writeFully(1, textBytes(isTerminal(1) ? shownText(text, true) : text)),
    );
  } catch (error) {
    if (!(error instanceof OutputClosed)) throw error;
  }
}

/** Says what strobe was doing when a call of Node's fails. `doing` follows "cannot". @throws LinuxError */
export function during<T>(doing: Doing, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const { syscall, errno } = error as NodeJS.ErrnoException;
    if (syscall === undefined || errno === undefined) throw error;
    // Not the privileges that tracing needs.
    throw new LinuxError({ call: syscall, code: -errno, doing: doing(), hint: refusalHints().none() });
  }
}
