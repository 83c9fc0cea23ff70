// What lies in the buffers of an instance, as the events of a trace.dat: with the formats that describe them, and names of threads
// as far as the kernel told of them meanwhile.
import { readdirSync } from "node:fs";
import type { TraceInstance } from "../../linux/kernel/trace-instance.ts";
import { readFormat, tracefsRoot } from "../../linux/kernel/tracefs.ts";
import { parseTracepointFormat } from "../../machine/kernel/tracepoint-format.ts";
import type { TracepointFormat } from "../../machine/system.ts";
import { PageCursor } from "../../recordings/ring-pages.ts";
import type { TraceDatEvent } from "../../recordings/trace-dat-writer.ts";
import type { EventFormat } from "../../recordings/tracing-data.ts";

/** The events of each CPU in order. */
export interface KeptEvents {
  readonly events: readonly TraceDatEvent[];
  readonly cpus: number;
  readonly formats: readonly EventFormat[];
  readonly comms: ReadonlyMap<number, string>;
  /** A name of ftrace's clocks. */
  readonly clock: string;
}

/** Tells whose thread is which, beside whatever else is kept. */
export const namingEvents = ["task:task_newtask", "task:task_rename"];

/** Takes all that is there. @throws LinuxError */
export function takeEvents(instance: TraceInstance): KeptEvents {
  const page = new Uint8Array(instance.pageBytes);
  const view = new DataView(page.buffer);
  const cursor = new PageCursor(page, 0n);
  const events: TraceDatEvent[] = [];
  const numbers = new Set<number>();
  for (const [index, cpu] of instance.cpus.entries()) {
    while (instance.read(index, page)) {
      cursor.begin();
      while (cursor.next()) {
        const { offset, length, time } = cursor;
        numbers.add(view.getUint16(offset, true));
        events.push({ cpu, time: BigInt(time), record: page.slice(offset, offset + length) });
      }
    }
  }
  const known = formatsOf(numbers);
  return {
    events,
    cpus: Math.max(...instance.cpus) + 1,
    formats: known.map(({ category, text }) => ({ category, text })),
    comms: namesIn(events, known),
    clock: /\[(\S+)\]/.exec(instance.readFile("trace_clock"))?.[1] ?? "local",
  };
}

interface KnownFormat extends EventFormat {
  readonly name: string;
  readonly format: TracepointFormat;
}

/** Of events by their numbers, which are the same at each start of a kernel. */
function formatsOf(numbers: ReadonlySet<number>): readonly KnownFormat[] {
  const root = `${tracefsRoot()}/events`;
  const folders = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  return folders(root).flatMap((category) =>
    folders(`${root}/${category}`).flatMap((name) => {
      const text = readFormat(category, name);
      const format = text === undefined ? undefined : parseTracepointFormat(text);
      return text === undefined || format === undefined || !numbers.has(format.id)
        ? []
        : [{ category, name, text, format }];
    }),
  );
}

/** Threads by their last names. */
function namesIn(events: readonly TraceDatEvent[], known: readonly KnownFormat[]): ReadonlyMap<number, string> {
  const places = new Map<number, { readonly pid: number; readonly comm: number }>();
  for (const { name, format } of known) {
    const at = (field: string): number | undefined => format.fields.find((one) => one.name === field)?.offset;
    const [pid, comm] = [at("pid"), at(name === "task_rename" ? "newcomm" : "comm")];
    if (/^task_(?:newtask|rename)$/.test(name) && pid !== undefined && comm !== undefined)
      places.set(format.id, { pid, comm });
  }
  const comms = new Map<number, string>();
  for (const { record } of events.toSorted((a, b) => (a.time < b.time ? -1 : 1))) {
    const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
    const place = places.get(view.getUint16(0, true));
    if (place === undefined) continue;
    const text = Buffer.from(record.subarray(place.comm, place.comm + 16)).toString("latin1");
    comms.set(view.getInt32(place.pid, true), text.replace(/\0.*$/s, "").replace(/\p{Cc}/gu, "?"));
  }
  return comms;
}
