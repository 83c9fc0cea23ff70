// The names of types and constants of a machine, as the checker and the providers look them up.
import type { EnumType, Type } from "./types.ts";

/** A constant and the enum it belongs to, where that is known. */
export interface EnumConstant {
  readonly value: bigint;
  readonly type?: EnumType;
}

/**
 * What the checker and the providers need to know about types, beyond the script: kernel types from BTF, by the names
 * that C uses. All lookups are lazy and cached.
 */
export interface TypeScope {
  /** `task_struct` with tag struct; typedefs and base types (`u32`, `size_t`, `pid_t`) without a tag. */
  find(name: string, tag?: "struct" | "union" | "enum"): Type | undefined;
  /** An enum constant: `BPF_MAP_TYPE_HASH`. */
  enumConstant(name: string): EnumConstant | undefined;
  /** Names near to a misspelt one, best first, at most three. */
  similar(name: string, tag?: "struct" | "union" | "enum"): string[];
}
