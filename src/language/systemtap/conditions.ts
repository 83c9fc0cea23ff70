import type { Expr } from "./syntax.ts";

const conditions = new Set(["&&", "||", "==", "!=", "<", "<=", ">", ">=", "=~", "!~"]);

/** It is 0 or 1: in the tree a truth, which is no number. */
export function isCondition(e: Expr): boolean {
  return (
    (e.kind === "binary" && conditions.has(e.operator)) || e.kind === "in" || (e.kind === "unary" && e.operator === "!")
  );
}
