// Which builtins a probe's body mentions: so that a provider can leave out what nobody reads.
import type { FunctionDeclaration, Probe } from "../language/program.ts";

/**
 * Names of builtins and calls in the probe, and in the script's functions (any of which it may call). What is read of `args`
 * as well: `args.NAME`, or `args.*` where it is used as a whole.
 */
export function usedBuiltins(probe: Probe, functions: readonly FunctionDeclaration[]): ReadonlySet<string> {
  const names = new Set<string>();
  collect([probe.predicate, probe.body, ...functions.map((f) => f.body)], names);
  return names;
}

function isArgs(node: unknown): boolean {
  return typeof node === "object" && node !== null && "kind" in node && node.kind === "builtin" && "name" in node && node.name === "args";
}

/** The tree is plain data: whatever has the shape of a builtin or a call is one. Types are left alone, they reach far. */
function collect(node: unknown, names: Set<string>): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    for (const item of node) collect(item, names);
    return;
  }
  if ("kind" in node && "name" in node && typeof node.name === "string") {
    if (node.kind === "member" && "object" in node && isArgs(node.object)) {
      names.add("args").add(`args.${node.name}`);
      return;
    }
    if (isArgs(node)) names.add("args.*");
    if (node.kind === "builtin" || node.kind === "call" || node.kind === "identifier") names.add(node.name);
  }
  for (const [key, value] of Object.entries(node)) if (key !== "type" && key !== "span") collect(value, names);
}
