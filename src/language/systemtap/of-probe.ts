// Functions that ask what only the probe has that they are called from: `ppfunc()`, `$x`, `returnval()`. Each handler that
// calls one has its own.
import type { FunctionTypes } from "./declared.ts";
import type { Types } from "./infer.ts";
import { libraryFunction } from "./library.ts";

/** By themselves, or by what they call. */
export function functionsOfProbe(types: Types): ReadonlySet<FunctionTypes> {
  const all = [...types.functions.values()].flat();
  const found = new Set<FunctionTypes>();
  const asks = (node: object): boolean => {
    if (!("kind" in node)) return false;
    switch (node.kind) {
      case "target":
        return "base" in node && isOfProbe(node.base as { readonly kind: string; readonly module?: string });
      case "operator":
        return "name" in node && (node.name === "entry" || node.name === "defined");
      case "call": {
        const { name, args } = node as unknown as { readonly name: string; readonly args: readonly unknown[] };
        const own = types.function(name, args.length);
        return own === undefined ? libraryFunction(name)?.ofProbe === true : found.has(own);
      }
      default:
        return false;
    }
  };
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const one of all)
      if (some(one.definition.body, asks) || (one.next !== undefined && found.has(one.next))) found.add(one);
  }
  return found;
}

function isOfProbe({ kind, module }: { readonly kind: string; readonly module?: string }): boolean {
  // A program's types are those of the program that is probed.
  return kind === "name" || module?.startsWith("kernel") !== true;
}

function some(node: unknown, is: (node: object) => boolean): boolean {
  if (typeof node !== "object" || node === null) return false;
  return is(node) || Object.values(node).some((one) => some(one, is));
}
