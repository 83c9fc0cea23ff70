// What can fail while a clause runs.
import type { Expression } from "../program.ts";

/** Whether something in the tree reads memory or divides by what is not known. */
export function mayFail(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(mayFail);
  if (typeof node !== "object" || node === null || !("span" in node)) return false;
  const e = node as Expression;
  switch (e.kind) {
    case "member":
    case "index":
      return true;
    case "unary":
      if (e.operator === "*") return true;
      break;
    case "call":
      if (e.name === "str" || e.name === "buf" || e.name === "write_memory") return true;
      break;
    case "binary":
      if ((e.operator === "/" || e.operator === "%") && (e.right.kind !== "integer" || e.right.value === 0n))
        return true;
      break;
    default:
  }
  return Object.values(node).some(mayFail);
}
