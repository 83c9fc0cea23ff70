// Watchpoints of addresses that handlers find, by watch(). A breakpoint is opened by whoever traces, when the event is
// read: what is done between the call and that is not seen, and how long it took is said.
import { LinuxError } from "../../linux/error.ts";
import { closeFd } from "../../linux/ffi.ts";
import { PERF_TYPE_BREAKPOINT } from "../../linux/perf/perf.ts";
import { CLOCK_BOOTTIME, clockNs } from "../../linux/processes/procfs.ts";
import { attachEverywhere } from "./perf-sampling.ts";
import { sessions } from "../../messages/sessions.ts";
import { refusalHints, attempts } from "../../messages/on-demand.ts";

/** A call of watch(). `time`: when, CLOCK_BOOTTIME in nanoseconds. */
export interface Armed {
  readonly name: string;
  readonly address: bigint;
  readonly pid: number;
  readonly time: bigint;
}

export interface ArmedSite {
  readonly armed: string;
  readonly length: number;
  readonly mode: number;
}

interface Live {
  readonly address: bigint;
  readonly pid: number | undefined;
  readonly events: readonly number[];
}

/** Refusals that are told as they happen; of the others how many there were. */
const mostTold = 3;

export class ArmedWatchpoints implements Disposable {
  readonly #live = new Map<string, Live>();
  readonly #program: number;
  readonly #name: string;
  readonly #site: ArmedSite;
  readonly #report: (text: string) => void;
  #watched = 0;
  #refused = 0;
  /** The process had ended by then. */
  #late = 0;
  #longest = 0n;

  constructor(program: number, name: string, site: ArmedSite, report: (text: string) => void) {
    this.#program = program;
    this.#name = name;
    this.#site = site;
    this.#report = report;
  }

  /**
   * The process's memory, or the kernel's, whose addresses have the upmost bit set. An address that is watched stays
   * so.
   */
  watch({ name, address, pid, time }: Armed): void {
    const { armed, length, mode } = this.#site;
    if (name !== armed) return;
    const within = address >> 63n === 0n ? pid : undefined;
    const key = `${within} ${address}`;
    if (this.#live.has(key)) return;
    try {
      if (address % BigInt(length) !== 0n)
        throw new LinuxError({
          call: "perf_event_open",
          code: 22,
          doing: attempts().watch(`0x${address.toString(16)}`),
          hint: refusalHints().unalignedWatch(length),
        });
      const event = {
        type: PERF_TYPE_BREAKPOINT,
        config: 0,
        config1: address,
        config2: length,
        bpType: mode,
        samplePeriod: 1,
        ...(within === undefined ? {} : { removeOnExec: true }),
      };
      this.#live.set(key, { address, pid: within, events: attachEverywhere(this.#program, event, 0n, within) });
      this.#watched++;
      const took = clockNs(CLOCK_BOOTTIME) - time;
      if (took > this.#longest) this.#longest = took;
    } catch (error) {
      if (!(error instanceof LinuxError)) throw error;
      if (error.errno === "ESRCH") this.#late++;
      else if (++this.#refused <= mostTold)
        this.#report(
          `WARNING: watch("${name}", 0x${address.toString(16)}) is refused: ${error.message}${error.errno === "ENOSPC" ? this.#inUse() : ""}`,
        );
    }
  }

  #inUse(): string {
    const some = [...this.#live.values()]
      .slice(-4)
      .map(({ address, pid }) => `0x${address.toString(16)}${pid === undefined ? "" : ` of process ${pid}`}`);
    return some.length === 0 ? "" : `; it watches ${some.join(", ")}`;
  }

  /** In the process that asks, or in all where it is strobe that does. */
  unwatch(address: bigint, pid: number): void {
    for (const [key, live] of this.#live) {
      if (live.address !== address || !(live.pid === undefined || live.pid === pid || pid === process.pid)) continue;
      for (const event of live.events.toReversed()) closeFd(event);
      this.#live.delete(key);
    }
  }

  [Symbol.dispose](): void {
    for (const { events } of this.#live.values()) for (const event of events.toReversed()) closeFd(event);
    this.#live.clear();
    const milliseconds = Number(this.#longest / 10_000n) / 100;
    const said = [
      ...(this.#watched > 0 ? [sessions.addressesWatchedLate(this.#watched, milliseconds)] : []),
      ...(this.#refused > 0 ? [sessions.watchRefused(this.#refused)] : []),
      ...(this.#late > 0 ? [sessions.watchTooLate(this.#late)] : []),
    ].map(({ message }) => message);
    if (said.length > 0) this.#report(`WARNING: ${this.#name}: ${said.join("; ")}`);
  }
}
