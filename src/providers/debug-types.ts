// Types of user programs: what debug information calls them, as the language's own types. Pointers point where the program's
// memory is.
import type { DebugInfo, DebugMember, DebugType, DebugVariants } from "../debuginfo/dwarf/facts.ts";
import { sizeOf } from "../language/layout.ts";
import type { AddressSpace, EnumType, IntegerBits, Member, StructType, StructVariants, StructView, Type } from "../language/types.ts";
import { boolType, char, integer, u64, u8, voidType } from "../language/types.ts";

type DebugStruct = Extract<DebugType, { kind: "struct" }>;

/** Typedefs of typedefs, arrays of arrays and the like: beyond this it is a cycle in damaged debug information. */
const deepest = 64;

/** Types of one binary. Equal objects of the debug information give the same type. */
export class DebugTypes {
  readonly #space: AddressSpace;
  readonly #info: Pick<DebugInfo, "typeNamed">;
  readonly #known = new WeakMap<DebugType, Type>();

  constructor(info: Pick<DebugInfo, "typeNamed">, space: AddressSpace) {
    this.#info = info;
    this.#space = space;
  }

  /** What is behind pointers and in structs is decoded when it is first read. */
  typeOf(type: DebugType): Type {
    const known = this.#known.get(type);
    if (known !== undefined) return known;
    const made = this.#convert(type);
    this.#known.set(type, made);
    return made;
  }

  #convert(type: DebugType): Type {
    switch (type.kind) {
      case "void":
      case "function": return voidType;
      case "base": return baseType(type);
      case "typedef": return this.typeOf(behindTypedefs(type));
      case "pointer": return this.#pointer(() => type.target());
      case "array": {
        const { lengths } = type;
        return lengths.toReversed().reduce((element: Type, length): Type => ({ kind: "array", element, length }), this.typeOf(type.element()));
      }
      case "enum": {
        let names: EnumType["names"] | undefined;
        return {
          kind: "enum", name: type.name, bits: bitsOf(type.bytes), signed: type.signed,
          // Of several constants with one value the first names it.
          get names() { return (names ??= new Map(type.values().toReversed().map(({ name, value }) => [value, name]))); },
        };
      }
      case "struct": return this.#struct(type);
    }
  }

  /** The target is asked for when somebody looks through the pointer: lists point to themselves. */
  #pointer(target: () => DebugType): Type {
    let known: Type | undefined;
    const find = (): Type => this.typeOf(target());
    return { kind: "pointer", space: this.#space, get target() { return (known ??= find()); } };
  }

  #struct(declared: DebugStruct): StructType {
    const type = knownLayout(this.#whole(declared));
    let members: readonly Member[] | undefined;
    let view: { readonly is: StructView | undefined } | undefined;
    let variants: { readonly are: StructVariants | undefined } | undefined;
    const membersOf = (): readonly Member[] => (members ??= this.#members(type));
    const viewOf = (): StructView | undefined => (view ??= { is: this.#view(type) }).is;
    const variantsOf = (): StructVariants | undefined => (variants ??= { are: this.#variants(type.variants?.()) }).are;
    return {
      kind: "struct", union: type.tag === "union", name: type.name, size: type.bytes,
      get members() { return membersOf(); },
      get view() { return viewOf(); },
      get variants() { return variantsOf(); },
    };
  }

  /** A struct that a unit only declares may be whole in another. */
  #whole(type: DebugStruct): DebugStruct {
    if (!type.declaration || type.name === "") return type;
    const found = this.#info.typeNamed(type.name, type.tag === "union" ? "union" : "struct");
    const whole = found === undefined ? undefined : behindTypedefs(found);
    return whole?.kind === "struct" && !whole.declaration ? whole : type;
  }

  #members(type: DebugStruct): Member[] {
    const members = type.members().map((member) => this.#member(member, type.bytes));
    for (const { member } of type.variants?.()?.variants ?? []) members.push(this.#member(member, type.bytes));
    return members;
  }

  #member(member: DebugMember, structSize: number): Member {
    const typeOf = (): Type => this.typeOf(member.type());
    // Members of a base class are members of what is derived from it, as those of an anonymous struct are.
    const name = member.base === true ? "" : member.name;
    const { bitWidth } = member;
    if (bitWidth === undefined) return { name, offset: member.offset, get type() { return typeOf(); } };
    // Counted from the aligned unit of the declared type, so that one load of that type has all its bits.
    const start = member.offset * 8 + (member.bitOffset ?? 0);
    const unit = Math.max(1, sizeOf(typeOf()));
    let offset = Math.floor(start / (unit * 8)) * unit;
    if (start - offset * 8 + bitWidth > unit * 8 || offset + unit > structSize) offset = start >>> 3;
    return { name, offset, bitOffset: start - offset * 8, bitWidth, get type() { return typeOf(); } };
  }

  #variants(variants: DebugVariants | undefined): StructVariants | undefined {
    if (variants === undefined) return undefined;
    const { discriminant } = variants;
    return {
      ...(discriminant === undefined ? {} : { discriminant: this.#member(discriminant, Number.MAX_SAFE_INTEGER) }),
      variants: variants.variants.map(({ values, member }) => ({ values, member: this.#member(member, Number.MAX_SAFE_INTEGER) })),
    };
  }

  /** Structs that their language shows as text or as a list: a pointer and a length, wherever the library keeps them. */
  #view(type: DebugStruct): StructView | undefined {
    const shape = viewShapes.find(({ name }) => name.test(type.name));
    if (shape === undefined) return undefined;
    const data = at(type, shape.data);
    const length = at(type, shape.length);
    if (data === undefined || length === undefined) return undefined;
    const pointer = behindTypedefs(data.type);
    if (pointer.kind !== "pointer") return undefined;
    const element = (): Type => this.typeOf(pointer.target());
    return { text: shape.text, data: data.offset, length: length.offset, get element() { return element(); } };
  }
}

/**
 * Compilers may only declare `std::string`: the library holds it whole. Its layout is part of libstdc++'s ABI: the address, the
 * length, sixteen bytes of short text.
 */
function knownLayout(type: DebugStruct): DebugStruct {
  if (!type.declaration || !type.name.startsWith("std::__cxx11::basic_string<char,")) return type;
  const byte: DebugType = { kind: "base", name: "char", bytes: 1, encoding: "char" };
  const members: readonly DebugMember[] = [
    { name: "_M_dataplus", offset: 0, type: () => ({ kind: "struct", tag: "struct", name: "", bytes: 8, declaration: false, members: () => [
      { name: "_M_p", offset: 0, type: () => ({ kind: "pointer", flavour: "pointer", bytes: 8, target: () => byte }) }] }) },
    { name: "_M_string_length", offset: 8, type: () => ({ kind: "base", name: "unsigned long", bytes: 8, encoding: "unsigned" }) },
  ];
  return { ...type, bytes: 32, declaration: false, byReference: true, members: () => members };
}

interface ViewShape {
  readonly name: RegExp;
  readonly text: boolean;
  /** Names of members on the way; `*` the first pointer, however deep. */
  readonly data: readonly string[];
  readonly length: readonly string[];
}

// Rust: the compiler's own fat pointers, and the standard library's Vec and String. Go: the runtime's headers. C++: libstdc++.
const viewShapes: readonly ViewShape[] = [
  { name: /^&(?:mut )?str$/, text: true, data: ["data_ptr"], length: ["length"] },
  { name: /^&(?:mut )?\[.*\]$/, text: false, data: ["data_ptr"], length: ["length"] },
  { name: /^(?:alloc::string::)?String$/, text: true, data: ["vec", "buf", "*"], length: ["vec", "len"] },
  { name: /^(?:alloc::vec::)?Vec</, text: false, data: ["buf", "*"], length: ["len"] },
  { name: /^string$/, text: true, data: ["str"], length: ["len"] },
  { name: /^\[\]/, text: false, data: ["array"], length: ["len"] },
  { name: /^(?:std::(?:__cxx11::)?)?basic_string<char,|^(?:std::)?string$/, text: true, data: ["_M_dataplus", "_M_p"], length: ["_M_string_length"] },
  { name: /^(?:std::)?basic_string_view<char,/, text: true, data: ["_M_str"], length: ["_M_len"] },
];

function at(type: DebugStruct, path: readonly string[], offset = 0): { readonly type: DebugType; readonly offset: number } | undefined {
  const [name, ...rest] = path;
  for (const member of type.members()) {
    const own = behindTypedefs(member.type());
    const place = offset + member.offset;
    if (name === "*" && own.kind === "pointer") return { type: own, offset: place };
    const wanted = name === "*" || member.name === name;
    if (!wanted) continue;
    if (rest.length === 0 && name !== "*") return { type: own, offset: place };
    const inner = own.kind === "struct" ? at(own, name === "*" ? path : rest, place) : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** What a typedef stands for. */
export function behindTypedefs(type: DebugType): DebugType {
  let at = type;
  for (let step = 0; at.kind === "typedef"; step++) {
    if (step > deepest) return { kind: "void" };
    at = at.target();
  }
  return at;
}

/** A C++ reference, or one of Rust, which is written as a pointer whose name tells. */
export function isReference(type: DebugType): type is DebugType & { readonly kind: "pointer" } {
  return type.kind === "pointer" && (type.flavour !== "pointer" || type.name?.startsWith("&") === true);
}

function baseType({ name, bytes, encoding }: Extract<DebugType, { kind: "base" }>): Type {
  switch (encoding) {
    case "boolean": return bytes === 1 ? boolType : integer(bitsOf(bytes), false);
    case "signed":
    case "unsigned":
    case "utf":
      if (bytes === 16) return { kind: "array", element: u64, length: 2 };
      return integer(bitsOf(bytes), encoding === "signed");
    // `signed char` is a small number; `char` is text.
    case "char": return name === "char" ? char : integer(bitsOf(bytes), true);
    case "unsigned-char": return name === "char" ? char : integer(bitsOf(bytes), false);
    case "float":
      if (bytes === 4) return { kind: "named", of: "float32" };
      if (bytes === 8) return { kind: "named", of: "float64" };
      return { kind: "array", element: u8, length: bytes };
    case "complex": {
      const part = baseType({ kind: "base", name, bytes: bytes / 2, encoding: "float" });
      return { kind: "array", element: part, length: 2 };
    }
    case "other": return { kind: "array", element: u8, length: bytes };
  }
}

function bitsOf(bytes: number): IntegerBits {
  switch (bytes) {
    case 1: return 8;
    case 2: return 16;
    case 4: return 32;
    default: return 64;
  }
}

/** Bytes that a value of a type takes; 0 where it has none. */
export function bytesOfDebugType(type: DebugType): number {
  const own = behindTypedefs(type);
  switch (own.kind) {
    case "void":
    case "function":
    case "typedef": return 0;
    case "base":
    case "pointer":
    case "enum":
    case "struct": return own.bytes;
    case "array": return own.lengths.reduce((product, length) => product * length, bytesOfDebugType(own.element()));
  }
}

/** A type, and a name that has it: `const struct out* to`, `std::string& text`, `int list[3]`. */
export function spellDebugType(type: DebugType, name = ""): string {
  const behind = type.kind === "pointer" && type.constant === true;
  const before = type.constant === true && !behind ? "const " : "";
  const named = (text: string): string => `${before}${text}${behind ? " const" : ""}${name === "" ? "" : ` ${name}`}`;
  switch (type.kind) {
    case "void": return named("void");
    case "function": return `void (${name})()`;
    case "base":
    case "typedef": return named(type.name);
    case "enum": return named(type.name === "" ? "enum" : `enum ${type.name}`);
    case "struct": {
      const tag = type.tag === "class" || /[:<&[]/.test(type.name) ? "" : `${type.tag} `;
      return named(type.name === "" ? type.tag : `${tag}${type.name}`);
    }
    case "pointer": {
      const sign = { pointer: "*", reference: "&", "rvalue-reference": "&&" }[type.flavour];
      const target = type.target();
      if (target.kind === "function") return `void (${sign}${name})()`;
      if (target.kind === "array") return spellDebugType(target, `(${sign}${name})`);
      if (type.name !== undefined && /^[&*]/.test(type.name)) return named(type.name);
      return named(`${spellDebugType(target)}${sign}`);
    }
    case "array": return spellDebugType(type.element(), `${name}${type.lengths.map((length) => `[${length === 0 ? "" : length}]`).join("")}`);
  }
}
