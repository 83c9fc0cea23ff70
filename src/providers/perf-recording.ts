// perf.data as a recording: its tracepoints with their fields, and its sampling of the CPU's clock.
import type { Argument, Context, RecordedRow } from "../language/context.ts";
import { i32 } from "../language/types.ts";
import { declaredType } from "../machine/kernel/declared-type.ts";
import { parseTracepointFormat } from "../machine/kernel/tracepoint-format.ts";
import { recordedSystem } from "../machine/recorded-system.ts";
import type { System, TracepointField } from "../machine/system.ts";
import type { BlockHead, EventRecording, RecordedLoss, RecordingOrigin } from "../recordings/contents.ts";
import type { EventBlock, RowLayout, Rows } from "../recordings/layout.ts";
import type { PerfData, PerfEvent, PerfSample } from "../recordings/perf-data.ts";
import { recordArgument } from "./kinds/event-record.ts";

const typeSoftware = 1;
const typeTracepoint = 2;
const cpuClock = 0n;

/** Samples of a block. */
const blockSamples = 4096;

/** Behind the event's own bytes: what perf says of the moment. */
const words = { time: 0, cpu: 8, pid: 12, tid: 16, comm: 24, kernelStack: 40, userStack: 48, size: 56 } as const;

interface Kind {
  readonly name: string;
  readonly raw: number;
  readonly context: Context;
}

/** The whole file is read once to know what there is. @throws RecordingError */
export class PerfRecording implements EventRecording {
  readonly origin: RecordingOrigin;
  readonly layouts: readonly RowLayout[];
  readonly sites: readonly { readonly name: string; readonly layout: number }[];
  readonly contexts: readonly Context[];
  readonly end = undefined;
  readonly cut = 0;
  readonly size: number;
  readonly span: EventRecording["span"];
  /** Events that no probe of ours is. */
  readonly left: number;
  readonly #perf: PerfData;
  /** The kind of each of perf's events. */
  readonly #kinds: readonly (number | undefined)[];

  constructor(perf: PerfData, size: number) {
    this.#perf = perf;
    this.size = size;
    const raw = perf.events.map(() => 0);
    let [events, first, last] = [0, 0n, 0n];
    for (const sample of perf.samples()) {
      raw[sample.event] = Math.max(raw[sample.event], sample.raw.length);
      if (events++ === 0) first = sample.time;
      last = sample.time;
    }
    this.origin = {
      strobe: "",
      host: perf.hostname,
      kernel: perf.release,
      machine: perf.machine,
      cpus: perf.cpus,
      command: perf.commandLine,
      // perf's own clock; it does not say what the others said then.
      clock: { boot: String(first), monotonic: String(first), wall: String(first) },
      childPid: 0,
    };
    this.span = events === 0 ? undefined : { events, first, last };
    const system = recordedSystem(perf.cpus);
    const kinds: Kind[] = [];
    this.#kinds = perf.events.map((event, i) => {
      const kind = kindOf(event, perf, Math.ceil(raw[i] / 8) * 8, system);
      return kind === undefined ? undefined : kinds.push(kind) - 1;
    });
    this.left = this.#kinds.filter((kind) => kind === undefined).length;
    this.layouts = kinds.map((kind) => ({ size: kind.raw + words.size, time: kind.raw + words.time, fields: [] }));
    this.sites = kinds.map(({ name }, layout) => ({ name, layout }));
    this.contexts = kinds.map(({ context }) => context);
  }

  *heads(): Iterable<BlockHead> {
    for (const { head } of this.blocks()) yield head;
  }

  *blocks(wanted: (head: BlockHead) => boolean = () => true): Iterable<{ head: BlockHead; block: EventBlock }> {
    let samples: PerfSample[] = [];
    for (const sample of this.#perf.samples()) {
      if (this.#kinds[sample.event] === undefined && sample.lost === 0) continue;
      samples.push(sample);
      if (samples.length < blockSamples) continue;
      yield* this.#block(samples, wanted);
      samples = [];
    }
    if (samples.length > 0) yield* this.#block(samples, wanted);
  }

  *#block(
    samples: readonly PerfSample[],
    wanted: (head: BlockHead) => boolean,
  ): Iterable<{ head: BlockHead; block: EventBlock }> {
    const known = samples.filter(({ event }) => this.#kinds[event] !== undefined);
    const present = [...new Set(known.map(({ event }) => this.#kinds[event]!))];
    const missed = samples.reduce((sum, { lost }) => sum + lost, 0);
    const lost: RecordedLoss[] = missed === 0 ? [] : [{ cause: "perf", probe: "perf record", count: missed }];
    const head: BlockHead = {
      count: known.length,
      first: samples[0].time,
      last: samples[samples.length - 1].time,
      sites: present,
      lost,
    };
    if (!wanted(head)) return;
    const rows = present.map((layout): Rows => {
      const count = known.filter(({ event }) => this.#kinds[event] === layout).length;
      return { layout, count, bytes: new Uint8Array(count * this.layouts[layout].size) };
    });
    const stacks: BigUint64Array[] = [];
    const next = rows.map(() => 0);
    const order = new Uint16Array(known.length);
    for (const [i, sample] of known.entries()) {
      const which = present.indexOf(this.#kinds[sample.event]!);
      const { layout, bytes } = rows[which];
      order[i] = which;
      writeRow(bytes, next[which], this.layouts[layout].time, sample, stacks);
      next[which] += this.layouts[layout].size;
    }
    yield { head, block: { count: known.length, order, rows, stacks } };
  }

  *symbols(): Iterable<string> {}
}

function writeRow(
  bytes: Uint8Array,
  start: number,
  behind: number,
  { raw, time, cpu, pid, tid, comm, kernelStack, userStack }: PerfSample,
  stacks: BigUint64Array[],
): void {
  bytes.set(raw, start);
  const at = start + behind;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  view.setBigUint64(at + words.time, time, true);
  view.setUint32(at + words.cpu, cpu, true);
  view.setUint32(at + words.pid, pid, true);
  view.setUint32(at + words.tid, tid, true);
  bytes.set(Buffer.from(comm).subarray(0, 15), at + words.comm);
  for (const [word, stack] of [
    [words.kernelStack, kernelStack],
    [words.userStack, userStack],
  ] as const)
    view.setBigInt64(at + word, stack === undefined ? -1n : BigInt(stacks.push(BigUint64Array.from(stack)) - 1), true);
}

function kindOf(event: PerfEvent, perf: PerfData, raw: number, system: System): Kind | undefined {
  const { type, config, frequency, period, sampleType } = event;
  const stacked = (sampleType & (1 << 5)) !== 0;
  const row: RecordedRow = {
    words: {
      time: { offset: raw + words.time, size: 8 },
      cpu: { offset: raw + words.cpu, size: 4 },
      pid: { offset: raw + words.pid, size: 4 },
      tid: { offset: raw + words.tid, size: 4 },
    },
    comm: raw + words.comm,
    ...(stacked ? { kernelStack: raw + words.kernelStack, userStack: raw + words.userStack } : {}),
    texts: [],
    timeOfDay: false,
    absent: [],
  };
  if (type === typeSoftware && config === cpuClock && frequency) {
    const context: Context = {
      provider: "profile",
      program: { type: "perf_event", cookie: true },
      defaultSpace: "kernel",
      stacks: stacked,
      recorded: row,
    };
    return { name: `profile:hz:${period}`, raw, context };
  }
  if (type !== typeTracepoint) return undefined;
  for (const { category, text } of perf.formats) {
    const id = /^ID:\s*(\d+)/m.exec(text)?.[1];
    if (id === undefined || BigInt(id) !== config) continue;
    const name = /^name:\s*(\S+)/m.exec(text)?.[1];
    const format = parseTracepointFormat(text);
    if (name === undefined || format === undefined) return undefined;
    const space = category === "syscalls" ? "user" : "kernel";
    // What lies behind the bytes that there are is in none of the events.
    const there = format.fields.filter(({ offset, size }) => offset + size <= raw);
    const context: Context = {
      provider: "tracepoint",
      program: { type: "tracepoint", cookie: true },
      args: there.map((field) => argumentOf(field, category, system)),
      defaultSpace: space,
      stacks: stacked,
      recorded: { ...row, absent: format.fields.filter((field) => !there.includes(field)).map((field) => field.name) },
    };
    return { name: `tracepoint:${category}:${name}`, raw, context };
  }
  return undefined;
}

/** A system call's argument takes a whole register, whose upper half means nothing in an `int`. */
function argumentOf(field: TracepointField, category: string, system: System): Argument {
  const { name, offset, declaration, signed } = field;
  const space = category === "syscalls" ? "user" : "kernel";
  if (category !== "syscalls") return recordArgument(field, space, system);
  const type = name === "__syscall_nr" ? i32 : declaredType(declaration, 0, signed, space, system.types);
  if (type.kind !== "integer") return recordArgument(field, space, system);
  const size = type.bits === 8 ? 1 : type.bits === 16 ? 2 : type.bits === 32 ? 4 : 8;
  return { name, type, fetch: { kind: "context", offset, size, signed: type.signed } };
}
