// The index of the running kernel's types on disk, by the kernel's build id. It is mapped rather than read: of its
// three megabytes a script needs some pages.
import type { Btf, BtfIndex } from "../../debuginfo/btf.ts";
import { LinuxError } from "../../linux/error.ts";
import { MAP_PRIVATE, mmap, PROT_READ } from "../../linux/ffi.ts";
import { KeptFiles } from "../../store/kept-files.ts";
import { large } from "../../store/whole.ts";
import { runningBuildId } from "./kernel-build.ts";

//   0   "strobe types 1\0\0"
//   16  u32 bytes of the type section, of the string section; entries of records, strings, names, next
//   40  the four, as u32

/** Changes whenever the arrays' meaning does. */
const layout = "strobe types 1\0\0";
const header = 40;
/** Of the kernels that ran last. */
const kept = new KeptFiles({ folder: "types", names: /^[0-9a-f]+$/, files: 8, form: large });

/** The running kernel's, when it was kept. Whatever is wrong with it, its types are gone through again. */
export function keptIndex(): BtfIndex | undefined {
  const build = runningBuildId();
  if (build === undefined) return undefined;
  const bytes = kept.readMapped(build, ({ fd, size }) => {
    try {
      return mmap(fd, size, PROT_READ, 0, MAP_PRIVATE);
    } catch (error) {
      // No address space for it.
      if (error instanceof LinuxError) return undefined;
      throw error;
    }
  });
  if (bytes === undefined || bytes.length < header || bytes.toString("latin1", 0, 16) !== layout) return undefined;
  const words = (at: number, length: number): Uint32Array =>
    new Uint32Array(bytes.buffer, bytes.byteOffset + at, length);
  const [typeBytes, stringBytes, ...lengths] = words(16, 6);
  if (header + lengths.reduce((sum, length) => sum + length * 4, 0) !== bytes.length) return undefined;
  let at = header;
  const [records, strings, names, next] = lengths.map((length) => {
    at += length * 4;
    return words(at - length * 4, length);
  });
  return { typeBytes, stringBytes, records, strings, names, next };
}

/** Keeps the running kernel's for the next time, where there is a folder to do so. */
export function keepIndex(btf: Btf): void {
  const build = runningBuildId();
  if (build === undefined) return;
  const { typeBytes, stringBytes, ...arrays } = btf.index();
  const parts = [arrays.records, arrays.strings, arrays.names, arrays.next];
  kept.write(
    build,
    Buffer.concat([
      Buffer.from(layout, "latin1"),
      bytesOf(Uint32Array.of(typeBytes, stringBytes, ...parts.map(({ length }) => length))),
      ...parts.map(bytesOf),
    ]),
  );
}

function bytesOf(words: Uint32Array): Buffer {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength);
}
