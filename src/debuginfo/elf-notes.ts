// Notes: small named records in ELF files, and those that the kernel shows of itself and its modules.

const NT_GNU_BUILD_ID = 3;

export interface Note {
  readonly name: string;
  readonly type: number;
  readonly description: Buffer;
}

/** The notes in a section or segment; stops at the first damaged one. */
export function* notesIn(bytes: Buffer): Iterable<Note> {
  let at = 0;
  while (at + 12 <= bytes.length) {
    const nameSize = bytes.readUInt32LE(at);
    const descriptionSize = bytes.readUInt32LE(at + 4);
    const type = bytes.readUInt32LE(at + 8);
    const description = at + 12 + Math.ceil(nameSize / 4) * 4;
    if (description + descriptionSize > bytes.length) return;
    const [name] = bytes.toString("utf8", at + 12, at + 12 + nameSize).split("\0", 1);
    yield { name, type, description: bytes.subarray(description, description + descriptionSize) };
    at = description + Math.ceil(descriptionSize / 4) * 4;
  }
}

/** In hexadecimal. */
export function buildIdIn(bytes: Buffer): string | undefined {
  for (const note of notesIn(bytes)) {
    if (note.type === NT_GNU_BUILD_ID && note.name === "GNU") return note.description.toString("hex");
  }
  return undefined;
}
