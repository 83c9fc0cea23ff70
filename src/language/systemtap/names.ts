// The names in what was parsed.
import type { Span } from "../diagnostic.ts";
import { libraryFunction, printers } from "./library.ts";
import type { Expr, FunctionDefinition, Script, Stmt } from "./syntax.ts";

interface Named {
  readonly kind: string;
  readonly name: string;
  readonly span: Span;
}

/** All expressions and statements. */
export function visitNodes(node: unknown, see: (node: Expr | Stmt) => void): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    for (const one of node) visitNodes(one, see);
    return;
  }
  if ("span" in node && "kind" in node) see(node as Expr | Stmt);
  for (const value of Object.values(node)) if (typeof value === "object") visitNodes(value, see);
}

/** All nodes that have a name. */
export function visit(node: unknown, see: (node: Named) => void): void {
  visitNodes(node, (one) => {
    if ("name" in one && typeof one.name === "string") see(one);
  });
}

/** Where a variable is named first. */
export function placeOfName(wanted: string, nodes: unknown): Span | undefined {
  let found: Span | undefined;
  visit(nodes, ({ kind, name, span }) => {
    if (kind === "name" && name === wanted) found ??= span;
  });
  return found;
}

/** The names of variables in handlers. */
export function namesIn(nodes: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  visit(nodes, ({ kind, name }) => kind === "name" && found.add(name));
  return found;
}

/** Whether a variable is more than printed and stored as a key: what it is has to be known as text then. */
export function isCompared(name: string, node: unknown, shown = false): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node)) return node.some((one) => isCompared(name, one, shown));
  if ("kind" in node && "name" in node) {
    if (node.kind === "name") return node.name === name && !shown;
    if (node.kind === "element" && "keys" in node) return isCompared(name, node.keys, true);
    if (node.kind === "call" && "args" in node)
      return isCompared(name, node.args, printers.has(String(node.name)) && !String(node.name).startsWith("s"));
  }
  return Object.values(node).some((one) => isCompared(name, one));
}

/** Whether something calls a function that the script has not, and that is none of those that are made in TypeScript. */
export function callsOthers(functions: readonly FunctionDefinition[], bodies: unknown): boolean {
  const own = new Set(functions.map(({ name }) => name));
  let found = false;
  visit([functions, bodies], ({ kind, name }) => {
    if (kind === "call" && !own.has(name) && !printers.has(name) && libraryFunction(name) === undefined) found = true;
  });
  return found;
}

/** Prologues without the variables that nothing behind them names: what nobody asks for is not read. */
export function used(
  prologues: readonly Stmt[],
  behind: unknown,
  { functions, globals }: Pick<Script, "functions" | "globals">,
  isLibrary: (span: Span) => boolean,
): Stmt[] {
  if (prologues.length === 0) return [];
  const named = new Set(globals.map(({ name }) => name));
  const doing = new Set([...functions.map(({ name }) => name), ...printers]);
  const stored = new Set(named);
  const take = (node: unknown): void => visit(node, ({ kind, name }) => kind === "name" && named.add(name));
  take(behind);
  const kept = (one: Stmt): Stmt[] => {
    if (one.kind === "block") {
      const statements = one.statements.toReversed().flatMap(kept).toReversed();
      return [{ ...one, statements }];
    }
    if (one.kind === "expression" && one.expression.kind === "assign" && one.expression.operator === "=") {
      const { target, value } = one.expression;
      // A global of the script is none of the library's variables.
      if (target.kind === "name" && stored.has(target.name) && isLibrary(one.span)) return [];
      let acts = target.kind !== "name" || named.has(target.name);
      visit(value, ({ kind, name }) => {
        if (kind === "call" && doing.has(name) && !name.startsWith("s")) acts = true;
      });
      if (!acts) return [];
      take(value);
      return [one];
    }
    take(one);
    return [one];
  };
  return prologues.toReversed().flatMap(kept).toReversed();
}
