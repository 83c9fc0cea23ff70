// What perf events tell about processes: mappings of code, exec, fork, exit. Layouts: enum perf_event_type in the
// kernel's include/uapi/linux/perf_event.h.
//
//   every record    u32 type, u16 misc, u16 size; then its fields; then (sample_id_all with PERF_SAMPLE_TIME) u64 time
//   LOST       2    u64 id, u64 lost
//   COMM       3    u32 pid, u32 tid, char comm[]            misc bit 13: because of an exec
//   EXIT, FORK 4,7  u32 pid, u32 ppid, u32 tid, u32 ptid, u64 time
//   MMAP2     10    u32 pid, u32 tid, u64 addr, u64 len, u64 pgoff, 24 bytes of identity, u32 prot, u32 flags, char name[]
//                   identity: u32 major, u32 minor, u64 inode, u64 generation; or with misc bit 14: u8 size of the
//                   build id, 3 bytes unused, 20 bytes of build id

export const PERF_RECORD_LOST = 2;
export const PERF_RECORD_COMM = 3;
export const PERF_RECORD_EXIT = 4;
export const PERF_RECORD_FORK = 7;
export const PERF_RECORD_MMAP2 = 10;

export const PERF_RECORD_MISC_COMM_EXEC = 1 << 13;
export const PERF_RECORD_MISC_MMAP_BUILD_ID = 1 << 14;

const headerBytes = 8;
const timeBytes = 8;
const largestBuildId = 20;
const PROT_EXEC = 4;

/** Which file was mapped: the build id where the kernel found one, else device and inode as in /proc/PID/maps. */
export type MappedFile = { readonly buildId: string } | { readonly device: string; readonly inode: bigint };

/** `time` is CLOCK_MONOTONIC, in nanoseconds. Pids are those of processes (thread groups). */
export type PerfRecord =
  | {
      readonly kind: "mmap";
      readonly time: bigint;
      readonly pid: number;
      /** Addresses; `end` is the first byte behind. */
      readonly start: bigint;
      readonly end: bigint;
      /** Of the file, in bytes. */
      readonly offset: bigint;
      readonly file: MappedFile;
      /** As the process itself sees it; `[vdso]`, or "" for anonymous memory. */
      readonly path: string;
    }
  | { readonly kind: "exec"; readonly time: bigint; readonly pid: number }
  | { readonly kind: "fork"; readonly time: bigint; readonly pid: number; readonly parent: number }
  | { readonly kind: "exit"; readonly time: bigint; readonly pid: number }
  | { readonly kind: "lost"; readonly time: bigint; readonly count: number };

/**
 * Decodes one whole record, its header included. Undefined for records of no interest (threads, new names, data
 * mappings) and for what is too short to be one.
 */
export function parsePerfRecord(bytes: Uint8Array): PerfRecord | undefined {
  if (bytes.length < headerBytes + 8 + timeBytes) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const misc = view.getUint16(4, true);
  const end = bytes.length - timeBytes;
  const time = view.getBigUint64(end, true);
  const pid = view.getUint32(headerBytes, true);
  switch (view.getUint32(0, true)) {
    case PERF_RECORD_LOST:
      return end < 24 ? undefined : { kind: "lost", time, count: Number(view.getBigUint64(16, true)) };
    case PERF_RECORD_COMM:
      return (misc & PERF_RECORD_MISC_COMM_EXEC) === 0 ? undefined : { kind: "exec", time, pid };
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT: {
      if (end < 32) return undefined;
      const parent = view.getUint32(12, true);
      const thread = view.getUint32(16, true);
      if (thread !== pid) return undefined;
      return view.getUint32(0, true) === PERF_RECORD_FORK
        ? { kind: "fork", time, pid, parent }
        : { kind: "exit", time, pid };
    }
    case PERF_RECORD_MMAP2: {
      if (end < 72 || (view.getUint32(64, true) & PROT_EXEC) === 0) return undefined;
      const start = view.getBigUint64(16, true);
      const path = text(bytes, 72, end);
      return {
        kind: "mmap",
        time,
        pid,
        start,
        end: start + view.getBigUint64(24, true),
        offset: view.getBigUint64(32, true),
        file: (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) === 0 ? inode(view) : buildId(bytes),
        path: path === "//anon" ? "" : path,
      };
    }
    default:
      return undefined;
  }
}

function buildId(bytes: Uint8Array): MappedFile {
  return { buildId: Buffer.from(bytes.subarray(44, 44 + Math.min(bytes[40], largestBuildId))).toString("hex") };
}

function inode(view: DataView): MappedFile {
  const part = (at: number): string => view.getUint32(at, true).toString(16).padStart(2, "0");
  return { device: `${part(40)}:${part(44)}`, inode: view.getBigUint64(48, true) };
}

function text(bytes: Uint8Array, from: number, to: number): string {
  const zero = bytes.indexOf(0, from);
  return Buffer.from(bytes.subarray(from, zero < 0 || zero > to ? to : zero)).toString("utf8");
}
