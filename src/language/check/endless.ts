// Loops that nothing ends. A handler's rounds are bounded by the kernel, but only after milliseconds in which nothing
// else may run.
import type { Block } from "../program.ts";

/**
 * Whether something in a loop's body may leave it: `break`, `return`, `next`, `throw`, exit(), or one of the script's
 * functions, which may exit.
 */
export function mayLeave(body: Block, functions: ReadonlyMap<string, unknown>): boolean {
  const leaves = (node: unknown, nested: boolean): boolean => {
    if (Array.isArray(node)) return node.some((each) => leaves(each, nested));
    if (typeof node !== "object" || node === null) return false;
    const { kind, name } = node as { readonly kind?: unknown; readonly name?: unknown };
    switch (kind) {
      case "return":
      case "next":
      case "throw":
        return true;
      case "break":
        return !nested;
      case "call":
        if (name === "exit" || functions.has(String(name))) return true;
        break;
      default:
    }
    const within = nested || ends.has(String(kind));
    return Object.entries(node).some(([key, value]) => !passedOver.has(key) && leaves(value, within));
  };
  return leaves(body.statements, false);
}

/** What a `break` within leaves. */
const ends: ReadonlySet<string> = new Set([
  "while",
  "do-while",
  "for",
  "switch",
  "unroll",
  "for-range",
  "for-map",
  "for-value",
]);

/** No statements, and some of them lead in circles. */
const passedOver: ReadonlySet<string> = new Set(["type", "span", "variable", "map"]);
