// What the session itself does when an event says so, in the order of events. Everything else is the consumer's.
import { sessions, runReasons } from "../messages/on-demand.ts";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { evaluate } from "../compiler/javascript/evaluate.ts";
import type { EventField, EventSchema } from "../compiler/plan.ts";
import { InternalError } from "../base/internal-error.ts";
import { resultAlone, valueOf } from "../language/aggregations/table.ts";
import { wordsIn } from "../language/aggregations/value.ts";
import type { PrintfFormat } from "../language/printf.ts";
import { sizeOf } from "../language/layout.ts";
import { decoder } from "./decode.ts";
import type { Consumer, ConsumerServices, MapSnapshot, RecordHandler, RecordMemory } from "./events.ts";
import { unlessInterrupted, type SessionRuntime } from "./host-runtime.ts";
import { snapshotOf, type LiveMap } from "./maps.ts";
import { RunError } from "../base/run-error.ts";

/**
 * Makes a function that formats a record's fields: the command of system(), the path of cat(). Printf is the output
 * room's.
 */
export type TextFormatter = (
  format: PrintfFormat,
  fields: readonly EventField[],
  memory: RecordMemory,
  services: ConsumerServices,
) => (offset: number) => string;

export interface ActionTargets {
  readonly consumer: Consumer;
  readonly services: ConsumerServices;
  readonly formatter: TextFormatter;
  /** SessionOptions.top, or 0. */
  readonly top: number;
  readonly liveMaps: ReadonlyMap<number, LiveMap>;
  /** For what runs here of handlers that are captured. */
  readonly runtime: SessionRuntime;
  exit(code: number): void;
  /** Begins with the command of a system(): what comes behind waits for its end. */
  run(command: string): void;
  /** The probe of a name watches an address of a process; `time`: CLOCK_BOOTTIME in nanoseconds. */
  watch(asked: { readonly name: string; readonly address: bigint; readonly pid: number; readonly time: bigint }): void;
  /** Watchpoints of this address fire no more, as far as they are the asking process's. */
  unwatch(address: bigint, pid: number): void;
}

const noKey = new Uint8Array(0);

/** The handler of one schema's records in one memory. */
export function recordHandler(schema: EventSchema, memory: RecordMemory, targets: ActionTargets): RecordHandler {
  const { action, fields } = schema;
  const { consumer, services } = targets;
  switch (action.kind) {
    case "printf":
    case "print-value":
    case "print-entry":
    case "time":
    case "join":
    case "data":
    case "error":
      return consumer.handler({ ...schema, action }, memory, services);
    case "exit": {
      const code = fieldReader(fields[0], memory, 0);
      return (offset) => targets.exit(code(offset));
    }
    case "unwatch": {
      const [address, pid] = fields.map((field) => field.offset);
      return (offset) =>
        targets.unwatch(
          memory.view.getBigUint64(offset + address, true),
          Number(memory.view.getBigUint64(offset + pid, true)),
        );
    }
    case "watch": {
      const { name } = action;
      const [address, pid, time] = fields.map((field) => field.offset);
      const at = (offset: number): bigint => memory.view.getBigUint64(offset, true);
      return (offset) =>
        targets.watch({ name, address: at(offset + address), pid: Number(at(offset + pid)), time: at(offset + time) });
    }
    case "captured": {
      const run = evaluate(action.source);
      return (offset) => unlessInterrupted(targets.runtime, () => run(targets.runtime, memory, offset));
    }
    case "print-map": {
      const top = fieldReader(fields[0], memory, 0);
      const divisor = fieldReader(fields[1], memory, 1);
      const live = liveMap(targets, action.map);
      return (offset) =>
        consumer.map(shown(snapshotOf(live, action.map)), {
          top: top(offset) || targets.top,
          divisor: divisor(offset),
          services,
        });
    }
    case "print-rows": {
      const { maps, layout } = action;
      const shownMaps = maps.map((map, i) => ({
        map,
        live: liveMap(targets, map),
        divisor: fieldReader(fields[i], memory, 1),
      }));
      return (offset) => {
        const [first, ...beside] = shownMaps.map(({ map, live, divisor }) => ({
          snapshot: shown(snapshotOf(live, map)),
          divisor: divisor(offset),
        }));
        const { snapshot, divisor } = first;
        consumer.map(snapshot, { top: targets.top, divisor, services, rows: layout, beside });
      };
    }
    case "print-aggregate": {
      const live = liveMap(targets, action.map);
      const key = fields.find(({ name }) => name === "key");
      const by = fieldReader(
        fields.find(({ name }) => name === "divisor"),
        memory,
        1,
      );
      return (offset) => {
        const from = offset + (key?.offset ?? 0);
        const entry = key === undefined ? noKey : memory.bytes.slice(from, from + sizeOf(key.type));
        const value = live.lookup(key === undefined ? null : entry) ?? new Uint8Array(sizeOf(live.map.value));
        consumer.map(ofResult({ map: live.map, index: action.map, entries: [[entry, value]] }, action.of), {
          top: 0,
          divisor: by(offset),
          services,
          bare: true,
          ...(action.layout === undefined ? {} : { rows: action.layout }),
        });
      };
    }
    case "clear-map": {
      const live = liveMap(targets, action.map);
      return () => live.clear();
    }
    case "zero-map": {
      const live = liveMap(targets, action.map);
      return () => {
        live.zero();
        if (action.extremes === true) leaveExtremes(live);
      };
    }
    case "system": {
      const command = targets.formatter(action.format, fields, memory, services);
      return (offset) => targets.run(command(offset));
    }
    case "truncate":
      return () => consumer.truncate?.();
    case "reopen": {
      const path = targets.formatter(action.format, fields, memory, services);
      return (offset) => {
        const name = path(offset);
        try {
          if (consumer.reopen === undefined) throw new RunError(runReasons().onePlace());
          consumer.reopen(name);
        } catch (error) {
          consumer.trouble({
            kind: "message",
            text: `ERROR: ${sessions().fileNotOpened(name, reason(error)).message}`,
          });
        }
      };
    }
    case "cat": {
      const path = targets.formatter(action.format, fields, memory, services);
      const limit = services.plan.config.maxCatBytes;
      return (offset) => copyFile(path(offset), limit, consumer);
    }
  }
}

/** The maps that a session prints when it ends: the script's, by name, those that hold anything. */
export function printableMaps(liveMaps: ReadonlyMap<number, LiveMap>): MapSnapshot[] {
  return (
    [...liveMaps]
      .sort(([, a], [, b]) => (a.map.name < b.map.name ? -1 : a.map.name > b.map.name ? 1 : 0))
      .map(([index, live]) => snapshotOf(live, index))
      // A name that no script can write is strobe's own.
      .filter(({ map, entries }) => entries.length > 0 && !map.name.startsWith("."))
  );
}

/** A statistic's entry as the aggregation that one of its results would be by itself. */
function ofResult(snapshot: MapSnapshot, of: number | undefined): MapSnapshot {
  const { value } = snapshot.map;
  if (of === undefined || value.kind !== "aggregate") return snapshot;
  const { type, words } = resultAlone(value, of);
  const entries = snapshot.entries.map(([key, bytes]) => {
    const own = BigUint64Array.from(words(wordsIn(value, new DataView(bytes.buffer, bytes.byteOffset), 0)));
    return [key, new Uint8Array(own.buffer)] as const;
  });
  return { ...snapshot, map: { ...snapshot.map, value: type }, entries };
}

/** A map without keys that was asked for is shown as what reading it gives: zero when nothing is in it. */
function shown(snapshot: MapSnapshot): MapSnapshot {
  const { value, keys } = snapshot.map;
  if (keys.length > 0 || snapshot.entries.length > 0 || value.kind === "stack") return snapshot;
  // Of an empty histogram nothing is drawn.
  if (value.kind === "aggregate" && valueOf(value) === undefined) return snapshot;
  return { ...snapshot, entries: [[noKey, new Uint8Array(sizeOf(value))]] };
}

function liveMap(targets: ActionTargets, index: number): LiveMap {
  const live = targets.liveMaps.get(index);
  if (!live) throw new InternalError(`an event names map ${index}, which is none of the script's`);
  return live;
}

function fieldReader(field: EventField | undefined, memory: RecordMemory, absent: number): (offset: number) => number {
  if (!field) return () => absent;
  const decode = decoder(field.type);
  return (offset) => Number(decode(memory.view, memory.bytes, offset + field.offset));
}

function copyFile(path: string, limit: number, consumer: Consumer): void {
  let fd: number;
  try {
    // Whoever names a FIFO by an event's data makes nobody wait.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    consumer.trouble({ kind: "message", text: `ERROR: ${sessions().fileNotOpened(path, reason(error)).message}` });
    return;
  }
  try {
    const buffer = Buffer.allocUnsafe(limit);
    let length = 0;
    while (length < limit) {
      const got = readSync(fd, buffer, length, limit - length, null);
      if (got === 0) break;
      length += got;
    }
    consumer.text(buffer.subarray(0, length), "cat");
  } catch (error) {
    consumer.trouble({ kind: "message", text: `ERROR: ${sessions().fileNotRead(path, reason(error)).message}` });
  } finally {
    closeSync(fd);
  }
}

/** `No such file or directory`: the words of strerror(3), as far as Node has them. */
/** What was zeroed has a least or greatest value: the one that any other replaces. */
function leaveExtremes(live: LiveMap): void {
  const { value: type, keys } = live.map;
  if (type.kind !== "aggregate" || (type.aggregate !== "min" && type.aggregate !== "max")) return;
  const [least, most] = type.signed ? [-(1n << 63n), (1n << 63n) - 1n] : [0n, (1n << 64n) - 1n];
  const farthest = type.aggregate === "min" ? most : least;
  if (keys.length === 0) live.aggregate(null, farthest);
  else for (const [key] of live.entries()) live.aggregate(key, farthest);
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      return "No such file or directory";
    case "EACCES":
      return "Permission denied";
    case "EISDIR":
      return "Is a directory";
    case "ENOTDIR":
      return "Not a directory";
    case "EAGAIN":
      return "Resource temporarily unavailable";
    default:
      return message;
  }
}
