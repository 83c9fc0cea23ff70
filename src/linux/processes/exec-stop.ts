// Stops a child of ours between its exec and the first instruction of what it executes, for as long as a function runs:
// ptrace(2). All in one go and without a turn of the event loop, in which Node would take the stop for the child's end.
import { LinuxError } from "../error.ts";
import { syscall } from "../ffi.ts";
import { attempts } from "../../messages/on-demand.ts";

const [PTRACE, WAITID] = process.arch === "arm64" ? [117, 95] : [101, 247];
const PTRACE_CONT = 7;
const PTRACE_DETACH = 17;
const PTRACE_SEIZE = 0x4206;
const PTRACE_O_TRACEEXEC = 1 << 4;
const PTRACE_EVENT_EXEC = 4;
const SIGTRAP = 5;
const P_PID = 1;
const WNOHANG = 1,
  WSTOPPED = 2,
  WEXITED = 4,
  WNOWAIT = 0x0100_0000,
  WALL = 0x4000_0000;
const CLD_EXITED = 1,
  CLD_KILLED = 2,
  CLD_DUMPED = 3;
/** A file that is executed may lie behind a slow network. */
const PATIENCE_MS = 10_000;
const STEP_MS = 0.2;

/**
 * `go` lets the child execute its program; `stopped` is called when it has, with the child standing still. Not called
 * when the child cannot execute it, or when the kernel does not let us stop it, which the result tells. @throws
 * LinuxError when it takes too long, with the child ended
 */
export function stopAtExec(pid: number, go: () => void, stopped: () => void): LinuxError | undefined {
  const seized = syscall(PTRACE, PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC);
  go();
  if (seized < 0) return new LinuxError({ call: "ptrace", code: -seized, doing: attempts().stopCommand() });
  const until = performance.now() + PATIENCE_MS;
  const nap = new Int32Array(new SharedArrayBuffer(4));
  while (performance.now() < until) {
    const state = stateOf(pid);
    if (state === "ended") return undefined;
    if (state === "stopped") {
      try {
        stopped();
      } finally {
        syscall(PTRACE, PTRACE_DETACH, pid, 0, 0);
      }
      return undefined;
    }
    if (typeof state === "number") syscall(PTRACE, PTRACE_CONT, pid, 0, state);
    Atomics.wait(nap, 0, 0, STEP_MS);
  }
  process.kill(pid, "SIGKILL");
  throw new LinuxError({ call: "ptrace", code: 110, doing: attempts().waitForCommand() });
}

/** A number: stopped by that signal, which is to be passed on. Its end is left for Node to hear of. */
function stateOf(pid: number): "stopped" | "ended" | "running" | number {
  // siginfo_t: si_code at 8, si_pid at 16, si_status at 24
  const info = new Uint8Array(128);
  const view = new DataView(info.buffer);
  if (syscall(WAITID, P_PID, pid, info, WNOHANG | WSTOPPED | WEXITED | WNOWAIT | WALL) < 0) return "ended";
  if (view.getInt32(16, true) === 0) return "running";
  if ([CLD_EXITED, CLD_KILLED, CLD_DUMPED].includes(view.getInt32(8, true))) return "ended";
  syscall(WAITID, P_PID, pid, info, WNOHANG | WSTOPPED | WALL);
  const status = view.getInt32(24, true);
  if (status === (SIGTRAP | (PTRACE_EVENT_EXEC << 8))) return "stopped";
  // A group stop, told as an event, is no signal to pass on.
  return status >> 8 === 0 ? status : 0;
}
