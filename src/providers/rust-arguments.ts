// How Rust passes values where it is free to (rustc_ty_utils::abi and rustc_abi::layout): a value of one or two scalars goes in a
// register each, whatever C would do; other small ones are packed; large ones by their address. Versions differ on what is small.
import type { DebugType } from "../debuginfo/dwarf/facts.ts";
import { behindTypedefs, bytesOfDebugType } from "./debug-types.ts";

export interface Scalar { readonly offset: number; readonly bytes: number; readonly float: boolean }

/** The way of a value; undefined where it depends on the compiler's version. */
export type RustPassing =
  /** In a register each; none for a value without bytes. */
  | { readonly by: "scalars"; readonly scalars: readonly Scalar[] }
  /** The bytes as they are, in one register. */
  | { readonly by: "bytes" }
  | { readonly by: "address" };

const depthMost = 16;

export function rustPassing(declared: DebugType): RustPassing | undefined {
  const type = behindTypedefs(declared);
  const scalars = scalarsOf(type);
  if (scalars !== undefined && scalars.length <= 2) return { by: "scalars", scalars };
  const size = bytesOfDebugType(type);
  if (size <= 8) return { by: "bytes" };
  return size > 16 ? { by: "address" } : undefined;
}

/** The scalars of a value in order of memory; undefined when it is none of one or two. */
function scalarsOf(declared: DebugType, depth = 0): readonly Scalar[] | undefined {
  const type = behindTypedefs(declared);
  if (depth > depthMost) return undefined;
  switch (type.kind) {
    case "void": return [];
    case "function":
    case "typedef": return undefined;
    case "base":
      if (type.bytes === 0) return [];
      return type.bytes === 16 ? undefined : [{ offset: 0, bytes: type.bytes, float: type.encoding === "float" }];
    case "pointer":
    case "enum": return [{ offset: 0, bytes: type.bytes, float: false }];
    case "array": return type.lengths.includes(0) || bytesOfDebugType(type) === 0 ? [] : undefined;
    case "struct": {
      if (type.bytes === 0) return [];
      const variants = type.variants?.();
      const members = [...type.members()];
      if (type.tag === "union") return undefined;
      if (variants === undefined) return joined(members.map((member) => shifted(scalarsOf(member.type(), depth + 1), member.offset)));
      return ofVariants(
        variants.discriminant === undefined ? [] : shifted(scalarsOf(variants.discriminant.type(), depth + 1), variants.discriminant.offset),
        variants.variants.map(({ member }) => shifted(scalarsOf(member.type(), depth + 1), member.offset)));
    }
  }
}

/** A tag, and one scalar that all variants that have any keep in one place. */
function ofVariants(tag: readonly Scalar[] | undefined, variants: readonly (readonly Scalar[] | undefined)[]): readonly Scalar[] | undefined {
  if (tag === undefined) return undefined;
  let payload: Scalar | undefined;
  for (const variant of variants) {
    if (variant === undefined || variant.length > 1) return undefined;
    const [only] = variant;
    if (only === undefined) continue;
    if (payload !== undefined && (payload.offset !== only.offset || payload.bytes !== only.bytes || payload.float !== only.float)) return undefined;
    payload = only;
  }
  if (payload === undefined || tag.some(({ offset }) => offset === payload.offset)) return payload === undefined ? tag : [payload];
  return [...tag, payload].sort((a, b) => a.offset - b.offset);
}

function joined(parts: readonly (readonly Scalar[] | undefined)[]): readonly Scalar[] | undefined {
  const all: Scalar[] = [];
  for (const part of parts) {
    if (part === undefined) return undefined;
    all.push(...part);
  }
  return all.length > 2 ? undefined : all.sort((a, b) => a.offset - b.offset);
}

function shifted(scalars: readonly Scalar[] | undefined, by: number): readonly Scalar[] | undefined {
  return scalars?.map((scalar) => ({ ...scalar, offset: scalar.offset + by }));
}
