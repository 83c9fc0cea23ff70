// Function names of binaries on disk, a table a file, read when first asked for.
import { closeSync, openSync, readSync } from "node:fs";
import { GoProgram } from "../../../debuginfo/go-functions.ts";
import { ElfSymbols } from "../../../debuginfo/elf-symbols.ts";
import { DamageError } from "../../../debuginfo/damage.ts";
import type { DebugInfo, SourceFrame } from "../../../debuginfo/dwarf/facts.ts";
import { bytesOf, Elf, type Bytes } from "../../../debuginfo/elf.ts";
import { pltStubs, type PltEntry } from "../../../debuginfo/plt.ts";
import { openOthersFile, type OthersFile } from "../../../linux/others-files.ts";
import { processMaps } from "../../../linux/processes/procfs.ts";
import type { SearchPaths } from "../../../machine/search-paths.ts";
import { debugInfoOfBinary } from "../../../machine/binaries/debug-files.ts";
import { readRange } from "../../../machine/binaries/file-bytes.ts";
import { embeddedSymbols } from "../../../machine/binaries/packed-elf.ts";
import { Failure } from "../../../base/failure.ts";

/** The path of the mapping that the kernel puts into every process. */
export const vdsoPath = "[vdso]";
const missingKept = 4096;
const likelyAsked = 64;
const sourcesKept = 1 << 16;

/** A file as the kernel knows it: `device` is major << 20 | minor. */
export interface FileKey {
  readonly device: bigint;
  readonly inode: bigint;
}

export interface BinarySymbols {
  readonly elf?: Elf;
  readonly file?: FileKey;
  readonly buildId?: string | undefined;
  /** From debug information, read when first asked for: what is inlined there, innermost first, then the function. */
  sources?(fileOffset: bigint): readonly SourceFrame[];
  /** The function at an offset of the file. */
  lookup(fileOffset: bigint): { readonly symbol: string; readonly offset: number } | undefined;
  /** The address that the file gives to one of its offsets, as objdump and addr2line take it. */
  addressOf?(fileOffset: bigint): bigint | undefined;
  /** Whether the code at an offset is what a signal handler returns to. */
  returnsFromSignal?(fileOffset: bigint): boolean;
}

/** Identities that are build ids begin so; then only a file of that build id will do. */
export const buildIdPrefix = "build-id:";

/** A file's bytes, read a range at a time through a descriptor of its own. */
class KeptOpen implements Bytes, Disposable {
  readonly size: number;
  readonly path: string;
  readonly key: FileKey;
  readonly #file: OthersFile;

  constructor(path: string) {
    this.path = path;
    this.#file = openOthersFile(path);
    const { size, dev, ino } = this.#file.stat;
    this.size = Number(size);
    this.key = { device: deviceOf(dev), inode: ino };
  }

  read(offset: number, length: number): Buffer {
    return readRange({ path: this.path, ...this.#file }, offset, length);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file.descriptor);
  }
}

/** Binaries by path; their descriptors are open until this is disposed. */
export class ElfFiles implements Disposable {
  readonly #open: KeptOpen[] = [];
  readonly #likely: readonly string[];
  readonly #paths: SearchPaths;
  readonly #binaries = new Map<string, BinarySymbols>();
  /** Identity and paths of what was not found. */
  readonly #missing = new Set<string>();

  /**
   * `likely` are paths of binaries that are traced: tried too, where a build id tells the right one. `paths`: where debug
   * files are.
   */
  constructor(likely: readonly string[] = [], paths: SearchPaths = {}) {
    this.#paths = paths;
    this.#likely = likely.slice(0, likelyAsked);
  }

  /**
   * `identity` names the file whatever path leads to it (device and inode, or build id); `paths` are tried in order.
   */
  symbols(identity: string, paths: readonly string[]): BinarySymbols | undefined {
    const known = this.#binaries.get(identity);
    if (known) return known;
    const question = `${identity} ${paths.join(" ")}`;
    if (this.#missing.has(question)) return undefined;
    const found = this.#find(identity, paths);
    if (found) this.#binaries.set(identity, found);
    else {
      if (this.#missing.size >= missingKept) this.#missing.clear();
      this.#missing.add(question);
    }
    return found;
  }

  #find(identity: string, paths: readonly string[]): BinarySymbols | undefined {
    for (const path of identity.startsWith(buildIdPrefix) ? [...paths, ...this.#likely] : paths) {
      const file = this.#elf(path);
      if (!file) continue;
      const { elf, bytes } = file;
      // The same file may be known by its other kind of identity.
      const sameFile = `file ${bytes.key.device}:${bytes.key.inode}`;
      const known = this.#binaries.get(sameFile);
      const right = identity.startsWith(buildIdPrefix)
        ? buildIdOf(elf) === identity.slice(buildIdPrefix.length)
        : !isAnother(bytes.key, identity);
      if (known || !right) bytes[Symbol.dispose]();
      if (!right) continue;
      if (known) return known;
      this.#open.push(bytes);
      const found = {
        ...symbolsOf(elf, this.#debug(elf)),
        file: bytes.key,
        sources: sourcesOf(elf, path, this.#paths),
      };
      this.#binaries.set(sameFile, found);
      return found;
    }
    return undefined;
  }

  #elf(path: string): { readonly elf: Elf; readonly bytes: KeptOpen } | undefined {
    let bytes: KeptOpen | undefined;
    try {
      bytes = new KeptOpen(path);
      return { elf: new Elf(bytes), bytes };
    } catch {
      bytes?.[Symbol.dispose]();
      return undefined;
    }
  }

  /** Split debug info, where distributions put it, or what they left in the binary. */
  #debug(elf: Elf): Elf | undefined {
    const id = buildIdOf(elf);
    const file =
      id === undefined ? undefined : this.#elf(`/usr/lib/debug/.build-id/${id.slice(0, 2)}/${id.slice(2)}.debug`);
    if (!file) return embeddedSymbols(elf);
    this.#open.push(file.bytes);
    return file.elf;
  }

  [Symbol.dispose](): void {
    for (const bytes of this.#open) bytes[Symbol.dispose]();
    this.#open.length = 0;
    this.#binaries.clear();
    this.#missing.clear();
  }
}

function symbolsOf(elf: Elf, debug?: Elf): BinarySymbols {
  const symbols = new ElfSymbols(elf, debug);
  let go: { readonly program: GoProgram | undefined } | undefined;
  let stubs: ((address: bigint) => PltEntry | undefined) | undefined;
  // Of a damaged file, what is damaged names nothing.
  const undamaged = <T>(read: () => T | undefined): T | undefined => {
    try {
      return read();
    } catch {
      return undefined;
    }
  };
  return {
    elf,
    buildId: buildIdOf(elf),
    lookup: (fileOffset) =>
      undamaged(() => {
        const address = elf.addressOf(fileOffset);
        if (address === undefined) return undefined;
        const stub = (stubs ??= pltStubs(elf))(address);
        if (stub !== undefined) return { symbol: `${stub.name}@plt`, offset: Number(address - stub.address) };
        const at = symbols.functionAt(address);
        if (at !== undefined) return { symbol: at.name, offset: at.offset };
        // Stripped Go programs still know their functions.
        const known = (go ??= { program: GoProgram.of(elf) }).program?.at(address);
        return known && { symbol: known.name, offset: Number(address - known.address) };
      }),
    addressOf: (fileOffset) => undamaged(() => elf.addressOf(fileOffset)),
    returnsFromSignal: (fileOffset) =>
      undamaged(() => {
        const code = elf.read(Number(fileOffset), longestSignalReturn);
        return signalReturns.some((bytes) => code.subarray(0, bytes.length).equals(bytes));
      }) ?? false,
  };
}

/**
 * rt_sigreturn is system call 15 of x86-64; compilers and C libraries write its call in one of these ways, as gdb knows
 * them, too.
 */
const signalReturns = [
  [0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05], // mov $15, %rax; syscall
  [0xb8, 15, 0, 0, 0, 0x0f, 0x05], // mov $15, %eax; syscall
].map((bytes) => Buffer.from(bytes));
const longestSignalReturn = Math.max(...signalReturns.map(({ length }) => length));

let vdso: { readonly symbols: BinarySymbols | undefined } | undefined;

/** What the kernel maps into every 64-bit process, ours included; undefined where it maps nothing. */
export function vdsoSymbols(): BinarySymbols | undefined {
  return (vdso ??= { symbols: readVdso() }).symbols;
}

function readVdso(): BinarySymbols | undefined {
  const mapping = processMaps(process.pid).find(({ path }) => path === vdsoPath);
  if (!mapping) return undefined;
  const bytes = Buffer.alloc(Number(mapping.end - mapping.start));
  const memory = openSync("/proc/self/mem", "r");
  try {
    if (readSync(memory, bytes, 0, bytes.length, mapping.start) !== bytes.length) return undefined;
  } finally {
    closeSync(memory);
  }
  return symbolsOf(new Elf(bytesOf(bytes)));
}

/** The kernel's number from the one that stat(2) tells (new_encode_dev, include/linux/kdev_t.h). */
function deviceOf(dev: bigint): bigint {
  const major = (dev >> 8n) & 0xfffn;
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xfff00n);
  return (major << 20n) | minor;
}

/** `08:01:1234`, as /proc and the kernel's records name a file, when it is not a build id. */
export function keyOf(identity: string): FileKey | undefined {
  const parts = /^([0-9a-f]+):([0-9a-f]+):(\d+)$/.exec(identity);
  return parts
    ? { device: (BigInt(`0x${parts[1]}`) << 20n) | BigInt(`0x${parts[2]}`), inode: BigInt(parts[3]) }
    : undefined;
}

/**
 * Whether a file has taken the place of the one that was mapped: another of the same file system. Some file systems
 * (btrfs, overlays) have other devices for stat(2) than for mappings.
 */
function isAnother(file: FileKey, identity: string): boolean {
  const mapped = keyOf(identity);
  return mapped !== undefined && mapped.device === file.device && mapped.inode !== file.inode;
}

function sourcesOf(elf: Elf, path: string, paths: SearchPaths): (fileOffset: bigint) => readonly SourceFrame[] {
  const known = new Map<bigint, readonly SourceFrame[]>();
  let info: DebugInfo | Failure | undefined;
  return (fileOffset) => {
    const frames = known.get(fileOffset);
    if (frames) return frames;
    const root = /^\/proc\/\d+\/root(?=\/)/.exec(path)?.[0] ?? "";
    try {
      info ??= debugInfoOfBinary({ elf, path, root, shownPath: path.slice(root.length), around: { paths } });
      const address = elf.addressOf(fileOffset);
      const found = info instanceof Failure || address === undefined ? [] : info.framesAt(address);
      if (known.size >= sourcesKept) known.clear();
      known.set(fileOffset, found);
      return found;
    } catch (error) {
      if (error instanceof DamageError) return []; // damaged
      throw error;
    }
  };
}

function buildIdOf(elf: Elf): string | undefined {
  try {
    return elf.buildId;
  } catch {
    return undefined; // damaged notes
  }
}
