// Writes archives of the "newc" format, which Linux unpacks as its first file system. Folders come before what is in
// them.
import { dirname } from "node:path";

const headerWords = 13;

export class Archive {
  readonly #parts: Uint8Array[] = [];
  readonly #paths = new Set<string>(["/", "."]);

  file(path: string, content: Uint8Array | string, executable = false): void {
    this.#add(
      path,
      (executable ? 0o755 : 0o644) | 0o100000,
      typeof content === "string" ? Buffer.from(content) : content,
    );
  }

  link(path: string, target: string): void {
    this.#add(path, 0o120777, Buffer.from(target));
  }

  folder(path: string): void {
    this.#add(path, 0o040755, new Uint8Array());
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** The archive in parts, to be written one after the other. */
  parts(): readonly Uint8Array[] {
    return [...this.#parts, ...record("TRAILER!!!", 0, 0, new Uint8Array())];
  }

  #add(path: string, mode: number, content: Uint8Array): void {
    if (this.#paths.has(path)) return;
    const parent = dirname(path);
    if (!this.#paths.has(parent)) this.folder(parent);
    this.#paths.add(path);
    this.#parts.push(...record(path.slice(1), this.#paths.size, mode, content));
  }
}

/**
 * A header of a magic number and thirteen words in hexadecimal, the name, and the content, each padded to four bytes.
 */
function record(name: string, inode: number, mode: number, content: Uint8Array): readonly Uint8Array[] {
  const words = Array.from({ length: headerWords }, () => 0);
  words[0] = inode;
  words[1] = mode;
  words[4] = 1;
  words[6] = content.length;
  words[11] = name.length + 1;
  const header = `070701${words.map((word) => word.toString(16).padStart(8, "0")).join("")}${name}\0`;
  return [
    Buffer.from(header.padEnd(Math.ceil(header.length / 4) * 4, "\0")),
    content,
    new Uint8Array(-content.length & 3),
  ];
}
