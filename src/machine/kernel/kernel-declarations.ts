// Kernel types as the kernel's sources spell them: `__be16 sport`, `size_t`, `void (*fn)(struct work_struct *)`. Types
// of the language are behind typedefs; listings are for people, who know a `loff_t` by its name.
import type { Btf } from "../../debuginfo/btf.ts";

/** Types behind one another before it counts as a cycle. */
const most = 64;

/**
 * A type, or what `name` declares with it: `unsigned int`, `char comm[16]`, `struct page *page`. Undefined of structs
 * without a name, which are told member by member, and of what is not a type of a value.
 */
export function spellKernelType(btf: Btf, id: number, name = "", depth = 0): string | undefined {
  if (depth > most) return undefined;
  const type = btf.type(id);
  const named = (base: string): string | undefined =>
    base === "" ? undefined : name === "" ? base : `${base} ${name}`;
  const next = (target: number, declared: string): string | undefined =>
    spellKernelType(btf, target, declared, depth + 1);
  switch (type.kind) {
    case "void":
      return named("void");
    case "int":
    case "float":
    case "typedef":
      return named(type.name);
    case "struct":
    case "union":
      return type.name === "" ? undefined : named(`${type.kind} ${type.name}`);
    case "forward":
      return named(`${type.union ? "union" : "struct"} ${type.name}`);
    case "enum":
    case "enum64":
      return type.name === "" ? undefined : named(`enum ${type.name}`);
    case "const": {
      const target = btf.kind(type.type);
      // Of a pointer itself, or an array's elements, it says nothing that a reader of a listing wants.
      return target === "pointer" || target === "array"
        ? next(type.type, name)
        : prefixed("const ", next(type.type, name));
    }
    case "volatile":
    case "restrict":
    case "type-tag":
      return next(type.type, name);
    case "pointer": {
      const target = btf.kind(type.type);
      return next(type.type, target === "array" || target === "function-prototype" ? `(*${name})` : `*${name}`);
    }
    case "array":
      return next(type.element, `${name}[${type.length}]`);
    case "function-prototype": {
      const parameters = type.parameters.map((one) => (one.type === 0 ? "..." : (next(one.type, "") ?? "void")));
      return next(type.result, `${name}(${parameters.length === 0 ? "void" : parameters.join(", ")})`);
    }
    case "function":
    case "variable":
    case "data-section":
    case "declaration-tag":
      return undefined;
  }
}

function prefixed(before: string, text: string | undefined): string | undefined {
  return text === undefined ? undefined : before + text;
}
