// What a Go program says of itself, stripped or not: its functions (the runtime needs them for tracebacks and the
// garbage collector) and the Go release that built it. (src/debug/gosym/pclntab.go, src/debug/buildinfo/buildinfo.go)
import { firstIndex } from "../base/first-index.ts";
import type { Elf, Section } from "./elf.ts";

export interface GoFunction {
  readonly name: string;
  readonly address: bigint;
  readonly size: bigint;
}

/** By the first word of the table: the oldest release that writes it so. */
const layouts = new Map([
  [0xfffffffb, 2],
  [0xfffffffa, 16],
  [0xfffffff0, 18],
  [0xfffffff1, 20],
]);
const BUILD_INFO = Buffer.from("\xff Go buildinf:", "latin1");
/** Names are short; a damaged table may point anywhere. */
const longestName = 4096;

export class GoProgram {
  /** `[1, 19]`; what the table's layout tells where the release is not written down. */
  readonly release: readonly [number, number];
  readonly #table: Buffer;
  readonly #layout: number;
  readonly #textStart: bigint;
  #functions: readonly GoFunction[] | undefined;
  #byName: ReadonlyMap<string, GoFunction> | undefined;

  private constructor(elf: Elf, section: Section, layout: number) {
    this.#table = elf.content(section);
    this.#layout = layout;
    this.release = releaseOf(elf) ?? [1, layout];
    // Position-independent programs and newer releases leave the place in the table at zero: all Go code is in .text,
    // and unless C code was linked in, begins it.
    const written = layout >= 18 ? this.#word(2) : 0n;
    this.#textStart = written === 0n ? (elf.section(".text")?.address ?? 0n) : written;
  }

  /** Undefined for what Go did not build, or built before 1.2. */
  static of(elf: Elf): GoProgram | undefined {
    const section = elf.section(".gopclntab") ?? elf.section(".data.rel.ro.gopclntab");
    if (section === undefined || !elf.wide || section.size < 72) return undefined;
    const head = elf.read(section.offset, 8);
    const layout = layouts.get(head.readUInt32LE(0));
    return layout === undefined || head[7] !== 8 ? undefined : new GoProgram(elf, section, layout);
  }

  /** Functions pass arguments and results in registers (amd64 since 1.17). */
  get registers(): boolean {
    return this.release[1] >= 17;
  }

  /**
   * Bytes from the start of the runtime's `g` to the goroutine's id, which no table tells; undefined for releases that
   * are not known. (src/runtime/runtime2.go)
   */
  get goroutineId(): number | undefined {
    const [, minor] = this.release;
    if (minor < 9 || minor > 26) return undefined;
    // 1.23 put syscallbp in front of it, 1.25 took sched.ret away.
    return minor === 23 || minor === 24 ? 160 : 152;
  }

  get functions(): readonly GoFunction[] {
    return (this.#functions ??= this.#read());
  }

  named(name: string): GoFunction | undefined {
    return (this.#byName ??= new Map(this.functions.map((each) => [each.name, each]))).get(name);
  }

  /** The function that an address lies in. */
  at(address: bigint): GoFunction | undefined {
    const all = this.functions;
    const low = firstIndex(all.length, (i) => all[i].address > address);
    const found = all[low - 1];
    return found !== undefined && address < found.address + found.size ? found : undefined;
  }

  #read(): GoFunction[] {
    const table = this.#table;
    const [count, names, entries] =
      this.#layout >= 18
        ? [this.#word(0), this.#word(3), this.#word(7)]
        : this.#layout === 16
          ? [this.#word(0), this.#word(2), this.#word(6)]
          : [this.#word(0), 0n, 16n];
    // From 1.18 on places are 32-bit and relative to the text, before that plain addresses.
    const step = this.#layout >= 18 ? 4 : 8;
    const start = Number(entries);
    const places: { address: bigint; data: number }[] = [];
    for (let i = 0; i <= Number(count) && start + (i * 2 + 1) * step <= table.length; i++) {
      const at = start + i * 2 * step;
      const last = at + 2 * step > table.length || i === Number(count);
      if (step === 4)
        places.push({
          address: this.#textStart + BigInt(table.readUInt32LE(at)),
          data: last ? -1 : start + table.readUInt32LE(at + 4),
        });
      // In the first layout what is said of a function is counted from the table's start.
      else
        places.push({
          address: table.readBigUInt64LE(at),
          data: last ? -1 : Number(table.readBigUInt64LE(at + 8)) + (this.#layout === 2 ? 0 : start),
        });
    }
    const functions: GoFunction[] = [];
    for (const [i, { address, data }] of places.slice(0, -1).entries()) {
      const nameAt = data + step;
      if (nameAt + 4 > table.length || data < 0) continue;
      const from = Number(names) + table.readInt32LE(nameAt);
      const size = places[i + 1].address - address;
      const name = textAt(table, from);
      if (name !== "" && size > 0n) functions.push({ name, address, size });
    }
    return functions;
  }

  /** One of the words behind the first eight bytes. */
  #word(index: number): bigint {
    return this.#table.readBigUInt64LE(8 + index * 8);
  }
}

function textAt(bytes: Buffer, from: number): string {
  if (from < 0 || from >= bytes.length) return "";
  const end = bytes.indexOf(0, from);
  return bytes.toString("utf8", from, Math.min(end < 0 ? bytes.length : end, from + longestName));
}

/** Since 1.18 the release is written into the section; before that, it is somewhere among the data. */
function releaseOf(elf: Elf): [number, number] | undefined {
  const section = elf.section(".go.buildinfo");
  if (section === undefined || section.size < 34) return undefined;
  const bytes = elf.content(section);
  if (!bytes.subarray(0, BUILD_INFO.length).equals(BUILD_INFO)) return undefined;
  const inPlace = (bytes[15] & 2) !== 0;
  const text = inPlace ? bytes.toString("latin1", 33, 33 + Math.min(bytes[32], 64)) : pointedText(elf, bytes);
  const [, major, minor] = /go(\d+)\.(\d+)/.exec(text) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}

/** A pointer to a Go string: where its text is, and how long. */
function pointedText(elf: Elf, bytes: Buffer): string {
  const header = elf.fileOffset(bytes.readBigUInt64LE(16));
  if (header === undefined) return "";
  const [at, length] = [
    elf.read(Number(header), 8).readBigUInt64LE(0),
    elf.read(Number(header) + 8, 8).readBigUInt64LE(0),
  ];
  const text = elf.fileOffset(at);
  return text === undefined || length > 64n ? "" : elf.read(Number(text), Number(length)).toString("latin1");
}
