// Records of events and their handlers: those of the source, and those of programs that run here.
import type { EventSchema } from "../compiler/plan.ts";
import { recordHandler, type ActionTargets } from "./actions.ts";
import type { Commands } from "./commands.ts";
import type { RecordHandler, RecordMemory } from "./events.ts";
import type { RecordStream } from "./source.ts";

/**
 * Records handled before Node's event loop gets a turn: some milliseconds of work. A full batch means that more is
 * waiting.
 */
export const batchRecords = 4096;
/** Bytes that one takes at least, with what the stream needs for itself. */
const smallestRecord = 16;

export class Records {
  /** exit() happened: what came after it is not for the user any more. */
  deaf = false;
  readonly #stream: RecordStream | undefined;
  readonly #targets: ActionTargets;
  readonly #commands: Commands;
  /** Whether an event may start a command: then they are taken one by one. */
  #commanding = false;
  /** Records of programs that run here, which wait for a command. */
  readonly #waiting: (readonly [schema: number, record: Uint8Array])[] = [];
  readonly #own: RecordMemory;
  readonly #ofStream: RecordHandler[] = [];
  readonly #ofOwn: RecordHandler[] = [];
  /** Takes one record of the stream. */
  readonly #take: (offset: number) => void;

  constructor(
    schemas: readonly EventSchema[],
    stream: RecordStream | undefined,
    targets: ActionTargets,
    commands: Commands,
  ) {
    this.#commands = commands;
    this.#stream = stream;
    this.#targets = targets;
    // Records of programs that run here lie in memory of their own, one at a time.
    const size = schemas.reduce((most, schema) => Math.max(most, schema.size), 8);
    const bytes = new Uint8Array(Math.ceil(size / 8) * 8);
    this.#own = { bytes, view: new DataView(bytes.buffer), words: new Uint32Array(bytes.buffer) };
    this.#take = this.#taker();
    this.add(schemas);
  }

  /** Kinds of records behind those that there are. */
  add(schemas: readonly EventSchema[]): void {
    for (const schema of schemas) {
      this.#commanding ||= schema.action.kind === "system";
      this.#add(this.#ofOwn, schema, this.#own);
      if (this.#stream) this.#add(this.#ofStream, schema, this.#stream.memory);
    }
  }

  /** A handler is made when it is first needed: a wildcard's hundred schemas cost nothing until they happen. */
  #add(handlers: RecordHandler[], schema: EventSchema, memory: RecordMemory): void {
    const index = handlers.length;
    handlers.push((offset) => {
      handlers[index] = recordHandler(schema, memory, this.#targets);
      handlers[index](offset);
    });
  }

  #taker(): (offset: number) => void {
    if (!this.#stream) return () => {};
    const { words } = this.#stream.memory;
    const handlers = this.#ofStream;
    return (offset) => {
      if (!this.deaf) handlers[words[offset >>> 2]](offset);
    };
  }

  /** Takes a record of a program that runs here. */
  emit(schema: number, record: Uint8Array): void {
    if (this.deaf) return;
    if (this.busy) this.#waiting.push([schema, record.slice()]);
    else this.#emit(schema, record);
  }

  #emit(schema: number, record: Uint8Array): void {
    this.#own.bytes.set(record);
    this.#ofOwn[schema](0);
  }

  /** A command runs, or something waits behind one that did: see `settle`. */
  get busy(): boolean {
    return this.#commands.running !== undefined || this.#waiting.length > 0;
  }

  /** Takes a batch of what is in the stream, up to an event that starts a command; how many records. */
  drain(budget = batchRecords): number {
    if (!this.#commanding) return this.#stream?.drain(this.#take, budget) ?? 0;
    let count = 0;
    while (count < budget && !this.busy && this.#stream?.drain(this.#take, 1) === 1) count++;
    return count;
  }

  /** Waits for the command that runs, and takes what waits for it here. */
  async settle(): Promise<void> {
    while (this.busy) {
      await this.#commands.running;
      // Whoever else waits may have started the next one.
      while (this.#commands.running === undefined && this.#waiting.length > 0) {
        const [schema, record] = this.#waiting.shift()!;
        if (!this.deaf) this.#emit(schema, record);
      }
    }
  }

  /** Takes everything that is in the stream at this moment. */
  drainAll(): void {
    // Not for ever, though more may come meanwhile: no more than the stream can hold.
    for (let left = (this.#stream?.bytes ?? 0) / smallestRecord; left > 0;) {
      const count = this.drain(Math.min(left, batchRecords));
      if (count === 0) return;
      left -= count;
    }
  }

  /** What is left once nothing is attached: in batches, so that a reader in this process has its turns, too. */
  async drainRest(taken: () => void): Promise<void> {
    while (this.drain() > 0 || this.busy) {
      taken();
      await (this.busy ? this.settle() : new Promise((resolve) => setImmediate(resolve)));
    }
  }
}
