// User stacks in maps are named when the maps are printed, when their processes may be gone. The kernel tells of the
// lives of processes that start from now on, and the mappings of those that run already are read soon, a few at a time.
// Where the kernel tells nothing, the maps are looked through now and then for processes not seen before, and the
// traced command, which may live for milliseconds only, is looked at from its start on.
import { fieldLayout, sizeOf } from "../../../language/layout.ts";
import type { Type } from "../../../language/types.ts";
import { processIds } from "../../../linux/processes/procfs.ts";
import type { LiveMap } from "../../maps.ts";

/** Offsets of pids in a value of this type: of its user stacks and user symbols. */
export function pidOffsets(type: Type, at = 0): number[] {
  switch (type.kind) {
    case "stack":
      return type.space === "user" ? [at + 8] : [];
    case "named":
      return type.of === "usym" ? [at + 8] : [];
    case "tuple":
      return inFields(type.elements, at);
    case "record":
      return inFields(
        type.fields.map((field) => field.type),
        at,
      );
    case "array":
      return Array.from({ length: type.length }, (_, i) =>
        pidOffsets(type.element, at + i * sizeOf(type.element)),
      ).flat();
    default:
      return [];
  }
}

function inFields(types: readonly Type[], at: number): number[] {
  const { offsets } = fieldLayout(types);
  return types.flatMap((type, i) => pidOffsets(type, at + offsets[i]));
}

interface Watched {
  readonly live: LiveMap;
  readonly inKey: readonly number[];
  readonly inValue: readonly number[];
}

/** Milliseconds between two looks: at first often, then ever more rarely. */
const firstPause = 1;
const longestPause = 250;
const growth = 1.25;
/** Milliseconds for reading the mappings of processes that run already, at a time; and how many of them at most. */
const slice = 2;
const runningKept = 2048;
/** Of the time, at most this part goes into looking. */
const share = 1 / 50;

/** What naming wants to know early. */
export interface ProcessMemory {
  /** Lets the kernel tell of all processes from now on; false when it refuses. */
  watch(): boolean;
  /** Takes in what the kernel told. */
  read(): void;
  /** A process was seen: remember its mappings. */
  notice(pid: number): void;
  /** The traced process may see files that nobody else does: they are opened before it goes. */
  hold?(pid: number): void;
  /** The traced process may have changed. */
  refresh(pid: number): void;
}

export class StackOwners implements Disposable {
  readonly #watched: readonly Watched[];
  readonly #memory: () => ProcessMemory;
  readonly #needed: boolean;
  #told = false;
  /** Processes that ran before us, still to be noticed; the youngest is the next. */
  #running: number[] = [];
  #target: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `schemas` are the types of events' fields. `memory` is asked for when there is something to name. */
  constructor(maps: Iterable<LiveMap>, schemas: Iterable<Type>, memory: () => ProcessMemory) {
    this.#memory = memory;
    this.#watched = [...maps]
      .map((live) => ({ live, inKey: inFields(live.map.keys, 0), inValue: pidOffsets(live.map.value) }))
      .filter(({ inKey, inValue }) => inKey.length > 0 || inValue.length > 0);
    this.#needed = this.#watched.length > 0 || [...schemas].some((type) => pidOffsets(type).length > 0);
  }

  /** Whether there is anything to look for. */
  get needed(): boolean {
    return this.#needed;
  }

  /** Before anything is attached: from here on, no process that starts is missed. */
  watch(): void {
    if (!this.#needed) return;
    this.#told = this.#memory().watch();
    if (this.#told) this.#running = processIds().slice(-runningKept);
  }

  /** Begins to look, when there is anything to look for. */
  start(target: number | undefined): void {
    this.#target = target;
    if (!this.#needed) return;
    if (target !== undefined) {
      this.#memory().notice(target);
      this.#memory().hold?.(target);
    }
    this.#arm(firstPause);
  }

  #arm(pause: number): void {
    this.#timer = setTimeout(() => {
      const before = performance.now();
      this.scan();
      for (let pid = this.#running.pop(); pid !== undefined; pid = this.#running.pop()) {
        this.#memory().notice(pid);
        if (performance.now() - before > slice) break;
      }
      if (this.#running.length > 0) this.#arm(firstPause);
      else this.#arm(Math.max(Math.min(longestPause, pause * growth), (performance.now() - before) / share));
    }, pause);
    this.#timer.unref();
  }

  scan(): void {
    if (this.#told) return this.#memory().read();
    if (this.#target !== undefined) this.#memory().refresh(this.#target);
    for (const { live, inKey, inValue } of this.#watched) {
      for (const [key, value] of live.entries()) {
        for (const offset of inKey) this.#memory().notice(pidAt(key, offset));
        for (const offset of inValue) this.#memory().notice(pidAt(value, offset));
      }
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

function pidAt(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] | (bytes[offset + 1] << 8) | (bytes[offset + 2] << 16) | (bytes[offset + 3] << 24)) >>> 0;
}
