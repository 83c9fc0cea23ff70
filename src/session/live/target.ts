// The processes that a session is about: the command of -c, or those named by -p. When all have ended, so does it.
import { readFileSync } from "node:fs";
import { spawnTraced, type TracedChild } from "../../linux/processes/child.ts";
import { watchProcess, type ProcessWatch } from "../../linux/processes/pidfd.ts";
import { lazy } from "../../base/lazy.ts";
import { RunError } from "../../base/run-error.ts";
import { runReasons } from "../../messages/on-demand.ts";

const execStop = lazy<typeof import("../../linux/processes/exec-stop.ts")>(() =>
  require("../../linux/processes/exec-stop.ts"),
);

export interface Target extends Disposable {
  /** Undefined of several. */
  readonly pid: number | undefined;
  /** A command that is held back has come to wait: what it does from here on is its own. */
  readonly ready: Promise<void>;
  /**
   * Starts a command that was held back; `executed` is called when it has become its program, before that runs. Gives
   * why it was not.
   */
  go(executed?: (pid: number) => void): Error | undefined;
  readonly ended: Promise<void>;
  /** Of several processes, those that had ended before. */
  readonly gone?: readonly number[];
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

/** Watches processes, one at least. @throws when none of them runs */
export function processTarget(pids: readonly number[]): Target {
  const gone = pids.filter((pid) => !isRunning(pid));
  if (gone.length === pids.length) throw new RunError(runReasons().processesGone(gone.join(", ")));
  const watches: ProcessWatch[] = [];
  const dispose = (): void => {
    for (const watch of watches) watch[Symbol.dispose]();
  };
  try {
    for (const pid of pids) if (!gone.includes(pid)) watches.push(watchProcess(pid));
  } catch (error) {
    dispose();
    throw error;
  }
  return {
    pid: pids.length === 1 ? pids[0] : undefined,
    gone,
    ready: Promise.resolve(),
    go: () => undefined,
    ended: Promise.all(watches.map(({ ended }) => ended)).then(() => undefined),
    [Symbol.dispose]: dispose,
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
