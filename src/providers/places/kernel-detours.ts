// Where control goes in the kernel's code that the code does not show: static branches, which the kernel patches (`asm
// goto` with a jump label), and instructions that may fault, with the code that is then run instead.
import type { Surroundings } from "./inlined-ends.ts";
import { namesIn } from "./function-code.ts";
import type { Binary, KernelImage, System } from "../../machine/system.ts";

/**
 * struct jump_entry (include/linux/jump_label.h) and struct exception_table_entry (arch/x86/include/asm/extable.h):
 * distances first.
 */
const tables = [
  { start: "__start___jump_table", end: "__stop___jump_table", bytes: 16 },
  { start: "__start___ex_table", end: "__stop___ex_table", bytes: 12 },
] as const;

/**
 * Kernels that must not leave returns to the processor's prediction return through code of their own
 * (arch/x86/lib/retpoline.S).
 */
const returnThunk = /(^|_)return_thunk$/;

const known = new WeakMap<Binary, Surroundings>();

export function kernelSurroundings({ binary, slide }: KernelImage, system: System): Surroundings {
  let found = known.get(binary);
  if (found === undefined) {
    const names = namesIn(binary);
    const thunks = new Map<bigint, boolean>();
    const isReturn = (target: bigint): boolean => {
      let is = thunks.get(target);
      if (is === undefined) thunks.set(target, (is = returnThunk.test(names(target)?.name ?? "")));
      return is;
    };
    known.set(binary, (found = { detours: detoursOf(binary, slide, system), isReturn }));
  }
  return found;
}

/** The linker's names of the tables are of no kind that programs probe: the running kernel tells them. */
function detoursOf(binary: Binary, slide: bigint, system: System): ReadonlyMap<bigint, readonly bigint[]> {
  const detours = new Map<bigint, bigint[]>();
  for (const { start, end, bytes } of tables) {
    const [from, to] = [system.symbolAddress(start), system.symbolAddress(end)];
    const offset = from === undefined ? undefined : binary.fileOffset(from - slide);
    if (from === undefined || to === undefined || to <= from || offset === undefined) continue;
    const table = Buffer.from(binary.read(offset, Number(to - from)));
    for (let at = 0; at + bytes <= table.length; at += bytes) {
      const code = from - slide + BigInt(at + table.readInt32LE(at));
      const target = from - slide + BigInt(at + 4 + table.readInt32LE(at + 4));
      const same = detours.get(code);
      if (same === undefined) detours.set(code, [target]);
      else same.push(target);
    }
  }
  return detours;
}
