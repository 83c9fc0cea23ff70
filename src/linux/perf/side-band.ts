// The lives of all processes, told by perf events that count nothing: one a CPU, each with a small ring. So mappings
// of code are known even of processes that live for a millisecond.
import { CpuRing } from "./cpu-ring.ts";
import { pageSize } from "../ffi.ts";
import { onlineCpus, openPerfEvent, PERF_COUNT_SW_DUMMY, PERF_TYPE_SOFTWARE } from "./perf.ts";
import { parsePerfRecord, type PerfRecord } from "./perf-records.ts";
import { CLOCK_MONOTONIC, clockNs } from "../processes/procfs.ts";

/** Of all rings together, in bytes; one has between 16 and 64 pages. Starting a program takes about 1 kB. */
const memoryLimit = 4 << 20;
const fewestPages = 16;
const mostPages = 64;

export class SideBand implements Disposable {
  readonly #cpus: CpuRing[] = [];
  /** Records that are not told yet: something older may still have to be read from another CPU. */
  #held: PerfRecord[] = [];

  /**
   * `promptly`: `onFilling` calls at every record. @throws LinuxError when the kernel does not allow to watch all
   * processes
   */
  constructor({ promptly = false }: { readonly promptly?: boolean } = {}) {
    const cpus = onlineCpus();
    const page = pageSize();
    let pages = mostPages;
    while (pages > fewestPages && pages * page * cpus.length > memoryLimit) pages /= 2;
    try {
      for (const cpu of cpus) {
        const fd = openPerfEvent({
          type: PERF_TYPE_SOFTWARE,
          config: PERF_COUNT_SW_DUMMY,
          pid: -1,
          cpu,
          processRecords: true,
          ...(promptly ? { watermark: 1 } : {}),
        });
        this.#cpus.push(new CpuRing(fd, pages));
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Calls when a ring is half full: then it is time to read. Does not keep the process alive by itself once disposed.
   */
  onFilling(callback: () => void): void {
    for (const cpu of this.#cpus) cpu.onFilling(callback);
  }

  /**
   * What happened until now, oldest first. A process's records lie in the rings of the CPUs it ran on, so they are put
   * in order by time; what is younger than the beginning of this call waits for the next one, since what led to it may
   * have been written to a ring already read.
   */
  read(): readonly PerfRecord[] {
    if (this.#held.length === 0 && !this.#cpus.some(({ ring }) => ring.pending)) return [];
    const now = clockNs(CLOCK_MONOTONIC);
    const records = this.#held;
    for (const { ring } of this.#cpus) {
      ring.drain((bytes) => {
        const record = parsePerfRecord(bytes);
        if (record) records.push(record);
      });
    }
    // Stable, so a CPU's own order is kept among equal times.
    records.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    const later = records.findIndex(({ time }) => time > now);
    this.#held = later < 0 ? [] : records.splice(later);
    return records;
  }

  [Symbol.dispose](): void {
    for (const cpu of this.#cpus.splice(0)) cpu[Symbol.dispose]();
    this.#held = [];
  }
}
