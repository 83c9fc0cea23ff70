// What a uprobe's trap costs on this machine: a few tenths of a microsecond on some, ten times that in a virtual
// machine in a virtual machine. So it is tried, on a function of the C library in this very process.
import { readFileSync } from "node:fs";
import { bytesOf, Elf } from "../../debuginfo/elf.ts";
import { ElfSymbols } from "../../debuginfo/elf-symbols.ts";
import { loadProgram } from "../../linux/bpf/bpf.ts";
import { LinuxError } from "../../linux/error.ts";
import { closeAllParallel, closeFd, cString, numberFunction } from "../../linux/ffi.ts";
import { openPerfEvent, perfAttach } from "../../linux/perf/perf.ts";
import { pmuType } from "../../linux/kernel/tracefs.ts";

const KPROBE = 2;
/** r0 = 0; exit */
const nothing = Uint8Array.from([0xb7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0]);
/** Short, so that some of them run without an interruption: the least is taken. */
const callsABatch = 8;
const batches = 24;

/** Nanoseconds of an empty uprobe; undefined where it cannot be tried. Takes some milliseconds. */
export function measureUprobe(): number | undefined {
  const type = pmuType("uprobe");
  const library = cLibrary();
  if (type === undefined || library === undefined) return undefined;
  let program = -1;
  let event = -1;
  try {
    const call = numberFunction(library.path, "abs", 1);
    const without = least(call);
    program = loadProgram({ name: "uprobe_cost", type: KPROBE, code: nothing, license: "Dual MIT/GPL" });
    event = openPerfEvent({
      type,
      config: 0,
      config1: cString(library.path),
      config2: library.offset,
      pid: process.pid,
      cpu: -1,
    });
    perfAttach(event, program);
    return Math.max(0, least(call) - without);
  } catch (error) {
    if (error instanceof LinuxError) return undefined;
    throw error;
  } finally {
    if (program >= 0) closeFd(program);
    // The kernel takes its time over it, which nobody needs to wait for.
    if (event >= 0) void closeAllParallel([event]);
  }
}

function least(call: (value: number) => number): number {
  let best = Infinity;
  for (let batch = 0; batch < batches; batch++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < callsABatch; i++) call(i);
    best = Math.min(best, Number(process.hrtime.bigint() - start) / callsABatch);
  }
  return best;
}

/** The C library of this process, and where abs() begins in its file. */
function cLibrary(): { readonly path: string; readonly offset: bigint } | undefined {
  const path = /^\S+ r-xp .*\s(\/\S*\/libc(?:\.so\.6|-[\d.]+\.so|\.musl\S*))$/m.exec(
    readFileSync("/proc/self/maps", "utf8"),
  )?.[1];
  if (path === undefined) return undefined;
  const elf = new Elf(bytesOf(readFileSync(path)));
  const address = new ElfSymbols(elf).find("abs")?.address;
  const offset = address === undefined ? undefined : elf.fileOffset(address);
  return offset === undefined ? undefined : { path, offset };
}
