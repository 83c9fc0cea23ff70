// What stands for a variable that has no value where a probe is, beside others that have one.
import type { Type } from "./types.ts";

export const absentText = "<optimised out>";
export const absentType: Type & { readonly kind: "string" } = { kind: "string", capacity: absentText.length + 1 };
