// What the unwinder in the kernel needs to know of processes: where which code is mapped, and how to unwind it. A
// binary's table is made when a process is first seen with it, and shared by all.
import {
  fileRows,
  mappingBytes,
  mappingEnd,
  mappingShift,
  mappingsKept,
  mappingTree,
  unusedAddress,
} from "../../../compiler/layouts/unwind-layout.ts";
import { CallFrames } from "../../../debuginfo/call-frames.ts";
import { ElfError, type Elf } from "../../../debuginfo/elf.ts";
import { unwindTableSteps, type UnwindTable } from "../../../debuginfo/unwind-table.ts";
import { keyOf, vdsoPath, type FileKey } from "../symbols/elf-files.ts";
import { Interpreters, withInterpreter } from "./interpreters.ts";
import type { UnwindCache } from "./unwind-cache.ts";
import { UnwindNodes, type UnwindTree } from "./unwind-trees.ts";
import { biasOf, type CodeMapping } from "../symbols/user-symbols.ts";

/** The kernel's maps, as far as tables care. */
export interface UnwindMaps {
  /** Processes that were met and not known. */
  takeWanted(): readonly number[];
  readonly nodes: { updateMany(numbers: Uint32Array, nodes: Uint8Array): void };
  readonly files: { update(key: Uint8Array, value: Uint8Array): void };
  /** What was copied of interpreted functions. */
  readonly functions: { lookup(key: Uint8Array): Uint8Array | undefined };
  readonly processes: { update(key: Uint8Array, value: Uint8Array): void; remove(key: Uint8Array): void };
}

/** A binary and, where it is a file, how the kernel knows that. */
export interface UnwindBinary {
  readonly elf?: Elf;
  readonly file?: FileKey;
}

interface Binary {
  readonly elf: Elf;
  readonly trees: readonly UnwindTree[];
}

const PT_LOAD = 1;

/** Milliseconds: tables that take longer than the first are made in turns of the second, between other work. */
const atOnce = 20;
const turn = 4;

/** A binary's table being made. */
interface Job {
  readonly elf: Elf;
  readonly steps: Generator<void, UnwindTable>;
  /** Processes and files that will be told of. */
  readonly waiting: Set<number>;
  readonly files: FileKey[];
}

export interface UnwindTablesOptions {
  readonly maps: UnwindMaps;
  /** The file that was mapped. */
  readonly binaryOf: (mapping: CodeMapping, pid: number) => UnwindBinary | undefined;
  readonly cache?: UnwindCache;
  /** Told of a process that runs an interpreter. */
  readonly interpreting?: (pid: number) => void;
  /** Whether a process's stacks will surely be asked for; else it is told of once one was. */
  readonly wanted: (pid: number, mappings: readonly CodeMapping[]) => boolean;
  /** Told once, when the maps are full. */
  readonly trouble: (text: string) => void;
}

export class UnwindTables implements Disposable {
  readonly #options: UnwindTablesOptions;
  readonly #nodes: UnwindNodes;
  readonly #interpreters: Interpreters;
  readonly #binaries = new Map<Elf, Binary | Job | undefined>();
  readonly #processes = new Map<number, readonly CodeMapping[]>();
  readonly #asked = new Set<number>();
  /** Files that the kernel was told of, or will be. */
  readonly #files = new Set<string>();
  readonly #jobs: Job[] = [];
  #timer: NodeJS.Immediate | undefined;
  #full = false;
  #toldLate = false;

  constructor(options: UnwindTablesOptions) {
    this.#options = options;
    this.#interpreters = new Interpreters((mapping, pid) => options.binaryOf(mapping, pid)?.elf, options.trouble);
    this.#nodes = new UnwindNodes((numbers, nodes) => options.maps.nodes.updateMany(numbers, nodes));
  }

  /** Tells the kernel of a process's code: mappings in the order they were made, later ones lying over earlier ones. */
  set(pid: number, mappings: readonly CodeMapping[]): void {
    if (this.#full || !(this.#asked.has(pid) || this.#options.wanted(pid, mappings))) return;
    this.#processes.set(pid, mappings);
    this.#publish(pid);
    this.#work(atOnce);
  }

  /** A stack of a process was asked for, or will be. */
  ask(pid: number, mappings: readonly CodeMapping[]): void {
    this.#asked.add(pid);
    this.set(pid, mappings);
  }

  /** A stack of a process was taken before the kernel knew it. */
  askLate(pid: number, mappings: readonly CodeMapping[]): void {
    this.ask(pid, mappings);
    if (this.#toldLate || this.#interpreters.entry(pid, mappings) === undefined) return;
    this.#toldLate = true;
    this.#options.trouble(
      `stacks that were taken before strobe knew what a process runs have no interpreted frames: those of process ${pid} are the first`,
    );
  }

  /** The process has ended. */
  remove(pid: number): void {
    this.#asked.delete(pid);
    if (this.#processes.delete(pid)) this.#options.maps.processes.remove(numberKey(pid));
  }

  /** Makes a binary's table before a process is seen with it. */
  prepare({ elf, file }: UnwindBinary): void {
    if (elf && file) this.#tellFile(file, elf);
  }

  /** Makes the tables that are still to be made, for so many milliseconds. */
  finish(milliseconds: number): void {
    this.#work(milliseconds);
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#timer);
    this.#jobs.length = 0;
  }

  #publish(pid: number): void {
    const mappings = this.#processes.get(pid);
    if (mappings === undefined || this.#full) return;
    const ranges: Range[] = [];
    for (const mapping of [...mappings].reverse()) {
      const elf = this.#elfOf(mapping, pid);
      const binary = elf && this.#tableOf(elf, pid);
      if (binary) ranges.push(...uncovered(mapping, ranges).flatMap((piece) => treeRanges(piece, mapping, binary)));
    }
    ranges.sort((a, b) => (a.start < b.start ? -1 : 1));
    // Without any, it has just begun another program: then the kernel had better not know it.
    if (ranges.length === 0) return this.#options.maps.processes.remove(numberKey(pid));
    const interpreter = this.#interpreters.entry(pid, mappings);
    if (interpreter) this.#options.interpreting?.(pid);
    this.#write(() =>
      this.#options.maps.processes.update(
        numberKey(pid),
        withInterpreter(rowsEntry(ranges, mappingsKept), interpreter),
      ),
    );
  }

  #elfOf(mapping: CodeMapping, pid: number): Elf | undefined {
    if (mapping.path !== vdsoPath && !mapping.path.startsWith("/")) return undefined;
    const binary = this.#options.binaryOf(mapping, pid);
    // How a file system names its files to stat(2) and in its memory may differ.
    for (const file of [binary?.file, keyOf(mapping.identity)]) if (file) this.#tellFile(file, binary?.elf);
    return binary?.elf;
  }

  /** Tells the kernel what is in a file, whoever maps it; also when that is nothing to unwind by. */
  #tellFile(file: FileKey, elf: Elf | undefined): void {
    const name = `${file.device}:${file.inode}`;
    if (this.#files.has(name) || this.#full) return;
    this.#files.add(name);
    const binary = elf && this.#tableOf(elf, undefined);
    const job = elf && this.#binaries.get(elf);
    if (job && "steps" in job) job.files.push(file);
    else this.#writeFile(file, binary);
  }

  #writeFile(file: FileKey, binary: Binary | undefined): void {
    const ranges = binary ? fileRanges(binary) : [];
    // What has more than fits is found by its processes.
    if (ranges.length > fileRows) return;
    this.#write(() => this.#options.maps.files.update(fileKey(file), rowsEntry(ranges, fileRows)));
  }

  /** undefined while it is being made, for which `pid` waits, and when there is nothing to make one of. */
  #tableOf(elf: Elf, pid: number | undefined): Binary | undefined {
    let known = this.#binaries.get(elf);
    if (known === undefined && !this.#binaries.has(elf)) {
      known = this.#begin(elf);
      this.#binaries.set(elf, known);
      if (known && "steps" in known) this.#jobs.push(known);
    }
    if (known === undefined || "trees" in known) return known;
    if (pid !== undefined) known.waiting.add(pid);
    return undefined;
  }

  #begin(elf: Elf): Job | Binary | undefined {
    try {
      const id = this.#options.cache && elf.machine === "x86-64" ? elf.buildId : undefined;
      const kept = id === undefined ? undefined : this.#options.cache?.read(id);
      if (kept) return this.#add(elf, kept);
      const frames = elf.machine === "x86-64" ? CallFrames.of(elf) : undefined;
      return frames && { elf, steps: unwindTableSteps(frames), waiting: new Set(), files: [] };
    } catch (error) {
      if (error instanceof ElfError) return undefined;
      throw error;
    }
  }

  #work(milliseconds: number): void {
    const end = performance.now() + milliseconds;
    while (this.#jobs.length > 0 && performance.now() < end) {
      const [job] = this.#jobs;
      const { done, value } = job.steps.next();
      if (!done) continue;
      this.#jobs.shift();
      const binary = this.#add(job.elf, value);
      this.#binaries.set(job.elf, binary);
      for (const file of job.files) this.#writeFile(file, binary);
      for (const pid of job.waiting) this.#publish(pid);
      const { buildId } = job.elf;
      if (buildId !== undefined) this.#options.cache?.write(buildId, value);
    }
    if (this.#jobs.length === 0) return;
    clearImmediate(this.#timer);
    this.#timer = setImmediate(() => this.#work(turn));
  }

  #add(elf: Elf, table: UnwindTable): Binary | undefined {
    let trees: readonly UnwindTree[] | undefined;
    this.#write(() => {
      trees = this.#nodes.add(table);
    });
    return trees && { elf, trees };
  }

  #write(write: () => void): void {
    try {
      write();
    } catch (error) {
      if (!this.#full)
        this.#options.trouble(
          `no room for more unwinding tables: ${error instanceof Error ? error.message : String(error)}`,
        );
      this.#full = true;
    }
  }
}

interface Range {
  readonly start: bigint;
  readonly end: bigint;
  readonly root: number;
  readonly shift: number;
}

/** The parts of a mapping that no later one lies over. */
function uncovered(
  { start, end }: CodeMapping,
  over: readonly Range[],
): { readonly start: bigint; readonly end: bigint }[] {
  let pieces = [{ start, end }];
  for (const range of over) {
    if (range.end <= start || range.start >= end) continue;
    pieces = pieces
      .flatMap((piece) => [
        { start: piece.start, end: piece.end < range.start ? piece.end : range.start },
        { start: piece.start > range.end ? piece.start : range.end, end: piece.end },
      ])
      .filter((piece) => piece.start < piece.end);
  }
  return pieces;
}

/** A piece of a mapping, cut by the trees that hold its rules. */
function treeRanges(
  piece: { readonly start: bigint; readonly end: bigint },
  mapping: CodeMapping,
  { elf, trees }: Binary,
): Range[] {
  const bias = biasOf(mapping, elf);
  if (bias === undefined) return [];
  return trees.flatMap(({ low, high, root }) => {
    const start = low + bias > piece.start ? low + bias : piece.start;
    const end = high + bias < piece.end ? high + bias : piece.end;
    return start < end ? [{ start, end, root, shift: Number(start - bias - low) }] : [];
  });
}

/** The trees of a binary by where their code is in its file. */
function fileRanges({ elf, trees }: Binary): Range[] {
  const ranges = elf.segments
    .filter(({ type, fileSize }) => type === PT_LOAD && fileSize > 0)
    .flatMap(({ offset, address, fileSize }) => {
      const bias = BigInt(offset) - address;
      const end = address + BigInt(fileSize);
      return trees.flatMap(({ low, high, root }) => {
        const from = low > address ? low : address;
        const to = high < end ? high : end;
        return from < to ? [{ start: from + bias, end: to + bias, root, shift: Number(from - low) }] : [];
      });
    });
  return ranges.sort((a, b) => (a.start < b.start ? -1 : 1));
}

function fileKey({ device, inode }: FileKey): Uint8Array {
  return new Uint8Array(BigUint64Array.of(inode, device).buffer);
}

function rowsEntry(ranges: readonly Range[], rows: number): Uint8Array {
  const bytes = new Uint8Array(rows * mappingBytes);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < rows; i++) {
    const at = i * mappingBytes;
    const range = ranges[i];
    view.setBigUint64(at, range?.start ?? unusedAddress, true);
    if (range === undefined) continue;
    view.setBigUint64(at + mappingEnd, range.end, true);
    view.setUint32(at + mappingTree, range.root, true);
    view.setUint32(at + mappingShift, range.shift, true);
  }
  return bytes;
}

function numberKey(number: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(number).buffer);
}
