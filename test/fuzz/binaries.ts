// What compilers and linkers write: ELF, DWARF, BTF, unwinding tables, code.
import { Btf } from "../../src/debuginfo/btf.ts";
import { CallFrames } from "../../src/debuginfo/call-frames.ts";
import { flowOf } from "../../src/debuginfo/code-flow.ts";
import { openDebugInfo } from "../../src/debuginfo/dwarf/debug-info.ts";
import type { DebugInfo } from "../../src/debuginfo/dwarf/facts.ts";
import { alternateLink, hasDebugInfo } from "../../src/debuginfo/dwarf/input-files.ts";
import { buildIdIn, notesIn } from "../../src/debuginfo/elf-notes.ts";
import { ElfSymbols } from "../../src/debuginfo/elf-symbols.ts";
import { bytesOf, Elf } from "../../src/debuginfo/elf.ts";
import { functionEnds } from "../../src/debuginfo/function-ends.ts";
import { GoProgram } from "../../src/debuginfo/go-functions.ts";
import { disassemble } from "../../src/debuginfo/instructions.ts";
import { landingPads } from "../../src/debuginfo/landing-pads.ts";
import { libraryNames, librariesNamed } from "../../src/debuginfo/loader-cache.ts";
import { placedElf } from "../../src/debuginfo/placed-elf.ts";
import { pltEntries } from "../../src/debuginfo/plt.ts";
import { libraryThreadLocals } from "../../src/debuginfo/thread-locals.ts";
import { unwindTable } from "../../src/debuginfo/unwind-table.ts";
import { uprobeRefusal } from "../../src/debuginfo/uprobe-refusals.ts";
import { usdtNotes } from "../../src/debuginfo/usdt-notes.ts";
import { decompressXz } from "../../src/linux/xz.ts";
import { isDamage } from "../../src/providers/registry.ts";
import { btfSeeds, elfSeeds, loaderCacheSeeds, packedSeeds, sectionSeeds, splitDwarf } from "./seeds.ts";
import type { Target } from "./target.ts";
import { embeddedSymbols } from "../../src/machine/binaries/packed-elf.ts";

/** Goes on with what else is asked of a file that is damaged in one place. */
function each(...questions: readonly (() => unknown)[]): void {
  for (const question of questions) {
    try {
      question();
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
  }
}

function first<T>(items: Iterable<T>, most: number): T[] {
  const found: T[] = [];
  for (const item of items) {
    if (found.length === most) break;
    found.push(item);
  }
  return found;
}

const open = (input: Buffer): Elf => new Elf(bytesOf(input));

function readElf(input: Buffer): void {
  const elf = open(input);
  const symbols = new ElfSymbols(elf);
  each(
    () => elf.sections.map((section) => elf.content(section)),
    () => elf.buildId,
    () => elf.interpreter,
    () => elf.segments.map(({ address }) => elf.fileOffset(address)),
    () => elf.addressOf(0x1000n),
    () => embeddedSymbols(elf),
    () => first(symbols, 200).map(({ name }) => symbols.find(name)),
    () => symbols.functionAt(0x1140n),
    () => usdtNotes(elf),
    () => pltEntries(elf),
    () => libraryThreadLocals(elf),
    () => hasDebugInfo(elf),
    () => alternateLink(elf),
    () => {
      const go = GoProgram.of(elf);
      first(go?.functions ?? [], 10).map(({ name }) => go?.named(name));
    },
  );
}

function readFrames(input: Buffer): void {
  const frames = CallFrames.of(open(input));
  if (frames === undefined) return;
  each(
    () => unwindTable(frames),
    () => frames.rowAt(0x1140n),
    () => frames.cfaAt(0x1140n),
    () => {
      const data = frames.languageDataAt(0x1140n);
      return data && landingPads(input.subarray(0, 4096), data.low);
    },
  );
}

function readDwarf(input: Buffer): void {
  const elf = open(input);
  if (hasDebugInfo(elf)) ask(openDebugInfo({ binary: elf, debug: elf }));
}

/** Of a sound program, whose entries are in the input: a file of one unit's, or a package of many. */
function readSplitDwarf(input: Buffer): void {
  const { binary } = splitDwarf();
  const elf = open(binary);
  const other = open(input);
  const packed = other.section(".debug_cu_index") !== undefined;
  ask(
    openDebugInfo({
      binary: elf,
      debug: elf,
      split: () => (packed ? undefined : other),
      package: () => (packed ? other : undefined),
    }),
  );
}

function ask(info: DebugInfo): void {
  const functions: string[] = [];
  each(
    () => functions.push(...first(info.functionNames(), 12)),
    () => info.framesAt(0x1140n),
    () => info.variablesAt(0x1145n),
    () => info.functionAt(0x1140n),
  );
  for (const name of new Set([...functions, "main", "add", "g"])) {
    each(() => {
      for (const fn of info.functionsNamed(name).slice(0, 4)) {
        for (const instance of fn.instances.slice(0, 4)) {
          each(
            () => info.afterPrologue(instance),
            () => instance.ranges.map(({ low }) => [info.variablesAt(low), info.framesAt(low)]),
          );
        }
      }
    });
  }
  each(
    () =>
      first(info.sourceFiles(), 6).map((file) => [
        first(info.lines(file), 50),
        info.linePlaces(file, {
          ranges: [
            { first: 8, last: 8 },
            { first: 9, last: 40 },
          ],
        }),
      ]),
    () => info.globalsNamed("counter"),
    () => info.globalsNamed("mine"),
    () => info.typeNamed("point", "struct"),
    () => info.typeNamed("Base"),
    () => info.typeNamed("P"),
    () => info.typeNamed("Box<long>"),
  );
}

function readBtf(input: Buffer): void {
  const btf = new Btf(input);
  for (const name of ["point", "list", "color", "absent", "point_t", "RED"])
    each(
      () => btf.find(name),
      () => btf.findAll(name),
      () => btf.enumConstant(name),
    );
  for (let id = 0; id < 24; id++)
    each(
      () => btf.type(id),
      () => btf.name(id),
      () => btf.kind(id),
      () => btf.strip(id),
      () => btf.member(id, "next"),
    );
  each(
    () => btf.index(),
    () => btf.stringOffset("point"),
  );
}

export const binaryTargets: readonly Target[] = [
  { name: "elf", seeds: elfSeeds, refuses: isDamage, run: readElf },
  {
    name: "placed-elf",
    seeds: elfSeeds,
    refuses: isDamage,
    run(input) {
      const elf = open(input);
      input.writeUInt16LE(1, 16);
      readElf(
        Buffer.from(
          placedElf(open(input), new Map(elf.sections.map(({ name }, i) => [name, BigInt(0x1000 * (i + 1))]))).read(
            0,
            64,
          ),
        ),
      );
      const placed = placedElf(
        open(input),
        new Map(elf.sections.map(({ name }, i) => [name, BigInt(0x1000 * (i + 1))])),
      );
      each(
        () => placed.sections.map((section) => placed.content(section)),
        () => first(new ElfSymbols(placed), 100),
      );
    },
  },
  { name: "frames", seeds: elfSeeds, refuses: isDamage, run: readFrames },
  { name: "dwarf", seeds: elfSeeds, refuses: isDamage, run: readDwarf },
  { name: "split-dwarf", seeds: () => splitDwarf().files, refuses: isDamage, run: readSplitDwarf },
  { name: "btf", seeds: btfSeeds, refuses: isDamage, run: readBtf },
  {
    name: "notes",
    seeds: sectionSeeds(".note.gnu.build-id", ".note.stapsdt", ".note.ABI-tag", ".note.gnu.property"),
    refuses: isDamage,
    run: (input) => void [first(notesIn(input), 1000), buildIdIn(input)],
  },
  {
    name: "landing-pads",
    seeds: sectionSeeds(".gcc_except_table"),
    refuses: () => false,
    run: (input) => void landingPads(input, 0x1000n),
  },
  {
    name: "loader-cache",
    seeds: loaderCacheSeeds,
    refuses: () => false,
    run: (input) => void [libraryNames(input), librariesNamed(input, "libc.so.6", "x86-64")],
  },
  { name: "xz", seeds: packedSeeds, refuses: () => false, run: (input) => void decompressXz(input) },
  {
    name: "code",
    seeds: sectionSeeds(".text"),
    refuses: () => false,
    run(input) {
      const code = input.subarray(0, 4096);
      const range = { address: 0x1000n, bytes: code };
      flowOf([range], 0x1000n, {
        read: (address, length) =>
          address >= 0x1000n && address < 0x2000n
            ? code.subarray(Number(address - 0x1000n), Number(address - 0x1000n) + length)
            : undefined,
      });
      functionEnds([range]);
      uprobeRefusal(code.subarray(0, 15));
      disassemble(code, 0x1000n, () => undefined);
    },
  },
];
