// Signal numbers of Linux on x86-64 and arm64, by name without "SIG".
const names = (
  "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG " +
  "XCPU XFSZ VTALRM PROF WINCH IO PWR SYS"
).split(" ");

/** `SIGKILL` or `KILL` → 9. */
export function signalNumber(name: string): number | undefined {
  const index = names.indexOf(name.toUpperCase().replace(/^SIG/, ""));
  return index === -1 ? undefined : index + 1;
}

export function signalNames(): string[] {
  return names.map((name) => `SIG${name}`);
}
