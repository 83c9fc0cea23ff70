// Output that is one document, written at the end: what the maps hold is in it. Everything else that a session says is
// told as text on standard error.
import type { ConsumerAction, EventSchema } from "../compiler/plan.ts";
import type {
  Consumer,
  ConsumerServices,
  MapOptions,
  MapSnapshot,
  RecordHandler,
  RecordMemory,
} from "../session/events.ts";
import type { Printer, PrinterOptions } from "./printer.ts";
import { Sink } from "./sink.ts";
import { TextConsumer } from "./text.ts";

/** What a document is made of. */
export interface DocumentWriter {
  /** Takes a map that is printed; false when the document has no place for what it holds. */
  add(snapshot: MapSnapshot, options: MapOptions): boolean;
  /** The document. `lost`: events that were lost. */
  finish(lost: number): Uint8Array;
}

const standardError = 2;

export class DocumentPrinter implements Printer {
  readonly ownsThread = true;
  readonly #writer: DocumentWriter;
  readonly #sink: Sink;
  readonly #silent: boolean;
  readonly #text: TextConsumer;

  constructor(options: PrinterOptions, writer: DocumentWriter) {
    this.#writer = writer;
    this.#sink = new Sink(options.output);
    this.#silent = options.silent === true;
    // Where another printer says the messages, it says the rest as well.
    const silent = this.#silent || options.messages === undefined;
    this.#text = new TextConsumer({ ...options, output: standardError, silent });
  }

  get patience(): number | undefined {
    return this.#text.patience;
  }

  get events(): number {
    return this.#text.events;
  }

  get lost(): number {
    return this.#text.lost;
  }

  get beforeWrite(): (() => void) | undefined {
    return this.#text.beforeWrite;
  }

  set beforeWrite(before: (() => void) | undefined) {
    this.#text.beforeWrite = before;
  }

  handler(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    return this.#text.handler(schema, memory, services);
  }

  map(snapshot: MapSnapshot, options: MapOptions): void {
    if (options.bare || !this.#writer.add(snapshot, options)) this.#text.map(snapshot, options);
  }

  text(...told: Parameters<Consumer["text"]>): void {
    this.#text.text(...told);
  }

  trouble(...told: Parameters<Consumer["trouble"]>): void {
    this.#text.trouble(...told);
  }

  attached(probes: number): void {
    this.#text.attached(probes);
  }

  stats(...told: Parameters<NonNullable<Consumer["stats"]>>): void {
    this.#text.stats(...told);
  }

  flush(): void {
    this.#text.flush();
  }

  hurry(): void {
    this.#text.hurry();
    this.#sink.hurry();
  }

  end(): void {
    this.#text.end();
    if (this.#silent) return;
    const document = this.#writer.finish(this.#text.lost);
    this.beforeWrite?.();
    this.#sink.write(document, document.length);
  }
}
