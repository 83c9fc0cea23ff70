// Where a handler runs: in the kernel, or in strobe's own process.
import type { Context } from "../context.ts";
import type { KernelNeed } from "./pass.ts";

export type Placed = { readonly placement: "kernel" | "host" } | { readonly refused: KernelNeed };

/** Providers whose handlers may run on the host, where a sort is free and a string may be long. */
const hostProviders: ReadonlySet<string> = new Set(["begin", "end", "interval", "self"]);

export function place(provider: string, context: Context | "host", needs: readonly KernelNeed[]): Placed {
  const [need] = needs;
  if (context === "host") return need === undefined ? { placement: "host" } : { refused: need };
  return { placement: hostProviders.has(provider) && need === undefined ? "host" : "kernel" };
}
