// What stands for a variable that has no value where a probe is, beside others that have one.
import type { Type } from "./types.ts";

/** For messages: "`x` is optimised out here". */
export function absence(name: string, reason: string): string {
  return reason.startsWith("its ") ? `\`${name}\` cannot be read: ${reason}` : `\`${name}\` is ${reason}`;
}

/** By why it has none. */
export function absentText(reason: string): string {
  return reason.includes("optimised out") ? "<optimised out>" : "<not visible>";
}

export const absentType: Type & { readonly kind: "string" } = { kind: "string", capacity: "<optimised out>".length + 1 };
