// Struct declarations of the script, laid out as C does on a 64-bit little-endian machine.
import type { Message } from "../../messages/message.ts";
import { types } from "../../messages/types.ts";
import type { Span } from "../diagnostic.ts";
import type { StructDeclaration, TypeName } from "../program.ts";
import type { Member, StructType, Type } from "../types.ts";
import { roundUp, sizeOf } from "../layout.ts";

/** C alignment: unlike `alignOf` in layout.ts, a struct's is its most aligned member's. */
function alignmentInC(type: Type): number {
  switch (type.kind) {
    case "array":
      return alignmentInC(type.element);
    case "struct":
      return type.alignment ?? Math.max(1, ...type.members.map((m) => alignmentInC(m.type)));
    case "string":
      return 1;
    default:
      return Math.max(1, Math.min(8, sizeOf(type)));
  }
}

type Refuse = (span: Span, said: Message) => void;

interface Layout {
  readonly members: Member[];
  readonly size: number;
  readonly alignment: number;
}

/** Bytes of a struct: more would not fit what addresses them. */
const largest = 2 ** 31 - 1;

/** Being laid out: they have no size yet. */
const incomplete = new WeakSet<Type>();

/**
 * Lays a declaration out. `resolve` gives the type of a member's written type; pointers to structs that are still being
 * declared are fine, since members are made when first read. `refuse` is told what no member can be.
 */
export function structType(
  declaration: StructDeclaration,
  resolve: (name: TypeName) => Type,
  refuse: Refuse,
): StructType {
  let layout: Layout | undefined;
  const laid = (): Layout => {
    if (layout === undefined) {
      layout = { members: [], size: 0, alignment: 1 };
      incomplete.add(type);
      layout = lay(declaration, resolve, refuse);
      incomplete.delete(type);
    }
    return layout;
  };
  const type: StructType = {
    kind: "struct",
    union: declaration.union,
    name: declaration.name,
    get alignment() {
      return laid().alignment;
    },
    get size() {
      return laid().size;
    },
    get members() {
      return laid().members;
    },
  };
  return type;
}

function lay(declaration: StructDeclaration, resolve: (name: TypeName) => Type, refuse: Refuse): Layout {
  const members: Member[] = [];
  const packed = declaration.attributes?.packed === true;
  let bits = 0;
  let size = 0;
  let alignment = declaration.attributes?.align ?? 1;
  for (const member of declaration.members) {
    const { name, type: written, bitWidth, attributes } = member;
    const type = "members" in written ? structType(written, resolve, refuse) : resolve(written);
    const bytes = sizeOf(type);
    const problem = wrongMember(member, type, bytes);
    if (problem !== undefined || size + bytes > largest) {
      refuse(member.span, problem ?? types.structTooLarge(name, largest));
      continue;
    }
    const own = Math.max(packed || attributes?.packed === true ? 1 : alignmentInC(type), attributes?.align ?? 1);
    if (declaration.union) bits = 0;
    if (bitWidth === undefined) {
      alignment = Math.max(alignment, own);
      const offset = roundUp(Math.ceil(bits / 8), own);
      members.push({ name, type, offset });
      bits = (offset + bytes) * 8;
    } else if (bitWidth === 0) {
      // `int : 0` closes the storage unit.
      bits = roundUp(bits, bytes * 8);
    } else {
      alignment = Math.max(alignment, own);
      const unit = bytes * 8;
      if (!packed && Math.floor(bits / unit) !== Math.floor((bits + bitWidth - 1) / unit)) bits = roundUp(bits, unit);
      if (name !== "") members.push({ name, ...bitField(type, bits, bitWidth, packed) });
      bits += bitWidth;
    }
    size = Math.max(size, Math.ceil(bits / 8));
  }
  return { members, size: roundUp(size, alignment), alignment };
}

/** What C says, too. */
function wrongMember(
  { name, bitWidth }: StructDeclaration["members"][number],
  type: Type,
  bytes: number,
): Message | undefined {
  let element = type;
  while (element.kind === "array") element = element.element;
  if (element.kind === "struct" && incomplete.has(element)) return types.structInItself(name);
  if (bitWidth === undefined) return undefined;
  if (type.kind !== "integer" && type.kind !== "enum" && type.kind !== "boolean") return types.bitFieldNoInteger(name);
  if (bitWidth < 0 || bitWidth > bytes * 8) return types.bitFieldTooWide(name, bytes * 8);
  return bitWidth === 0 && name !== "" ? types.bitFieldWithoutBits(name) : undefined;
}

/** Packed ones begin at any bit, and may need a wider read than their own type's. */
function bitField(type: Type, at: number, bitWidth: number, packed: boolean): Omit<Member, "name"> {
  const bytes = packed ? 1 : sizeOf(type);
  const offset = Math.floor(at / (bytes * 8)) * bytes;
  const bitOffset = at - offset * 8;
  const wide = type.kind === "integer" && bitOffset + bitWidth > type.bits;
  return { type: wide ? { ...type, bits: 64 } : type, offset, bitOffset, bitWidth };
}
