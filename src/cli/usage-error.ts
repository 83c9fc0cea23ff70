// A command line that makes no sense; numbers of processes on it.
import { commandLine } from "../messages/on-demand.ts";
import type { UsageMessage } from "../messages/message.ts";

/** A command line that makes no sense: the message says which part. */
export class UsageError extends Error {
  constructor({ message }: UsageMessage) {
    super(message);
    this.name = "UsageError";
  }
}

/** PID_MAX_LIMIT of a 64-bit kernel (include/linux/threads.h). */
const mostPid = 0x40_0000;

export function readPid(flag: string, text: string): number {
  if (!/^-?[0-9]+$/.test(text)) throw new UsageError(commandLine().noPid(flag, text));
  const pid = Number(text);
  if (pid < 1 || pid > mostPid) throw new UsageError(commandLine().pidOutOfRange(text, mostPid));
  return pid;
}
