// What host programs (begin, end, interval) see of this machine: the current process, as far as they have one, is strobe.
import { readFileSync } from "node:fs";
import { InternalError } from "../../base/internal-error.ts";
import { CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_TAI, clockNs } from "../../linux/processes/procfs.ts";
import { initialIds } from "../../linux/processes/initial-ids.ts";
import type { Surroundings } from "../source.ts";

export class LiveSurroundings implements Surroundings {
  readonly #start: bigint;
  readonly #childPid: number;
  #comm: Uint8Array | undefined;
  #initialIds: bigint | undefined;

  /** `start`: the boot clock when the session began. */
  constructor(start: bigint, childPid: number) {
    this.#start = start;
    this.#childPid = childPid;
  }

  builtin(name: string): bigint {
    switch (name) {
      case "initial-pid-and-tid":
        return (this.#initialIds ??= initialIds());
      case "pid-and-tid":
        return (BigInt(process.pid) << 32n) | BigInt(process.pid);
      case "gid-and-uid":
        return (BigInt(process.getgid?.() ?? 0) << 32n) | BigInt(process.getuid?.() ?? 0);
      case "cpu":
        return currentCpu();
      case "random":
        return BigInt(Math.floor(Math.random() * 0x1_0000_0000));
      case "nsecs-boot":
        return clockNs(CLOCK_BOOTTIME);
      case "nsecs-monotonic":
        return clockNs(CLOCK_MONOTONIC);
      case "nsecs-tai":
      case "nsecs-sw-tai":
        return clockNs(CLOCK_TAI);
      case "nsecs-wall":
        return clockNs(CLOCK_REALTIME);
      case "jiffies":
        return clockNs(CLOCK_BOOTTIME) / 4_000_000n;
      case "elapsed":
        return clockNs(CLOCK_BOOTTIME) - this.#start;
      case "child-pid":
        return BigInt(this.#childPid);
      case "user-mode":
        return 1n;
      // No task, no context, no kernel: 0, as a failed read is.
      case "cgroup":
      case "task":
      case "func-ip":
      case "attach-cookie":
      case "context":
        return 0n;
      default:
        if (name.startsWith("helper:") || name.startsWith("cgroup-at:")) return 0n;
        throw new InternalError(`a host program asks for "${name}"`);
    }
  }

  comm(): Uint8Array {
    if (!this.#comm) {
      this.#comm = new Uint8Array(16);
      try {
        this.#comm.set(readFileSync("/proc/self/comm").subarray(0, 15));
        const end = this.#comm.indexOf(10);
        if (end >= 0) this.#comm[end] = 0;
      } catch {
        this.#comm.set(Buffer.from("strobe"));
      }
    }
    return this.#comm.slice();
  }
}

/** The CPU this thread last ran on: field 39 of its stat file. */
function currentCpu(): bigint {
  const stat = readFileSync("/proc/thread-self/stat", "latin1");
  return BigInt(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[36] ?? "0");
}
