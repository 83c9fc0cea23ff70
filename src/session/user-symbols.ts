// Addresses of processes to function names: where the binary is mapped, what its symbols are. A process may be gone by
// the time its stack is printed, so its mappings are read when it is first seen (`notice`).
import { readFileSync } from "node:fs";
import { processMaps, status, type Mapping } from "../linux/procfs.ts";
import type { BinarySymbols } from "./elf-files.ts";
import type { Frame } from "./events.ts";

/** What naming needs of the machine; made up in tests. */
export interface ProcessFiles {
  maps(pid: number): readonly Mapping[];
  binary(identity: string, paths: readonly string[]): BinarySymbols | undefined;
  /** The text of /tmp/perf-PID.map, where a just-in-time compiler writes its functions' names. */
  perfMap(pid: number): string | undefined;
}

export function liveProcessFiles(binary: ProcessFiles["binary"]): ProcessFiles {
  return {
    maps: processMaps,
    binary,
    perfMap(pid) {
      // The process names the file by the pid it knows itself by; the last one is that of the innermost namespace.
      const own = status(pid)?.get("NSpid")?.split(/\s+/).at(-1) ?? String(pid);
      for (const path of [`/proc/${pid}/root/tmp/perf-${own}.map`, `/tmp/perf-${pid}.map`]) {
        try {
          return readFileSync(path, "latin1");
        } catch {
          // try the next
        }
      }
      return undefined;
    },
  };
}

interface JitFunction { readonly start: bigint; readonly size: bigint; readonly name: string }

interface Process {
  /** Executable mappings, by address. */
  maps: readonly Mapping[];
  readAt: number;
  jit?: readonly JitFunction[];
  readonly frames: Map<bigint, Frame>;
}

/** Mappings are read again at most so often, in milliseconds, when an address lies outside of them (dlopen, exec). */
const rereadAfter = 100;
const framesKept = 1 << 16;
const processesKept = 4096;

export class UserSymbols {
  readonly #files: ProcessFiles;
  readonly #processes = new Map<number, Process>();
  readonly #now: () => number;

  constructor(files: ProcessFiles, now: () => number = () => performance.now()) {
    this.#files = files;
    this.#now = now;
  }

  /** Remembers a process's mappings while it lives. Cheap when it is known already. */
  notice(pid: number): void {
    if (pid > 0 && !this.#processes.has(pid)) this.#process(pid);
  }

  /** Reads a process's mappings again, if it still lives: it may have become another program since. */
  refresh(pid: number): void {
    const process = this.#processes.get(pid);
    if (!process) return this.notice(pid);
    const maps = this.#executable(pid);
    if (maps.length === 0) return;
    process.readAt = this.#now();
    if (sameMaps(maps, process.maps)) return;
    this.#replace(process, maps);
  }

  frame(address: bigint, pid: number): Frame {
    const process = this.#process(pid);
    const known = process.frames.get(address);
    if (known) return known;
    const frame = this.#resolve(process, address, pid);
    // What has no name yet may get one: a library loaded later, code compiled later.
    if (frame.symbol === undefined) return frame;
    if (process.frames.size >= framesKept) process.frames.clear();
    process.frames.set(address, frame);
    return frame;
  }

  #process(pid: number): Process {
    let process = this.#processes.get(pid);
    if (process) return process;
    if (this.#processes.size >= processesKept) {
      const [oldest] = this.#processes.keys();
      this.#processes.delete(oldest);
    }
    process = { maps: this.#executable(pid), readAt: this.#now(), frames: new Map() };
    this.#processes.set(pid, process);
    return process;
  }

  #executable(pid: number): readonly Mapping[] {
    return this.#files.maps(pid).filter((mapping) => mapping.permissions[2] === "x");
  }

  #resolve(process: Process, address: bigint, pid: number): Frame {
    const mapping = mappingOf(process.maps, address) ?? this.#reread(process, address, pid);
    if (!mapping) return { address };
    if (mapping.path.startsWith("/") && !mapping.path.startsWith("/memfd:")) {
      const path = mapping.path.replace(/ \(deleted\)$/, "");
      const binary = this.#files.binary(`${mapping.device}:${mapping.inode}`, [`/proc/${pid}/root${path}`, path]);
      const at = binary?.lookup(address - mapping.start + mapping.offset);
      return at ? { address, symbol: at.symbol, offset: at.offset, module: path } : { address, module: path };
    }
    const compiled = this.#compiled(process, address, pid);
    if (compiled) return { address, symbol: compiled.name, offset: Number(address - compiled.start) };
    return mapping.path === "" ? { address } : { address, module: mapping.path };
  }

  #reread(process: Process, address: bigint, pid: number): Mapping | undefined {
    const now = this.#now();
    if (now - process.readAt < rereadAfter) return undefined;
    process.readAt = now;
    const maps = this.#executable(pid);
    if (maps.length === 0) return undefined; // gone: what was read before is all there is
    this.#replace(process, maps);
    return mappingOf(maps, address);
  }

  #replace(process: Process, maps: readonly Mapping[]): void {
    process.maps = maps;
    process.frames.clear();
    delete process.jit;
  }

  #compiled(process: Process, address: bigint, pid: number): JitFunction | undefined {
    process.jit ??= parsePerfMap(this.#files.perfMap(pid) ?? "");
    const functions = process.jit;
    let low = 0;
    let high = functions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (functions[middle].start <= address) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return undefined;
    const last = functions[low - 1];
    return address < last.start + last.size ? last : undefined;
  }
}

function sameMaps(a: readonly Mapping[], b: readonly Mapping[]): boolean {
  return a.length === b.length && a.every((mapping, i) => mapping.start === b[i].start && mapping.path === b[i].path);
}

function mappingOf(maps: readonly Mapping[], address: bigint): Mapping | undefined {
  return maps.find((mapping) => address >= mapping.start && address < mapping.end);
}

/** Lines of `START SIZE NAME`, in hexadecimal; later lines win, since code moves. */
function parsePerfMap(text: string): JitFunction[] {
  const functions = new Map<bigint, JitFunction>();
  for (const line of text.split("\n")) {
    const match = /^(?:0x)?([0-9a-f]+) (?:0x)?([0-9a-f]+) (.+)$/i.exec(line);
    if (!match) continue;
    const start = BigInt(`0x${match[1]}`);
    functions.set(start, { start, size: BigInt(`0x${match[2]}`), name: match[3] });
  }
  return [...functions.values()].sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
}
