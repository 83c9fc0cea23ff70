// Whose memory pointers point into, by where they were found: those in a program's memory are the program's.
import type { AddressSpace, Member, PointerType, StructType, Type } from "../types.ts";

/** What is read from memory of a space. `typed`: through pointers that the verifier knows. */
export function inSpace(type: Type, space: AddressSpace, typed = false): Type {
  switch (type.kind) {
    case "pointer": {
      const own = space === "user" ? "user" : type.space;
      if (typed && own === "kernel" && type.target.kind === "struct")
        return { kind: "pointer", target: type.target, space: own, typed: true };
      return own === type.space && type.typed !== true ? type : pointerIn(type, own);
    }
    case "array": {
      if (space === "kernel") return type;
      const element = inSpace(type.element, space);
      return element === type.element ? type : { kind: "array", element, length: type.length };
    }
    case "struct":
      return space === "kernel" || type.space === "user" ? type : inProgram(type);
    default:
      return type;
  }
}

/** Pointers to pointers are of one space, as far as they go. */
function pointerIn({ target }: PointerType, space: AddressSpace): PointerType {
  return { kind: "pointer", target: target.kind === "pointer" ? inSpace(target, space) : target, space };
}

const ofPrograms = new WeakMap<StructType, StructType>();

/** The same struct, with members as they are in a program's memory: decoded when they are first read, too. */
function inProgram(struct: StructType): StructType {
  const known = ofPrograms.get(struct);
  if (known !== undefined) return known;
  const moved = <M extends Member | undefined>(member: M): M =>
    member && { ...member, type: inSpace(member.type, "user") };
  let members: readonly Member[] | undefined;
  const made: StructType = {
    kind: "struct",
    union: struct.union,
    name: struct.name,
    space: "user",
    get size() {
      return struct.size;
    },
    get members() {
      return (members ??= struct.members.map(moved));
    },
    ...(struct.member === undefined ? {} : { member: (name: string) => moved(struct.member?.(name)) }),
    ...(struct.alignment === undefined ? {} : { alignment: struct.alignment }),
    ...("shape" in struct
      ? {
          get shape() {
            return struct.shape;
          },
        }
      : {}),
    ...(struct.variants === undefined ? {} : { variants: struct.variants }),
    ...(struct.partial === undefined ? {} : { partial: struct.partial }),
  };
  ofPrograms.set(struct, made);
  return made;
}

/**
 * A type as it is declared, with pointers into the memory that the value's point into: a declaration does not say
 * which.
 */
export function withSpacesOf(declared: Type, value: Type): Type {
  if (declared.kind === "pointer" && value.kind === "pointer")
    return declared.space === value.space ? declared : pointerIn(declared, value.space);
  if (declared.kind === "array" && value.kind === "array") {
    const element = withSpacesOf(declared.element, value.element);
    return element === declared.element ? declared : { kind: "array", element, length: declared.length };
  }
  if (declared.kind === "struct" && value.kind === "struct")
    return value.space === undefined ? declared : inSpace(declared, value.space);
  if (declared.kind === "tuple" && value.kind === "tuple") {
    return {
      kind: "tuple",
      elements: declared.elements.map((element, i) =>
        value.elements[i] === undefined ? element : withSpacesOf(element, value.elements[i]),
      ),
    };
  }
  return declared;
}
