// Sleeping in the thread itself: Node's event loop stands still meanwhile.
import { addressOf, eventLoopDescriptor, syscall, SYS } from "./ffi.ts";

const POLLIN = 1;
const POLLOUT = 4;
const POLLERR = 8;
const POLLHUP = 16;

/** struct timespec: seconds, nanoseconds, of 64 bits each. The kernel writes into it what was left. */
const time = new Uint32Array(4);
/** Two of struct pollfd: a descriptor, the events that are asked for (16 bits) and below them those that there are. */
const asked = new Int32Array(4);
let timeAddress = 0;
let askedAddress = 0;

/** ppoll(2) of the first so many descriptors: how many are ready, or the negative errno. */
function wait(count: number, milliseconds: number): number {
  const seconds = Math.floor(milliseconds / 1000);
  time[0] = seconds;
  time[2] = (milliseconds - seconds * 1000) * 1e6;
  timeAddress ||= addressOf(time);
  askedAddress ||= addressOf(asked);
  return syscall(SYS.ppoll, askedAddress, count, timeAddress);
}

/**
 * Sleeps for some milliseconds, until `descriptor` (if any) is readable, or until the event loop has something to do.
 * Tells that by false: a signal came, a child or a watched process has ended; whoever waits for it hears of it in the
 * loop's next turn. (Of timers the kernel knows nothing.) Costs a third of what a timer of Node's does. For the main
 * thread.
 */
export function sleepInThread(milliseconds: number, descriptor?: number): boolean {
  asked[0] = eventLoopDescriptor();
  asked[1] = POLLIN;
  if (descriptor !== undefined) {
    asked[2] = descriptor;
    asked[3] = POLLIN;
  }
  const ready = wait(descriptor === undefined ? 1 : 2, milliseconds);
  // EINTR: a signal.
  return ready >= 0 && (ready === 0 || asked[1] >> 16 === 0);
}

/** Whether what is written to a descriptor has nobody to read it: a pipe or a socket whose other end is closed. */
export function hasNoReader(descriptor: number): boolean {
  asked[0] = descriptor;
  asked[1] = POLLOUT;
  return wait(1, 0) > 0 && ((asked[1] >> 16) & (POLLERR | POLLHUP)) !== 0;
}

/**
 * Waits until a descriptor can be written to, or has nobody to read from it: a second at most. Whether it was worth it.
 */
export function waitUntilWritable(descriptor: number): boolean {
  asked[0] = descriptor;
  asked[1] = POLLOUT;
  return wait(1, 1000) !== 0;
}
