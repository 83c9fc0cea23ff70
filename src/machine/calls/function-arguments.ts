// The context of BTF-typed tracing programs: an array of 64-bit slots, one an argument (two for a struct of up to 16
// bytes).
import type { Argument, Fetch } from "../../language/context.ts";
import type { Type } from "../../language/types.ts";

export function slot(index: number): Fetch {
  return { kind: "context", offset: index * 8, size: 8, signed: false };
}

export function numberedSlots(count: number): Fetch[] {
  return Array.from({ length: count }, (_, i) => slot(i));
}

/** Arguments by name, and how many slots they take: what a function returns is in the next. */
export function functionArguments(parameters: readonly { readonly name: string; readonly type: Type }[]): {
  args: Argument[];
  slots: number;
} {
  let slots = 0;
  const args = parameters.map(({ name, type }): Argument => {
    const at = slots;
    slots += type.kind === "struct" ? Math.max(1, Math.ceil(type.size / 8)) : 1;
    return valueAt(at, name, type);
  });
  return { args, slots };
}

export function valueAt(index: number, name: string, type: Type): Argument {
  if (type.kind !== "struct" && type.kind !== "array") return scalarArgument(name, type, slot(index));
  return { name, type, fetch: { kind: "address", base: "context", offset: index * 8 }, place: "context" };
}

/** A value of at most 64 bits, whose upper bits mean nothing where its type is smaller. */
export function scalarArgument(name: string, type: Type, fetch: Fetch): Argument {
  switch (type.kind) {
    case "boolean":
      return { name, type, fetch: { kind: "narrow", of: fetch, size: 1, signed: false } };
    case "integer":
    case "enum":
      if (type.bits === 64) return { name, type, fetch };
      return {
        name,
        type,
        fetch: { kind: "narrow", of: fetch, size: (type.bits / 8) as 1 | 2 | 4, signed: type.signed },
      };
    default:
      return { name, type, fetch };
  }
}
