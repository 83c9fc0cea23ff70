// Libraries inside ZIP archives, `app.apk!/lib/libx.so`: loaders map what is stored there as it is, from where it lies.
import { statSync } from "node:fs";
import { ElfError, type Bytes } from "../../debuginfo/elf.ts";
import { zipEntries, zipEntryOffset, ZipError } from "../../debuginfo/zip.ts";
import { nearest } from "../../language/nearest.ts";
import type { Message } from "../../messages/message.ts";
import { places } from "../../messages/places.ts";
import { noteFile } from "../../store/seen-files.ts";
import { absent, FileBytes } from "./file-bytes.ts";
import { damagedElf } from "../../messages/on-demand.ts";
import { saidBy } from "../../base/failure.ts";

const BORDER = "!/";

/** The archive, and what of it is meant; undefined for the path of a file of its own, whatever that is called. */
export function archivedAt(path: string): { readonly archive: string; readonly entry: string } | undefined {
  const border = path.indexOf(BORDER);
  if (border < 1 || isThere(path)) return undefined;
  return { archive: path.slice(0, border), entry: path.slice(border + BORDER.length) };
}

function isThere(path: string): boolean {
  noteFile(path);
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** The bytes of one entry. */
class EntryBytes implements Bytes {
  readonly path: string;
  readonly size: number;
  readonly offset: number;
  readonly #archive: Bytes;

  /** @throws ElfError when there is no such entry, or it is not stored as it is */
  constructor(archive: FileBytes, entry: string) {
    this.path = `${archive.path}${BORDER}${entry}`;
    const found = inArchive(archive, (entries) => entries.find(({ name }) => name === entry));
    if (found?.stored !== "as it is") throw new ElfError(damagedElf().nothingRuns(), this.path);
    this.#archive = archive;
    this.size = found.size;
    this.offset = inArchive(archive, () => zipEntryOffset(archive, found));
  }

  read(offset: number, length: number, room?: Buffer): Buffer {
    return this.#archive.read(this.offset + offset, length, room);
  }
}

function inArchive<T>(archive: FileBytes, ask: (entries: ReturnType<typeof zipEntries>) => T): T {
  try {
    return ask(zipEntries(archive));
  } catch (error) {
    if (error instanceof ZipError) throw new ElfError(saidBy(error), archive.path);
    throw error;
  }
}

/**
 * The bytes of a file, or of what is in an archive: in which file, as the kernel maps it, and where they begin there.
 *
 * @throws ElfError
 */
export function bytesAt(path: string): { readonly bytes: Bytes; readonly file: string; readonly offset: number } {
  const archived = archivedAt(path);
  if (archived === undefined) return { bytes: new FileBytes(path), file: path, offset: 0 };
  const bytes = new EntryBytes(new FileBytes(archived.archive), archived.entry);
  return { bytes, file: archived.archive, offset: bytes.offset };
}

/** Why what a path means in an archive cannot be probed; undefined where it means nothing in an archive. */
export function noEntry(path: string): Message | undefined {
  const archived = archivedAt(path);
  if (archived === undefined) return undefined;
  const { archive, entry } = archived;
  try {
    const entries = zipEntries(new FileBytes(archive));
    const found = entries.find(({ name }) => name === entry);
    if (found === undefined)
      return places.notInArchive(
        entry,
        archive,
        nearest(
          entry,
          entries.map(({ name }) => name),
        ),
      );
    return found.stored === "packed" ? places.packedInArchive(entry, archive) : places.notElf(path);
  } catch (error) {
    if (error instanceof ZipError) return places.damagedArchive(archive, error.what);
    return absent(error);
  }
}
