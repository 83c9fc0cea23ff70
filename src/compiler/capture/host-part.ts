// What of a handler only the host can do: what is said to be the host's, and all that depends on it.
import type { Instruction, IrBlock, IrFunction, IrModule, Value } from "../ir/ir.ts";
import { loopsOf } from "../optimize/graph.ts";
import { operandsOf, resultOf, terminatorOperands } from "../optimize/operands.ts";
import type { Control } from "./control.ts";
import { isGathered, natureOf, slotsRead, slotWritten } from "./operations.ts";

/** What is known of where things are, while it is found out; it only grows. */
export interface Homes {
  /** Maps that live on the host, and the instruction that says so. */
  readonly maps: Map<number, Instruction | undefined>;
  /** Instructions that run on the host although the kernel could do them. */
  readonly late: Set<Instruction>;
  /** The script writes memory of its own: an address that only the host knows leads there. */
  readonly hasMemory: boolean;
}

function readsMemory(i: Instruction): boolean {
  return (
    (i.op === "read" && i.space !== "typed") ||
    (i.op === "fill" && (i.source.kind === "memory" || i.source.kind === "string" || i.source.kind === "buffer"))
  );
}

export interface HostPart {
  /** Instructions that run on the host, each with the one that it depends on (or itself). */
  readonly host: ReadonlyMap<Instruction, Instruction>;
  /** Values and slots that only the host has, and the instruction that they come from. */
  readonly values: ReadonlyMap<Value, Instruction>;
  readonly slots: ReadonlyMap<number, Instruction>;
  /** Blocks of which the host decides whether they run. */
  readonly blocks: ReadonlyMap<number, Instruction>;
  /**
   * Blocks that run unless the host leaves the handler before them: the kernel computes them in any case, and what they
   * do is done by the host.
   */
  readonly guarded: ReadonlyMap<number, Instruction>;
}

/** What a loop over a map does, with all loops in its body. */
export interface LoopBody {
  readonly reads: ReadonlySet<number>;
  readonly writes: ReadonlySet<number>;
  /** Something that only the host does. */
  readonly host: Instruction | undefined;
  readonly instructions: readonly Instruction[];
}

/** `around`: functions whose bodies are being looked at, one of which may call itself. */
export function loopBody(
  module: Pick<IrModule, "functions" | "maps">,
  callback: number,
  homes: Homes,
  around: ReadonlySet<number> = new Set(),
): LoopBody {
  const within = new Set([...around, callback]);
  const reads = new Set<number>();
  const writes = new Set<number>();
  const instructions: Instruction[] = [];
  let host: Instruction | undefined;
  for (const { instructions: all } of module.functions[callback].blocks) {
    for (const i of all) {
      instructions.push(i);
      const nature = natureOf(i);
      if (nature === "map-read" && "map" in i) reads.add(i.map);
      if (nature === "map-write" && "map" in i) writes.add(i.map);
      if (isForHost(module, i, homes, within)) host ??= i;
      if ((i.op !== "for-each" && i.op !== "call") || within.has(i.callback)) continue;
      const inner = loopBody(module, i.callback, homes, within);
      for (const map of inner.reads) reads.add(map);
      for (const map of inner.writes) writes.add(map);
      instructions.push(...inner.instructions);
      if (i.op === "for-each") reads.add(i.map);
      host ??= inner.host;
    }
  }
  return { reads, writes, host, instructions };
}

/** Whether an instruction by itself is the host's: what it works on need not be. */
export function isForHost(
  module: Pick<IrModule, "functions" | "maps">,
  i: Instruction,
  homes: Homes,
  around?: ReadonlySet<number>,
): boolean {
  if (homes.late.has(i) || i.op === "host-text") return true;
  switch (natureOf(i)) {
    case "send":
      return true;
    case "map-read":
    case "map-write":
      return "map" in i && (homes.maps.has(i.map) || (i.op === "aggregate-read" && isGathered(module, i)));
    case "loop":
      if (i.op === "call") return true;
      return (
        i.op === "for-each" &&
        (i.order !== undefined ||
          i.limit !== undefined ||
          homes.maps.has(i.map) ||
          loopBody(module, i.callback, homes, around).host !== undefined)
      );
    default:
      return false;
  }
}

export function hostPart(fn: IrFunction, module: IrModule, control: Control, homes: Homes): HostPart {
  const host = new Map<Instruction, Instruction>();
  const values = new Map<Value, Instruction>();
  const slots = new Map<number, Instruction>();
  const blocks = new Map<number, Instruction>();
  const guarded = new Map<number, Instruction>();
  const loops = loopsOf(fn.blocks);
  const guards = fn.blocks.map((_, id) => wayOn(fn.blocks, loops, id) !== undefined);
  let changed = true;
  const note = <K>(map: Map<K, Instruction>, key: K | undefined, origin: Instruction | undefined): void => {
    if (key === undefined || origin === undefined || map.has(key)) return;
    map.set(key, origin);
    changed = true;
  };
  const visit = (i: Instruction, id: number): void => {
    const data = dependsOn(i, { values, slots });
    const decided = blocks.get(id);
    const nature = natureOf(i);
    const own = isForHost(module, i, homes) ? i : undefined;
    // Of the kernel's maps as well as of the host's: what is not known in the kernel cannot be done there.
    const onHost =
      own ??
      (nature === "map-read" || nature === "map-write" || nature === "loop" ? (data ?? decided) : undefined) ??
      (nature === "map-write" || nature === "loop" ? guarded.get(id) : undefined) ??
      (homes.hasMemory && readsMemory(i) ? data : undefined);
    if (onHost !== undefined) {
      note(host, i, onHost);
      note(values, resultOf(i), onHost);
      note(slots, slotWritten(i), onHost);
      return;
    }
    note(values, resultOf(i), data);
    // Whether it is written at all is then the host's to say.
    note(slots, slotWritten(i), data ?? decided);
  };
  while (changed) {
    changed = false;
    fn.blocks.forEach((block, id) => {
      for (const i of block.instructions) visit(i, id);
      for (const decider of control.deciders[id]) {
        const [condition] = terminatorOperands(fn.blocks[decider].terminator);
        const isBranch = fn.blocks[decider].terminator.op === "branch";
        const origin = isBranch ? values.get(condition) : undefined;
        note(guards[decider] ? guarded : blocks, id, origin);
        note(blocks, id, blocks.get(decider));
        note(guarded, id, guarded.get(decider));
      }
    });
    fn.blocks.forEach((block, from) => {
      const { terminator } = block;
      if (terminator.op !== "jump") return;
      fn.blocks[terminator.to].parameters.forEach((parameter, i) => {
        note(values, parameter, values.get(terminator.args[i]));
        if (!isSame(fn.blocks, terminator.to, i)) note(values, parameter, blocks.get(from));
      });
    });
  }
  return { host, values, slots, blocks, guarded };
}

/** Of a branch in no loop of which one way does nothing but leave the handler: the other way. */
export function wayOn(
  blocks: readonly IrBlock[],
  loops: readonly (readonly number[] | undefined)[],
  id: number,
): number | undefined {
  const { terminator } = blocks[id];
  // Rounds that the host ends would not end in the kernel.
  if (terminator.op !== "branch" || loops[id] !== undefined) return undefined;
  if (onlyLeaves(blocks, terminator.then)) return terminator.otherwise;
  return onlyLeaves(blocks, terminator.otherwise) ? terminator.then : undefined;
}

function onlyLeaves(blocks: readonly IrBlock[], from: number): boolean {
  const seen = new Set<number>();
  for (let id = from; !seen.has(id);) {
    seen.add(id);
    const { instructions, terminator } = blocks[id];
    if (instructions.length > 0) return false;
    if (terminator.op === "return") return true;
    if (terminator.op !== "jump") return false;
    id = terminator.to;
  }
  return false;
}

function dependsOn(
  i: Instruction,
  { values, slots }: { readonly values: Map<Value, Instruction>; readonly slots: Map<number, Instruction> },
): Instruction | undefined {
  for (const value of operandsOf(i)) {
    const origin = values.get(value);
    if (origin !== undefined) return origin;
  }
  for (const slot of slotsRead(i)) {
    const origin = slots.get(slot);
    if (origin !== undefined) return origin;
  }
  return undefined;
}

/** Every way into a block brings the same. */
function isSame(blocks: readonly IrBlock[], to: number, parameter: number): boolean {
  const brought = new Set(
    blocks.flatMap(({ terminator }) =>
      terminator.op === "jump" && terminator.to === to ? [terminator.args[parameter]] : [],
    ),
  );
  return brought.size === 1;
}
