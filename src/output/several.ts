// Several printers of one session: each is told everything.
import type { ConsumerAction, EventSchema } from "../compiler/plan.ts";
import type { Consumer, ConsumerServices, RecordHandler, RecordMemory } from "../session/events.ts";
import type { Printer } from "./printer.ts";

export class SeveralPrinters implements Printer {
  readonly ownsThread = true;
  readonly patience: number | undefined;
  readonly #printers: readonly Printer[];

  /** `printers`: one at least. */
  constructor(printers: readonly Printer[]) {
    this.#printers = printers;
    // Somebody waits where one of them has nobody that can be kept waiting.
    const patiences = printers.flatMap(({ patience }) => patience ?? []);
    if (patiences.length === printers.length) this.patience = Math.min(...patiences);
  }

  get events(): number {
    return this.#printers[0].events;
  }

  get lost(): number {
    return this.#printers[0].lost;
  }

  get beforeWrite(): (() => void) | undefined {
    return this.#printers[0].beforeWrite;
  }

  set beforeWrite(before: (() => void) | undefined) {
    for (const printer of this.#printers) printer.beforeWrite = before;
  }

  handler(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    const handlers = this.#printers.map((printer) => printer.handler(schema, memory, services));
    return (offset) => {
      for (const handle of handlers) handle(offset);
    };
  }

  map(...told: Parameters<Consumer["map"]>): void {
    for (const printer of this.#printers) printer.map(...told);
  }

  text(...told: Parameters<Consumer["text"]>): void {
    for (const printer of this.#printers) printer.text(...told);
  }

  truncate(): void {
    for (const printer of this.#printers) printer.truncate?.();
  }

  reopen(path: string): void {
    for (const printer of this.#printers) printer.reopen?.(path);
  }

  trouble(...told: Parameters<Consumer["trouble"]>): void {
    for (const printer of this.#printers) printer.trouble(...told);
  }

  attached(probes: number): void {
    for (const printer of this.#printers) printer.attached(probes);
  }

  stats(...told: Parameters<NonNullable<Consumer["stats"]>>): void {
    for (const printer of this.#printers) printer.stats?.(...told);
  }

  measured(...told: Parameters<NonNullable<Consumer["measured"]>>): void {
    for (const printer of this.#printers) printer.measured?.(...told);
  }

  endOfEvents(blank: boolean): void {
    for (const printer of this.#printers) printer.endOfEvents?.(blank);
  }

  flush(): void {
    for (const printer of this.#printers) printer.flush();
  }

  hurry(): void {
    for (const printer of this.#printers) printer.hurry();
  }

  end(): void {
    for (const printer of this.#printers) printer.end();
  }
}
