// The procedure linkage table: stubs through which a program or library calls what it imports. Each jumps through a
// slot of the global offset table, and relocations say whose slot that is. (System V ABI, AMD64 supplement, 5.2; with
// landing pads the stubs that are called are in .plt.sec)
import { textAt, type Elf } from "./elf.ts";

export interface PltEntry {
  readonly name: string;
  readonly address: bigint;
}

const R_X86_64_GLOB_DAT = 6,
  R_X86_64_JUMP_SLOT = 7;
const RELOCATION = 24;
const SYMBOL = 24;
const stubs = [".plt", ".plt.got", ".plt.sec"] as const;
/** Stubs of 16 bytes, with a landing pad or without; the table says so where they are smaller. */
const usualStub = 16;

/** Tells which stub an address is in, if any. */
export function pltStubs(elf: Elf): (address: bigint) => PltEntry | undefined {
  const ranges = elf.sections
    .filter(({ name }) => (stubs as readonly string[]).includes(name))
    .map(({ address, size, entrySize }) => ({
      low: address,
      high: address + BigInt(size),
      stub: BigInt(stubSize(entrySize)),
    }));
  let known: ReadonlyMap<bigint, PltEntry> | undefined;
  return (address) => {
    const range = ranges.find(({ low, high }) => address >= low && address < high);
    if (range === undefined) return undefined;
    known ??= new Map(pltEntries(elf).map((entry) => [entry.address, entry]));
    return known.get(address - ((address - range.low) % range.stub));
  };
}

function stubSize(entrySize: number): number {
  return entrySize >= 8 ? entrySize : usualStub;
}

/** Stubs of an x86-64 file, by address; none for other machines. */
export function pltEntries(elf: Elf): PltEntry[] {
  if (elf.machine !== "x86-64" || !elf.wide) return [];
  const slots = importedSlots(elf);
  const entries: PltEntry[] = [];
  for (const name of stubs) {
    const section = elf.section(name);
    if (section === undefined || slots.size === 0) continue;
    const code = elf.content(section);
    const size = stubSize(section.entrySize);
    for (let at = 0; at + size <= code.length; at += size) {
      // jmp *slot(%rip) somewhere in the stub; the first stub's slot belongs to the loader.
      for (let i = at; i + 6 <= at + size; i++) {
        if (code[i] !== 0xff || code[i + 1] !== 0x25) continue;
        const imported = slots.get(section.address + BigInt(i + 6 + code.readInt32LE(i + 2)));
        if (imported !== undefined) entries.push({ name: imported, address: section.address + BigInt(at) });
        break;
      }
    }
  }
  return entries;
}

/** Slots of the global offset table, by address, with the functions that the loader puts there. */
function importedSlots(elf: Elf): ReadonlyMap<bigint, string> {
  const slots = new Map<bigint, string>();
  for (const name of [".rela.plt", ".rela.dyn"]) {
    const section = elf.section(name);
    const symbols = section === undefined ? undefined : elf.sections[section.link];
    const strings = symbols === undefined ? undefined : elf.sections[symbols.link];
    if (section === undefined || symbols === undefined || strings === undefined) continue;
    const [relocations, table, text] = [elf.content(section), elf.content(symbols), elf.content(strings)];
    for (let at = 0; at + RELOCATION <= relocations.length; at += RELOCATION) {
      const type = relocations.readUInt32LE(at + 8);
      if (type !== R_X86_64_JUMP_SLOT && type !== R_X86_64_GLOB_DAT) continue;
      const symbol = relocations.readUInt32LE(at + 12) * SYMBOL;
      const imported = symbol + SYMBOL <= table.length ? textAt(text, table.readUInt32LE(symbol)) : "";
      if (imported !== "") slots.set(relocations.readBigUInt64LE(at), imported);
    }
  }
  return slots;
}
