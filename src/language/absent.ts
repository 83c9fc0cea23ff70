// What stands for a variable that has no value where a probe is, beside others that have one.
import type { Type } from "./types.ts";

/** By why it has none. */
export function absentText(reason: string): string {
  return reason.includes("optimised out") ? "<optimised out>" : "<not visible>";
}

export const absentType: Type & { readonly kind: "string" } = { kind: "string", capacity: "<optimised out>".length + 1 };
