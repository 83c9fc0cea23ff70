// What events are stamped with (`--stamp`): columns before their lines, members of their objects.
import { headerOffset, type HeaderField } from "../compiler/layouts/record-header.ts";
import { readUnsigned64 } from "../session/decode.ts";
import type { ConsumerServices, RecordMemory } from "../session/events.ts";
import { textJson } from "./json-values.ts";
import { shownText } from "./shown-text.ts";

/** As a JavaScript program has it: what was asked for. */
export interface Stamp {
  /** Nanoseconds since the epoch. */
  readonly time?: bigint;
  readonly cpu?: number;
  readonly pid?: number;
  readonly tid?: number;
  /** Its name. */
  readonly probe?: string;
}

export function stampReader(
  header: readonly HeaderField[],
  memory: RecordMemory,
  services: ConsumerServices,
): (offset: number) => Stamp {
  return (offset) =>
    Object.fromEntries(
      header.map((field, i) => {
        const at = offset + headerOffset(i);
        if (field === "time") return [field, epochNanoseconds(memory, at, services)];
        return [field, field === "probe" ? probeName(memory, at, services) : Number(readUnsigned64(memory.view, at))];
      }),
    );
}

/** Of the record that begins at `offset`. */
type StampText = (offset: number) => string;

/** Columns for the numbers of CPUs and of processes: PID_MAX_LIMIT has seven digits. */
const widths = { cpu: 3, pid: 7, tid: 7 } as const;

/** Columns, a space behind each: the local time of day with its microseconds, numbers on the right. */
export function stampColumns(
  header: readonly HeaderField[],
  memory: RecordMemory,
  services: ConsumerServices,
): StampText {
  return stamp(header, (field, at) => {
    switch (field) {
      case "time":
        return (offset) => `${timeOfDay(epochNanoseconds(memory, offset + at, services))} `;
      case "cpu":
      case "pid":
      case "tid":
        return (offset) => `${String(readUnsigned64(memory.view, offset + at)).padStart(widths[field])} `;
      case "probe":
        return (offset) => {
          const name = probeName(memory, offset + at, services);
          return `${services.terminal ? shownText(name) : name} `;
        };
    }
  });
}

/** Members behind the first of an object: the time as ISO 8601 has it, in UTC, with its nanoseconds. */
export function stampMembers(
  header: readonly HeaderField[],
  memory: RecordMemory,
  services: ConsumerServices,
): StampText {
  return stamp(header, (field, at) => {
    switch (field) {
      case "time":
        return (offset) => `, "time": "${isoTime(epochNanoseconds(memory, offset + at, services))}"`;
      case "cpu":
      case "pid":
      case "tid":
        return (offset) => `, "${field}": ${readUnsigned64(memory.view, offset + at)}`;
      case "probe":
        return (offset) => `, "probe": ${textJson(probeName(memory, offset + at, services))}`;
    }
  });
}

function stamp(header: readonly HeaderField[], part: (field: HeaderField, at: number) => StampText): StampText {
  const parts = header.map((field, i) => part(field, headerOffset(i)));
  return (offset) => {
    let text = "";
    for (const one of parts) text += one(offset);
    return text;
  };
}

function probeName(memory: RecordMemory, at: number, { plan }: ConsumerServices): string {
  return plan.probeNames[Number(readUnsigned64(memory.view, at))] ?? "";
}

function epochNanoseconds(memory: RecordMemory, at: number, { bootToWall }: ConsumerServices): bigint {
  return memory.view.getBigUint64(at, true) + bootToWall;
}

const second = 1_000_000_000n;

function isoTime(nanoseconds: bigint): string {
  const whole = new Date(Number(nanoseconds / second) * 1000).toISOString().slice(0, -5);
  return `${whole}.${String(nanoseconds % second).padStart(9, "0")}Z`;
}

function timeOfDay(nanoseconds: bigint): string {
  const date = new Date(Number(nanoseconds / second) * 1000);
  const two = (part: number): string => String(part).padStart(2, "0");
  const micro = String((nanoseconds % second) / 1000n).padStart(6, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${micro}`;
}
