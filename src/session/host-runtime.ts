// What host programs (begin, end, interval: JavaScript generated from the IR) see of the live session.
import { readFileSync } from "node:fs";
import type { HostRuntime } from "../compiler/runtime.ts";
import { InternalError } from "../faults/internal-error.ts";
import { CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_TAI, clockNs } from "../linux/processes/procfs.ts";
import { initialIds } from "../linux/processes/initial-ids.ts";
import { aggregateDouble } from "../language/aggregations/value.ts";
import { aggregateOf, type LiveMap } from "./maps.ts";

export interface HostServices {
  /** By the plan's index; stack maps are absent. */
  readonly maps: ReadonlyMap<number, LiveMap>;
  /** The boot clock when the session began. */
  readonly start: bigint;
  readonly childPid: number;
  /** Takes a record now, in the order of emission. */
  emit(schema: number, record: Uint8Array): void;
  /** A look-up at a watched place found nothing. */
  failed(watch: number): void;
  /** Shows what was printed; whether the program is to end. */
  rest(): boolean;
}

/** Ends a host program that is in the middle of a loop. */
export class Interrupted extends Error {}

export class LiveHostRuntime implements HostRuntime {
  readonly #services: HostServices;
  #comm: Uint8Array | undefined;
  #initialIds: bigint | undefined;

  constructor(services: HostServices) {
    this.#services = services;
  }

  /** The current process, as far as a host program has one, is strobe. */
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
        return clockNs(CLOCK_BOOTTIME) - this.#services.start;
      case "child-pid":
        return BigInt(this.#services.childPid);
      case "user-mode":
        return 1n;
      // No task, no context, no kernel: 0, as a failed read is.
      case "cgroup":
      case "numa-node":
      case "task":
      case "func-ip":
      case "attach-cookie":
      case "context":
        return 0n;
      default:
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

  mapLookup(map: number, key: Uint8Array | null): Uint8Array | undefined {
    return this.#map(map).lookup(key);
  }

  mapStore(map: number, key: Uint8Array | null, value: Uint8Array): void {
    this.#map(map).store(key, value);
  }

  mapAdd(map: number, key: Uint8Array | null, delta: bigint): bigint {
    return this.#map(map).add(key, delta);
  }

  mapDelete(map: number, key: Uint8Array | null): boolean {
    return this.#map(map).delete(key);
  }

  mapLength(map: number): number {
    return this.#map(map).length();
  }

  aggregate(map: number, key: Uint8Array | null, value: bigint, time?: bigint): void {
    this.#map(map).aggregate(key, value, time);
  }

  aggregateDouble(map: number, words: Uint8Array): bigint {
    return aggregateDouble(aggregateOf(this.#map(map).map), words);
  }

  mapEntries(map: number): Iterable<readonly [key: Uint8Array, value: Uint8Array]> {
    return this.#map(map).entries();
  }

  emit(schema: number, record: Uint8Array): void {
    this.#services.emit(schema, record);
  }

  failed(watch: number): void {
    this.#services.failed(watch);
  }

  rest(): void {
    if (this.#services.rest()) throw new Interrupted();
  }

  /** This process has no way into the kernel's memory, and reads none of its own. */
  readMemory(): Uint8Array | undefined {
    return undefined;
  }

  signal(signal: bigint): bigint {
    process.kill(process.pid, Number(signal));
    return 0n;
  }

  #map(index: number): LiveMap {
    const map = this.#services.maps.get(index);
    if (map === undefined) throw new InternalError(`a host program uses map ${index}, which is none of its kind`);
    return map;
  }
}

/** The CPU this thread last ran on: field 39 of its stat file. */
function currentCpu(): bigint {
  const stat = readFileSync("/proc/thread-self/stat", "latin1");
  return BigInt(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[36] ?? "0");
}
