// Instructions that a kprobe cannot be on, as far as their bytes tell. The kernel imitates what must not run elsewhere
// (arch/x86/kernel/kprobes/core.c, prepare_emulation, since Linux 5.13), and refuses what it cannot imitate. What it
// patches as it runs (static branches, static calls) it refuses when it is asked.
import type { Refusal } from "./uprobe-refusals.ts";
import { instructionReasons } from "../messages/on-demand.ts";

/** Of legacy kinds: sizes, segments, lock, repetition. */
const prefixes = new Set([0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3]);

/** Why there can be no kprobe on the instruction that these bytes begin with; undefined when there can. */
export function kprobeRefusal(code: Uint8Array): Refusal | undefined {
  let at = 0;
  while (prefixes.has(code[at])) at++;
  if ((code[at] & 0xf0) === 0x40) at++;
  const modrm = code[at + 1];
  switch (code[at]) {
    case 0xcc:
      return { reason: instructionReasons().breakpoint() };
    case 0xcf:
      return { reason: instructionReasons().iretNotImitated() };
    case 0x0f:
      return modrm === 0x0b ? { reason: instructionReasons().warns() } : undefined;
    case 0xff:
      return indirect((modrm >> 3) & 7, modrm >> 6);
    default:
      return undefined;
  }
}

/** Group 5 (Intel SDM, volume 2, appendix A.4): calls 2 and 3, jumps 4 and 5; of those 3 and 5 are far ones. */
function indirect(operation: number, mode: number): Refusal | undefined {
  if (operation < 2 || operation > 5 || ((operation === 2 || operation === 4) && mode === 3)) return undefined;
  const what = operation < 4 ? "calls" : "jumps";
  return { reason: instructionReasons().throughMemory(what) };
}
