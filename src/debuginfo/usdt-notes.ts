// Static probes that programs carry: the notes of <sys/sdt.h>
// (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
import { notesIn } from "./elf-notes.ts";
import { textAt, type Elf } from "./elf.ts";

export interface UsdtNote {
  readonly provider: string;
  readonly name: string;
  /** Virtual address of the probe's nop, as linked. */
  readonly address: bigint;
  readonly fileOffset: bigint;
  /** File offset of the counter that says whether somebody listens; 0 when the probe has none. */
  readonly semaphoreOffset: bigint;
  /** `-4@%edi 8@16(%rbp)` */
  readonly argumentText: string;
}

const NT_STAPSDT = 3;

/**
 * The file's static probes, in the file's order; one name may occur many times. Notes that point nowhere are left out.
 */
export function usdtNotes(elf: Elf): UsdtNote[] {
  const section = elf.section(".note.stapsdt");
  if (section === undefined) return [];
  const word = elf.wide ? 8 : 4;
  const base = elf.section(".stapsdt.base")?.address;
  const probes: UsdtNote[] = [];
  for (const note of notesIn(elf.content(section))) {
    const description = note.description;
    if (note.type !== NT_STAPSDT || note.name !== "stapsdt" || description.length < 3 * word + 3) continue;
    const address = (index: number): bigint =>
      elf.wide ? description.readBigUInt64LE(index * 8) : BigInt(description.readUInt32LE(index * 4));
    // Prelink moves sections without knowing of the notes; the base's section tells by how much.
    const moved = base === undefined || address(1) === 0n ? 0n : base - address(1);
    const location = address(0) + moved;
    const fileOffset = elf.fileOffset(location);
    if (fileOffset === undefined) continue;
    const semaphore = address(2) === 0n ? undefined : elf.fileOffset(address(2) + moved);

    const providerEnd = description.indexOf(0, 3 * word);
    const nameEnd = providerEnd < 0 ? -1 : description.indexOf(0, providerEnd + 1);
    if (nameEnd < 0) continue;
    probes.push({
      provider: textAt(description, 3 * word),
      name: textAt(description, providerEnd + 1),
      address: location,
      fileOffset,
      semaphoreOffset: semaphore ?? 0n,
      argumentText: textAt(description, nameEnd + 1),
    });
  }
  return probes;
}
