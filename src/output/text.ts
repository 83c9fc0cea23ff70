// Text output, to the character what a bpftrace user expects.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { lazy } from "../base/lazy.ts";
import type { ConsumerAction, EventSchema } from "../compiler/plan.ts";
import type {
  ConsumerServices,
  MapOptions,
  MapSnapshot,
  RecordHandler,
  RecordMemory,
  Trouble,
} from "../session/events.ts";
import { ByteWriter } from "./bytes.ts";
import type { Printer, PrinterOptions } from "./printer.ts";
import { drawn } from "./drawn.ts";
import { joinedText, timeText } from "./host-text.ts";
import { orderedEntries } from "./map-order.ts";
import type { SessionStats } from "../session/stats.ts";
import { statsText } from "./overhead.ts";
import { printfWriter } from "./printf.ts";
import { shownText } from "./shown-text.ts";
import { sameFile, Sink, type Destination } from "./sink.ts";
import { endOfColor, inColor, startOf, styleOf, type Meaning, type TerminalStyle } from "./terminal-style.ts";
import { elementTexts, forTerminal, memoryOf, readWords, valueText } from "./values.ts";
import { RunError } from "../base/run-error.ts";
import { runReasons } from "../messages/on-demand.ts";

// Loaded when something was lost or failed.
const troubles = lazy<typeof import("./trouble.ts")>(() => require("./trouble.ts"));

// Loaded for `-f folded`.
const folding = lazy<typeof import("./folded.ts")>(() => require("./folded.ts"));

export interface TextOptions extends PrinterOptions {
  /** Maps as lines for flame graphs. */
  readonly folded?: boolean;
  /** Maps as another tool prints them, in pieces. */
  readonly maps?: (snapshot: MapSnapshot, options: MapOptions) => readonly string[];
  /** What was lost, as another tool says it, as far as it does. */
  readonly troubles?: (trouble: Trouble) => string | undefined;
  /** Instead of the descriptor for output. */
  readonly destination?: Destination;
}

// Loaded for `--stamp`.
const stamps = lazy<typeof import("./stamp.ts")>(() => require("./stamp.ts"));

const newline = 10;
/** Lines are written out at this size at the latest. */
const flushBytes = 1 << 16;

export class TextConsumer implements Printer {
  readonly ownsThread = true;
  readonly patience: number | undefined;
  readonly #options: TextOptions;
  #shown: ConsumerServices | undefined;
  readonly #out = new ByteWriter(2 * flushBytes);
  #sink: Destination;
  /** The file that output goes to instead of where it went first. */
  #file: number | undefined;
  readonly #messages: Sink | undefined;
  /** The output's last line has no end yet. */
  #open = false;
  #together: boolean | undefined;
  #style: TerminalStyle | undefined;
  events = 0;
  lost = 0;
  beforeWrite: (() => void) | undefined;

  constructor(options: TextOptions) {
    this.#options = options;
    this.#sink = options.destination ?? new Sink(options.output);
    if (options.messages !== undefined) this.#messages = new Sink(options.messages);
    this.patience = options.buffering === "none" ? undefined : this.#sink.patience;
  }

  handler(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    const write = this.#stamped(schema, memory, services);
    const eager = this.#options.buffering === "none";
    return (offset) => {
      write(offset);
      this.events++;
      if (eager || this.#out.length > flushBytes) this.#write();
    };
  }

  /** With the stamp's columns before the lines that begin with an event. Messages have none. */
  #stamped(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    const write = this.#writer(schema, memory, services);
    const { header, action } = schema;
    if (header === undefined || action.kind === "error" || (action.kind === "printf" && action.to !== "output"))
      return write;
    const columns = stamps().stampColumns(header, memory, this.#for(services));
    const out = this.#out;
    const { color } = this.#look;
    return (offset) => {
      const from = out.length;
      const open = from === 0 ? this.#open : out.bytes[from - 1] !== newline;
      if (open) return write(offset);
      out.text(color ? inColor("stamp", columns(offset)) : columns(offset));
      const stamped = out.length;
      write(offset);
      // Nothing was printed.
      if (out.length === stamped) out.length = from;
    };
  }

  /** Asked when maps or stamps are printed first: most output is neither. */
  get #look(): TerminalStyle {
    return (this.#style ??= styleOf(this.#sink.terminal, this.#options.ascii ?? false));
  }

  /** On a terminal, for values that know so. */
  #for(services: ConsumerServices): ConsumerServices {
    if (!this.#sink.terminal) return services;
    return (this.#shown ??= forTerminal(services));
  }

  /** Writes what others have had a say in. */
  #data(text: string): void {
    const from = this.#out.length;
    this.#out.text(text);
    if (this.#sink.terminal) this.#out.escapeControls(from, true);
  }

  #writer(schema: EventSchema<ConsumerAction>, memory: RecordMemory, given: ConsumerServices): RecordHandler {
    const out = this.#out;
    const services = this.#for(given);
    const { action, fields, place } = schema;
    switch (action.kind) {
      case "printf": {
        if (action.to === "output")
          return printfWriter(action.format, fields, memory, out, given, this.#sink.terminal ? "terminal" : undefined);
        const isError = action.to === "error" || action.to === "said";
        if (!isError && this.#options.noWarnings) return () => {};
        const write = printfWriter(
          action.format,
          fields,
          memory,
          out,
          given,
          this.#messages?.terminal ? "terminal" : undefined,
        );
        const label = isError ? "ERROR" : "WARNING";
        const prefix =
          action.to === "said"
            ? ""
            : place
              ? `${place.source}:${place.line}:${place.column}-${place.endColumn}: ${label}: `
              : `${label}: `;
        return (offset) =>
          this.#message(
            () => {
              out.text(prefix);
              write(offset);
              if (out.bytes[out.length - 1] !== newline) out.byte(newline);
            },
            isError ? "error" : "warning",
            "format",
          );
      }
      case "print-value": {
        const [field] = fields;
        return (offset) => this.#data(`${valueText(field.type, memory, offset + field.offset, services)}\n`);
      }
      case "print-entry": {
        const value = fields[fields.length - 1];
        return (offset) => this.#data(`${valueText(value.type, memory, offset + value.offset, services)}\n`);
      }
      case "time":
        return () => out.text(timeText(action.format));
      case "join":
        return (offset) => {
          const text = joinedText(fields, action.separator, memory, offset);
          out.text(`${services.terminal ? shownText(text) : text}\n`);
        };
      case "data":
        return (offset) => {
          const texts = fields.map((f) => `${f.name}=${valueText(f.type, memory, offset + f.offset, services)}`);
          this.#data(`${action.name}: ${texts.join(" ")}\n`);
        };
      case "error":
        return () => this.#message(() => out.text(`ERROR: ${action.message}\n`), "error");
    }
  }

  map(snapshot: MapSnapshot, options: MapOptions): void {
    const services = this.#for(options.services);
    if (this.#options.maps !== undefined) {
      for (const text of this.#options.maps(snapshot, { ...options, services })) this.#data(text);
      return;
    }
    const { beside = [], ...own } = options;
    this.#map(snapshot, { ...own, services });
    for (const one of beside) this.#map(one.snapshot, { ...own, services, divisor: one.divisor });
  }

  #map(snapshot: MapSnapshot, { top, divisor, services, bare }: MapOptions): void {
    const { map } = snapshot;
    const folded = this.#options.folded ? folding().foldedLines(snapshot, top, divisor, services) : undefined;
    if (folded) {
      for (const line of folded) this.#data(`${line}\n`);
      return;
    }
    const by = BigInt(divisor || 1);
    const { color, unicode } = this.#look;
    for (const [key, value] of orderedEntries(snapshot, top)) {
      const keyText = map.keys.length ? `[${elementTexts(map.keys, memoryOf(key), 0, services).join(", ")}]` : "";
      if (!bare || map.value.kind !== "aggregate") {
        if (color) this.#out.text(startOf("name"));
        this.#data(map.shown);
        if (color) this.#out.text(endOfColor);
      }
      const label = `${keyText}:`;
      if (map.value.kind === "aggregate") {
        const { text, lines } = drawn(map.value, readWords(memoryOf(value), 0, value.length), by, unicode);
        this.#data(`${bare ? "" : `${label}${lines ? "\n" : " "}`}${text}\n`);
      } else {
        this.#data(`${label} ${scaled(map.value.kind, valueText(map.value, memoryOf(value), 0, services), by)}\n`);
      }
      if (this.#out.length > flushBytes) this.#write();
    }
  }

  text(text: Uint8Array, from: "system" | "cat"): void {
    const start = this.#out.length;
    this.#out.constant(text);
    // What a command writes, it writes to this terminal: `system("clear")`.
    if (from === "cat" && this.#sink.terminal) this.#out.escapeControls(start, true);
  }

  reopen(path: string): void {
    const opened = path === "" ? undefined : openOwn(path);
    this.#write();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = opened;
    this.#sink = new Sink(opened ?? this.#options.output);
    this.#open = false;
  }

  truncate(): void {
    this.#write();
    const output = this.#file ?? this.#options.output;
    if (!fstatSync(output).isFile()) return;
    // Another description of it: of the old one nobody else's place in the file is moved.
    const opened = openSync(`/proc/self/fd/${output}`, constants.O_WRONLY | constants.O_TRUNC | constants.O_APPEND);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = opened;
    this.#sink = new Sink(opened);
    this.#open = false;
  }

  trouble(trouble: Trouble): void {
    if (trouble.kind === "lost") this.lost += trouble.count;
    if (this.#options.noWarnings && troubles().warns(trouble)) return;
    const meaning = troubles().warns(trouble) ? "warning" : "error";
    const text = this.#options.troubles?.(trouble) ?? troubles().troubleText(trouble);
    this.#message(() => this.#out.text(`${text}\n`), meaning);
  }

  stats(stats: SessionStats): void {
    this.#message(() => this.#out.text(statsText(stats)));
  }

  attached(probes: number): void {
    if (this.#options.quiet) return;
    this.#message(() => this.#out.text(`Attached ${probes} probe${probes === 1 ? "" : "s"}\n`));
  }

  /** The blank line between a script's own output and its maps, where bpftrace has it. */
  endOfEvents(blank: boolean): void {
    if (blank && !this.#options.folded) this.#out.text("\n\n");
  }

  hurry(): void {
    this.#sink.hurry();
  }

  flush(): void {
    if (this.#options.buffering !== "full") this.#write();
  }

  end(): void {
    this.#write();
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #write(): void {
    if (this.#out.length === 0) return;
    this.beforeWrite?.();
    this.#open = this.#out.bytes[this.#out.length - 1] !== newline;
    try {
      if (!this.#options.silent) this.#sink.write(this.#out.bytes, this.#out.length);
    } finally {
      this.#out.clear();
    }
  }

  /**
   * Messages keep their place among the lines, though they go to another descriptor, and begin a line where both lead
   * to one place. Of a script's format, only the data is spelled out for a terminal.
   */
  #message(write: () => void, meaning?: Meaning, of: "format" | "names" = "names"): void {
    this.#write();
    const { output, messages } = this.#options;
    if (messages === undefined || this.#messages === undefined) return;
    this.beforeWrite?.();
    if (this.#open && (this.#together ??= sameFile(output, messages))) this.#out.byte(newline);
    this.#open = false;
    const color = meaning !== undefined && styleOf(this.#messages.terminal, true).color;
    if (color) this.#out.text(startOf(meaning));
    const from = this.#out.length;
    write();
    if (of === "names" && this.#messages.terminal) this.#out.escapeControls(from, true);
    if (color) this.#out.text(endOfColor);
    try {
      this.#messages.write(this.#out.bytes, this.#out.length);
    } finally {
      this.#out.clear();
    }
  }
}

/** What an event's data names is nobody else's file, and no link to elsewhere. @throws RunError */
function openOwn(path: string): number {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o644);
  if (fstatSync(descriptor).uid === process.geteuid?.()) return descriptor;
  closeSync(descriptor);
  throw new RunError(runReasons().fileOfOther());
}

function scaled(kind: string, text: string, divisor: bigint): string {
  return divisor === 1n || kind !== "integer" ? text : String(BigInt(text) / divisor);
}
