// What programs hand out through a map of perf events (bpf_perf_event_output and its kin): one event a CPU, each with a
// ring.
import { mapUpdate } from "../bpf/bpf.ts";
import { CpuRing } from "./cpu-ring.ts";
import { pageSize } from "../ffi.ts";
import { onlineCpus, openPerfEvent, PERF_COUNT_SW_BPF_OUTPUT, PERF_TYPE_SOFTWARE } from "./perf.ts";
import { PERF_RECORD_LOST } from "./perf-records.ts";

const PERF_RECORD_SAMPLE = 9;
/** A sample holds up to 64 KiB, and a ring some. */
const fewestPages = 64;

export class PerfOutput implements Disposable {
  readonly #cpus: CpuRing[] = [];

  /**
   * `map`: the BPF_MAP_TYPE_PERF_EVENT_ARRAY that programs name; `bytes`: of all rings together, about. @throws
   * LinuxError
   */
  constructor(map: number, bytes: number) {
    const cpus = onlineCpus();
    const page = pageSize();
    let pages = fewestPages;
    while (pages * 2 * page * cpus.length <= bytes) pages *= 2;
    try {
      for (const cpu of cpus) {
        const fd = openPerfEvent({
          type: PERF_TYPE_SOFTWARE,
          config: PERF_COUNT_SW_BPF_OUTPUT,
          pid: -1,
          cpu,
          samplePeriod: 1,
          rawSamples: true,
          wakeup: 1,
        });
        this.#cpus.push(new CpuRing(fd, pages));
        mapUpdate(map, Uint8Array.of(cpu & 0xff, cpu >> 8, 0, 0), new Uint8Array(Uint32Array.of(fd).buffer));
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Calls when there is something to read. */
  onOutput(callback: () => void): void {
    for (const cpu of this.#cpus) cpu.onFilling(callback);
  }

  /**
   * Takes what was written so far, a CPU after the other: what programs handed out, with padding behind it; how many
   * were lost.
   */
  drain(take: (data: Uint8Array) => void, lost: (count: number) => void): void {
    for (const { ring } of this.#cpus) {
      ring.drain((record) => {
        const view = new DataView(record.buffer, record.byteOffset, record.length);
        switch (view.getUint32(0, true)) {
          // u32 type, u16 misc, u16 size; u32 bytes, data
          case PERF_RECORD_SAMPLE:
            if (record.length >= 12) take(record.subarray(12, 12 + view.getUint32(8, true)));
            return;
          // …; u64 id, u64 lost
          case PERF_RECORD_LOST:
            if (record.length >= 24) lost(Number(view.getBigUint64(16, true)));
            return;
          default:
        }
      });
    }
  }

  [Symbol.dispose](): void {
    for (const cpu of this.#cpus.splice(0)) cpu[Symbol.dispose]();
  }
}
