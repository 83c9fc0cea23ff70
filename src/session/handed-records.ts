// Records that handlers in this process make of events, on their way to the session.
import type { EventSchema } from "../compiler/plan.ts";
import type { RecordMemory } from "./events.ts";
import { InternalError } from "../base/internal-error.ts";

/** Bytes of records that wait while a command runs. */
const recordRoom = 1 << 16;

type Handle = (offset: number, length: number) => void;

export class HandedRecords {
  readonly memory: RecordMemory;
  /** Takes records of the event that is handled. */
  #handle: Handle | undefined;
  #handed = 0;
  /** Where records lie that nobody has taken yet. */
  #waiting: { readonly offset: number; readonly length: number }[] = [];
  #used = 0;
  #said = 0;

  constructor(schemas: readonly EventSchema[]) {
    const largest = schemas.reduce((most, { size }) => Math.max(most, size), 8);
    const buffer = new ArrayBuffer(Math.max(recordRoom, largest * 2));
    this.memory = { bytes: new Uint8Array(buffer), view: new DataView(buffer), words: new Uint32Array(buffer) };
  }

  /** Whether some are left that an event said beside the one that was asked for. */
  get waiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Records that events said so far. */
  get said(): number {
    return this.#said;
  }

  /** A record of the event that is handled. */
  put(record: Uint8Array): void {
    this.#said++;
    const { bytes } = this.memory;
    if (this.#handle !== undefined) {
      bytes.set(record);
      this.#handed++;
      this.#handle(0, record.length);
      return;
    }
    const offset = this.#used;
    if (offset + record.length > bytes.length) throw new InternalError("an event says more than there is room for");
    bytes.set(record, offset);
    this.#used = (offset + record.length + 7) & ~7;
    this.#waiting.push({ offset, length: record.length });
  }

  /**
   * Hands over those that wait, then those of events, at most `budget`; how many. `next` handles events until one says
   * something, and is false when there is none.
   */
  drain(handle: Handle, budget: number, next: () => boolean): number {
    this.#handed = 0;
    for (let one = this.#waiting.shift(); one !== undefined; one = this.#waiting.shift()) {
      handle(one.offset, one.length);
      if (++this.#handed >= budget) return this.#handed;
    }
    this.#used = 0;
    // What is asked for one by one may not be the last that an event says.
    this.#handle = budget > 1 ? handle : undefined;
    while (this.#handed < budget && next()) {
      const first = this.#waiting.shift();
      if (first === undefined) continue;
      this.#handed++;
      handle(first.offset, first.length);
      break;
    }
    return this.#handed;
  }
}
