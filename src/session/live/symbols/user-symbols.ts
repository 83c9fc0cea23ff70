// Addresses of processes to function names: where the binary is mapped, what its symbols are. A process may be gone by
// the time its stack is printed, so its mappings are known from what the kernel tells of it (`apply`), or are read when
// it is first seen (`notice`).
import { firstIndex } from "../../../base/first-index.ts";
import { statSync } from "node:fs";
import type { Elf } from "../../../debuginfo/elf.ts";
import { readOthersFile } from "../../../linux/others-files.ts";
import type { PerfRecord } from "../../../linux/perf/perf-records.ts";
import { mappedFile, processMaps, status, withoutDeleted, type Mapping } from "../../../linux/processes/procfs.ts";
import { buildIdPrefix, vdsoPath, vdsoSymbols, type BinarySymbols } from "./elf-files.ts";
import type { FileMapping, Frame } from "../../events.ts";

/** What naming needs of the machine; made up in tests. */
export interface ProcessFiles {
  maps(pid: number): readonly Mapping[];
  /** A process has begun: forked by another, or with a program of its own. */
  began?(pid: number, parent?: number): void;
  binary(identity: string, paths: readonly string[]): BinarySymbols | undefined;
  /** The text of /tmp/perf-PID.map, where a just-in-time compiler writes its functions' names. */
  perfMap(pid: number): string | undefined;
  /** How the author wrote a symbol's name, where that is wanted and differs. */
  sourceName?(symbol: string): string | undefined;
}

/** In bytes: of a browser or a large server they have some ten millions. */
const largestPerfMap = 64 << 20;
const ownersKept = 1 << 16;

export function liveProcessFiles(binary: ProcessFiles["binary"]): ProcessFiles {
  /** As whom processes ran that have gone (effective user). */
  const owners = new Map<number, number>();
  const began = (pid: number, parent?: number): void => {
    const owner = parent === undefined ? statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid : owners.get(parent);
    if (owners.size >= ownersKept) owners.clear();
    if (owner !== undefined) owners.set(pid, owner);
  };
  return {
    maps(pid) {
      began(pid);
      return processMaps(pid);
    },
    began,
    binary,
    perfMap(pid) {
      const fields = status(pid);
      // The process names the file by the pid it knows itself by; the last one is that of the innermost namespace.
      const own = fields?.get("NSpid")?.split(/\s+/).at(-1) ?? String(pid);
      // Nobody else's: anybody may make files in /tmp. Of a process whose user is not known, root's alone.
      const user = fields?.get("Uid")?.split(/\s+/)[1];
      const owner = user === undefined ? (owners.get(pid) ?? 0) : Number(user);
      for (const path of [`/proc/${pid}/root/tmp/perf-${own}.map`, `/tmp/perf-${pid}.map`]) {
        try {
          return readOthersFile(path, { owner, direct: true, limit: largestPerfMap }).toString("latin1");
        } catch {
          // try the next
        }
      }
      return undefined;
    },
  };
}

interface JitFunction {
  readonly start: bigint;
  readonly size: bigint;
  readonly name: string;
}

/** Code of a process. */
export interface CodeMapping {
  readonly start: bigint;
  readonly end: bigint;
  readonly offset: bigint;
  /** Of the file: `build-id:` and its build id, or `DEVICE:INODE`. */
  readonly identity: string;
  readonly path: string;
}

/**
 * What was added to the file's addresses when it was mapped. Segments begin anywhere in their first page, mappings with
 * it.
 */
export function biasOf({ start, end, offset }: CodeMapping, elf: Elf): bigint | undefined {
  for (const segment of elf.segments) {
    if (segment.type !== PT_LOAD) continue;
    const from = BigInt(segment.offset);
    if (offset < from + BigInt(segment.fileSize) && offset + (end - start) > from)
      return start - (offset - from + segment.address);
  }
  return undefined;
}

const PT_LOAD = 1;

interface Process {
  /**
   * What was mapped, the newest first: an exec begins a new image, and so does reading other mappings than before.
   * Older ones remain, since stacks may have been taken then. In an image, later mappings lie over earlier ones.
   */
  images: readonly (readonly CodeMapping[])[];
  /** When /proc was read last. */
  readAt: number;
  /** Whose root its paths may be found in when it has gone. */
  parent?: number;
  jit?: readonly JitFunction[];
  readonly frames: Map<bigint, Frame>;
  /** What was asked about: false for what signal handlers do not return to. */
  readonly signalReturns: Map<bigint, Frame | false>;
}

/** Mappings are read again at most so often, in milliseconds, when an address lies outside of them (dlopen, exec). */
const rereadAfter = 100;
const framesKept = 1 << 16;
/** About 1.5 kB each: mappings of a program and its libraries. */
export const processesKept = 32_768;
const imagesKept = 4;
const ancestorsAsked = 4;
/** What an address is that lies in nothing executable: frame pointers lead there in code that keeps none. */
export const noCode = "no code";
/** As glibc and musl call it, which seldom have it in their symbols. */
const signalReturnName = "__restore_rt";
/** A just-in-time compiler maps again and again. */
const mappingsKept = 4096;

export class UserSymbols {
  readonly #files: ProcessFiles;
  readonly #changed: (pid: number, mappings: readonly CodeMapping[] | undefined) => void;
  readonly #processes = new Map<number, Process>();
  /** Those of them that are known to have ended, in this order. */
  readonly #ended = new Set<number>();
  /**
   * Processes whose addresses were asked about, and whose code is not known: they ended unseen, or too many came after
   * them.
   */
  readonly nameless = new Set<number>();
  readonly #now: () => number;

  /** `changed` is told of a process's code whenever something is learnt of it: undefined when it has ended. */
  constructor(
    files: ProcessFiles,
    now: () => number = () => performance.now(),
    changed: (pid: number, mappings: readonly CodeMapping[] | undefined) => void = () => {},
  ) {
    this.#files = files;
    this.#now = now;
    this.#changed = changed;
  }

  /** Takes in what the kernel told of the processes' lives, in order. */
  apply(records: readonly PerfRecord[]): void {
    for (const record of records) {
      switch (record.kind) {
        case "fork":
          this.#fork(record.pid, record.parent);
          this.#files.began?.(record.pid, record.parent);
          break;
        case "exec":
          this.#exec(record.pid);
          this.#files.began?.(record.pid);
          break;
        case "mmap":
          this.#map(record.pid, mappedCode(record));
          break;
        // Its stacks may be printed later, so it is only the first to go when there are too many.
        case "exit":
          if (this.#processes.has(record.pid)) this.#ended.add(record.pid);
          this.#changed(record.pid, undefined);
          break;
        // What was lost may be anything: read what still can be read.
        case "lost":
          for (const pid of this.#processes.keys()) this.refresh(pid);
          break;
        default:
          record satisfies never;
      }
    }
  }

  /** Remembers a process's mappings while it lives. Cheap when it is known already. */
  notice(pid: number): void {
    if (pid > 0 && !this.#processes.has(pid)) this.#process(pid);
  }

  /** Reads a process's mappings again, if it still lives: it may have become another program since. */
  refresh(pid: number): void {
    const process = this.#processes.get(pid);
    if (!process) return this.notice(pid);
    this.#read(process, pid);
  }

  /** What `frame` found before, if nothing was learnt of the process since. */
  known(address: bigint, pid: number): Frame | undefined {
    return this.#processes.get(pid)?.frames.get(address);
  }

  /** What `signalReturn` found before: false for other code. */
  knownSignalReturn(address: bigint, pid: number): Frame | false | undefined {
    return this.#processes.get(pid)?.signalReturns.get(address);
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

  /** With debug information: what is inlined at an address, innermost first, then the function. */
  inlined(address: bigint, pid: number): readonly Frame[] {
    const frame = this.frame(address, pid);
    const mapping = mappingOf(this.#process(pid), address);
    const sources = mapping?.path.startsWith("/")
      ? (this.binary(mapping, pid)?.sources?.(address - mapping.start + mapping.offset) ?? [])
      : [];
    if (sources.length === 0) return [frame];
    return sources.map(({ function: symbol, position: { file, line }, inlined }) => {
      const source = line > 0 ? { source: { file, line } } : {};
      if (!inlined) return { ...frame, ...source };
      return { address, symbol, inlined, ...source, ...(frame.module === undefined ? {} : { module: frame.module }) };
    });
  }

  /**
   * What a signal handler returns to, which then goes on where the signal came: the address above it on the stack is no
   * call's.
   */
  signalReturn(address: bigint, pid: number): Frame | undefined {
    const process = this.#process(pid);
    const known = process.signalReturns.get(address);
    if (known !== undefined) return known || undefined;
    const mapping = mappingOf(process, address);
    const is =
      mapping?.path.startsWith("/") === true &&
      this.binary(mapping, pid)?.returnsFromSignal?.(address - mapping.start + mapping.offset) === true;
    const frame =
      is && mapping ? { address, symbol: signalReturnName, offset: 0, module: withoutDeleted(mapping.path) } : false;
    if (process.signalReturns.size >= framesKept) process.signalReturns.clear();
    process.signalReturns.set(address, frame);
    return frame || undefined;
  }

  /** The file's code that an address is. */
  code(address: bigint, pid: number): FileMapping | undefined {
    const process = this.#process(pid);
    const mapping = mappingOf(process, address) ?? this.#reread(process, address, pid);
    if (!mapping?.path.startsWith("/")) return undefined;
    const { identity, start, end, offset, path } = mapping;
    const buildId = identity.startsWith(buildIdPrefix)
      ? identity.slice(buildIdPrefix.length)
      : this.binary(mapping, pid)?.buildId;
    return { start, end, offset, path: withoutDeleted(path), buildId };
  }

  #process(pid: number): Process {
    const process = this.#processes.get(pid);
    if (process) return process;
    return this.#keep(pid, {
      images: [this.#executable(pid)],
      readAt: this.#now(),
      frames: new Map(),
      signalReturns: new Map(),
    });
  }

  /** When there are too many, those that ended first go first. */
  #keep(pid: number, process: Process): Process {
    this.#processes.delete(pid);
    this.#ended.delete(pid);
    if (this.#processes.size >= processesKept) {
      const [oldest] = this.#ended.size > 0 ? this.#ended : this.#processes.keys();
      this.#processes.delete(oldest);
      this.#ended.delete(oldest);
    }
    this.#processes.set(pid, process);
    this.#changed(pid, process.images[0] ?? []);
    return process;
  }

  /** A process's code, as far as it is known. */
  mapped(pid: number): readonly CodeMapping[] {
    return this.#processes.get(pid)?.images[0] ?? [];
  }

  /** The file of a mapping, or what the kernel maps. */
  binary(mapping: CodeMapping, pid: number): BinarySymbols | undefined {
    if (mapping.path === vdsoPath) return vdsoSymbols();
    return this.#files.binary(mapping.identity, this.#placesOf(withoutDeleted(mapping.path), mapping, pid));
  }

  #fork(pid: number, parent: number): void {
    const [image = []] = this.#process(parent).images;
    // A pid that was used before is another process now.
    this.#keep(pid, { images: [image], readAt: this.#now(), parent, frames: new Map(), signalReturns: new Map() });
  }

  #exec(pid: number): void {
    const process =
      this.#processes.get(pid) ??
      this.#keep(pid, { images: [], readAt: this.#now(), frames: new Map(), signalReturns: new Map() });
    this.#push(process, [], pid);
  }

  #map(pid: number, mapping: CodeMapping): void {
    const process = this.#process(pid);
    const [image = [], ...older] = process.images;
    const last = image.findLast(({ start, end }) => mapping.start < end && start < mapping.end);
    // Known from /proc, or changed in its protection only.
    if (
      last &&
      last.start === mapping.start &&
      last.end === mapping.end &&
      last.offset === mapping.offset &&
      last.path === mapping.path
    )
      return;
    const next = [...image.slice(-mappingsKept), mapping];
    process.images = [next, ...older];
    forget(process);
    this.#changed(pid, next);
  }

  #push(process: Process, image: readonly CodeMapping[], pid: number): void {
    this.#changed(pid, image);
    process.images = [image, ...process.images.filter(({ length }) => length > 0).slice(0, imagesKept - 1)];
    forget(process);
  }

  #executable(pid: number): readonly CodeMapping[] {
    return this.#files
      .maps(pid)
      .filter((mapping) => mapping.permissions[2] === "x")
      .map((mapping) => ({
        start: mapping.start,
        end: mapping.end,
        offset: mapping.offset,
        path: mapping.path,
        identity: `${mapping.device}:${mapping.inode}`,
      }));
  }

  #resolve(process: Process, address: bigint, pid: number): Frame {
    const mapping = mappingOf(process, address) ?? this.#reread(process, address, pid);
    // Of a process that nothing is known of, any address may be code.
    if (!mapping) {
      if (process.images.some((image) => image.length > 0)) return { address, mark: noCode };
      this.nameless.add(pid);
      return { address };
    }
    if (mapping.path === vdsoPath || (mapping.path.startsWith("/") && !mapping.path.startsWith("/memfd:"))) {
      const module = withoutDeleted(mapping.path);
      const binary = this.binary(mapping, pid);
      const at = binary?.lookup(address - mapping.start + mapping.offset);
      if (at) return { address, symbol: this.#files.sourceName?.(at.symbol) ?? at.symbol, offset: at.offset, module };
      const inFile = binary?.addressOf?.(address - mapping.start + mapping.offset);
      return inFile === undefined ? { address, module } : { address, module, offset: Number(inFile) };
    }
    const compiled = this.#compiled(process, address, pid);
    if (compiled) return { address, symbol: compiled.name, offset: Number(address - compiled.start) };
    return mapping.path === "" ? { address } : { address, module: mapping.path };
  }

  /**
   * Where a file may be found: in the root of its process, while that lives; in those of the processes it came from,
   * which may live in the same container; else the path may mean the same to us. Other roots than its own are only
   * worth a try where a wrong file is noticed. What was removed or replaced since, the mapping itself still leads to.
   */
  #placesOf(path: string, { identity, path: named, start, end }: CodeMapping, pid: number): string[] {
    const mapped = mappedFile(pid, { start, end });
    if (named !== path && !identity.startsWith(buildIdPrefix)) return [mapped];
    const places = [`/proc/${pid}/root${path}`, mapped];
    if (identity.startsWith(buildIdPrefix)) {
      let ancestor = this.#processes.get(pid)?.parent;
      for (let i = 0; i < ancestorsAsked && ancestor !== undefined; i++) {
        places.push(`/proc/${ancestor}/root${path}`);
        ancestor = this.#processes.get(ancestor)?.parent;
      }
    }
    return [...places, path];
  }

  #reread(process: Process, address: bigint, pid: number): CodeMapping | undefined {
    if (this.#now() - process.readAt < rereadAfter) return undefined;
    return this.#read(process, pid) ? mappingOf(process, address) : undefined;
  }

  /** False when there is nothing new: gone, or as before. */
  #read(process: Process, pid: number): boolean {
    process.readAt = this.#now();
    const maps = this.#executable(pid);
    if (maps.length === 0 || isKnown(maps, process.images[0] ?? [])) return false;
    this.#push(process, maps, pid);
    return true;
  }

  #compiled(process: Process, address: bigint, pid: number): JitFunction | undefined {
    process.jit ??= parsePerfMap(this.#files.perfMap(pid) ?? "");
    const functions = process.jit;
    const low = firstIndex(functions.length, (i) => functions[i].start > address);
    if (low === 0) return undefined;
    const last = functions[low - 1];
    return address < last.start + last.size ? last : undefined;
  }
}

function forget(process: Process): void {
  process.frames.clear();
  process.signalReturns.clear();
  delete process.jit;
}

function mappedCode({ start, end, offset, file, path }: PerfRecord & { readonly kind: "mmap" }): CodeMapping {
  return {
    start,
    end,
    offset,
    path,
    identity: "buildId" in file ? `${buildIdPrefix}${file.buildId}` : `${file.device}:${file.inode}`,
  };
}

/** Whether mappings read from /proc are all known, whatever else was mapped before. */
function isKnown(maps: readonly CodeMapping[], image: readonly CodeMapping[]): boolean {
  return maps.every((mapping) => image.some(({ start, path }) => start === mapping.start && path === mapping.path));
}

function mappingOf({ images }: Process, address: bigint): CodeMapping | undefined {
  for (const image of images) {
    const mapping = image.findLast(({ start, end }) => address >= start && address < end);
    if (mapping) return mapping;
  }
  return undefined;
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
