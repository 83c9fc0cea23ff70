// JSON output: one object a line (NDJSON), in the shapes of bpftrace's manual.
import { lazy } from "../base/lazy.ts";
import type { ConsumerAction, EventSchema } from "../compiler/plan.ts";
import { valueOf } from "../language/aggregations/table.ts";
import { bytesText } from "../language/text-bytes.ts";
import type {
  ConsumerServices,
  MapOptions,
  MapSnapshot,
  RecordHandler,
  RecordMemory,
  Trouble,
} from "../session/events.ts";
import { ByteWriter } from "./bytes.ts";
import type { Buffering, Printer, PrinterOptions } from "./printer.ts";
import { joinedText, timeText } from "./host-text.ts";
import { aggregateJson, keyText, mapKind, scaledJson, textJson, valueJson } from "./json-values.ts";
import { orderedEntries } from "./map-order.ts";
import type { SessionStats } from "../session/stats.ts";
import { statsJson } from "./overhead.ts";
import { printfWriter } from "./printf.ts";
import { Sink } from "./sink.ts";
import { failure, troubleText, warns } from "./trouble.ts";
import { memoryOf, readWords } from "./values.ts";

// Loaded for `--stamp`.
const stamps = lazy<typeof import("./stamp.ts")>(() => require("./stamp.ts"));

const flushBytes = 1 << 16;
const encoder = new TextEncoder();

export class JsonConsumer implements Printer {
  readonly ownsThread = true;
  readonly patience: number | undefined;
  readonly #sink: Sink;
  readonly #buffering: Buffering;
  readonly #quiet: boolean;
  readonly #noWarnings: boolean;
  readonly #out = new ByteWriter(2 * flushBytes);
  /** What begin says is told behind how many probes there are, unless it says a lot. */
  #before = true;
  /** Members of the event that is being written. */
  #stamp = "";
  events = 0;
  lost = 0;
  beforeWrite: (() => void) | undefined;

  constructor(options: PrinterOptions) {
    this.#sink = new Sink(options.output);
    this.patience = options.buffering === "none" ? undefined : this.#sink.patience;
    this.#quiet = options.quiet ?? false;
    this.#noWarnings = options.noWarnings ?? false;
    this.#buffering = options.buffering;
  }

  handler(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    const write = this.#stamped(schema, memory, services);
    const eager = this.#buffering === "none";
    return (offset) => {
      write(offset);
      this.events++;
      if ((eager && !this.#before) || this.#out.length > flushBytes) this.#write();
    };
  }

  /** With the stamp's members in each object. */
  #stamped(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    const write = this.#writer(schema, memory, services);
    if (schema.header === undefined) return write;
    const members = stamps().stampMembers(schema.header, memory, services);
    return (offset) => {
      this.#stamp = members(offset);
      write(offset);
      this.#stamp = "";
    };
  }

  #writer(schema: EventSchema<ConsumerAction>, memory: RecordMemory, services: ConsumerServices): RecordHandler {
    const { action, fields, place } = schema;
    switch (action.kind) {
      case "printf": {
        if ((action.to === "warning" || action.to === "runtime") && this.#noWarnings) return () => {};
        const type = (
          { output: "printf", error: "errorf", said: "errorf", warning: "warnf", runtime: "runtime_error" } as const
        )[action.to];
        const where =
          place && action.to !== "output"
            ? `, "filename": ${JSON.stringify(place.source)}, "line": ${place.line}, "col": ${place.column}`
            : "";
        const member = `, "${action.to === "output" ? "data" : "msg"}": "`;
        const start = `{"type": "${type}"`;
        const before = encoder.encode(schema.header === undefined ? start + member : member);
        const behind = encoder.encode(`"${where}}\n`);
        const write = printfWriter(action.format, fields, memory, this.#out, services, { before, behind });
        if (schema.header === undefined) return write;
        return (offset) => {
          this.#out.text(start + this.#stamp);
          write(offset);
        };
      }
      case "print-value": {
        const [field] = fields;
        return (offset) => this.#object("value", valueJson(field.type, memory, offset + field.offset, services));
      }
      case "print-entry": {
        const value = fields[fields.length - 1];
        return (offset) => this.#object("value", valueJson(value.type, memory, offset + value.offset, services));
      }
      case "time":
        return () => this.#object("time", JSON.stringify(timeText(action.format)));
      case "join":
        return (offset) => this.#object("join", textJson(joinedText(fields, action.separator, memory, offset)));
      case "data":
        return (offset) => {
          const members = fields.map(
            (f) => `${textJson(f.name)}: ${valueJson(f.type, memory, offset + f.offset, services)}`,
          );
          this.#object(action.name, `{${members.join(", ")}}`);
        };
      case "error":
        return () => this.#object("error", JSON.stringify(action.message));
    }
  }

  map(snapshot: MapSnapshot, { top, divisor, services, bare, beside = [] }: MapOptions): void {
    this.#map(snapshot, { top, divisor, services, ...(bare === undefined ? {} : { bare }) });
    for (const one of beside) this.#map(one.snapshot, { top, divisor: one.divisor, services });
  }

  #map(snapshot: MapSnapshot, { top, divisor, services, bare }: MapOptions): void {
    const { map } = snapshot;
    const by = BigInt(divisor || 1);
    const entries = orderedEntries(snapshot, top);
    const first = entries.at(0);
    if (first === undefined) return;
    const one = (value: Uint8Array) =>
      map.value.kind === "aggregate"
        ? aggregateJson(map.value, readWords(memoryOf(value), 0, value.length), by)
        : scaledJson(map.value, memoryOf(value), by, services);
    if (bare)
      return this.#object(
        map.value.kind === "aggregate" && valueOf(map.value) === undefined ? mapKind(map.value) : "value",
        one(first[1]),
      );
    const kind = mapKind(map.value);
    const name = JSON.stringify(map.shown);
    if (map.keys.length === 0) return this.#object(kind, `{${name}: ${one(first[1])}}`);
    // Written piece by piece: a line of a million entries is as long as they are.
    let before = `${this.#head(kind)}{${name}: {`;
    for (const [key, value] of entries) {
      this.#out.text(`${before}${textJson(keyText(map.keys, memoryOf(key), services))}: ${one(value)}`);
      before = ", ";
      if (this.#out.length > flushBytes) this.#write();
    }
    this.#line("}}}");
  }

  text(text: Uint8Array, from: "system" | "cat"): void {
    this.#object(from === "cat" ? "cat" : "syscall", textJson(bytesText(text)));
  }

  trouble(trouble: Trouble): void {
    if (trouble.kind === "lost") this.lost += trouble.count;
    if (this.#noWarnings && warns(trouble)) return;
    switch (trouble.kind) {
      case "lost":
        return this.#object("lost_events", `{"events": ${trouble.count}, "probe": ${textJson(trouble.probe)}}`);
      case "map-full":
        return this.#object(
          "map_full",
          `{"map": ${JSON.stringify(trouble.map)}, "updates": ${trouble.count}, "why": "${trouble.why}"}`,
        );
      case "missed":
        return this.#object("missed_events", `{"events": ${trouble.count}, "probe": ${textJson(trouble.probe)}}`);
      case "skipped":
        return this.#object("skipped_events", `{"events": ${trouble.count}, "probe": ${textJson(trouble.probe)}}`);
      case "throttled":
      case "detached": {
        const { kind, ...facts } = trouble;
        return this.#object(kind, JSON.stringify(facts));
      }
      case "failed": {
        const {
          watched: { call, place },
          code,
          count,
        } = trouble;
        this.#line(
          `{"type": "helper_error", "msg": ${JSON.stringify(failure(code))}, "helper": ${JSON.stringify(call)}, "retcode": ${code}, ` +
            `"filename": ${JSON.stringify(place.source)}, "line": ${place.line}, "col": ${place.column}, "count": ${count}}`,
        );
        return;
      }
      case "loop-cut": {
        const {
          loop: {
            place: { source, line, column },
          },
          count,
        } = trouble;
        return this.#object(
          "loop_cut",
          `{"filename": ${JSON.stringify(source)}, "line": ${line}, "col": ${column}, "count": ${count}}`,
        );
      }
      case "cut-stacks":
      case "attach":
      case "message":
        return this.#object("warning", textJson(troubleText(trouble)));
    }
  }

  stats(stats: SessionStats): void {
    this.#object("stats", statsJson(stats));
  }

  attached(probes: number): void {
    const begun = this.#before ? Uint8Array.from(this.#out.view()) : new Uint8Array();
    if (this.#before) this.#out.clear();
    this.#before = false;
    if (!this.#quiet) this.#line(`{"type": "attached_probes", "count": ${probes}, "data": {"probes": ${probes}}}`);
    this.#out.constant(begun);
  }

  hurry(): void {
    this.#sink.hurry();
  }

  flush(): void {
    if (this.#buffering !== "full" && !this.#before) this.#write();
  }

  end(): void {
    this.#write();
  }

  #object(type: string, data: string): void {
    this.#line(`${this.#head(type)}${data}}`);
  }

  #head(type: string): string {
    return `{"type": "${type}"${this.#stamp}, "data": `;
  }

  #line(line: string): void {
    this.#out.text(line);
    this.#out.byte(10);
  }

  #write(): void {
    this.#before = false;
    if (this.#out.length === 0) return;
    this.beforeWrite?.();
    // Such characters are in strings only, where JSON has a spelling for them.
    if (this.#sink.terminal) this.#out.escapeJsonControls();
    try {
      this.#sink.write(this.#out.bytes, this.#out.length);
    } finally {
      this.#out.clear();
    }
  }
}
