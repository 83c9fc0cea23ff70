// `trace(script)`: a live script as an async iterator of events.
import { library } from "../messages/on-demand.ts";
import { lazy } from "../base/lazy.ts";
import { isAscii } from "node:buffer";
import { ScriptError, type Diagnostic, type Source } from "../language/diagnostic.ts";
import type { ConsumerAction, EventField, EventSchema } from "../compiler/plan.ts";
import { ByteWriter } from "../output/bytes.ts";
import { printfFormatter, printfWriter } from "../output/printf.ts";
import type { Stamp } from "../output/stamp.ts";
import { joinedText, timeText } from "../output/host-text.ts";
import { troubleText } from "../output/trouble.ts";
import type {
  Consumer,
  ConsumerServices,
  MapSnapshot,
  RecordHandler,
  RecordMemory,
  Trouble,
} from "../session/events.ts";
import type { SessionStats } from "../session/stats.ts";
import type { Session, SessionEnd } from "../session/session.ts";
import { compileScript, type ScriptOptions } from "./compile.ts";
import { unlessDry } from "./dry-run.ts";
import { openScript } from "./open.ts";
import { EventIterator, EventQueue } from "./queue.ts";
import { mapTable, valueReader, type MapTable, type Value } from "./values.ts";

// Loaded for stamps.
const stamps = lazy<typeof import("../output/stamp.ts")>(() => require("../output/stamp.ts"));

export type TraceEvent =
  /** A line of printf, errorf, warnf, time(), join(), system() or cat(). */
  | {
      readonly type: "printf" | "errorf" | "warnf" | "time" | "join" | "output";
      readonly text: string;
      readonly stamp?: Stamp;
    }
  /** print(value) */
  | { readonly type: "value"; readonly value: Value; readonly stamp?: Stamp }
  /** print(@map[key]) */
  | {
      readonly type: "entry";
      readonly map: string;
      readonly key: Value;
      readonly value: Value;
      readonly stamp?: Stamp;
    }
  /** print(@map), and every map that holds anything at the end. */
  | { readonly type: "map"; readonly map: MapTable }
  /** Events were lost, a map was full, a probe could not be attached. */
  | { readonly type: "trouble"; readonly text: string; readonly trouble: Trouble };

export interface TraceOptions extends ScriptOptions {
  /** The script's name in messages. */
  readonly name?: string;
  /** Measures what the handlers cost, for `stats()`. */
  readonly stats?: boolean;
  /** Ends the trace. */
  readonly signal?: AbortSignal;
  /** Ends the trace so many milliseconds after its probes are attached. */
  readonly duration?: number | undefined;
  /** Events kept for a reader that is slow; what comes on top is dropped and counted. 100,000 unless given. */
  readonly queueLimit?: number;
}

/**
 * A live script. Iterate over its events; leave the loop, dispose it or call `stop` to end it. After the loop, however
 * it was left, nothing is attached any more.
 */
export interface Trace extends AsyncIterable<TraceEvent>, AsyncDisposable {
  /** Probes attached. */
  readonly attached: number;
  /** Pid of the command that was started (the option `command`). */
  readonly childPid: number | undefined;
  /** What the compiler had to say about the script, short of refusing it. */
  readonly warnings: readonly Diagnostic[];
  /** Events dropped because the reader was slow. */
  readonly dropped: number;
  /** How it ended, after everything is detached. */
  readonly ended: Promise<SessionEnd>;
  /**
   * A map's entries now, by its name. @throws RangeError when there is no such map, and after the end: then the maps
   * came as events
   */
  map(name: string): MapTable;
  /** What the handlers have cost so far, at the end: in all. Undefined unless `stats` or `maxOverhead` was given. */
  stats(): SessionStats | undefined;
  /** Events as they come, in arrays of all there are: less work an event. */
  batches(): AsyncGenerator<readonly TraceEvent[], void, undefined>;
  /** Detaches; the events of the end (maps, counts of lost events) still come. */
  stop(): void;
}

/**
 * Compiles and runs a bpftrace script on this machine.
 * @throws ScriptError for what is wrong in the script, LinuxError for what the kernel refused, AttachError for probes that
 * could not be attached
 */
export async function traceScript(script: string, options: TraceOptions = {}): Promise<Trace> {
  const source: Source = { name: options.name ?? "script", text: script };
  options.signal?.throwIfAborted();
  const compiled = await unlessDry(
    () => {
      const script = compileScript(source, options);
      if (!script.plan) throw new ScriptError(source, script.diagnostics);
      return script;
    },
    (script, span) => ({ source: script.program.source, span }),
  );
  const queue = new EventQueue<TraceEvent>(options.queueLimit ?? 100_000);
  const session = await openScript(source, compiled, { ...options, consumer: new QueueConsumer(queue) });
  return new LiveTrace(session, queue, compiled.diagnostics, options);
}

export class LiveTrace implements Trace {
  readonly ended: Promise<SessionEnd>;
  readonly warnings: readonly Diagnostic[];
  readonly #session: Session;
  readonly #queue: EventQueue<TraceEvent>;

  constructor(
    session: Session,
    queue: EventQueue<TraceEvent>,
    warnings: readonly Diagnostic[],
    { signal, duration }: Pick<TraceOptions, "signal" | "duration">,
  ) {
    this.warnings = warnings;
    this.#session = session;
    this.#queue = queue;
    const abort = (): void => this.stop();
    signal?.addEventListener("abort", abort, { once: true });
    const timer = duration === undefined ? undefined : setTimeout(abort, duration);
    this.ended = session.ended.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      queue.close();
    });
    this.ended.catch((error: unknown) => queue.close(error));
    if (signal?.aborted) abort();
  }

  get attached(): number {
    return this.#session.attached;
  }

  get childPid(): number | undefined {
    return this.#session.childPid;
  }

  get dropped(): number {
    return this.#queue.dropped;
  }

  #mapNames(): string {
    const { maps } = this.#session.services.plan;
    return maps.flatMap(({ name, stacks }) => (stacks === undefined ? [`@${name}`] : [])).join(", ");
  }

  map(name: string): MapTable {
    const { services } = this.#session;
    const bare = name.replace(/^@/, "");
    const index = services.plan.maps.findIndex((map) => map.name === bare && map.stacks === undefined);
    if (index < 0) throw new RangeError(library().noMap(bare, this.#mapNames()).message);
    return mapTable(this.#session.snapshot(index), services);
  }

  stats(): SessionStats | undefined {
    return this.#session.stats();
  }

  stop(): void {
    this.#session.stop();
  }

  async *batches(): AsyncGenerator<readonly TraceEvent[], void, undefined> {
    const queue = this.#queue;
    try {
      for (let batch = await queue.take(); batch; batch = await queue.take()) yield batch;
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  [Symbol.asyncIterator](): AsyncIterator<TraceEvent, void, undefined> {
    return new EventIterator(this.#queue, () => this[Symbol.asyncDispose]());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.ended.catch(() => {});
  }
}

/** Bytes of lines that become a string together: whoever keeps one of the lines keeps them all. */
const linesBytes = 1 << 13;

type LineType = "printf" | "errorf" | "warnf";

export class QueueConsumer implements Consumer {
  readonly #queue: EventQueue<TraceEvent>;
  /** Lines that are not in the queue yet, one behind the other: a string of many costs little more than one of one. */
  readonly #lines = new ByteWriter(2 * linesBytes);
  /** Where each ends, and what it is. */
  readonly #ends: number[] = [];
  readonly #types: LineType[] = [];

  constructor(queue: EventQueue<TraceEvent>) {
    this.#queue = queue;
  }

  handler(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    const { action, fields, header } = schema;
    if (header !== undefined) {
      const read = eventReader(action, fields, memory, services);
      const stamp = stamps().stampReader(header, memory, services);
      return (offset) => this.#push({ ...read(offset), stamp: stamp(offset) });
    }
    if (action.kind === "printf") {
      const write = printfWriter(action.format, fields, memory, this.#lines, services);
      const type = lineType(action);
      return (offset) => this.#line(type, write, offset);
    }
    const read = eventReader(action, fields, memory, services);
    return (offset) => this.#push(read(offset));
  }

  map(snapshot: MapSnapshot, { services, beside = [] }: Parameters<Consumer["map"]>[1]): void {
    for (const one of [snapshot, ...beside.map(({ snapshot: next }) => next)])
      this.#push({ type: "map", map: mapTable(one, services) });
  }

  text(text: Uint8Array): void {
    this.#push({ type: "output", text: new TextDecoder().decode(text) });
  }

  trouble(trouble: Trouble): void {
    this.#push({ type: "trouble", text: troubleText(trouble), trouble });
  }

  attached(): void {}

  flush(): void {
    this.#cut();
    this.#queue.wake();
  }

  #push(event: TraceEvent): void {
    this.#cut();
    this.#queue.push(event);
  }

  #line(type: LineType, write: RecordHandler, offset: number): void {
    // What there is no room for costs nothing.
    if (this.#ends.length >= this.#queue.room) {
      this.#queue.dropped++;
      return;
    }
    write(offset);
    this.#ends.push(this.#lines.length);
    this.#types.push(type);
    if (this.#lines.length >= linesBytes) this.#cut();
  }

  /** Hands the lines on. */
  #cut(): void {
    const ends = this.#ends;
    if (ends.length === 0) return;
    const lines = this.#lines;
    const bytes = lines.view();
    // Of ASCII, places in the string are those in the bytes.
    const all = isAscii(bytes) ? lines.string() : undefined;
    let start = 0;
    for (let i = 0; i < ends.length; i++) {
      const end = ends[i];
      const text = all === undefined ? lines.bytes.toString("utf8", start, end) : all.slice(start, end);
      this.#queue.push({ type: this.#types[i], text });
      start = end;
    }
    lines.clear();
    ends.length = 0;
    this.#types.length = 0;
  }
}

function lineType({ to }: Extract<ConsumerAction, { readonly kind: "printf" }>): LineType {
  return to === "output" ? "printf" : to === "error" || to === "said" ? "errorf" : "warnf";
}

/** Events that carry a stamp where one was asked for. */
type Stamped = Extract<TraceEvent, { readonly stamp?: Stamp }>;

function eventReader(
  action: ConsumerAction,
  fields: readonly EventField[],
  memory: RecordMemory,
  services: ConsumerServices,
): (offset: number) => Stamped {
  switch (action.kind) {
    case "printf": {
      const text = printfFormatter(action.format, fields, memory, services);
      const type = lineType(action);
      return (offset) => ({ type, text: text(offset) });
    }
    case "print-value": {
      const [field] = fields;
      const read = valueReader(field.type, services);
      return (offset) => ({ type: "value", value: read(memory, offset + field.offset) });
    }
    case "print-entry": {
      const value = fields[fields.length - 1];
      const keys = fields
        .slice(0, -1)
        .map((field) => ({ offset: field.offset, read: valueReader(field.type, services) }));
      const readValue = valueReader(value.type, services);
      const map = services.plan.maps[action.map].name;
      return (offset) => {
        const parts = keys.map((key) => key.read(memory, offset + key.offset));
        return {
          type: "entry",
          map,
          key: parts.length === 1 ? parts[0] : (parts as Value),
          value: readValue(memory, offset + value.offset),
        };
      };
    }
    case "time":
      return () => ({ type: "time", text: timeText(action.format) });
    case "join":
      return (offset) => ({ type: "join", text: joinedText(fields, action.separator, memory, offset) });
    case "data": {
      const readers = fields.map((field) => ({
        name: field.name,
        offset: field.offset,
        read: valueReader(field.type, services),
      }));
      return (offset) => ({
        type: "value",
        value: Object.fromEntries(
          readers.map(({ name, offset: at, read }) => [name, read(memory, offset + at)]),
        ) as Value,
      });
    }
    case "error":
      return () => ({ type: "errorf", text: action.message });
  }
}
