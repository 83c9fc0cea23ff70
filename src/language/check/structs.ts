// Struct declarations of the script, laid out as C does on a 64-bit little-endian machine.
import type { StructDeclaration, TypeName } from "../program.ts";
import type { Member, StructType, Type } from "../types.ts";
import { roundUp, sizeOf } from "../layout.ts";

/** C alignment: unlike `alignOf` in layout.ts, a struct's is its most aligned member's. */
function alignmentInC(type: Type): number {
  switch (type.kind) {
    case "array": return alignmentInC(type.element);
    case "struct": return Math.max(1, ...type.members.map((m) => alignmentInC(m.type)));
    case "string": return 1;
    default: return Math.max(1, Math.min(8, sizeOf(type)));
  }
}

/**
 * Lays a declaration out. `resolve` gives the type of a member's written type; pointers to structs that are still being
 * declared are fine, since members are made when first read.
 */
export function structType(declaration: StructDeclaration, resolve: (name: TypeName) => Type): StructType {
  let layout: { members: Member[]; size: number } | undefined;
  const laid = (): { members: Member[]; size: number } => {
    if (layout === undefined) {
      // Found while laying out its own members: an incomplete type has no size yet.
      layout = { members: [], size: 0 };
      layout = lay(declaration, resolve);
    }
    return layout;
  };
  return {
    kind: "struct", union: declaration.union, name: declaration.name,
    get size() { return laid().size; },
    get members() { return laid().members; },
  };
}

function lay(declaration: StructDeclaration, resolve: (name: TypeName) => Type): { members: Member[]; size: number } {
  const members: Member[] = [];
  let bits = 0;
  let size = 0;
  let align = 1;
  for (const { name, type: written, bitWidth } of declaration.members) {
    const type = "members" in written ? structType(written, resolve) : resolve(written);
    const own = alignmentInC(type);
    const bytes = sizeOf(type);
    if (declaration.union) bits = 0;
    if (bitWidth === undefined) {
      align = Math.max(align, own);
      const offset = roundUp(Math.ceil(bits / 8), own);
      members.push({ name, type, offset });
      bits = (offset + bytes) * 8;
    } else if (bitWidth === 0) {
      // `int : 0` closes the storage unit.
      bits = roundUp(bits, bytes * 8);
    } else {
      align = Math.max(align, own);
      const unit = bytes * 8;
      if (Math.floor(bits / unit) !== Math.floor((bits + bitWidth - 1) / unit)) bits = roundUp(bits, unit);
      const offset = Math.floor(bits / unit) * bytes;
      if (name !== "") members.push({ name, type, offset, bitOffset: bits - offset * 8, bitWidth });
      bits += bitWidth;
    }
    size = Math.max(size, Math.ceil(bits / 8));
  }
  return { members, size: roundUp(size, align) };
}
