// Arrays that a loop over them changes, itself or by what it calls: SystemTap refuses those.
import { systemtap } from "../../messages/systemtap.ts";
import type { Report, FunctionTypes } from "./declared.ts";
import type { Types } from "./infer.ts";
import { visitNodes } from "./names.ts";
import type { Expr, Foreach, Stmt } from "./syntax.ts";

/** `nodes`: handlers and functions of the script. */
export function refuseLoopWrites(nodes: unknown, types: Types, report: Report): void {
  for (const loop of loopsOf(nodes)) {
    if (loop.buckets !== undefined) continue;
    visitNodes(loop.body, (node) => {
      if (node.kind === "call") {
        const called = types.function(node.name, node.args.length);
        if (called !== undefined && writes(called, loop.array, types, new Set()))
          report(node.span, systemtap.callWritesLoop(loop.array));
        return;
      }
      const target = writtenBy(node);
      if (target !== undefined && target.name === loop.array) report(target.span, systemtap.loopWrites(loop.array));
    });
  }
}

function writes(of: FunctionTypes, array: string, types: Types, seen: Set<FunctionTypes>): boolean {
  if (seen.has(of)) return false;
  seen.add(of);
  if (of.definition.parameters.some(({ name }) => name === array)) return false;
  let found = false;
  visitNodes(of.definition.body, (node) => {
    if (node.kind === "call") {
      const called = types.function(node.name, node.args.length);
      if (called !== undefined && writes(called, array, types, seen)) found = true;
    } else if (writtenBy(node)?.name === array) found = true;
  });
  return found;
}

type Node = Expr | Stmt;

/** The variable or array that a statement or expression stores in, or deletes of. */
function writtenBy(node: Node): Extract<Expr, { kind: "name" | "element" }> | undefined {
  if (node.kind !== "assign" && node.kind !== "increment" && node.kind !== "delete") return undefined;
  const { target } = node;
  return target.kind === "name" || target.kind === "element" ? target : undefined;
}

function loopsOf(nodes: unknown): Foreach[] {
  const found: Foreach[] = [];
  visitNodes(nodes, (node) => {
    if (node.kind === "foreach") found.push(node);
  });
  return found;
}
