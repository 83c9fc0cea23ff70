// A shared object that carries static probes and the stubs that fire them, for programs whose compiler writes none:
// what a C compiler makes of <sys/sdt.h> (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation), so that
// any tracer knows it.
//
//   loaded, read and execute   ELF header, program headers, .hash, .dynsym, .dynstr, .text (a stub a probe), .stapsdt.base
//   loaded, read and write     .probes (a u16 semaphore a probe: how many listen), .dynamic
//   not loaded                 .note.stapsdt, .shstrtab, section headers
//
// A stub is a C function whose parameters are the probe's arguments. It does nothing but return; the probe is its first
// instruction, where parameters are still where the calling convention puts them.

export interface UsdtParameter {
  readonly size: 1 | 2 | 4 | 8;
  readonly signed: boolean;
  /** The bits of a floating-point number. */ readonly float: boolean;
}
export interface UsdtStub {
  readonly name: string;
  readonly parameters: readonly UsdtParameter[];
}

/** A function of the object that gives the address of the semaphores, in the order of the probes. */
export const semaphoresSymbol = ".semaphores";

/** What the linker calls the stub of a probe. */
export function stubSymbol(provider: string, probe: string): string {
  return `${provider}_${probe}`;
}

interface Architecture {
  /** e_machine */
  readonly machine: number;
  /** What pages may be as large as. */
  readonly page: number;
  readonly stub: Uint8Array;
  /** Code that returns an address so many bytes from its own beginning. */
  addressOf(distance: number): Uint8Array;
  /** Where the n-th parameter is at a function's first instruction, in the assembler's words. */
  place(index: number, size: UsdtParameter["size"]): string;
}

const x86Names = [
  ["dil", "di", "edi", "rdi"],
  ["sil", "si", "esi", "rsi"],
  ["dl", "dx", "edx", "rdx"],
  ["cl", "cx", "ecx", "rcx"],
  ["r8b", "r8w", "r8d", "r8"],
  ["r9b", "r9w", "r9d", "r9"],
];

export const architectures = {
  "x86-64": {
    machine: 62,
    page: 0x1000,
    // nop; ret
    stub: Uint8Array.of(0x90, 0xc3),
    addressOf(distance) {
      // lea rax, [rip + …]; ret
      const code = Buffer.from([0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3]);
      code.writeInt32LE(distance - 7, 3);
      return code;
    },
    place: (index, size) =>
      index < x86Names.length ? `%${x86Names[index][Math.log2(size)]}` : `${(index - x86Names.length) * 8 + 8}(%rsp)`,
  },
  arm64: {
    machine: 183,
    page: 0x10000,
    // nop; ret
    stub: Uint8Array.of(0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6),
    addressOf(distance) {
      // adr x0, …; ret
      const code = Buffer.alloc(8);
      code.writeUInt32LE((0x10000000 | ((distance & 3) << 29) | (((distance >> 2) & 0x7ffff) << 5)) >>> 0, 0);
      code.writeUInt32LE(0xd65f03c0, 4);
      return code;
    },
    place: (index) => (index < 8 ? `x${index}` : `[sp, ${(index - 8) * 8}]`),
  },
} satisfies Record<string, Architecture>;

const wordBytes = 8;
const headerBytes = 64;
const programHeaderBytes = 56;
const sectionHeaderBytes = 64;
const symbolBytes = 24;
const codeAlign = 16;

const SHT_PROGBITS = 1;
const SHT_STRTAB = 3;
const SHT_HASH = 5;
const SHT_DYNAMIC = 6;
const SHT_NOTE = 7;
const SHT_DYNSYM = 11;
const SHF_WRITE = 1;
const SHF_ALLOC = 2;
const SHF_EXECINSTR = 4;
const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_GNU_STACK = 0x6474e551;
const NT_STAPSDT = 3;

/** The object's bytes: the same for the same probes. */
export function usdtObject(of: keyof typeof architectures, provider: string, stubs: readonly UsdtStub[]): Uint8Array {
  const architecture: Architecture = architectures[of];
  const names = new Strings();
  const symbols = [...stubs.map(({ name }) => stubSymbol(provider, name)), semaphoresSymbol];
  const nameOffsets = symbols.map((name) => names.add(name));

  const out = new Sections(architecture.page);
  out.reserve(headerBytes + 4 * programHeaderBytes);
  const hash = out.add(".hash", SHT_HASH, SHF_ALLOC, hashTable(symbols.length + 1), { align: wordBytes, entry: 4 });
  const dynsym = out.add(".dynsym", SHT_DYNSYM, SHF_ALLOC, Buffer.alloc((symbols.length + 1) * symbolBytes), {
    align: wordBytes,
    entry: symbolBytes,
    info: 1,
  });
  const dynstr = out.add(".dynstr", SHT_STRTAB, SHF_ALLOC, names.bytes());
  const stride = codeAlign;
  const text = out.add(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, Buffer.alloc(symbols.length * stride), {
    align: codeAlign,
  });
  const base = out.add(".stapsdt.base", SHT_PROGBITS, SHF_ALLOC, Buffer.alloc(1));
  const readOnlyEnd = out.length;
  out.beginWritable();
  const probes = out.add(".probes", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, Buffer.alloc(stubs.length * 2), {
    align: wordBytes,
  });
  const dynamic = out.add(
    ".dynamic",
    SHT_DYNAMIC,
    SHF_ALLOC | SHF_WRITE,
    dynamicTable([
      [4, hash.address],
      [5, dynstr.address],
      [6, dynsym.address],
      [10, dynstr.bytes.length],
      [11, symbolBytes],
    ]),
    { align: wordBytes, entry: 16 },
  );
  const writableEnd = out.length;

  symbols.forEach((_, i) => {
    const symbol = dynsym.bytes.subarray((i + 1) * symbolBytes);
    const address = text.address + i * stride;
    const code = i < stubs.length ? architecture.stub : architecture.addressOf(probes.address - address);
    text.bytes.set(code, i * stride);
    symbol.writeUInt32LE(nameOffsets[i], 0);
    // Global function, in section .text.
    symbol[4] = 0x12;
    symbol.writeUInt16LE(text.index, 6);
    symbol.writeBigUInt64LE(BigInt(address), 8);
    symbol.writeBigUInt64LE(BigInt(code.length), 16);
  });
  const notes = stubs.map(({ name, parameters }, i) =>
    stapsdtNote(provider, name, argumentText(parameters, architecture), [
      text.address + i * stride,
      base.address,
      probes.address + i * 2,
    ]),
  );
  out.add(".note.stapsdt", SHT_NOTE, 0, Buffer.concat(notes), { align: 4 });

  return out.file(architecture.machine, { hash, dynsym, dynstr, dynamic }, [
    { type: PT_LOAD, flags: 5, from: 0, to: readOnlyEnd, address: 0, align: architecture.page },
    {
      type: PT_LOAD,
      flags: 6,
      from: probes.offset,
      to: writableEnd,
      address: probes.address,
      align: architecture.page,
    },
    {
      type: PT_DYNAMIC,
      flags: 6,
      from: dynamic.offset,
      to: dynamic.offset + dynamic.bytes.length,
      address: dynamic.address,
      align: wordBytes,
    },
    // Without it the loader would make all stacks executable.
    { type: PT_GNU_STACK, flags: 6, from: 0, to: 0, address: 0, align: 16 },
  ]);
}

function argumentText(parameters: readonly UsdtParameter[], architecture: Architecture): string {
  return parameters
    .map(
      ({ size, signed, float }, i) => `${signed ? "-" : ""}${size}${float ? "f" : ""}@${architecture.place(i, size)}`,
    )
    .join(" ");
}

function stapsdtNote(provider: string, name: string, text: string, addresses: readonly number[]): Buffer {
  const words = Buffer.alloc(addresses.length * wordBytes);
  addresses.forEach((address, i) => words.writeBigUInt64LE(BigInt(address), i * wordBytes));
  const description = Buffer.concat([words, Buffer.from(`${provider}\0${name}\0${text}\0`)]);
  const owner = Buffer.from("stapsdt\0");
  const header = Buffer.alloc(12);
  header.writeUInt32LE(owner.length, 0);
  header.writeUInt32LE(description.length, 4);
  header.writeUInt32LE(NT_STAPSDT, 8);
  return Buffer.concat([header, owner, description, Buffer.alloc(-description.length & 3)]);
}

/** A hash table of one bucket: a chain of all symbols, which the loader walks comparing names. */
function hashTable(symbols: number): Buffer {
  const table = Buffer.alloc((2 + 1 + symbols) * 4);
  table.writeUInt32LE(1, 0);
  table.writeUInt32LE(symbols, 4);
  table.writeUInt32LE(symbols - 1, 8);
  for (let i = 1; i < symbols; i++) table.writeUInt32LE(i - 1, (3 + i) * 4);
  return table;
}

/** With the terminating entry. */
function dynamicTable(entries: readonly (readonly [tag: number, value: number])[]): Buffer {
  const table = Buffer.alloc((entries.length + 1) * 16);
  entries.forEach(([tag, value], i) => {
    table.writeBigUInt64LE(BigInt(tag), i * 16);
    table.writeBigUInt64LE(BigInt(value), i * 16 + 8);
  });
  return table;
}

class Strings {
  readonly #parts: Buffer[] = [Buffer.alloc(1)];
  #length = 1;

  /** Gives where the string is. */
  add(text: string): number {
    const part = Buffer.from(`${text}\0`);
    this.#parts.push(part);
    this.#length += part.length;
    return this.#length - part.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

interface Section {
  readonly name: string;
  readonly type: number;
  readonly flags: number;
  readonly bytes: Buffer;
  readonly offset: number;
  readonly address: number;
  readonly index: number;
  readonly align: number;
  readonly entry: number;
  readonly info: number;
}
interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly from: number;
  readonly to: number;
  readonly address: number;
  readonly align: number;
}

/** Sections one behind the other; what can be written lies on pages of its own in memory, not in the file. */
class Sections {
  readonly #sections: Section[] = [];
  readonly #page: number;
  #length = 0;
  #slide = 0;

  constructor(page: number) {
    this.#page = page;
  }

  get length(): number {
    return this.#length;
  }

  reserve(bytes: number): void {
    this.#length += bytes;
  }

  beginWritable(): void {
    this.#slide += this.#page;
  }

  add(name: string, type: number, flags: number, bytes: Buffer, { align = 1, entry = 0, info = 0 } = {}): Section {
    const offset = Math.ceil(this.#length / align) * align;
    const address = (flags & SHF_ALLOC) === 0 ? 0 : offset + this.#slide;
    const section: Section = {
      name,
      type,
      flags,
      bytes,
      offset,
      address,
      index: this.#sections.length + 1,
      align,
      entry,
      info,
    };
    this.#sections.push(section);
    this.#length = offset + bytes.length;
    return section;
  }

  file(
    machine: number,
    { hash, dynsym, dynstr, dynamic }: Record<"hash" | "dynsym" | "dynstr" | "dynamic", Section>,
    segments: readonly Segment[],
  ): Uint8Array {
    const names = new Strings();
    const nameOffsets = [...this.#sections.map(({ name }) => names.add(name)), names.add(".shstrtab")];
    this.add(".shstrtab", SHT_STRTAB, 0, names.bytes());
    const table = Math.ceil(this.#length / wordBytes) * wordBytes;
    const out = Buffer.alloc(table + (this.#sections.length + 1) * sectionHeaderBytes);

    out.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
    out.writeUInt16LE(3, 16); // ET_DYN
    out.writeUInt16LE(machine, 18);
    out.writeUInt32LE(1, 20);
    out.writeBigUInt64LE(BigInt(headerBytes), 32);
    out.writeBigUInt64LE(BigInt(table), 40);
    for (const [i, value] of [
      headerBytes,
      programHeaderBytes,
      segments.length,
      sectionHeaderBytes,
      this.#sections.length + 1,
      this.#sections.length,
    ].entries()) {
      out.writeUInt16LE(value, 52 + i * 2);
    }
    segments.forEach(({ type, flags, from, to, address, align }, i) => {
      const at = headerBytes + i * programHeaderBytes;
      out.writeUInt32LE(type, at);
      out.writeUInt32LE(flags, at + 4);
      for (const [word, value] of [from, address, address, to - from, to - from, align].entries())
        out.writeBigUInt64LE(BigInt(value), at + 8 + word * wordBytes);
    });
    const links = new Map([
      [hash, dynsym.index],
      [dynsym, dynstr.index],
      [dynamic, dynstr.index],
    ]);
    this.#sections.forEach((section, i) => {
      out.set(section.bytes, section.offset);
      const at = table + (i + 1) * sectionHeaderBytes;
      out.writeUInt32LE(nameOffsets[i], at);
      out.writeUInt32LE(section.type, at + 4);
      for (const [word, value] of [section.flags, section.address, section.offset, section.bytes.length].entries())
        out.writeBigUInt64LE(BigInt(value), at + 8 + word * wordBytes);
      out.writeUInt32LE(links.get(section) ?? 0, at + 40);
      out.writeUInt32LE(section.info, at + 44);
      out.writeBigUInt64LE(BigInt(section.align), at + 48);
      out.writeBigUInt64LE(BigInt(section.entry), at + 56);
    });
    return out;
  }
}
