// Thread-local storage of a shared library: where the loader leaves what tells a thread's copy of it. A library asks
// for its own storage in one of three ways, each through slots of the global offset table that relocations name. (ELF
// Handling For Thread-Local Storage, 4.1 and 4.4; System V ABI, AMD64 supplement, 4.4.1; RFC "Thread-Local Storage
// Descriptors")
import type { Elf } from "./elf.ts";

export interface LibraryThreadLocals {
  /**
   * What stands in the slot once the library is loaded. `offset`: the distance from the thread pointer of `behind` in
   * the library's storage; `module`: the library's number in each thread's vector of storages; `descriptor`: a
   * function's address, and behind it either of the two, as its argument: the distance (negative), or the address of a
   * number.
   */
  readonly kind: "offset" | "module" | "descriptor";
  /** The slot's address in the file. */
  readonly slot: bigint;
  readonly behind: bigint;
  /** Where the storage's first contents are in the file, and how many bytes; the rest begins as zeroes. */
  readonly image: { readonly address: bigint; readonly size: bigint };
}

const PT_TLS = 7;
const STT_TLS = 6;
const RELOCATION = 24;
const SYMBOL = 24;
/** By usefulness: a distance is right whatever the loader did; a descriptor tells of both ways, a number of one. */
const kinds: ReadonlyMap<number, LibraryThreadLocals["kind"]> = new Map([
  [18, "offset"],
  [36, "descriptor"],
  [16, "module"],
]);
const order: readonly LibraryThreadLocals["kind"][] = ["offset", "descriptor", "module"];

/** undefined when the library has no such storage, or never asks for its own. Of x86-64 only. */
export function libraryThreadLocals(elf: Elf): LibraryThreadLocals | undefined {
  const segment = elf.segments.find(({ type }) => type === PT_TLS);
  if (segment === undefined || elf.machine !== "x86-64" || !elf.wide) return undefined;
  const image = { address: segment.address, size: BigInt(segment.fileSize) };
  let best: { readonly rank: number; readonly found: LibraryThreadLocals } | undefined;
  for (const { type, slot, symbol, addend } of relocationsOf(elf)) {
    const kind = kinds.get(type);
    const own = kind === undefined ? undefined : placeOf(symbol);
    if (kind === undefined || own === undefined) continue;
    // Another file may have a variable of the same name, which then stands for this one's.
    const rank = order.indexOf(kind) + (own.sure ? 0 : order.length);
    if (best === undefined || rank < best.rank)
      best = { rank, found: { kind, slot, behind: kind === "module" ? 0n : own.value + addend, image } };
  }
  return best?.found;
}

/** A symbol of the dynamic table: `undefined` for the file itself. */
interface DynamicSymbol {
  readonly type: number;
  readonly section: number;
  readonly visible: boolean;
  readonly value: bigint;
}
interface Relocation {
  readonly type: number;
  readonly slot: bigint;
  readonly symbol: DynamicSymbol | undefined;
  readonly addend: bigint;
}

/** Where in the library's own storage a symbol is; undefined for what other files define. */
function placeOf(symbol: DynamicSymbol | undefined): { readonly value: bigint; readonly sure: boolean } | undefined {
  if (symbol === undefined) return { value: 0n, sure: true };
  if (symbol.section === 0 || symbol.type !== STT_TLS) return undefined;
  return { value: symbol.value, sure: !symbol.visible };
}

function* relocationsOf(elf: Elf): Iterable<Relocation> {
  for (const name of [".rela.dyn", ".rela.plt"]) {
    const section = elf.section(name);
    const symbols = section && elf.sections[section.link];
    if (section === undefined || symbols === undefined) continue;
    const [relocations, table] = [elf.content(section), elf.content(symbols)];
    for (let at = 0; at + RELOCATION <= relocations.length; at += RELOCATION) {
      const type = relocations.readUInt32LE(at + 8);
      if (!kinds.has(type)) continue;
      const index = relocations.readUInt32LE(at + 12);
      const symbol = index * SYMBOL;
      if (symbol + SYMBOL > table.length) continue;
      yield {
        type,
        slot: relocations.readBigUInt64LE(at),
        addend: relocations.readBigInt64LE(at + 16),
        symbol:
          index === 0
            ? undefined
            : {
                type: table[symbol + 4] & 0xf,
                visible: (table[symbol + 5] & 3) === 0,
                section: table.readUInt16LE(symbol + 6),
                value: table.readBigUInt64LE(symbol + 8),
              },
      };
    }
  }
}
