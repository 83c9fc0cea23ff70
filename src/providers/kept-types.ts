// The index of the running kernel's types on disk, by the kernel's build id. It is mapped rather than read: of its three megabytes
// a script needs some pages.
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { Btf, BtfIndex } from "../debuginfo/btf.ts";
import { cacheFolder } from "../linux/cache-folder.ts";
import { LinuxError } from "../linux/error.ts";
import { MAP_PRIVATE, mmap, PROT_READ } from "../linux/ffi.ts";
import { runningBuildId } from "./kernel-build.ts";

//   0   "strobe types 1\0\0"
//   16  u32 bytes of the type section, of the string section; entries of records, strings, names, next
//   40  the four, as u32

/** Changes whenever the arrays' meaning does. */
const layout = "strobe types 1\0\0";
const header = 40;
/** Kernels whose index is kept: those that this home was used with last. */
const mostKept = 8;

const folder = (): string => cacheFolder("types");

/** The running kernel's, when it was kept. Whatever is wrong with it, its types are gone through again. */
export function keptIndex(): BtfIndex | undefined {
  const build = runningBuildId();
  if (build === undefined) return undefined;
  let file: number | undefined;
  try {
    file = openSync(`${folder()}/${build}`, "r");
    const { size, uid, mode } = fstatSync(file);
    // What others may write, they may also cut short while it is mapped.
    if (size < header || size % 4 !== 0 || uid !== process.geteuid?.() || (mode & 0o022) !== 0) return undefined;
    const memory = mmap(file, size, PROT_READ, 0, MAP_PRIVATE);
    if (Buffer.from(memory, 0, 16).toString("latin1") !== layout) return undefined;
    const [typeBytes, stringBytes, ...lengths] = new Uint32Array(memory, 16, 6);
    if (header + lengths.reduce((sum, length) => sum + length * 4, 0) !== size) return undefined;
    let at = header;
    const [records, strings, names, next] = lengths.map((length) => {
      at += length * 4;
      return new Uint32Array(memory, at - length * 4, length);
    });
    return { typeBytes, stringBytes, records, strings, names, next };
  } catch (error) {
    // There is none yet, or no address space for it.
    if (error instanceof LinuxError || (error instanceof Error && "code" in error)) return undefined;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Keeps the running kernel's for the next time, where there is a folder to do so. */
export function keepIndex(btf: Btf): void {
  const build = runningBuildId();
  if (build === undefined) return;
  const path = `${folder()}/${build}`;
  const unfinished = `${path}.${process.pid}`;
  try {
    const { typeBytes, stringBytes, ...arrays } = btf.index();
    const parts = [arrays.records, arrays.strings, arrays.names, arrays.next];
    mkdirSync(folder(), { recursive: true });
    writeFileSync(unfinished, Buffer.concat([
      Buffer.from(layout, "latin1"), bytesOf(Uint32Array.of(typeBytes, stringBytes, ...parts.map(({ length }) => length))), ...parts.map(bytesOf),
    ]), { flag: "wx", mode: 0o600 });
    renameSync(unfinished, path);
    tidy();
  } catch {
    rmSync(unfinished, { force: true });
  }
}

function bytesOf(words: Uint32Array): Buffer {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength);
}

function tidy(): void {
  const files = readdirSync(folder()).map((name) => ({ path: `${folder()}/${name}`, time: statSync(`${folder()}/${name}`).mtimeMs }));
  for (const { path } of files.sort((a, b) => b.time - a.time).slice(mostKept)) rmSync(path, { force: true });
}
