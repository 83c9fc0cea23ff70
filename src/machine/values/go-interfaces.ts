// Interfaces of Go as what is in them: beside a word that tells the type, one that points to the value, or is it. The word
// is the type's own of interfaces without methods, and of others that of the table that goes with both types, as far as
// the compiler made it.
import type { DebugType } from "../../debuginfo/dwarf/facts.ts";
import type { Member, Shape, StructType, StructVariants, Type } from "../../language/types.ts";

/** A type that an interface may have in it: what the first word is then, and Go's name of it. */
export interface GoDynamic {
  readonly word: bigint;
  readonly name: string;
}

/** An interface with nothing in it is nil. */
export const interfaceShape: Shape = {
  form: "variants",
  parts: new Map(),
  types: new Map(),
  variables: [],
  none: "nil",
  bare: "",
};

interface Around {
  readonly dynamics: (name: string) => readonly GoDynamic[];
  readonly typeNamed: (name: string) => DebugType | undefined;
  readonly typeOf: (type: DebugType) => Type;
  /** A pointer that is shown as what it points to. */
  readonly boxed: (type: DebugType) => Type;
}

/** Undefined where no type is known to be in it. */
export function interfaceVariants(
  name: string,
  members: readonly Member[],
  { dynamics, typeNamed, typeOf, boxed }: Around,
): StructVariants | undefined {
  const [discriminant, data] = members;
  const known = dynamics(name);
  if (known.length === 0 || discriminant === undefined || data === undefined) return undefined;
  const variants = known.map(({ word, name: is }) => {
    const pointer = is.startsWith("*");
    const type = typeNamed(is.replace(/^\*/, ""));
    const value = type && (pointer || !isWord(type) ? boxed(type) : typeOf(type));
    return {
      values: [word],
      member: alternative(is, value === undefined ? [] : [{ name: "__0", offset: data.offset, type: value }]),
    };
  });
  return {
    discriminant,
    variants: [
      { values: [0n], member: alternative(interfaceShape.none, []) },
      ...variants,
      { values: [], member: alternative("another type", [discriminant, data]) },
    ],
  };
}

function alternative(name: string, members: readonly Member[]): Member {
  const type: StructType = { kind: "struct", union: false, name: "", size: 16, members };
  return { name, offset: 0, type };
}

/** Whether values of a type are in the interface itself: they are one pointer. */
function isWord(type: DebugType): boolean {
  switch (type.kind) {
    case "typedef":
      return isWord(type.target());
    case "pointer":
    case "function":
      return true;
    case "struct": {
      const [only, ...more] = type.members();
      return only !== undefined && more.length === 0 && isWord(only.type());
    }
    case "array":
      return type.lengths.length === 1 && type.lengths[0] === 1 && isWord(type.element());
    default:
      return false;
  }
}
