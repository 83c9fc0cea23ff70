// A recording as `perf script` prints one: lines that flame graph scripts, speedscope and others read.
import { writeSync } from "node:fs";
import { compileForRecording } from "../api/replay.ts";
import type { Context } from "../language/context.ts";
import { fullStack, type StackType } from "../language/types.ts";
import { stackFrames } from "../output/stack-frames.ts";
import { memoryOf, valueText } from "../output/values.ts";
import { RecordedProbes, type ReplayableRecording } from "../providers/recorded.ts";
import type { ConsumerServices, Frame } from "../session/events.ts";
import { RecordedSymbols } from "../session/replay/recorded-symbols.ts";
import { rowsIn, wordAt, type RecordedEventRow } from "./recorded-rows.ts";

/** Characters that are written at once. */
const writtenAtOnce = 1 << 20;

/** What is known of a probe: its event's name as perf would have it, and how much a sample of it stands for. */
interface PerfEvent {
  readonly name: string;
  readonly period: string | undefined;
}

/** Writes it; gives how many events there are, of how many probes. @throws RecordingError */
export function convertToPerfScript(
  recording: ReplayableRecording,
  into: number,
): { readonly events: number; readonly probes: number } {
  const { plan } = compileForRecording({ name: "convert", text: "begin { }" }, recording);
  const { clock, parts } = recording.origin;
  const services = {
    plan: plan!,
    symbols: new RecordedSymbols(recording.symbols(), parts),
    bootToWall: 0n,
  };
  const stacks = new StackTexts(services);
  const probes = new RecordedProbes(recording);
  const events = recording.sites.map(({ name }) => perfEvent(name));
  const width = events.reduce((most, { name }) => Math.max(most, name.length), 0);
  // As the kernel's tracers have it, and dmesg nearly so.
  const toMonotonic = BigInt(clock.monotonic) - BigInt(clock.boot);
  // Then readers take what lies between empty lines for one event, and the first event's kind for the only one: the lives
  // of processes, which are always recorded, are left out as perf leaves them.
  const some = recording.contexts.some(({ stacks: has }) => has);
  const leftOut = recording.sites.map(({ name, layout }) => some && isLife(name) && !recording.contexts[layout].stacks);
  let [text, count] = ["", 0];
  for (const row of rowsIn(recording)) {
    const context = recording.contexts[row.layout];
    const site = probes.siteOf(row.layout, row.view, row.at);
    if (leftOut[site]) continue;
    const { name, period } = events[site];
    const time = row.view.getBigUint64(row.at + recording.layouts[row.layout].time, true) + toMonotonic;
    const stack = stacks.of(context, row);
    const comm = commOf(context, row);
    const pid = String(wordAt(context, "pid", row.view, row.at)).padStart(5);
    const tid = String(wordAt(context, "tid", row.view, row.at)).padEnd(5);
    const cpu = String(wordAt(context, "cpu", row.view, row.at)).padStart(3, "0");
    const seconds = String(time / 1_000_000_000n).padStart(5);
    const micros = String((time / 1000n) % 1_000_000n).padStart(6, "0");
    const event = period === undefined ? name.padStart(width) : `${period.padStart(10)} ${name}`;
    const line = `${some ? comm : comm.padStart(16)} ${pid}/${tid} [${cpu}] ${seconds}.${micros}: ${event}: `;
    text += `${line}${argumentsText(context, row, services)}\n${stack ?? ""}${some ? "\n" : ""}`;
    count++;
    if (text.length < writtenAtOnce) continue;
    writeAll(into, text);
    text = "";
  }
  writeAll(into, text);
  return { events: count, probes: leftOut.filter((out) => !out).length };
}

function isLife(probe: string): boolean {
  return /^tracepoint:sched:sched_process_(?:fork|exec|exit)$/.test(probe);
}

function writeAll(into: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += writeSync(into, bytes, at);
}

/** A name in one word, as perf probe would give it: `probe:vfs_read`, `probe_libc:malloc`. */
function perfEvent(probe: string): PerfEvent {
  const [kind, ...parts] = probe.split(":");
  const word = (text: string): string => text.replace(/[\s:]/g, "_");
  const last = word(parts.at(-1) ?? kind);
  const result = /^(?:k|u)retprobe$|^fexit$/.test(kind) ? "__return" : "";
  switch (kind) {
    case "tracepoint":
      return { name: `${word(parts[0])}:${word(parts.slice(1).join("_"))}`, period: undefined };
    case "profile":
      return { name: "cpu-clock", period: periodOf(parts) };
    case "software":
    case "hardware":
      return { name: word(parts[0]), period: /^\d+$/.test(parts[1] ?? "") ? parts[1] : "1" };
    case "uprobe":
    case "uretprobe":
    case "usdt":
      return {
        name: `probe_${word((parts[0].split("/").at(-1) ?? "").replace(/[-.].*$/, ""))}:${last}${result}`,
        period: undefined,
      };
    default:
      return { name: `probe:${last}${result}`, period: undefined };
  }
}

const perSecond: Readonly<Record<string, number>> = { s: 1, ms: 1e3, us: 1e6, ns: 1e9 };

/** Nanoseconds from one sample of a CPU to its next. */
function periodOf([unit, number = "1"]: readonly string[]): string {
  const value = Number(number);
  if (!(value > 0)) return "1";
  return String(Math.round(unit === "hz" ? 1e9 / value : (value * 1e9) / (perSecond[unit] ?? 1e9)));
}

function commOf({ recorded }: Context, { bytes, at }: RecordedEventRow): string {
  if (recorded?.comm === undefined) return ":";
  const start = at + recorded.comm;
  return oneLine(textIn(bytes, start, 16)) || ":";
}

function textIn(bytes: Uint8Array, start: number, size: number): string {
  const text = bytes.subarray(start, start + size);
  const end = text.indexOf(0);
  return Buffer.from(end < 0 ? text : text.subarray(0, end)).toString();
}

/** A name of somebody's ends no line. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, "?");
}

function argumentsText(
  { args = [], numbered = [], retval, recorded }: Context,
  { bytes, view, at }: RecordedEventRow,
  services: ConsumerServices,
): string {
  const texts: string[] = [];
  for (const { name, type, fetch } of [...args, ...(retval === undefined ? [] : [{ name: "retval", ...retval }])]) {
    // perf prints the call's name alone.
    if (name === "__syscall_nr") continue;
    if (fetch.kind === "context") {
      const behind = recorded?.texts.find(({ pointer }) => pointer === fetch.offset);
      const text = behind && textIn(bytes, at + behind.offset, behind.size);
      const value = valueText(type, memoryOf(bytes), at + fetch.offset, services);
      texts.push(`${name}=${text === undefined || text === "" ? value : JSON.stringify(text)}`);
    } else if (fetch.kind === "address") {
      const own = recorded?.ownTexts?.find(({ offset }) => offset === fetch.offset);
      const value =
        own === undefined
          ? valueText(type, memoryOf(bytes), at + fetch.offset, services)
          : textIn(bytes, at + own.offset, own.size);
      texts.push(`${name}=${value}`);
    }
  }
  if (args.length === 0)
    for (const [i, fetch] of numbered.entries())
      if (fetch.kind === "context") texts.push(`arg${i}=0x${view.getBigUint64(at + fetch.offset, true).toString(16)}`);
  return oneLine(texts.join(" "));
}

const kernelStack: StackType = { kind: "stack", space: "kernel", mode: "bpftrace", limit: fullStack };
const userStack: StackType = { kind: "stack", space: "user", mode: "bpftrace", limit: fullStack };

/** Stacks as perf script writes them, the kernel's first: address, function and offset, file. */
class StackTexts {
  readonly #services: ConsumerServices & { readonly symbols: RecordedSymbols };
  readonly #known = new Map<string, string>();

  constructor(services: ConsumerServices & { readonly symbols: RecordedSymbols }) {
    this.#services = services;
  }

  /** Undefined where the probe's events have no stacks. */
  of(context: Context, { view, at, stacks }: RecordedEventRow): string | undefined {
    const { recorded } = context;
    if (recorded?.kernelStack === undefined && recorded?.userStack === undefined) return undefined;
    let text = "";
    for (const [type, offset] of [
      [kernelStack, recorded.kernelStack],
      [userStack, recorded.userStack],
    ] as const) {
      const stack = offset === undefined ? undefined : stacks[view.getInt32(at + offset, true)];
      if (stack === undefined) continue;
      const id = this.#services.symbols.take(stack, fullStack, recorded.part);
      text += this.#text(type, id, type.space === "user" ? wordAt(context, "pid", view, at) : 0);
    }
    return text;
  }

  #text(type: StackType, id: number, pid: number): string {
    const key = `${type.space} ${pid} ${id}`;
    let text = this.#known.get(key);
    if (text === undefined) {
      const frames = stackFrames(type, BigInt(id), pid, this.#services);
      text = frames.map((frame) => `${this.#line(frame, type, BigInt(id), pid)}\n`).join("");
      this.#known.set(key, text);
    }
    return text;
  }

  #line(
    { address, symbol, offset = 0, module, mark, language, source }: Frame,
    { space }: StackType,
    id: bigint,
    pid: number,
  ): string {
    const ip = address.toString(16).padStart(16);
    const name = oneLine(symbol ?? (mark === undefined ? "[unknown]" : `[${mark}]`));
    const at = symbol === undefined || language !== undefined ? "" : `+0x${offset.toString(16)}`;
    const names = this.#services.symbols.ofStack(id);
    const file =
      language !== undefined
        ? (source?.file ?? language)
        : space === "kernel"
          ? `[${module ?? "kernel.kallsyms"}]`
          : (names.code(address, pid)?.path ?? module ?? "[unknown]");
    return `\t${ip} ${name}${at} (${oneLine(file)})`;
  }
}
