// skboutput(): packets that handlers hand out, written to capture files in the order of their times.
import { closeSync, openSync, writeSync } from "node:fs";
import {
  mostPacketBytes,
  packetFile,
  packetHead,
  packetLength,
  packetSkipped,
  packetTime,
  packetWhole,
} from "../../compiler/layouts/packets.ts";
import { LinuxError } from "../../linux/error.ts";
import { PerfOutput } from "../../linux/perf/perf-output.ts";
import { CLOCK_BOOTTIME, clockNs } from "../../linux/processes/procfs.ts";
import { fileHead, packetRecord } from "./pcap.ts";
import { attempts } from "../../messages/on-demand.ts";

export interface PacketOptions {
  readonly paths: readonly string[];
  /** The map of perf events. */
  readonly map: number;
  /** Of all rings. */
  readonly bytes: number;
  /** Nanoseconds to add to the boot clock for the time of day. */
  readonly bootToWall: bigint;
  readonly lost: (count: number) => void;
  /** A file could not be written: it gets no more. */
  readonly failed: (text: string) => void;
}

interface Packet {
  readonly time: bigint;
  readonly file: number;
  readonly whole: number;
  readonly bytes: Uint8Array;
}

export class Packets implements Disposable {
  readonly #options: PacketOptions;
  readonly #files: (number | undefined)[] = [];
  readonly #output: PerfOutput;
  /** Packets that are not written yet: an older one may still have to be read from another CPU. */
  #held: Packet[] = [];

  /** Files that are there are written anew. @throws LinuxError */
  constructor(options: PacketOptions) {
    this.#options = options;
    try {
      for (const path of options.paths) this.#files.push(created(path));
      this.#output = new PerfOutput(options.map, options.bytes);
    } catch (error) {
      this.#close();
      throw error;
    }
    this.#output.onOutput(() => this.write());
  }

  /** Writes what has come; with `all` also what is younger than the beginning of this call. */
  write(all = false): void {
    const now = clockNs(CLOCK_BOOTTIME);
    this.#output.drain((data) => {
      const packet = packetOf(data);
      if (packet !== undefined) this.#held.push(packet);
    }, this.#options.lost);
    this.#held.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    const later = all ? -1 : this.#held.findIndex(({ time }) => time > now);
    const ready = later < 0 ? this.#held.splice(0) : this.#held.splice(0, later);
    for (const { file, time, bytes, whole } of ready)
      this.#append(file, packetRecord(time + this.#options.bootToWall, bytes, whole));
  }

  #append(file: number, record: Uint8Array): void {
    const fd = this.#files[file];
    if (fd === undefined) return;
    try {
      for (let written = 0; written < record.length;) written += writeSync(fd, record, written);
    } catch (error) {
      this.#options.failed(
        `ERROR: cannot write ${this.#options.paths[file]}: ${error instanceof Error ? error.message : String(error)}`,
      );
      closeSync(fd);
      this.#files[file] = undefined;
    }
  }

  #close(): void {
    for (const fd of this.#files.splice(0)) if (fd !== undefined) closeSync(fd);
  }

  [Symbol.dispose](): void {
    this.#output[Symbol.dispose]();
    this.#close();
  }
}

function packetOf(data: Uint8Array): Packet | undefined {
  if (data.length < packetHead) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  const word = (offset: number): number => view.getUint32(offset, true);
  const skipped = word(packetSkipped);
  const end = Math.min(word(packetLength), data.length - packetHead);
  if (skipped >= end) return undefined;
  return {
    time: view.getBigUint64(packetTime, true),
    file: word(packetFile),
    whole: Math.max(0, word(packetWhole) - skipped),
    bytes: data.subarray(packetHead + skipped, packetHead + end),
  };
}

function created(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, "w");
    writeSync(fd, fileHead(mostPacketBytes));
  } catch (error) {
    const { errno = 0, syscall = "open" } = error as NodeJS.ErrnoException;
    throw new LinuxError({ call: syscall, code: Math.abs(errno), doing: attempts().writeCapture(path) });
  }
  return fd;
}
