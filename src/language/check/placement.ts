// Where a handler runs: in the kernel, or in strobe's own process.
import type { Context } from "../context.ts";
import type { KernelNeed } from "./pass.ts";

export type Placed = { readonly placement: "kernel" | "host" } | { readonly refused: KernelNeed };

/** The host is preferred: there a sort is free and a string may be long. */
export function place(context: Context | "host", needs: readonly KernelNeed[]): Placed {
  const [need] = needs;
  if (context === "host") return need === undefined ? { placement: "host" } : { refused: need };
  return { placement: context.runsInStrobe !== undefined && need === undefined ? "host" : "kernel" };
}
