// Loops whose rounds the verifier cannot count: those that a guard ends, and the callbacks of loops over maps. It walks
// round after round until one begins as an earlier one did. While it is at it, two ways through the body are one again
// only where they have left the same on the stack, read later or not: with some branches that each write a key, it
// walks all combinations of them. What lies in scratch memory it does not follow.
import type { Capabilities } from "../../linux/kernel/capabilities.ts";
import type { Instruction, IrBlock, IrFunction } from "../ir/ir.ts";
import { forEachSlot } from "../optimize/dead-code.ts";
import { loopsOf } from "../optimize/graph.ts";

/** The blocks that run in such loops. */
export function uncountedBlocks({ kind, blocks }: IrFunction): ReadonlySet<number> {
  if (kind !== "handler") return new Set(blocks.keys());
  return new Set([...new Set(guarded(blocks).map(({ loop }) => loop))].flat());
}

/** Blocks that end in a guard, and the blocks of the loop that it guards. */
function guarded(
  blocks: readonly IrBlock[],
): { readonly guard: number; readonly rounds: number | undefined; readonly loop: readonly number[] }[] {
  if (!blocks.some(({ terminator }) => terminator.op === "guard")) return [];
  const loops = loopsOf(blocks);
  return blocks.flatMap(({ terminator }, guard) =>
    terminator.op === "guard" ? [{ guard, rounds: terminator.rounds, loop: loops[guard] ?? noBlocks }] : [],
  );
}

const noBlocks: readonly number[] = [];

/**
 * The same without the guards of loops that end by themselves, where the verifier rather walks their rounds one by one:
 * those with few branches. `can`: guards cost no rounds on this kernel.
 */
export function withoutNeedlessGuards(
  fn: IrFunction,
  capabilities: Pick<Capabilities, "mayGoto">,
  easyToVerify: boolean,
): IrFunction {
  const loops = guarded(fn.blocks);
  const counted = loops.filter(({ rounds }) => rounds !== undefined);
  if (counted.length === 0) return fn;
  const uncounted = new Set(
    fn.kind !== "handler"
      ? fn.blocks.keys()
      : [...new Set(loops.flatMap(({ rounds, loop }) => (rounds === undefined ? [loop] : [])))].flat(),
  );
  const branches = new Map<readonly number[], number>();
  for (const { loop } of counted)
    if (!branches.has(loop))
      branches.set(
        loop,
        loop.reduce((sum, id) => sum + branchesInBlock(fn.blocks[id]), -1),
      );
  const needless = new Set(
    counted.flatMap(({ guard, rounds = 0, loop }) => {
      const within = branches.get(loop) ?? 0;
      const kept =
        capabilities.mayGoto && within > 0 && (easyToVerify || uncounted.has(guard) || rounds * within > mostCounted);
      return kept ? [] : [guard];
    }),
  );
  const blocks = fn.blocks.map((block, id): IrBlock => {
    const { terminator } = block;
    return terminator.op === "guard" && needless.has(id)
      ? { ...block, terminator: { op: "jump", to: terminator.body, args: [] } }
      : block;
  });
  return { ...fn, blocks };
}

/** Rounds by branches in each. */
const mostCounted = 64;

/** Whether the verifier has much to walk through in a loop of so many rounds. */
export function roundsMatter(rounds: number | undefined, loop: readonly IrBlock[]): boolean {
  const within = loop.reduce((sum, block) => sum + branchesInBlock(block), 0);
  return within > 0 && (rounds === undefined || rounds * within > mostCounted);
}

/** The slots that a function uses in such loops, when these have more branches than `most`. */
export function crowdedSlots(fn: IrFunction, most: number): ReadonlySet<number> {
  const slots = new Set<number>();
  let branches = 0;
  for (const id of uncountedBlocks(fn)) {
    branches += branchesInBlock(fn.blocks[id]);
    for (const instruction of fn.blocks[id]?.instructions ?? []) {
      if (instruction.op !== "for-each" && instruction.op !== "rounds" && instruction.op !== "address-of")
        forEachSlot(instruction, (slot) => slots.add(slot));
    }
  }
  return branches > most ? slots : new Set();
}

function branchesInBlock(block: IrBlock | undefined): number {
  if (block === undefined) return 0;
  return block.instructions.reduce(
    (sum, instruction) => sum + branchesIn(instruction),
    block.terminator.op === "branch" ? 1 : 0,
  );
}

/** About how many branches an operation is written with; loops over text end after any of its characters. */
function branchesIn(instruction: Instruction): number {
  switch (instruction.op) {
    case "entry-load":
    case "entry-copy":
    case "emit":
    case "fill-element":
    case "compare-strings":
    case "compare-bytes":
      return 1;
    case "map-make":
      return 2;
    case "map-store":
      return instruction.key === undefined ? 0 : 2;
    case "map-add":
      return instruction.key === undefined ? 0 : 3;
    case "aggregate":
      return instruction.key === undefined ? 1 : 3;
    case "concat-strings":
    case "cut-string":
    case "aggregate-read":
      return 2;
    case "string-length":
    case "find-string":
      return 8;
    default:
      return 0;
  }
}
