// Pipes that no child inherits.
import { check } from "../error.ts";
import { syscall, SYS } from "../ffi.ts";

const O_CLOEXEC = 0o2000000;

/** pipe2(2): the end to read, the end to write. The caller owns both. */
export function makePipe(): readonly [read: number, write: number] {
  const ends = new Int32Array(2);
  check(syscall(SYS.pipe2, new Uint8Array(ends.buffer), O_CLOEXEC), "pipe2", "make a pipe");
  return [ends[0], ends[1]];
}
