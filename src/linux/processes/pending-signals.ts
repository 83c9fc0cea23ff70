// Signals that Node knows of and nobody has heard of yet, since the thread is busy. Their handler is libuv's: it writes
// what came into a pipe of this process (struct uv__signal_msg_t: a pointer, and the number as an int;
// src/unix/signal.c), which the event loop reads in its next turn. tee(2) looks at what lies in a pipe and takes
// nothing.
import { readdirSync, readlinkSync, readSync } from "node:fs";
import { syscall, SYS } from "../ffi.ts";
import { makePipe } from "./child.ts";

const SPLICE_F_NONBLOCK = 2;
const messageBytes = 16;
const numberAt = 8;

let looking: { readonly pipes: readonly number[]; readonly copy: readonly [read: number, write: number] } | undefined;

/** Whether one of these signals, to which this process listens, has come. */
export function isPending(signals: ReadonlySet<number>): boolean {
  looking ??= { pipes: ownPipes(), copy: makePipe() };
  const {
    pipes,
    copy: [read, write],
  } = looking;
  const messages = Buffer.alloc(4096);
  for (const pipe of pipes) {
    const bytes = syscall(SYS.tee, pipe, write, messages.length, SPLICE_F_NONBLOCK);
    if (bytes <= 0) continue; // nothing in it, or the end to write to
    readSync(read, messages, 0, bytes, null);
    for (let at = 0; at + messageBytes <= bytes; at += messageBytes)
      if (signals.has(messages.readInt32LE(at + numberAt))) return true;
  }
  return false;
}

/** The ends of pipes that this process has both ends of: nobody else's bytes are in them. */
function ownPipes(): number[] {
  const ends = readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const name = readlinkSync(`/proc/self/fd/${fd}`);
      return name.startsWith("pipe:") ? [{ name, fd: Number(fd) }] : [];
    } catch {
      return []; // the folder's own
    }
  });
  return ends
    .filter(({ name, fd }) => ends.some((other) => other.name === name && other.fd !== fd))
    .map(({ fd }) => fd);
}
