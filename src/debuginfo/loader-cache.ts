// /etc/ld.so.cache: where the dynamic loader finds a library by its name (glibc's dl-cache.h, format
// "glibc-ld.so.cache1.1").
import { textAt } from "./elf.ts";

const MAGIC = "glibc-ld.so.cache1.1";
const HEADER = 48;
const ENTRY = 24;
/** Flags: an ELF library for libc 6, and the architecture's 64-bit ABI. */
const X86_64 = 0x0303;
const AARCH64 = 0x0a03;

/**
 * Paths of a library in the cache's order; those of this architecture's ABI only. Empty for anything that is no such
 * cache.
 */
export function librariesNamed(cache: Uint8Array, name: string, machine: "x86-64" | "arm64" | "other"): string[] {
  const bytes = Buffer.from(cache.buffer, cache.byteOffset, cache.byteLength);
  // Old caches have an older table in front.
  const start = bytes.indexOf(MAGIC, 0, "latin1");
  if (start < 0 || start + HEADER > bytes.length) return [];
  const count = bytes.readUInt32LE(start + 20);
  const flags = machine === "arm64" ? AARCH64 : machine === "x86-64" ? X86_64 : undefined;
  const paths: string[] = [];
  for (let i = 0, at = start + HEADER; i < count && at + ENTRY <= bytes.length; i++, at += ENTRY) {
    if (flags !== undefined && bytes.readUInt32LE(at) !== flags) continue;
    // Offsets are from the table's own magic.
    if (textAt(bytes, start + bytes.readUInt32LE(at + 4)) === name)
      paths.push(textAt(bytes, start + bytes.readUInt32LE(at + 8)));
  }
  return paths;
}

/**
 * Every library name in the cache, for near misses and for names without their version: `c` and `libc` mean
 * `libc.so.6`.
 */
export function libraryNames(cache: Uint8Array): string[] {
  const bytes = Buffer.from(cache.buffer, cache.byteOffset, cache.byteLength);
  const start = bytes.indexOf(MAGIC, 0, "latin1");
  if (start < 0 || start + HEADER > bytes.length) return [];
  const count = bytes.readUInt32LE(start + 20);
  const names = new Set<string>();
  for (let i = 0, at = start + HEADER; i < count && at + ENTRY <= bytes.length; i++, at += ENTRY) {
    names.add(textAt(bytes, start + bytes.readUInt32LE(at + 4)));
  }
  return [...names];
}
