// What a command line that makes no sense is told; numbers of processes on it.

/** A command line that makes no sense: the message says which part. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** PID_MAX_LIMIT of a 64-bit kernel (include/linux/threads.h). */
const mostPid = 0x40_0000;

export function readPid(flag: string, text: string): number {
  if (!/^-?[0-9]+$/.test(text))
    throw new UsageError(`failed to parse pid: invalid integer: ${text} (${flag} takes the number of a process)`);
  const pid = Number(text);
  if (pid < 1 || pid > mostPid)
    throw new UsageError(`pid out of range: ${text} (processes have the numbers 1 to ${mostPid})`);
  return pid;
}
