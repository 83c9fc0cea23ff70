// Where a trace's events go: typed ones to their queues, maps of the end to their handles, and what is printed to a
// printer.
import type { ConsumerAction, EventSchema } from "../compiler/plan.ts";
import type { Names } from "../language/typescript/binding.ts";
import { memoryOf } from "../output/values.ts";
import type {
  Consumer,
  ConsumerServices,
  MapSnapshot,
  RecordHandler,
  RecordMemory,
  Trouble,
} from "../session/events.ts";
import { typedReader } from "./probe-values.ts";
import type { EventQueue } from "./queue.ts";
import { stamped } from "./stamped.ts";
import { valueReader } from "./values.ts";
import { lazy } from "../base/lazy.ts";

// Loaded for stamps.
const stamps = lazy<typeof import("../output/stamp.ts")>(() => require("../output/stamp.ts"));

export type Entries = readonly (readonly [key: unknown, value: unknown])[];

export interface ProbeConsumerOptions {
  readonly names: Names;
  /** By the name that the compiler gave an event. */
  readonly queues: ReadonlyMap<string, EventQueue<unknown>>;
  /** Takes what is printed, and what went wrong. */
  readonly printer: Consumer;
  /** Prints the maps of the end as well. */
  readonly printsMaps: boolean;
  /** A map as it was at the end. */
  readonly last: (map: string, entries: Entries) => void;
}

export class ProbeConsumer implements Consumer {
  readonly #options: ProbeConsumerOptions;
  #ending = false;

  constructor(options: ProbeConsumerOptions) {
    this.#options = options;
  }

  handler(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    const { action } = schema;
    const queue = action.kind === "data" ? this.#options.queues.get(action.name) : undefined;
    if (action.kind !== "data" || queue === undefined) return this.#options.printer.handler(schema, memory, services);
    const read = recordReader(schema, memory, services, this.#options.names.exact.get(action.name));
    return (offset) => {
      // A full queue costs no decoding.
      if (queue.full) queue.dropped++;
      else queue.push(read(offset));
    };
  }

  map(snapshot: MapSnapshot, options: Parameters<Consumer["map"]>[1]): void {
    const { last, printer, printsMaps } = this.#options;
    if (this.#ending) last(snapshot.map.name, entriesOf(snapshot, options.services));
    if (!this.#ending || printsMaps) printer.map(snapshot, options);
  }

  text(...[text, from]: Parameters<Consumer["text"]>): void {
    this.#options.printer.text(text, from);
  }

  trouble(trouble: Trouble): void {
    this.#options.printer.trouble(trouble);
  }

  attached(): void {}

  endOfEvents(blank: boolean): void {
    this.#ending = true;
    if (this.#options.printsMaps) this.#options.printer.endOfEvents?.(blank);
  }

  flush(): void {
    for (const queue of this.#options.queues.values()) queue.wake();
    this.#options.printer.flush();
  }
}

/** One function a schema, which makes objects of one shape; with a stamp where one was asked for. */
function recordReader(
  { fields, header }: EventSchema,
  memory: RecordMemory,
  services: ConsumerServices,
  exact: ReadonlySet<string> | undefined,
): (offset: number) => unknown {
  const readers = fields.map(({ name, type, offset }) => ({
    name,
    offset,
    read: typedReader(type, services, exact?.has(name) === true),
  }));
  const values = readers.map(
    ({ offset, read }) =>
      (at: number) =>
        read(memory, at + offset),
  );
  // Of a person's text this holds names only, as strings: a literal of a fixed shape is made far faster than
  // Object.fromEntries does.
  const members = readers.map(({ name }, i) => `[${JSON.stringify(name)}]: read[${i}](at)`).join(", ");
  // oxlint-disable-next-line typescript/no-implied-eval
  const made = new Function("read", `"use strict"; return (at) => ({ ${members} });`) as (
    read: typeof values,
  ) => (offset: number) => object;
  const read = made(values);
  if (header === undefined) return read;
  const stamp = stamps().stampReader(header, memory, services);
  return (offset) => stamped(read(offset), stamp(offset));
}

export function entriesOf({ map, entries }: MapSnapshot, services: ConsumerServices): Entries {
  const lone = map.keys.length === 1;
  const readKey =
    map.keys.length === 0
      ? undefined
      : valueReader(lone ? map.keys[0] : { kind: "tuple", elements: map.keys }, services);
  const readValue = typedReader(map.value, services);
  return entries.map(([key, value]) => [readKey?.(memoryOf(key), 0), readValue(memoryOf(value), 0)]);
}
