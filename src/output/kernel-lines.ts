// Lines of text as events of the kernel's own tracing, beside those that perf and trace-cmd record: an event a line.
import { closeSync } from "node:fs";
import { syscall, SYS } from "../linux/ffi.ts";
import { openTraceMarker } from "../linux/kernel/trace-marker.ts";
import { EBADF, registerUserEvent } from "../linux/kernel/user-events.ts";
import { lossReasons } from "../messages/on-demand.ts";
import type { PrinterOptions } from "./printer.ts";
import type { Destination } from "./sink.ts";
import { TextConsumer } from "./text.ts";

/** What takes lines. */
interface Events {
  readonly name: string;
  /** Bytes of a line that an event has room for: longer ones are several events. */
  readonly room: number;
  /** Gives the bytes that the kernel took, or a negative errno. */
  take(line: Uint8Array): number;
  close(): void;
}

/** `instance`: of tracefs; the top-level buffer where there is none. @throws LinuxError */
export function markerLines(options: PrinterOptions, instance?: string): KernelLines {
  const descriptor = openTraceMarker(instance);
  return new KernelLines(options, {
    name: "trace_marker",
    // TRACE_BUF_SIZE of kernel/trace/trace.h; 4096 from Linux 6.8 on.
    room: 1024 - 1,
    take: (line) => syscall(SYS.write, descriptor, line, line.length),
    close: () => closeSync(descriptor),
  });
}

/** Of an event with the line in its field `text`; nothing is written while nobody listens. @throws LinuxError */
export function userEventLines(options: PrinterOptions, name = "strobe"): KernelLines {
  const kernelName = name.replaceAll(":", "_");
  const event = registerUserEvent(`${kernelName} __rel_loc char[] text`, false);
  return new KernelLines(options, {
    name: `user_events:${kernelName}`,
    room: 3000,
    take: (line) => {
      if (event.words[event.word] === 0) return line.length;
      // The event's number, where the text is behind that field, how long it is, and its end.
      const record = Buffer.alloc(8 + line.length + 1);
      record.writeUInt32LE(event.index, 0);
      record.writeUInt32LE((line.length + 1) << 16, 4);
      record.set(line, 8);
      const written = event.write(record, record.length);
      // Nobody listens any more.
      return written < 0 && written !== -EBADF ? written : line.length;
    },
    close: () => event[Symbol.dispose](),
  });
}

class KernelLines extends TextConsumer {
  readonly #events: Events;
  readonly #lines: Lines;

  constructor(options: PrinterOptions, events: Events) {
    const lines = new Lines(events);
    super({ ...options, buffering: "line", destination: lines });
    this.#events = events;
    this.#lines = lines;
  }

  override end(): void {
    super.end();
    const { name } = this.#events;
    const lost = this.#lines.end();
    if (lost > 0) this.trouble({ kind: "lost", probe: name, count: lost, help: lossReasons().notRecorded() });
    this.#events.close();
  }
}

/** Bytes in any pieces, as lines. */
class Lines implements Destination {
  readonly terminal = false;
  readonly patience = undefined;
  readonly #events: Events;
  #open = Buffer.alloc(0);
  #lost = 0;

  constructor(events: Events) {
    this.#events = events;
  }

  /** The kernel never waits. */
  hurry(): void {}

  write(buffer: Uint8Array, length: number): void {
    const bytes = Buffer.concat([this.#open, buffer.subarray(0, length)]);
    let from = 0;
    for (let end; (end = bytes.indexOf(10, from)) >= 0; from = end + 1) this.#line(bytes.subarray(from, end));
    this.#open = bytes.subarray(from);
  }

  /** Writes what has no end yet. @returns how many events the kernel did not take */
  end(): number {
    this.#line(this.#open);
    this.#open = Buffer.alloc(0);
    return this.#lost;
  }

  #line(line: Uint8Array): void {
    const { room } = this.#events;
    for (let from = 0; from < line.length;) {
      let end = Math.min(from + room, line.length);
      // Not within a character of UTF-8, of four bytes at most.
      for (let back = 0; back < 3 && end < line.length && (line[end] & 0xc0) === 0x80; back++) end--;
      const taken = this.#events.take(line.subarray(from, end));
      if (taken < 0) this.#lost++;
      from = taken > 0 ? Math.min(end, from + taken) : end;
    }
  }
}
