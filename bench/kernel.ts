// What the benchmarks ask of the kernel: programs' figures, and loading a handler that clang compiled. Bundled by
// run.mjs.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileScript } from "../src/api/compile.ts";
import type { Compiled } from "../src/compiler/compile.ts";
import { compileScript as compileRandom } from "../test/support/differential.ts";
import { render } from "../test/support/random-pieces.ts";
import { randomProgram } from "../test/support/random-programs.ts";
import { machinePasses } from "../src/compiler/bpf/passes.ts";
import { passes } from "../src/compiler/optimize/optimize.ts";
import { CallFrames } from "../src/debuginfo/call-frames.ts";
import { Btf } from "../src/debuginfo/btf.ts";
import { bytesOf, Elf, type Section, textAt } from "../src/debuginfo/elf.ts";
import { unwindTable } from "../src/debuginfo/unwind-table.ts";
import {
  createMap,
  enableStats,
  linkCreatePerfEvent,
  listPrograms,
  loadProgram,
  type ProgramInfo,
  rawTracepointOpen,
} from "../src/linux/bpf/bpf.ts";
import { closeFd } from "../src/linux/ffi.ts";
import { openPerfEvent } from "../src/linux/perf/perf.ts";
import { pmuType } from "../src/linux/kernel/tracefs.ts";
import { UnwindCache } from "../src/session/live/unwinding/unwind-cache.ts";
import { UnwindNodes } from "../src/session/live/unwinding/unwind-trees.ts";

export { closeFd, enableStats, listPrograms };

/** Everything that runs in the kernel now, by id. */
export function programsById(): Map<number, ProgramInfo> {
  return new Map(listPrograms().map((program) => [program.id, program]));
}

/** Whether a process holds a program. */
export function holds(pid: number, program: number): boolean {
  return readdirSync(`/proc/${pid}/fdinfo`).some((fd) => {
    try {
      return readFileSync(`/proc/${pid}/fdinfo/${fd}`, "latin1").includes(`prog_id:\t${program}\n`);
    } catch {
      return false; // closed meanwhile
    }
  });
}

/** Where in the file a function begins. */
export function functionOffset(path: string, name: string): number {
  const elf = new Elf(bytesOf(readFileSync(path)));
  const symbol = symbolsOf(elf).find((one) => one.name === name);
  const offset = symbol === undefined ? undefined : elf.fileOffset(BigInt(symbol.value));
  if (offset === undefined) throw new Error(`${path} has no function ${name}`);
  return Number(offset);
}

/** -D options with the offsets of the members that handlers name: TASK_REAL_PARENT and so on. */
export function memberOffsets(): string[] {
  const btf = new Btf(readFileSync("/sys/kernel/btf/vmlinux"));
  const id = btf.find("task_struct", "struct");
  const type = id === undefined ? undefined : btf.type(id);
  if (type?.kind !== "struct") throw new Error("the kernel's type information has no task_struct");
  return ["real_parent", "pid", "comm"].map((name) => {
    const member = type.members.find((one) => one.name === name);
    if (member === undefined) throw new Error(`task_struct has no ${name}`);
    return `-DTASK_${name.toUpperCase()}=${member.bitOffset / 8}`;
  });
}

const KPROBE = 2;
const RAW_TRACEPOINT = 17;
const ARRAY = 2;
const SHT_REL = 9;
const SHT_SYMTAB = 2;
const SYMBOL_BYTES = 24;
const PSEUDO_MAP_FD = 1;
const PSEUDO_MAP_VALUE = 2;

interface Symbol {
  readonly name: string;
  readonly section: number;
  readonly value: number;
  readonly type: number;
}

/** A loaded and attached object file; disposing it lets go of everything. */
export class CompiledHandler implements Disposable {
  readonly #fds: number[] = [];

  /**
   * `functions`: file offsets in `binary` of the functions that uprobes name.
   * @throws LinuxError
   */
  constructor(path: string, binary: string, functions: Readonly<Record<string, number>>) {
    const elf = new Elf(bytesOf(readFileSync(path)));
    const symbols = symbolsOf(elf);
    try {
      const { maps, memory } = this.#makeMaps(elf, symbols);
      for (const section of elf.sections) {
        const [kind, target] = section.name.split("/");
        if (target === undefined || (kind !== "raw_tp" && kind !== "uprobe")) continue;
        const code = relocate(elf, section, symbols, maps, memory);
        const type = kind === "uprobe" ? KPROBE : RAW_TRACEPOINT;
        const program = this.#own(loadProgram({ name: target, type, code, license: "Dual MIT/GPL" }));
        if (kind === "raw_tp") this.#own(rawTracepointOpen(target, program));
        else {
          const event = {
            type: pmuType("uprobe") ?? 0,
            config: 0,
            config1: Buffer.from(`${binary}\0`),
            config2: functions[target] ?? 0,
          };
          const perf = this.#own(openPerfEvent({ ...event, pid: -1, cpu: 0 }));
          this.#own(linkCreatePerfEvent(program, perf, 0n));
        }
      }
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  #own(fd: number): number {
    this.#fds.push(fd);
    return fd;
  }

  /** Descriptors: of each map by its place in the section "maps", and of the array that is .bss. */
  #makeMaps(elf: Elf, symbols: readonly Symbol[]): { maps: Map<number, number>; memory: number } {
    const maps = new Map<number, number>();
    const section = elf.section("maps");
    if (section !== undefined) {
      const content = elf.content(section);
      for (const { name, value } of symbols.filter(
        (symbol) => symbol.section === section.index && symbol.name !== "",
      )) {
        const [type, keySize, valueSize, entries, flags] = [0, 4, 8, 12, 16].map((at) =>
          content.readUInt32LE(value + at),
        );
        maps.set(value, this.#own(createMap({ name, type, keySize, valueSize, entries, flags })));
      }
    }
    const bss = elf.section(".bss");
    const memory =
      bss === undefined || bss.size === 0
        ? -1
        : this.#own(createMap({ name: "bss", type: ARRAY, keySize: 4, valueSize: bss.size, entries: 1, flags: 0 }));
    return { maps, memory };
  }

  [Symbol.dispose](): void {
    for (const fd of this.#fds.splice(0).reverse()) closeFd(fd);
  }
}

function symbolsOf(elf: Elf): Symbol[] {
  const table = elf.sections.find(({ type }) => type === SHT_SYMTAB);
  if (table === undefined) throw new Error("the object has no symbols");
  const content = elf.content(table);
  const names = elf.content(elf.sections[table.link]);
  const symbols: Symbol[] = [];
  for (let at = 0; at < content.length; at += SYMBOL_BYTES) {
    symbols.push({
      name: textAt(names, content.readUInt32LE(at)),
      type: content[at + 4] & 15,
      section: content.readUInt16LE(at + 6),
      value: Number(content.readBigUInt64LE(at + 8)),
    });
  }
  return symbols;
}

/** R_BPF_64_64 is all there is: a map's descriptor, or an address in .bss. */
function relocate(
  elf: Elf,
  section: Section,
  symbols: readonly Symbol[],
  maps: ReadonlyMap<number, number>,
  memory: number,
): Uint8Array {
  const code = Buffer.from(elf.content(section));
  const relocations = elf.sections.find(({ type, name }) => type === SHT_REL && name === `.rel${section.name}`);
  const entries = relocations === undefined ? Buffer.alloc(0) : elf.content(relocations);
  for (let entry = 0; entry < entries.length; entry += 16) {
    const at = Number(entries.readBigUInt64LE(entry));
    const symbol = symbols[entries.readUInt32LE(entry + 12)];
    const isMap = elf.sections[symbol.section].name === "maps";
    code[at + 1] = (code[at + 1] & 15) | ((isMap ? PSEUDO_MAP_FD : PSEUDO_MAP_VALUE) << 4);
    if (!isMap) code.writeInt32LE(code.readInt32LE(at + 4) + symbol.value, at + 12);
    code.writeInt32LE(isMap ? (maps.get(symbol.value) ?? -1) : memory, at + 4);
  }
  return code;
}

/** Instructions of a script's programs as they are compiled, before the verifier: all, or with passes left out. */
export function compiledInstructions(script: string, withoutPasses: readonly string[] = []): number {
  return instructionsOf(compileScript({ name: "bench", text: script }, { withoutPasses, unsafe: true }));
}
/** The same of a random program of the differential tests. */
export function randomInstructions(seed: number, withoutPasses: readonly string[] = []): number {
  return instructionsOf(compileRandom(render(randomProgram(seed).pieces), withoutPasses));
}
function instructionsOf({ plan, diagnostics }: Compiled): number {
  if (plan === undefined) throw new Error(diagnostics[0]?.message);
  return plan.bpf.programs.reduce((sum, { code }) => sum + code.length / 8, 0);
}
export const passNames: readonly string[] = [...passes.map(({ name }) => name), ...machinePasses];

/**
 * A binary's unwinding table: its rows, bytes in the kernel's maps, and the least milliseconds that it takes to make
 * and to read again.
 */
export function unwindingTable(path: string): {
  readonly rows: number;
  readonly bytes: number;
  readonly made: number;
  readonly read: number;
} {
  const folder = mkdtempSync(join(tmpdir(), "strobe-bench-"));
  const { STROBE_CACHE } = process.env;
  process.env["STROBE_CACHE"] = folder;
  const cache = new UnwindCache();
  try {
    let [rows, bytes, made, read] = [0, 0, Infinity, Infinity];
    for (let i = 0; i < 5; i++) {
      const start = performance.now();
      const elf = new Elf(bytesOf(readFileSync(path)));
      const frames = CallFrames.of(elf);
      if (frames === undefined || elf.buildId === undefined) throw new Error(`${path} has no tables or no build id`);
      const table = unwindTable(frames);
      made = Math.min(made, performance.now() - start);
      cache.write(elf.buildId, table);
      const before = performance.now();
      cache.read(elf.buildId);
      read = Math.min(read, performance.now() - before);
      bytes = 0;
      new UnwindNodes((_, node) => {
        bytes += node.length;
      }).add(table);
      rows = table.starts.length;
    }
    return { rows, bytes, made, read };
  } finally {
    if (STROBE_CACHE === undefined) delete process.env["STROBE_CACHE"];
    else process.env["STROBE_CACHE"] = STROBE_CACHE;
    rmSync(folder, { recursive: true });
  }
}
