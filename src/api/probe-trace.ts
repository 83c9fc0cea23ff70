// `trace(...probes)`: compiles handlers, attaches them, and lends the program's maps and events to the session while it
// lives.
import type { Consumer } from "../session/events.ts";
import type { Session } from "../session/session.ts";
import { TextConsumer } from "../output/text.ts";
import { compileProbes, type CompiledProbes } from "./compile-probes.ts";
import type { ScriptOptions } from "./compile.ts";
import { busy, close, open, type EventHandle } from "./events.ts";
import { attach, detach, inUse, takeGiven, type MapHandle, type MapSource } from "./maps.ts";
import { unlessDry } from "./dry-run.ts";
import { openScript } from "./open.ts";
import { entriesOf, ProbeConsumer, type Entries } from "./probe-consumer.ts";
import type { Probe } from "./probes.ts";
import { EventQueue } from "./queue.ts";
import type { Settings } from "./settings.ts";
import { LiveTrace, QueueConsumer, type Trace, type TraceEvent } from "./trace.ts";
import { library } from "../messages/on-demand.ts";

export interface ProbeOptions extends Omit<ScriptOptions, "positional" | "named"> {
  /** What scripts set in their config block. */
  readonly settings?: Settings;
  /** Ends the trace. */
  readonly signal?: AbortSignal;
  /** Ends the trace so many milliseconds after its probes are attached. */
  readonly duration?: number | undefined;
  /**
   * Where print() and its kin go, and what went wrong: "console", which is standard output and standard error, or
   * "events", which makes them events of the trace. "console" unless given.
   */
  readonly output?: "console" | "events";
  /** Measures what the handlers cost, for `stats()`. */
  readonly stats?: boolean;
  /**
   * Events of the trace kept for a reader that is slow; what comes on top is dropped and counted. 100,000 unless given.
   */
  readonly queueLimit?: number;
}

export async function traceProbes(probes: readonly Probe[], options: ProbeOptions): Promise<Trace> {
  const { signal, output = "console", queueLimit = 100_000 } = options;
  signal?.throwIfAborted();
  const compiled = await unlessDry(
    () => {
      const made = compileProbes(probes, options);
      made.refuse();
      return made;
    },
    (made, span) => made.local(span),
  );
  const lent = new LentObjects(compiled);
  const events = new EventQueue<TraceEvent>(queueLimit);
  const printer: Consumer =
    output === "events"
      ? new QueueConsumer(events)
      : new TextConsumer({ output: 1, messages: 2, quiet: true, buffering: "line" });
  const consumer = new ProbeConsumer({
    names: compiled.names,
    queues: lent.queues,
    printer,
    printsMaps: options.settings?.printMapsOnExit === true,
    last: (map, entries) => lent.last.set(map, entries),
  });
  let session: Session;
  try {
    session = await openScript(compiled.program.source, compiled, {
      ...options,
      consumer,
      loaded: (fresh) => lent.fill(fresh),
      recompile: (way) => compileProbes(probes, { ...options, ...way }),
    });
  } catch (error) {
    lent.giveBack(error);
    throw error;
  }
  const ended = session.ended.then(
    () => lent.giveBack(),
    (error: unknown) => lent.giveBack(error),
  );
  lent.lend(session, ended);
  return new LiveTrace(session, events, compiled.warnings, options);
}

/** Of a map whose trace is about to begin. */
const idle: MapSource = { entries: () => [], clear: () => {}, ended: new Promise(() => {}) };

/** The program's maps and events that one trace uses. */
class LentObjects {
  readonly queues = new Map<string, EventQueue<unknown>>();
  /** Maps as they were at the end; one that held nothing is not among them. */
  readonly last = new Map<string, Entries>();
  readonly #maps: readonly (readonly [handle: MapHandle<unknown, unknown>, name: string])[];
  readonly #events: readonly EventHandle<unknown>[];
  /** By the map's name. */
  readonly #given: readonly (readonly [
    name: string,
    entries: ReturnType<MapHandle<unknown, unknown>[typeof takeGiven]>,
  ])[];

  /** @throws Error when another trace has one of them */
  constructor({ names }: CompiledProbes) {
    this.#maps = [...names.maps] as [MapHandle<unknown, unknown>, string][];
    const events = [...names.events] as [EventHandle<unknown>, string][];
    this.#events = events.map(([handle]) => handle);
    for (const [handle, name] of this.#maps) if (handle[inUse]) throw taken("map", name);
    for (const [handle, name] of events) if (handle[busy]) throw taken("event", name);
    for (const [handle, name] of events) this.queues.set(name, handle[open]());
    // Until the session is there, they belong to it all the same.
    this.#given = this.#maps.map(([handle, name]) => [name, handle[takeGiven]()]);
    for (const [handle] of this.#maps) handle[attach](idle);
  }

  /** Stores what the program set before. */
  fill(session: Session): void {
    for (const [name, entries] of this.#given) {
      const index = indexOf(session, name);
      for (const [key, value] of index < 0 ? [] : entries) session.store(index, key, value);
    }
  }

  lend(session: Session, ended: Promise<unknown>): void {
    for (const [handle, name] of this.#maps) {
      const index = indexOf(session, name);
      if (index < 0) continue;
      handle[attach]({
        entries: () => entriesOf(session.snapshot(index), session.services),
        clear: () => session.clear(index),
        ended,
        store: (key, value) => session.store(index, key, value),
        remove: (key) => session.remove(index, key),
      });
    }
  }

  giveBack(error?: unknown): void {
    for (const [handle, name] of this.#maps) handle[detach](this.last.get(name) ?? []);
    for (const handle of this.#events) handle[close](error);
  }
}

function indexOf({ services: { plan } }: Session, name: string): number {
  return plan.maps.findIndex((map) => map.name === name && map.stacks === undefined);
}

function taken(what: string, name: string): Error {
  return new Error(library().belongsToTrace(what, name).message);
}
