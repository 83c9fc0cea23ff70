// Files of /proc: processes and clocks.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { addressOf, syscall, SYS } from "../ffi.ts";

export interface Mapping {
  readonly start: bigint;
  readonly end: bigint;
  /** `r-xp` */
  readonly permissions: string;
  readonly offset: bigint;
  readonly inode: bigint;
  /** `08:01` */
  readonly device: string;
  /** A file, `[vdso]`, or "" for anonymous memory. */
  readonly path: string;
}

const mapLine = /^([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) (\S+) (\d+)\s*(.*)$/;

/** /proc/PID/maps in the order of addresses; empty when the process has gone. */
export function processMaps(pid: number): Mapping[] {
  const text = read(`/proc/${pid}/maps`);
  return text === undefined ? [] : parseMaps(text);
}

export function parseMaps(text: string): Mapping[] {
  const mappings: Mapping[] = [];
  for (const line of text.split("\n")) {
    const m = mapLine.exec(line);
    if (!m) continue;
    mappings.push({
      start: BigInt(`0x${m[1]}`),
      end: BigInt(`0x${m[2]}`),
      permissions: m[3] ?? "",
      offset: BigInt(`0x${m[4]}`),
      device: m[5] ?? "",
      inode: BigInt(m[6] ?? 0),
      path: unescapePath(m[7] ?? ""),
    });
  }
  return mappings;
}

/** A mapping's path as it was before the file was removed, or another took its name. */
export function withoutDeleted(path: string): string {
  return path.replace(/ \(deleted\)$/, "");
}

/** Leads to the file of a mapping, whatever has become of its path. For root, as the kernel has it. */
export function mappedFile(pid: number, { start, end }: { readonly start: bigint; readonly end: bigint }): string {
  return `/proc/${pid}/map_files/${start.toString(16)}-${end.toString(16)}`;
}

/** The kernel writes newlines in paths as \012. */
function unescapePath(path: string): string {
  return path.includes("\\012") ? path.replaceAll("\\012", "\n") : path;
}

/** All processes that run now (not their threads). */
export function processIds(): number[] {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

/** Whether a process of this number is there. */
export function isProcess(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

/**
 * How long a process has used the CPU, in the kernel's ticks (a hundredth of a second): fields 14 and 15 of
 * proc_pid_stat(5).
 */
export function cpuTicks(pid: number): number {
  const text = read(`/proc/${pid}/stat`) ?? "";
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) || 0) + (Number(fields[12]) || 0);
}

/**
 * When a process began, in milliseconds of the epoch; undefined when it has gone. Field 22 of proc_pid_stat(5), in the
 * kernel's ticks since boot.
 */
export function startedAt(pid: number): number | undefined {
  const text = read(`/proc/${pid}/stat`);
  const uptime = Number(read("/proc/uptime")?.split(" ")[0]);
  const ticks = Number(text?.slice(text.lastIndexOf(")") + 2).split(" ")[19]);
  return Number.isFinite(ticks) && Number.isFinite(uptime) ? Date.now() - (uptime - ticks / 100) * 1000 : undefined;
}

/** The process's name, at most 15 bytes; undefined when it has gone. */
export function comm(pid: number): string | undefined {
  return read(`/proc/${pid}/comm`)?.replace(/\n$/, "");
}

/** The fields of /proc/PID/status by name; undefined when the process has gone. */
export function status(pid: number): ReadonlyMap<string, string> | undefined {
  const text = read(`/proc/${pid}/status`);
  if (text === undefined) return undefined;
  const fields = new Map<string, string>();
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return fields;
}

export const CLOCK_REALTIME = 0;
export const CLOCK_MONOTONIC = 1;
export const CLOCK_BOOTTIME = 7;
export const CLOCK_TAI = 11;

const time = new BigInt64Array(2);

/** A clock of the kernel, in nanoseconds. */
export function clockNs(clock: number): bigint {
  syscall(SYS.clockGettime, clock, addressOf(time));
  return (time[0] ?? 0n) * 1_000_000_000n + (time[1] ?? 0n);
}

/**
 * What to add to a boot-clock time for the time of day, in nanoseconds. Of a few tries, the one whose two readings of
 * the boot clock were nearest to each other.
 */
export function clockOffsetBootToRealNs(): bigint {
  let best = 0n;
  let shortest: bigint | undefined;
  for (let i = 0; i < 5; i++) {
    const before = clockNs(CLOCK_BOOTTIME);
    const real = clockNs(CLOCK_REALTIME);
    const took = clockNs(CLOCK_BOOTTIME) - before;
    if (shortest !== undefined && took >= shortest) continue;
    shortest = took;
    best = real - before - took / 2n;
  }
  return best;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
