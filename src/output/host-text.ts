// Text that is made when an event arrives, the same for every consumer.
import type { EventField } from "../compiler/plan.ts";
import { readString, type Memory } from "./values.ts";
import { lazy } from "../base/lazy.ts";

// Loaded for the first time.
const times = lazy<typeof import("./strftime.ts")>(() => require("./strftime.ts"));

/** time(): the moment of printing, not of the event. */
export function timeText(format: string): string {
  const now = Date.now();
  return times().strftime(format, now, (now % 1000) * 1000);
}

/** join(): the record's words up to the first empty one. */
export function joinedText(fields: readonly EventField[], separator: string, memory: Memory, offset: number): string {
  const words = fields.map((field) =>
    field.type.kind === "string" ? readString(memory, offset + field.offset, field.type.capacity) : "",
  );
  const end = words.indexOf("");
  return (end < 0 ? words : words.slice(0, end)).join(separator);
}
