// How Rust returns values where it is free to (rustc_ty_utils::abi, rustc_target::callconv, rustc_abi::layout): a value
// of one or two scalars in a register each, whatever C would do; other small ones packed; large ones where the caller
// made room. Debug information tells the layout, but not always what the compiler made of it; versions differ, too.
import type { DebugType } from "../../debuginfo/dwarf/facts.ts";
import { behindTypedefs, bytesOfDebugType } from "../values/debug-types.ts";
import { variableReasons } from "../../messages/on-demand.ts";
import type { Reason } from "../../base/failure.ts";

/**
 * `is`: what the compiler takes it for. Numbers of one size that differ in their sign, and pointers among them, once
 * were different.
 */
export interface Scalar {
  readonly offset: number;
  readonly bytes: number;
  readonly float: boolean;
  readonly is: string;
}

export type RustPassing =
  /** In a register each; none for a value without bytes. */
  | { readonly by: "scalars"; readonly scalars: readonly Scalar[] }
  /** The bytes as they are, in one register or two. */
  | { readonly by: "bytes" }
  | { readonly by: "address" }
  | { readonly by: "unknown"; readonly reason: Reason };

/**
 * What a type is to the compiler: scalars in order of memory, at most two; bytes; or what debug information does not
 * tell.
 */
type Shape = readonly Scalar[] | "bytes" | "unknown";

const depthMost = 16;
const [registerBytes, returnedBytes] = [8, 16];
/**
 * The release since which pairs are as described here (rust-lang/rust#131211), and the one since which nothing else has
 * changed.
 */
const [settled, packed] = [84, 63];
/** The release whose LLVM (15) first says which functions it changed: before, any result may have been left out. */
const marked = 65;
const unmarked: RustPassing = {
  by: "unknown",
  reason: variableReasons().oldRust(),
};
const versions: RustPassing = {
  by: "unknown",
  reason: variableReasons().differingRust(),
};
const untold: RustPassing = {
  by: "unknown",
  reason: variableReasons().untoldRust(),
};

export function rustResultPassing(declared: DebugType, producer: string | undefined): RustPassing {
  const type = behindTypedefs(declared);
  const release = /rustc version 1\.(\d+)/.exec(producer ?? "")?.[1];
  if (release === undefined) return untold;
  const size = bytesOfDebugType(type);
  if (Number(release) < marked && size > 0 && size <= returnedBytes) return unmarked;
  const shape = shapeOf(type, Number(release) >= settled);
  if (size > returnedBytes) return Array.isArray(shape) && Number(release) < settled ? versions : { by: "address" };
  if (shape === "unknown") return Number(release) < settled ? versions : untold;
  if (shape === "bytes" || (shape.length === 1 && shape[0].bytes > registerBytes && !shape[0].float)) {
    if (size <= registerBytes || shape !== "bytes") return { by: "bytes" };
    return Number(release) >= packed ? { by: "address" } : versions;
  }
  return { by: "scalars", scalars: shape };
}

function shapeOf(declared: DebugType, newer: boolean, depth = 0): Shape {
  const type = behindTypedefs(declared);
  if (depth > depthMost) return "unknown";
  switch (type.kind) {
    case "void":
      return [];
    case "function":
    case "typedef":
      return "unknown";
    case "base":
      return type.bytes === 0
        ? []
        : [
            scalar(
              type.bytes,
              type.encoding === "float" ? "float" : type.encoding === "signed" ? "signed" : "unsigned",
            ),
          ];
    case "pointer":
      return [scalar(type.bytes, "pointer")];
    case "enum":
      return [scalar(type.bytes, type.signed ? "signed" : "unsigned")];
    case "array":
      return type.lengths.includes(0) || bytesOfDebugType(type) === 0 ? [] : "bytes";
    case "struct": {
      if (type.bytes === 0) return [];
      // Vectors of the processor; and unions, which are what their members have in common, if the release thinks so.
      if (type.tag === "union" || /^(?:core::core_arch::.*::)?__m\d|(?:^|::)Simd</.test(type.name)) return "unknown";
      const variants = type.variants?.();
      const shapes = [...type.members()].map((member) =>
        shifted(shapeOf(member.type(), newer, depth + 1), member.offset),
      );
      if (variants === undefined) return ofMembers(shapes, type.bytes);
      return ofVariants(
        variants.discriminant === undefined
          ? []
          : shifted(shapeOf(variants.discriminant.type(), newer, depth + 1), variants.discriminant.offset),
        variants.variants.map(({ member }) => {
          const variant = behindTypedefs(member.type());
          const parts = variant.kind === "struct" ? [...variant.members()] : [member];
          const offset = variant.kind === "struct" ? member.offset : 0;
          return parts
            .map((part) => shifted(shapeOf(part.type(), newer, depth + 1), offset + part.offset))
            .filter((shape) => shape.length > 0);
        }),
        type.bytes,
        newer,
      );
    }
  }
}

function scalar(bytes: number, is: string): Scalar {
  return { offset: 0, bytes, float: is === "float", is };
}

/** Of a struct, by its members: one that has something has all, or two scalars are where a pair has them. */
function ofMembers(shapes: readonly Shape[], bytes: number): Shape {
  const filled = shapes.filter((shape) => shape.length > 0);
  if (filled.includes("unknown")) return "unknown";
  if (filled.length > 2 || filled.includes("bytes")) return "bytes";
  const scalars = (filled as (readonly Scalar[])[]).flat().sort((a, b) => a.offset - b.offset);
  if (filled.length === 2 && scalars.length > 2) return "bytes";
  return fits(scalars, bytes) ? scalars : "bytes";
}

/** Scalars where a pair, or one alone, has them: nothing is packed, and nothing aligned further. */
function fits(scalars: readonly Scalar[], bytes: number): boolean {
  const [first, second] = scalars;
  if (first === undefined || first.offset !== 0) return first === undefined;
  if (second === undefined) return first.bytes === bytes;
  const align = Math.max(first.bytes, second.bytes);
  const at = Math.ceil(first.bytes / second.bytes) * second.bytes;
  return second.offset === at && bytes === Math.ceil((at + second.bytes) / align) * align;
}

/**
 * Of an enum: a tag, and a scalar that all variants that have something have in one place; or, where values that a
 * variant cannot have tell the others, that variant. Each is what its members are.
 */
function ofVariants(tag: Shape, variants: readonly (readonly Shape[])[], bytes: number, newer: boolean): Shape {
  if (tag === "unknown" || tag === "bytes" || tag.length > 1) return "unknown";
  const filled = variants.filter((shapes) => shapes.length > 0);
  if (filled.flat().includes("unknown")) return "unknown";
  const [discriminant] = tag;
  const [only] = filled;
  if (only === undefined) return fits(tag, bytes) ? tag : "bytes";
  if (discriminant === undefined) return filled.length === 1 ? ofMembers(only, bytes) : "unknown";
  const inside = filled.some((shapes) =>
    shapes.some(
      (shape) => shape === "bytes" || (shape as readonly Scalar[]).some(({ offset }) => offset === discriminant.offset),
    ),
  );
  const known = filled.map((shapes) => ofMembersAnywhere(shapes));
  if (filled.length === 1 && inside) return ofMembers(only, bytes);
  if (inside || known.includes(undefined)) return "bytes";
  const [first, ...others] = known as readonly Scalar[];
  const same = (one: Scalar): boolean =>
    one.offset === first.offset && one.bytes === first.bytes && one.float === first.float;
  if (!others.every(same)) return "bytes";
  if (others.some(({ is }) => is !== first.is) && !newer) return "unknown";
  const pair = [discriminant, first].sort((a, b) => a.offset - b.offset);
  return pair[0] === discriminant && fits(pair, bytes) ? pair : "bytes";
}

/** The one scalar that a variant has. */
function ofMembersAnywhere(shapes: readonly Shape[]): Scalar | undefined {
  const [shape, ...more] = shapes;
  return more.length === 0 && Array.isArray(shape) && shape.length === 1 ? (shape as readonly Scalar[])[0] : undefined;
}

function shifted(shape: Shape, by: number): Shape {
  return typeof shape === "string" ? shape : shape.map((one) => ({ ...one, offset: one.offset + by }));
}
