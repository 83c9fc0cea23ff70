// Where a handler runs: in the kernel, in strobe's own process, or first in the one and then in the other.
import type { Context } from "../context.ts";
import type { KernelNeed } from "./pass.ts";

export type Placed =
  | { readonly placement: "kernel" | "host" }
  | { readonly placement: "captured"; readonly needsHost: KernelNeed }
  | { readonly refused: KernelNeed };

/** The host is preferred where the handler may begin there: a sort is free then, and a text may be long. */
export function place(
  context: Context | "host",
  needs: readonly KernelNeed[],
  [needsHost]: readonly KernelNeed[],
): Placed {
  const [need] = needs;
  if (context === "host") return need === undefined ? { placement: "host" } : { refused: need };
  if (context.runsInStrobe !== undefined && need === undefined) return { placement: "host" };
  return needsHost === undefined ? { placement: "kernel" } : { placement: "captured", needsHost };
}
