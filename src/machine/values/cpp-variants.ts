// C++'s std::variant as what it is: one of its types. Both libraries keep the values in unions within unions, one for each
// type and for the rest of them, and beside them the number of the type that is there.
import type { DebugMember, DebugType, DebugVariants } from "../../debuginfo/dwarf/facts.ts";

type DebugStruct = Extract<DebugType, { kind: "struct" }>;

/** libstdc++ and libc++: what holds the values, the number, a union's first value, the rest. */
const layouts = [
  { union: "_M_u", index: "_M_index", first: "_M_first", rest: "_M_rest" },
  { union: "__data", index: "__index", first: "__head", rest: "__tail" },
] as const;
/** Types that one variant has at most, so that damaged debug information ends. */
const most = 256;
const deepest = 16;

/** The same struct, with the types of a variant as its variants; any other struct as it is. */
export function withCppVariants(type: DebugStruct): DebugStruct {
  if (type.declaration || !/^std::(?:__\w+::)?variant<.*>$/s.test(type.name)) return type;
  for (const { union, index, first, rest } of layouts) {
    const [values, number] = [union, index].map((name) => found(type, name));
    if (values === undefined || number === undefined) continue;
    const variants: DebugVariants["variants"][number][] = [];
    for (let at = structOf(values.type()); at !== undefined && variants.length < most;) {
      const members = at.members();
      // `_Uninitialized<T>`, `__alt<I, T>`
      const one = members.find(({ name }) => name === first)?.type();
      const of = one && structOf(one)?.parameters?.()[0];
      if (of === undefined) break;
      variants.push({ values: [BigInt(variants.length)], member: alternative(nameOf(of), values.offset, of) });
      const next = members.find(({ name }) => name === rest);
      at = next && structOf(next.type());
    }
    if (variants.length === 0) continue;
    variants.push({ values: [], member: alternative("valueless", values.offset) });
    return { ...type, members: () => [number], variants: () => ({ discriminant: number, variants }) };
  }
  return type;
}

/** A member of it, of what it is derived from, or of what it consists of, from its own beginning on. */
function found(type: DebugStruct, wanted: string, depth = 0): DebugMember | undefined {
  if (depth > deepest) return undefined;
  for (const member of type.members()) {
    if (member.name === wanted) return member;
    const inner = member.base === true || member.name.startsWith("__impl") ? structOf(member.type()) : undefined;
    const within = inner && found(inner, wanted, depth + 1);
    if (within !== undefined) return { ...within, offset: member.offset + within.offset };
  }
  return undefined;
}

function alternative(name: string, offset: number, type?: DebugType): DebugMember {
  const value: readonly DebugMember[] = type === undefined ? [] : [{ name: "__0", offset: 0, type: () => type }];
  return {
    name,
    offset,
    type: () => ({ kind: "struct", tag: "struct", name: "", bytes: 0, declaration: false, members: () => value }),
  };
}

/** Without what a template is made of, and without the namespaces that libraries keep their versions in. */
function nameOf(type: DebugType): string {
  if (type.kind === "pointer") return `${nameOf(type.target())} *`;
  const name = "name" in type ? (type.name ?? "") : "";
  return /^std::(?:__\w+::)?basic_string<char,.*>$/s.test(name)
    ? "std::string"
    : name.replace(/<.*>$/s, "").replace(/^std::__\w+::/, "std::");
}

function structOf(type: DebugType): DebugStruct | undefined {
  for (let own = type; ;) {
    if (own.kind === "struct") return own;
    if (own.kind !== "typedef") return undefined;
    own = own.target();
  }
}
