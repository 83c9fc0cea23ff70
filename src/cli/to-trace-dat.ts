// A recording as a trace.dat, which trace-cmd and KernelShark read.
import { writeSync } from "node:fs";
import type { Context } from "../language/context.ts";
import { sizeOf } from "../language/layout.ts";
import type { Type } from "../language/types.ts";
import type { ReplayableRecording } from "../providers/recorded.ts";
import { recordingFiles } from "../messages/recording-files.ts";
import { RecordedProbes } from "../providers/recorded.ts";
import { mostRecordBytes, writeTraceDat, type TraceDatEvent } from "../recordings/trace-dat-writer.ts";
import type { EventFormat } from "../recordings/tracing-data.ts";
import { rowsIn, wordAt } from "./recorded-rows.ts";
import { UsageError } from "./usage-error.ts";

/** Writes it; gives how many events there are, of how many probes. @throws UsageError, RecordingError */
export function convertToTraceDat(
  recording: ReplayableRecording,
  into: number,
): { readonly events: number; readonly probes: number } {
  if (recording.origin.parts !== undefined) throw new UsageError(recordingFiles.ofSeveralHosts("a trace.dat"));
  const kinds = recording.contexts.map((context, layout) => kindOf(context, recording.layouts[layout].size));
  const { formats, numbers } = formatsOf(recording, kinds);
  const { comms, cpus, events } = namesIn(recording);
  writeTraceDat(
    { ...recording.origin, cpus, formats, comms, clock: "mono" },
    () => eventsOf(recording, kinds, numbers),
    (bytes, at) => {
      for (let done = 0; done < bytes.length;) done += writeSync(into, bytes, done, bytes.length - done, at + done);
    },
  );
  return { events, probes: formats.length };
}

// ── what an event's record has ──

/** Every record begins so: type, flags, preemption, thread. */
const common = [
  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;",
  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;",
  "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;",
  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;",
].join("\n");
const commonBytes = 8;

/** Bytes of a row that become a field. `from`: in the row. */
interface Part {
  readonly from: number;
  readonly to: number;
  readonly size: number;
  /** Text behind a pointer: its length is told by the record (`__data_loc`), and its bytes lie behind all fields. */
  readonly dynamic: boolean;
}

interface Kind {
  readonly parts: readonly Part[];
  /** Bytes of a record without its texts behind pointers. */
  readonly size: number;
  readonly fields: readonly string[];
  readonly shown: readonly (readonly [format: string, value: string])[];
}

const integers: Readonly<Record<number, readonly [type: string, format: string]>> = {
  1: ["char", "%"],
  2: ["short", "%"],
  4: ["int", "%"],
  8: ["long", "%l"],
};

function kindOf({ args = [], numbered = [], retval, recorded }: Context, rowBytes: number): Kind {
  const parts: Part[] = [];
  const fields: string[] = [];
  const shown: (readonly [string, string])[] = [];
  let at = commonBytes;
  const place = (from: number, size: number, align: number, dynamic = false): number => {
    const to = Math.ceil(at / align) * align;
    parts.push({ from, to, size, dynamic });
    at = to + (dynamic ? 4 : size);
    return to;
  };
  const field = (type: string, name: string, to: number, size: number, signed: boolean): void =>
    void fields.push(`\tfield:${type} ${name};\toffset:${to};\tsize:${size};\tsigned:${signed ? 1 : 0};`);
  const number = (name: string, from: number, size: number, signed: boolean): void => {
    const [type, format] = integers[size];
    field(
      `${signed ? (size === 1 ? "signed " : "") : "unsigned "}${type}`,
      name,
      place(from, size, size),
      size,
      signed,
    );
    shown.push([`${name}=${format}${signed ? "d" : "u"}`, `REC->${name}`]);
  };
  for (const { name: said, type, fetch } of [
    ...args,
    ...(retval === undefined ? [] : [{ name: "retval", ...retval }]),
  ]) {
    const name = identifier(said);
    if (fetch.kind === "context") {
      if (type.kind === "pointer") {
        field("const void *", name, place(fetch.offset, 8, 8), 8, false);
        shown.push([`${name}=0x%lx`, `((unsigned long)(REC->${name}))`]);
      } else number(name, fetch.offset, fetch.size, fetch.signed);
      const text = recorded?.texts.find(({ pointer }) => pointer === fetch.offset);
      if (text === undefined) continue;
      field("__data_loc char[]", `${name}_text`, place(text.offset, text.size, 4, true), 4, true);
      shown.push([`${name}_text=%s`, `__get_str(${name}_text)`]);
    } else if (fetch.kind === "address") {
      const own = recorded?.ownTexts?.find(({ offset }) => offset === fetch.offset);
      const size = Math.min(own?.size ?? sizeOf(type), rowBytes - fetch.offset);
      if (size <= 0) continue;
      const to = place(fetch.offset, size, 1);
      const text = own !== undefined || isText(type);
      field(text ? "char" : "unsigned char", `${name}[${size}]`, to, size, text);
      shown.push([`${name}=%s`, text ? `REC->${name}` : `__print_hex(REC->${name}, ${size})`]);
    }
  }
  if (args.length === 0)
    for (const [i, fetch] of numbered.entries())
      if (fetch.kind === "context") number(`arg${i}`, fetch.offset, 8, false);
  return { parts, size: at, fields, shown };
}

function isText(type: Type): boolean {
  return (
    type.kind === "string" || (type.kind === "array" && type.element.kind === "integer" && type.element.bits === 8)
  );
}

function identifier(name: string): string {
  return name.replace(/^\d|\W/g, "_");
}

/** A format for each probe, and its number by the recording's site: a probe of a recording that went on has one. */
function formatsOf(
  { sites }: ReplayableRecording,
  kinds: readonly Kind[],
): { readonly formats: readonly EventFormat[]; readonly numbers: readonly number[] } {
  const formats: EventFormat[] = [];
  const known = new Map<string, number>();
  const names = new Set<string>();
  const numbers = sites.map(({ name, layout }) => {
    const key = `${layout} ${name}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const words = name.split(":").map(identifier);
    const [category, plain] =
      words.length === 3 && words[0] === "tracepoint"
        ? [words[1], words[2]]
        : [words[0], words.slice(1).join("_") || words[0]];
    let event = plain;
    for (let n = 2; names.has(`${category} ${event}`); n++) event = `${plain}_${n}`;
    names.add(`${category} ${event}`);
    const id = firstId + formats.length;
    if (id > 0xffff) throw new UsageError(recordingFiles.tooManyProbes(0x1_0000 - firstId));
    const { fields, shown } = kinds[layout];
    const print = [`"${shown.map(([format]) => format).join(" ")}"`, ...shown.map(([, value]) => value)].join(", ");
    formats.push({
      category,
      text: `name: ${event}\nID: ${id}\nformat:\n${common}\n\n${fields.map((line) => `${line}\n`).join("")}\nprint fmt: ${print}\n`,
    });
    known.set(key, id);
    return id;
  });
  return { formats, numbers };
}

/** Numbers below are ftrace's own events. */
const firstId = 100;

// ── the events ──

const mostCpus = 1 << 13;

/** Threads by their last names, CPUs, and how many events there are. */
function namesIn(recording: ReplayableRecording): {
  readonly comms: ReadonlyMap<number, string>;
  readonly cpus: number;
  readonly events: number;
} {
  const comms = new Map<number, string>();
  let [cpus, events] = [1, 0];
  for (const { layout, bytes, view, at } of rowsIn(recording)) {
    const context = recording.contexts[layout];
    const cpu = wordAt(context, "cpu", view, at);
    if (cpu >= mostCpus) throw new UsageError(recordingFiles.noSuchCpu(cpu));
    cpus = Math.max(cpus, cpu + 1);
    events++;
    const comm = context.recorded?.comm;
    if (comm === undefined) continue;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + at + comm, 16).toString("latin1");
    comms.set(wordAt(context, "tid", view, at), text.replace(/\0.*$/s, "").replace(/\p{Cc}/gu, "?"));
  }
  return { comms, cpus, events };
}

function* eventsOf(
  recording: ReplayableRecording,
  kinds: readonly Kind[],
  numbers: readonly number[],
): Iterable<TraceDatEvent> {
  const probes = new RecordedProbes(recording);
  const room = Buffer.alloc(mostRecordBytes);
  // trace-cmd shows seconds of the monotonic clock, and not of the boot clock.
  const { boot, monotonic } = recording.origin.clock;
  const toMonotonic = BigInt(monotonic) - BigInt(boot);
  for (const { layout, bytes, view, at } of rowsIn(recording)) {
    const { parts, size } = kinds[layout];
    const context = recording.contexts[layout];
    let end = size;
    if (end > room.length) throw new UsageError(recordingFiles.eventTooLong(end, room.length));
    room.fill(0, 0, size);
    room.writeUInt16LE(numbers[probes.siteOf(layout, view, at)] ?? 0, 0);
    room.writeUInt32LE(wordAt(context, "tid", view, at), 4);
    for (const { from, to, size: some, dynamic } of parts) {
      const value = bytes.subarray(at + from, at + from + some);
      if (!dynamic) {
        room.set(value, to);
        continue;
      }
      const nul = value.indexOf(0);
      const length = (nul < 0 ? value.length : nul) + 1;
      if (end + length > room.length) throw new UsageError(recordingFiles.eventTooLong(end + length, room.length));
      room.writeUInt32LE(end | (length << 16), to);
      room.set(value.subarray(0, length - 1), end);
      room[end + length - 1] = 0;
      end += length;
    }
    const time = view.getBigUint64(at + recording.layouts[layout].time, true) + toMonotonic;
    yield { cpu: wordAt(context, "cpu", view, at), time, record: room.subarray(0, end) };
  }
}
