// The shortest ways through the code, before registers are assigned: jumps to jumps go where those lead, a branch
// around a jump is turned round, and endings that are alike are one. Nothing here makes a way longer.
import { firstIndex } from "../../base/first-index.ts";
import type { Condition } from "../../bpf/instruction.ts";
import { Jump } from "../../bpf/instruction.ts";
import { jumpTarget, type MachineInstruction } from "./machine.ts";

/** What holds when a condition does not; none for JSET. */
export const negations: Partial<Record<Condition, Condition>> = {
  [Jump.JEQ]: Jump.JNE,
  [Jump.JNE]: Jump.JEQ,
  [Jump.JGT]: Jump.JLE,
  [Jump.JLE]: Jump.JGT,
  [Jump.JGE]: Jump.JLT,
  [Jump.JLT]: Jump.JGE,
  [Jump.JSGT]: Jump.JSLE,
  [Jump.JSLE]: Jump.JSGT,
  [Jump.JSGE]: Jump.JSLT,
  [Jump.JSLT]: Jump.JSGE,
};

export function straighten(code: readonly MachineInstruction[], newLabel: () => number): MachineInstruction[] {
  return turnBranches(followJumps(labelEndings(code, newLabel)));
}

/** A label before every ending, for others to go to. */
function labelEndings(code: readonly MachineInstruction[], newLabel: () => number): MachineInstruction[] {
  const out: MachineInstruction[] = [];
  for (let at = 0; at < code.length; at++) {
    const instruction = code[at];
    if (instruction.kind === "constant" && code[at + 1]?.kind === "exit" && code[at - 1]?.kind !== "label")
      out.push({ kind: "label", label: newLabel() });
    out.push(instruction);
  }
  return out;
}

/**
 * Retargets jumps to where they end up: past jumps and branches that test the same again, and of the places that do the
 * same and leave, to the next one. (Not to one further up, where there is another: a way back looks like a loop.)
 */
function followJumps(code: readonly MachineInstruction[]): MachineInstruction[] {
  const positions = labelPositions(code);
  const endings = new Map<string, number[]>();
  code.forEach((instruction, at) => {
    if (instruction.kind !== "label") return;
    const ending = endingAt(code, skipLabels(code, at));
    if (ending === undefined) return;
    const places = endings.get(ending);
    if (places === undefined) endings.set(ending, [at]);
    else places.push(at);
  });
  const destination = (from: number, label: number): number => {
    let current = label;
    for (let hops = 0; hops < code.length; hops++) {
      const at = skipLabels(code, positions.get(current) ?? code.length);
      const next = code[at];
      const decided = next?.kind === "jump" || (next?.kind === "branch-immediate" && isSameTest(code[from], next));
      if (decided && next.to !== current) {
        current = next.to;
        continue;
      }
      const ending = endingAt(code, at);
      const nearest = ending === undefined ? undefined : code[firstBehind(endings.get(ending) ?? [], from)];
      return nearest?.kind === "label" ? nearest.label : current;
    }
    return label;
  };
  return code.map((instruction, from) => {
    switch (instruction.kind) {
      case "jump":
      case "branch":
      case "branch-immediate": {
        const to = destination(from, instruction.to);
        return to === instruction.to ? instruction : { ...instruction, to };
      }
      default:
        return instruction;
    }
  });
}

/** The first of some places, ascending, that is behind another; -1. */
function firstBehind(places: readonly number[], from: number): number {
  const low = firstIndex(places.length, (i) => places[i] > from);
  return places[low] ?? -1;
}

/** Whether a branch that was taken means that another is. */
function isSameTest(
  taken: MachineInstruction | undefined,
  branch: MachineInstruction & { kind: "branch-immediate" },
): boolean {
  return (
    taken?.kind === "branch-immediate" &&
    taken.condition === branch.condition &&
    taken.left === branch.left &&
    taken.immediate === branch.immediate &&
    taken.wide === branch.wide
  );
}

/** `r0 = 0; exit`, as text. */
function endingAt(code: readonly MachineInstruction[], at: number): string | undefined {
  const result = code[at];
  if (result?.kind === "exit") return "exit";
  return result?.kind === "constant" && code[at + 1]?.kind === "exit" ? `${result.dst} = ${result.value}` : undefined;
}

/**
 * `if a goto next; goto other; next:` is `if not a goto other; next:`. Not in loops: the verifier walks the way that
 * falls through first, and has to have seen where a loop leads to before it can tell that one more round brings nothing
 * new.
 */
function turnBranches(code: readonly MachineInstruction[]): MachineInstruction[] {
  const out: MachineInstruction[] = [];
  const depth = loopDepths(code);
  for (let i = 0; i < code.length; i++) {
    const branch = code[i];
    const jump = code[i + 1];
    const turned =
      branch !== undefined && jump?.kind === "jump" && depth[i] === 0 && leadsTo(code, i + 2, jumpTarget(branch))
        ? turn(branch, jump.to)
        : undefined;
    if (turned === undefined) {
      if (branch !== undefined) out.push(branch);
    } else {
      out.push(turned);
      i++;
    }
  }
  return out;
}

function turn(branch: MachineInstruction, to: number): MachineInstruction | undefined {
  if (branch.kind !== "branch" && branch.kind !== "branch-immediate") return undefined;
  const condition = negations[branch.condition];
  return condition === undefined ? undefined : { ...branch, condition, to };
}

/** Whether the label stands here, perhaps behind others. */
function leadsTo(code: readonly MachineInstruction[], start: number, label: number): boolean {
  for (let at = start; ; at++) {
    const instruction = code[at];
    if (instruction?.kind !== "label") return false;
    if (instruction.label === label) return true;
  }
}

/** How many loops each instruction is in, taking every backward jump for a loop. */
export function loopDepths(code: readonly MachineInstruction[]): Uint8Array {
  // What begins and ends at each, first.
  const change = new Int32Array(code.length + 1);
  for (const [start, end] of backwardJumps(code)) {
    change[start]++;
    change[end + 1]--;
  }
  const depth = new Uint8Array(code.length);
  for (let i = 0, now = 0; i < code.length; i++) depth[i] = Math.min(200, (now += change[i]));
  return depth;
}

/** [target, jump] of every backward jump. */
function backwardJumps(code: readonly MachineInstruction[]): [number, number][] {
  const labels = new Map<number, number>();
  const loops: [number, number][] = [];
  for (let i = 0; i < code.length; i++) {
    const instruction = code[i];
    if (instruction.kind === "label") labels.set(instruction.label, i);
    const label = jumpTarget(instruction);
    const target = label < 0 ? undefined : labels.get(label);
    if (target !== undefined) loops.push([target, i]);
  }
  return loops;
}

function skipLabels(code: readonly MachineInstruction[], start: number): number {
  let at = start;
  while (code[at]?.kind === "label") at++;
  return at;
}

function labelPositions(code: readonly MachineInstruction[]): Map<number, number> {
  const positions = new Map<number, number>();
  code.forEach((instruction, i) => {
    if (instruction.kind === "label") positions.set(instruction.label, i);
  });
  return positions;
}
