// Another tool's recording as one of events: each has the kernel's record, and behind it what the tool says of the moment.
import type { Argument, Context, RecordedRow, RecordedWord } from "../language/context.ts";
import { i32 } from "../language/types.ts";
import { declaredType } from "../machine/kernel/declared-type.ts";
import { parseTracepointFormat } from "../machine/kernel/tracepoint-format.ts";
import { recordedSystem } from "../machine/recorded-system.ts";
import type { System, TracepointField } from "../machine/system.ts";
import type { BlockHead, EventRecording, RecordedLoss, RecordingOrigin } from "../recordings/contents.ts";
import type { ForeignSample } from "../recordings/foreign-sample.ts";
import type { EventBlock, RowLayout, Rows } from "../recordings/layout.ts";
import type { EventFormat } from "../recordings/tracing-data.ts";
import { recordArgument } from "./kinds/event-record.ts";

/** Samples of a block. */
const blockSamples = 4096;

/** Behind the event's own bytes: what the tool says of the moment. */
const words = { time: 0, cpu: 8, pid: 12, tid: 16, comm: 24, kernelStack: 40, userStack: 48, size: 56 } as const;

/** What handlers see at an event of so many bytes. */
export interface ForeignKind {
  readonly name: string;
  readonly context: Context;
}

/** A recording as its tool's reader gives it. */
export interface ForeignTrace {
  /** The tool's name. */
  readonly by: string;
  readonly hostname: string;
  readonly release: string;
  readonly machine: string;
  readonly cpus: number;
  readonly commandLine: readonly string[];
  samples(): Iterable<ForeignSample>;
  /** The kind of an event whose records have at most `raw` bytes; undefined where no probe of ours is one. */
  kindOf(event: number, raw: number, system: System): ForeignKind | undefined;
  /** What the addresses of these kernel stacks are called, as a recording of ours has it. */
  symbols(addresses: ReadonlySet<bigint>): Iterable<string>;
}

/** The whole file is read once to know what there is. @throws RecordingError */
export class ForeignRecording implements EventRecording {
  readonly origin: RecordingOrigin;
  readonly layouts: readonly RowLayout[];
  readonly sites: readonly { readonly name: string; readonly layout: number }[];
  readonly contexts: readonly Context[];
  readonly end = undefined;
  readonly cut = 0;
  readonly size: number;
  readonly span: EventRecording["span"];
  readonly #trace: ForeignTrace;
  /** The kind of each of the tool's events. */
  readonly #kinds = new Map<number, number>();
  readonly #addresses = new Set<bigint>();

  constructor(trace: ForeignTrace, size: number) {
    this.#trace = trace;
    this.size = size;
    const raw = new Map<number, number>();
    let [events, first, last] = [0, 0n, 0n];
    for (const sample of trace.samples()) {
      raw.set(sample.event, Math.max(raw.get(sample.event) ?? 0, sample.raw.length));
      for (const address of sample.kernelStack ?? []) this.#addresses.add(address);
      if (events++ === 0) first = sample.time;
      last = sample.time;
    }
    this.origin = {
      strobe: "",
      by: trace.by,
      host: trace.hostname,
      kernel: trace.release,
      machine: trace.machine,
      cpus: trace.cpus,
      command: trace.commandLine,
      // The tool's own clock; it does not say what the others said then.
      clock: { boot: String(first), monotonic: String(first), wall: String(first) },
      childPid: 0,
    };
    this.span = events === 0 ? undefined : { events, first, last };
    const system = recordedSystem(trace.cpus);
    const kinds: (ForeignKind & { readonly raw: number })[] = [];
    for (const [event, most] of [...raw].sort(([a], [b]) => a - b)) {
      const room = Math.ceil(most / 8) * 8;
      const kind = trace.kindOf(event, room, system);
      if (kind !== undefined) this.#kinds.set(event, kinds.push({ ...kind, raw: room }) - 1);
    }
    this.layouts = kinds.map((kind) => ({ size: kind.raw + words.size, time: kind.raw + words.time, fields: [] }));
    this.sites = kinds.map(({ name }, layout) => ({ name, layout }));
    this.contexts = kinds.map(({ context }) => context);
  }

  *heads(): Iterable<BlockHead> {
    for (const { head } of this.blocks()) yield head;
  }

  *blocks(wanted: (head: BlockHead) => boolean = () => true): Iterable<{ head: BlockHead; block: EventBlock }> {
    let samples: ForeignSample[] = [];
    for (const sample of this.#trace.samples()) {
      if (!this.#kinds.has(sample.event) && !sample.gap) continue;
      samples.push(sample);
      if (samples.length < blockSamples) continue;
      yield* this.#block(samples, wanted);
      samples = [];
    }
    if (samples.length > 0) yield* this.#block(samples, wanted);
  }

  *#block(
    samples: readonly ForeignSample[],
    wanted: (head: BlockHead) => boolean,
  ): Iterable<{ head: BlockHead; block: EventBlock }> {
    const known = samples.filter(({ event }) => this.#kinds.has(event));
    const present = [...new Set(known.map(({ event }) => this.#kinds.get(event)!))];
    const counted = samples.reduce((sum, { lost }) => sum + lost, 0);
    const { by } = this.#trace;
    const loss = (count: number): RecordedLoss => ({ cause: by, probe: `${by} record`, count });
    const lost: RecordedLoss[] = counted === 0 ? [] : [loss(counted)];
    // Nobody knows how many.
    if (samples.some((sample) => sample.gap && sample.lost === 0)) lost.push(loss(0));
    const head: BlockHead = {
      count: known.length,
      first: samples[0].time,
      last: samples[samples.length - 1].time,
      sites: present,
      lost,
    };
    if (!wanted(head)) return;
    const rows = present.map((layout): Rows => {
      const count = known.filter(({ event }) => this.#kinds.get(event) === layout).length;
      return { layout, count, bytes: new Uint8Array(count * this.layouts[layout].size) };
    });
    const stacks: BigUint64Array[] = [];
    const next = rows.map(() => 0);
    const order = new Uint16Array(known.length);
    for (const [i, sample] of known.entries()) {
      const which = present.indexOf(this.#kinds.get(sample.event)!);
      const { layout, bytes } = rows[which];
      order[i] = which;
      writeRow(bytes, next[which], this.layouts[layout].time, sample, stacks);
      next[which] += this.layouts[layout].size;
    }
    yield { head, block: { count: known.length, order, rows, stacks } };
  }

  symbols(): Iterable<string> {
    return this.#trace.symbols(this.#addresses);
  }
}

function writeRow(
  bytes: Uint8Array,
  start: number,
  behind: number,
  { raw, time, cpu, pid, tid, comm, kernelStack, userStack }: ForeignSample,
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

/** Where rows of records of so many bytes have what the tool says: `kept` of it. */
export function foreignRow(raw: number, kept: readonly RecordedWord[], stacked: boolean): RecordedRow {
  const places = { time: 8, cpu: 4, pid: 4, tid: 4 } as const;
  return {
    words: Object.fromEntries(
      (["time", "cpu", "pid", "tid"] as const)
        .filter((word) => kept.includes(word))
        .map((word) => [word, { offset: raw + words[word], size: places[word] }]),
    ),
    comm: raw + words.comm,
    ...(stacked ? { kernelStack: raw + words.kernelStack, userStack: raw + words.userStack } : {}),
    texts: [],
    timeOfDay: false,
    absent: [],
  };
}

/** What handlers see at a tracepoint whose format file this is; undefined where it is none. */
export function foreignTracepoint(
  { category, text }: EventFormat,
  raw: number,
  row: RecordedRow,
  system: System,
): ForeignKind | undefined {
  const name = /^name:\s*(\S+)/m.exec(text)?.[1];
  const format = parseTracepointFormat(text);
  if (name === undefined || format === undefined) return undefined;
  // What lies behind the bytes that there are is in none of the events.
  const there = format.fields.filter(({ offset, size }) => offset + size <= raw);
  const context: Context = {
    provider: "tracepoint",
    program: { type: "tracepoint", cookie: true },
    args: there.map((field) => argumentOf(field, category, system)),
    defaultSpace: category === "syscalls" ? "user" : "kernel",
    stacks: row.kernelStack !== undefined,
    recorded: { ...row, absent: format.fields.filter((field) => !there.includes(field)).map((field) => field.name) },
  };
  return { name: `tracepoint:${category}:${name}`, context };
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
