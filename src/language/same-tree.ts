// Whether two texts mean the same: their trees are equal, wherever in the text the nodes stand.
import type { Program } from "./program.ts";

/** Whether two programs are the same but for their places. */
export function sameProgram(a: Program, b: Program): boolean {
  return sameNode({ ...a, source: undefined }, { ...b, source: undefined });
}

function sameNode(a: unknown, b: unknown): boolean {
  if (typeof a === "string" && typeof b === "string") return a === b || withoutPlace(a) === withoutPlace(b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const left = fieldsOf(a);
  const right = new Map(fieldsOf(b));
  return (
    left.length === right.size && left.every(([name, value]) => right.has(name) && sameNode(value, right.get(name)))
  );
}

function fieldsOf(node: object): [string, unknown][] {
  return Object.entries(node).filter(([name, value]) => name !== "span" && name !== "nameSpan" && value !== undefined);
}

/** Nameless structs are named after their place. */
function withoutPlace(name: string): string {
  return name.replaceAll(/anonymous at \d+/g, "anonymous");
}
