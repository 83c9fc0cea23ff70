// What programs hand out through a map of perf events (bpf_perf_event_output and its kin): one event a CPU, each with a ring.
import { mapUpdate } from "./bpf.ts";
import { closeFd, mmap, munmap, pageSize, pollDescriptor, PROT_READ, PROT_WRITE } from "./ffi.ts";
import type { PollHandle } from "./timed-poll.ts";
import { onlineCpus, openPerfEvent, PERF_COUNT_SW_BPF_OUTPUT, PERF_TYPE_SOFTWARE } from "./perf.ts";
import { PERF_RECORD_LOST } from "./perf-records.ts";
import { PerfRing } from "./perf-ring.ts";

const PERF_RECORD_SAMPLE = 9;
/** A sample holds up to 64 KiB, and a ring some. */
const fewestPages = 64;

interface CpuRing { readonly fd: number; readonly memory: ArrayBuffer; readonly ring: PerfRing; poll?: PollHandle }

export class PerfOutput implements Disposable {
  readonly #cpus: CpuRing[] = [];

  /** `map`: the BPF_MAP_TYPE_PERF_EVENT_ARRAY that programs name; `bytes`: of all rings together, about. @throws LinuxError */
  constructor(map: number, bytes: number) {
    const cpus = onlineCpus();
    const page = pageSize();
    let pages = fewestPages;
    while (pages * 2 * page * cpus.length <= bytes) pages *= 2;
    try {
      for (const cpu of cpus) {
        const fd = openPerfEvent({ type: PERF_TYPE_SOFTWARE, config: PERF_COUNT_SW_BPF_OUTPUT, pid: -1, cpu, samplePeriod: 1, rawSamples: true, wakeup: 1 });
        let memory: ArrayBuffer;
        try {
          memory = mmap(fd, (1 + pages) * page, PROT_READ | PROT_WRITE, 0);
        } catch (error) {
          closeFd(fd);
          throw error;
        }
        this.#cpus.push({ fd, memory, ring: new PerfRing(memory, page) });
        mapUpdate(map, Uint8Array.of(cpu & 0xff, cpu >> 8, 0, 0), new Uint8Array(Uint32Array.of(fd).buffer));
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Calls when there is something to read. */
  onOutput(callback: () => void): void {
    for (const cpu of this.#cpus) cpu.poll ??= pollDescriptor(cpu.fd, callback);
  }

  /** Takes what was written so far, a CPU after the other: what programs handed out, with padding behind it; how many were lost. */
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
    for (const { fd, memory, poll } of this.#cpus.splice(0)) {
      poll?.close();
      munmap(memory);
      closeFd(fd);
    }
  }
}
