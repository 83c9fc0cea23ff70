// The process that a session is about: the command of -c, or the one named by -p. Its end is the session's.
import { readFileSync } from "node:fs";
import { spawnTraced, type TracedChild } from "../../linux/processes/child.ts";
import { watchProcess } from "../../linux/processes/pidfd.ts";
import { lazy } from "../../base/lazy.ts";

const execStop = lazy<typeof import("../../linux/processes/exec-stop.ts")>(() =>
  require("../../linux/processes/exec-stop.ts"),
);

export interface Target extends Disposable {
  readonly pid: number;
  /** A command that is held back has come to wait: what it does from here on is its own. */
  readonly ready: Promise<void>;
  /**
   * Starts a command that was held back; `executed` is called when it has become its program, before that runs. Gives
   * why it was not.
   */
  go(executed?: (pid: number) => void): Error | undefined;
  readonly ended: Promise<void>;
  /** Why a command could not be started, known when it has ended. */
  failure?(): Promise<string | undefined>;
}

/** Starts `command`, held back until go(). Disposing ends it, if it still runs. */
export function commandTarget(command: string, programs: readonly string[] | undefined): Target {
  const child: TracedChild = spawnTraced(command, programs);
  let running = true;
  const over = () => {
    running = false;
  };
  const ended = child.exited.then(over, over);
  return {
    pid: child.pid,
    ready: child.ready,
    go: (executed) => {
      if (executed !== undefined)
        return execStop().stopAtExec(
          child.pid,
          () => child.go(),
          () => executed(child.pid),
        );
      child.go();
      return undefined;
    },
    ended,
    failure: () => child.failure(),
    [Symbol.dispose]() {
      if (running) child.kill();
    },
  };
}

/** Watches a process. @throws when there is none */
export function processTarget(pid: number): Target {
  if (!isRunning(pid)) throw new Error(`failed to attach to pid ${pid}: no such process`);
  const watch = watchProcess(pid);
  return {
    pid,
    ready: Promise.resolve(),
    go: () => undefined,
    ended: watch.ended,
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}

/** A zombie has ended: it only waits for its parent. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const state = stat[stat.lastIndexOf(")") + 2];
    return state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}
