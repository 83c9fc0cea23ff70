// Executables and libraries of this machine: found as the shell and the dynamic loader find them, read as far as asked.
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { posix } from "node:path";
import { CallFrames } from "../../debuginfo/call-frames.ts";
import { landingPads, type LandingPad } from "../../debuginfo/landing-pads.ts";
import { ElfSymbols, type ElfSymbol } from "../../debuginfo/elf-symbols.ts";
import { Elf, ElfError, textAt } from "../../debuginfo/elf.ts";
import { GoProgram, type GoFunction } from "../../debuginfo/go-functions.ts";
import { librariesNamed, libraryNames } from "../../debuginfo/loader-cache.ts";
import type { References } from "../../debuginfo/references.ts";
import { pltEntries } from "../../debuginfo/plt.ts";
import { libraryThreadLocals } from "../../debuginfo/thread-locals.ts";
import { usdtNotes } from "../../debuginfo/usdt-notes.ts";
import { mappedFile, processMaps, withoutDeleted } from "../../linux/processes/procfs.ts";
import { readOthersFile } from "../../linux/others-files.ts";
import { noteFile } from "../../store/seen-files.ts";
import type { DescribedInfo } from "../values/debug-types.ts";
import type { Surroundings } from "../search-paths.ts";
import { debugInfoOfBinary } from "./debug-files.ts";
import { archivedAt, bytesAt } from "./archived.ts";
import { absent, elfAt } from "./file-bytes.ts";
import type { Binary, BinarySymbol, UsdtProbe } from "../system.ts";
import type { GoDynamics } from "./go-dynamics.ts";
import { Newest } from "./newest.ts";
import { embeddedSymbols } from "./packed-elf.ts";
import { lazy } from "../../base/lazy.ts";
import { Failure } from "../../base/failure.ts";
import { damagedElf, variableReasons } from "../../messages/on-demand.ts";

const references = lazy<typeof import("../../debuginfo/references.ts")>(() => require("../../debuginfo/references.ts"));

const goDynamics = lazy<typeof import("./go-dynamics.ts")>(() => require("./go-dynamics.ts"));

const SYMLINK_LIMIT = 40;
/** Of the loader's cache, in bytes: of a large system it has some hundred thousand. */
const LARGEST_CACHE = 1 << 26;
const DEFAULT_PATH = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
const MACHINE = process.arch === "arm64" ? "arm64" : process.arch === "x64" ? "x86-64" : "other";
const MULTIARCH = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
const LIBRARY_FOLDERS = [
  `/lib/${MULTIARCH}`,
  `/usr/lib/${MULTIARCH}`,
  "/lib64",
  "/usr/lib64",
  "/lib",
  "/usr/lib",
  "/usr/local/lib",
] as const;

/** e_type of a program that is not position-independent. */
const ET_EXEC = 2;
const PT_LOAD = 1;
const PF_X = 1;
const PT_TLS = 7;
const DT_NEEDED = 1n;

const symbolsOf = new Newest<ElfSymbols>(32 << 20, ({ bytes }) => bytes);

export class LiveBinary implements Binary {
  readonly path: string;
  readonly shownPath: string;
  readonly #elf: Elf;
  /** Its own path, where `path` is the archive that it lies in. */
  readonly #own: string;
  /** Where it begins in the file at `path`. */
  readonly #offset: bigint;
  readonly #root: string;
  readonly #moved: boolean;
  readonly #around: Surroundings;
  #go: { readonly program: GoProgram | undefined } | undefined;
  #buildId: { readonly text: string | undefined } | undefined;
  #usdt: readonly UsdtProbe[] | undefined;
  #debugInfo: DescribedInfo | Failure | undefined;
  #frames: { readonly found: CallFrames | undefined } | undefined;

  /** `placed`: the file as a loader has put it, with addresses that are others the next time. */
  constructor(path: string, shownPath: string, root: string, around: Surroundings, placed?: Elf) {
    this.#own = path;
    this.shownPath = shownPath;
    this.#root = root;
    this.#around = around;
    this.#moved = placed !== undefined;
    const { file, offset, bytes } =
      placed === undefined ? bytesAt(path) : { file: path, offset: 0, bytes: placed.bytes };
    this.path = file;
    this.#offset = BigInt(offset);
    this.#elf = placed ?? new Elf(bytes);
  }

  get machine(): Binary["machine"] {
    return this.#elf.machine;
  }

  get buildId(): string | undefined {
    return (this.#buildId ??= { text: this.#elf.buildId }).text;
  }

  symbol(name: string): BinarySymbol | undefined {
    const symbol = this.#table().find(name);
    if (symbol !== undefined) return this.#placed(symbol);
    const known = this.go?.named(name);
    return known && this.#placedGo(known);
  }

  *namesakes({ name, address }: BinarySymbol): Iterable<BinarySymbol> {
    const statics = [...this.#table().statics(name)];
    if (!statics.some((symbol) => symbol.address === address)) return;
    for (const symbol of statics) {
      const placed = symbol.address === address ? undefined : this.#placed(symbol);
      if (placed !== undefined) yield placed;
    }
  }

  namesAt(fileOffset: bigint): readonly string[] {
    const address = this.address(fileOffset);
    return address === undefined ? [] : this.#table().functionsStartingAt(address);
  }

  imports(): readonly { readonly name: string; readonly fileOffset: bigint }[] {
    return pltEntries(this.#elf).flatMap(({ name, address }) => {
      const fileOffset = this.fileOffset(address);
      return fileOffset === undefined ? [] : [{ name, fileOffset }];
    });
  }

  takes(name: string): boolean {
    return this.#table().imports(name);
  }

  references(address: bigint): References | undefined {
    return references().referencesTo(this.#elf, address);
  }

  get go(): GoProgram | undefined {
    return (this.#go ??= { program: goProgram(this.#elf) }).program;
  }

  *symbols(wanted?: (name: string) => boolean): Iterable<BinarySymbol> {
    for (const symbol of wanted === undefined ? this.#table() : this.#table().named(wanted)) {
      const placed = this.#placed(symbol);
      if (placed !== undefined) yield placed;
    }
    // Stripped Go programs still know their functions.
    for (const known of this.#elf.section(".symtab") === undefined ? (this.go?.functions ?? []) : []) {
      const placed = wanted?.(known.name) === false ? undefined : this.#placedGo(known);
      if (placed !== undefined) yield placed;
    }
  }

  fileOffset(address: bigint): bigint | undefined {
    const offset = this.#elf.fileOffset(address);
    return offset === undefined ? undefined : offset + this.#offset;
  }

  get code(): readonly { readonly low: bigint; readonly high: bigint }[] {
    return this.#elf.segments
      .filter(({ type, flags }) => type === PT_LOAD && (flags & PF_X) !== 0)
      .map(({ offset, fileSize }) => ({ low: this.#offset + BigInt(offset), size: BigInt(fileSize) }))
      .map(({ low, size }) => ({ low, high: low + size }));
  }

  usdtProbes(): readonly UsdtProbe[] {
    return (this.#usdt ??= usdtNotes(this.#elf).map((probe) => ({
      ...probe,
      fileOffset: probe.fileOffset + this.#offset,
      semaphoreOffset: probe.semaphoreOffset === 0n ? 0n : probe.semaphoreOffset + this.#offset,
    })));
  }

  address(fileOffset: bigint): bigint | undefined {
    return this.#elf.addressOf(fileOffset - this.#offset);
  }

  get fixed(): boolean {
    return this.#elf.type === ET_EXEC;
  }

  get perCpu(): Binary["perCpu"] {
    const section = this.#elf.section(".data..percpu");
    return section && { low: section.address, high: section.address + BigInt(section.size) };
  }

  /** Where its code begins. */
  codeAddress(): bigint | undefined {
    return this.#elf.section(".text")?.address;
  }

  get threadLocals(): Binary["threadLocals"] {
    const block = this.#elf.segments.find(({ type }) => type === PT_TLS);
    if (block === undefined) return undefined;
    if (this.fixed || this.#elf.interpreter !== undefined)
      return { kind: "executable", size: block.memorySize, align: block.align };
    if (this.machine !== "x86-64") return new Failure(variableReasons().libraryThreadLocalMachine());
    // musl's vectors are its own: its C library is called libc.so, and libc.musl-… by Alpine.
    if (this.needed.some((name) => name === "libc.so" || name.startsWith("libc.musl")))
      return new Failure(variableReasons().libraryThreadLocalMusl());
    const access = libraryThreadLocals(this.#elf);
    return access === undefined
      ? new Failure(variableReasons().libraryThreadLocalUntold())
      : { kind: "library", access };
  }

  get needed(): readonly string[] {
    const section = this.#elf.section(".dynamic");
    const strings = this.#elf.section(".dynstr");
    if (section === undefined || strings === undefined || !this.#elf.wide) return [];
    const table = this.#elf.content(section);
    const names = this.#elf.content(strings);
    const needed: string[] = [];
    for (let at = 0; at + 16 <= table.length; at += 16) {
      const offset = Number(table.readBigUInt64LE(at + 8));
      if (table.readBigUInt64LE(at) === DT_NEEDED && offset < names.length) needed.push(textAt(names, offset));
    }
    return needed;
  }

  read(fileOffset: bigint, length: number): Uint8Array {
    return this.#elf.bytes.read(Number(fileOffset - this.#offset), length);
  }

  debugInfo(where?: "at hand"): DescribedInfo | Failure {
    if (this.#debugInfo !== undefined) return this.#debugInfo;
    const { shownPath } = this;
    const found = debugInfoOfBinary({
      elf: this.#elf,
      path: this.#own,
      root: this.#root,
      shownPath,
      placed: this.#moved,
      around: this.#around,
      ...(where === undefined ? {} : { servers: false }),
    });
    if (!(found instanceof Failure)) Object.assign(found, { goDynamics: this.#dynamicsOf(found) });
    // What a server has is looked for when it is needed.
    if (where === undefined || !(found instanceof Failure)) this.#debugInfo = found;
    return found;
  }

  /** Words in interfaces are addresses: known of programs that are loaded where they say. */
  #dynamicsOf(info: DescribedInfo): NonNullable<DescribedInfo["goDynamics"]> {
    let found: GoDynamics | undefined;
    return (name) =>
      !this.fixed || this.go === undefined ? [] : (found ??= goDynamics().goDynamics(this, info)).of(name);
  }

  landingPads(address: bigint): readonly LandingPad[] {
    try {
      this.#frames ??= { found: CallFrames.of(this.#elf) };
      const data = this.#frames.found?.languageDataAt(address);
      const section = data && this.#elf.section(".gcc_except_table");
      if (data === undefined || section === undefined || data.address < section.address) return [];
      return landingPads(this.#elf.content(section).subarray(Number(data.address - section.address)), data.low);
    } catch (error) {
      if (error instanceof ElfError) return [];
      throw error;
    }
  }

  /** The function at a place in the file, which is what a mapping (address - start + offset) tells: for stacks. */
  functionAt(fileOffset: bigint): { readonly name: string; readonly offset: number } | undefined {
    const address = this.address(fileOffset);
    if (address === undefined) return undefined;
    const found = this.#table().functionAt(address);
    if (found !== undefined) return found;
    const known = this.go?.at(address);
    return known && { name: known.name, offset: Number(address - known.address) };
  }

  #placedGo({ name, address, size }: GoFunction): BinarySymbol | undefined {
    const fileOffset = this.fileOffset(address);
    return fileOffset === undefined ? undefined : { name, address, size, fileOffset, kind: "function" };
  }

  /** Code has to be in the file; a variable may be zeroes that are not, and has file offset 0 then. */
  #placed(symbol: ElfSymbol): BinarySymbol | undefined {
    const fileOffset = this.fileOffset(symbol.address);
    if (fileOffset === undefined && symbol.kind === "function") return undefined;
    return {
      name: symbol.name,
      address: symbol.address,
      size: symbol.size,
      kind: symbol.kind,
      fileOffset: fileOffset ?? 0n,
    };
  }

  #table(): ElfSymbols {
    return symbolsOf.of(this) ?? symbolsOf.keep(this, new ElfSymbols(this.#elf, this.#splitDebugInfo()));
  }

  /** Distributions strip binaries into /usr/lib/debug, by build id; some leave the functions' names in the binary. */
  #splitDebugInfo(): Elf | undefined {
    if (this.#elf.section(".symtab") !== undefined) return undefined;
    const id = this.buildId ?? "";
    const split =
      id.length < 4 ? undefined : elfAt(`${this.#root}/usr/lib/debug/.build-id/${id.slice(0, 2)}/${id.slice(2)}.debug`);
    return split ?? embeddedSymbols(this.#elf);
  }
}

function goProgram(elf: Elf): GoProgram | undefined {
  try {
    return GoProgram.of(elf);
  } catch (error) {
    return absent(error);
  }
}

/** Opens a binary at a path (absolute in `root`, a folder or ""); undefined when there is no ELF file. */
export function openBinary(path: string, around: Surroundings, root = "", shownPath = path): LiveBinary | undefined {
  try {
    const archived = root === "" ? undefined : archivedAt(root + path);
    const found =
      archived === undefined
        ? resolveIn(root, path)
        : `${resolveIn(root, archived.archive.slice(root.length))}!/${archived.entry}`;
    return new LiveBinary(found, shownPath, root, around);
  } catch (error) {
    return absent(error);
  }
}

/**
 * A binary by path, or by name: among what the process has mapped, in PATH, then among the loader's libraries, where
 * `c`, `libc` and `libc.so.6` are the same.
 */
export function findBinary(pathOrName: string, around: Surroundings, pid?: number): LiveBinary | undefined {
  const root = pid === undefined ? "" : rootOf(pid);
  const isPath = pathOrName.includes("/");
  if (pid !== undefined) {
    const mapped = mappedBinaries(pid);
    const wanted = isPath ? linkedFolder(root, posix.resolve(pathOrName)) : pathOrName;
    const path =
      mapped.find((each) => (isPath ? each : posix.basename(each)) === wanted) ??
      mapped.find((each) => !isPath && namesLibrary(posix.basename(each), pathOrName));
    // The kernel names mapped files from our own root, and those of another mount namespace from that one's.
    const removed = path === undefined ? undefined : removedFile(path, pid);
    const found =
      path === undefined
        ? undefined
        : removed === undefined
          ? ((sharesMounts(pid) ? undefined : openBinary(path, around, root)) ?? openBinary(path, around))
          : openBinary(removed, around, "", path);
    if (found !== undefined) return found;
  }
  if (isPath && !pathOrName.startsWith("/")) noteFile(".");
  if (isPath) return openBinary(posix.resolve(pathOrName), around, root, pathOrName);
  if (pathOrName === "") return undefined;
  for (const folder of around.paths.programs ?? DEFAULT_PATH) {
    const path = posix.resolve(folder, pathOrName);
    const found = isExecutable(root, path) ? openBinary(path, around, root) : undefined;
    if (found !== undefined) return found;
  }
  for (const path of libraryPaths(pathOrName, root, around.paths.libraries)) {
    const found = openBinary(path, around, root);
    if (found !== undefined && found.machine === MACHINE) return found;
  }
  return undefined;
}

/**
 * Files with code that a process has mapped, as /proc/PID/maps names them: the executable first. With a negative pid,
 * those of every process that runs.
 */
export function mappedBinaries(pid: number): readonly string[] {
  if (pid < 0) {
    const everyone = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return [...new Set(everyone.flatMap((name) => mappedBinaries(Number(name))))].sort();
  }
  const paths = new Set<string>();
  for (const mapping of processMaps(pid)) {
    if (mapping.path.startsWith("/") && mapping.permissions[2] === "x") paths.add(withoutDeleted(mapping.path));
  }
  let executable: string | undefined;
  try {
    executable = readlinkSync(`/proc/${pid}/exe`);
  } catch (error) {
    absent(error);
  }
  return [...paths].sort((a, b) => Number(b === executable) - Number(a === executable));
}

/** The path, for us, of a file that a process has mapped, by its name or a library's; undefined where it has none. */
export function mappedFileNamed(pid: number, name: string): string | undefined {
  const mapped = mappedBinaries(pid);
  const path =
    mapped.find((each) => posix.basename(each) === name) ??
    mapped.find((each) => namesLibrary(posix.basename(each), name));
  return path === undefined ? undefined : `${rootOf(pid)}${path}`;
}

/** Leads to a file that a process runs, or has as a library, and that was removed or replaced since. */
function removedFile(path: string, pid: number): string | undefined {
  const mappings = processMaps(pid);
  if (mappings.some((mapping) => mapping.path === path)) return undefined;
  const mapping = mappings.find((each) => withoutDeleted(each.path) === path);
  return mapping && mappedFile(pid, mapping);
}

/** A path as the kernel names it, whose file may be gone: /bin is a link nearly everywhere. */
function linkedFolder(root: string, path: string): string {
  if (root !== "") return path;
  try {
    return posix.join(realpathSync(posix.dirname(path)), posix.basename(path));
  } catch (error) {
    absent(error);
    return path;
  }
}

/** Where a process's files are for us: "" when it sees the same ones. */
export function rootOf(pid: number): string {
  try {
    if (sharesMounts(pid) && readlinkSync(`/proc/${pid}/root`) === readlinkSync("/proc/self/root")) return "";
  } catch (error) {
    absent(error);
  }
  return `/proc/${pid}/root`;
}

function sharesMounts(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`) === readlinkSync("/proc/self/ns/mnt");
  } catch (error) {
    absent(error);
    return false;
  }
}

/**
 * Follows symbolic links as a process does whose root is `root`: the kernel would follow absolute ones from our own.
 */
function resolveIn(root: string, path: string): string {
  if (root === "") return path;
  let parts = path.split("/");
  let resolved = "";
  let links = 0;
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === "" || part === ".") continue;
    if (part === "..") {
      resolved = posix.dirname(resolved) === "/" || resolved === "" ? "" : posix.dirname(resolved);
      continue;
    }
    const next = `${resolved}/${part}`;
    if (!lstatSync(root + next).isSymbolicLink()) {
      resolved = next;
      continue;
    }
    if (++links > SYMLINK_LIMIT) throw new ElfError(damagedElf().tooManyLinks());
    const target = readlinkSync(root + next);
    if (target.startsWith("/")) resolved = "";
    parts = [...target.split("/"), ...parts];
  }
  return root + resolved;
}

function isExecutable(root: string, path: string): boolean {
  noteFile(root + path);
  try {
    const stat = statSync(resolveIn(root, path));
    return stat.isFile() && (stat.mode & 0o111) !== 0;
  } catch (error) {
    absent(error);
    return false;
  }
}

/** `libc.so.6` is meant by itself, by `libc.so`, `libc` and `c`. */
export function namesLibrary(file: string, name: string): boolean {
  return (
    file === name ||
    [`${name}.`, `${name}.so`, `lib${name}.so`].some((start) => file.startsWith(start) && file.includes(".so"))
  );
}

function* libraryPaths(name: string, root: string, first: readonly string[] = []): Iterable<string> {
  if (root === "") {
    for (const folder of first) yield* librariesIn(posix.resolve(folder), name, root);
  }
  const cache = readIfThere(`${root}/etc/ld.so.cache`);
  if (cache !== undefined) {
    yield* librariesNamed(cache, name, MACHINE);
    // The shortest first: `libc.so.6` before `libc.so.6.something`.
    const others = libraryNames(cache).filter((file) => file !== name && namesLibrary(file, name));
    for (const file of others.sort((a, b) => a.length - b.length)) yield* librariesNamed(cache, file, MACHINE);
  }
  for (const folder of LIBRARY_FOLDERS) yield* librariesIn(folder, name, root);
}

function* librariesIn(folder: string, name: string, root: string): Iterable<string> {
  let files: string[];
  noteFile(root + folder);
  try {
    files = readdirSync(resolveIn(root, folder));
  } catch (error) {
    absent(error);
    return;
  }
  const matching = files.filter((file) => namesLibrary(file, name));
  for (const file of matching.sort((a, b) => Number(b === name) - Number(a === name) || a.length - b.length))
    yield `${folder}/${file}`;
}

function readIfThere(path: string): Buffer | undefined {
  noteFile(path);
  try {
    return readOthersFile(path, { limit: LARGEST_CACHE });
  } catch (error) {
    return absent(error);
  }
}
