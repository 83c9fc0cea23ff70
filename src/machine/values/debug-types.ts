// Types of user programs: what debug information calls them, as the language's own types. Pointers point where the
// program's memory is.
import { withCppVariants } from "./cpp-variants.ts";
import { interfaceShape, interfaceVariants, type GoDynamic } from "./go-interfaces.ts";
import type { DebugInfo, DebugMember, DebugType, DebugVariants } from "../../debuginfo/dwarf/facts.ts";
import { sizeOf } from "../../language/layout.ts";
import type {
  AddressSpace,
  EnumType,
  Member,
  PointerType,
  Shape,
  StructType,
  StructVariants,
  Type,
} from "../../language/types.ts";
import { bitsOf, boolType, char, integer, u64, u8, voidType } from "../../language/types.ts";
import { readDescriptions, shapeFor, type Descriptions } from "./descriptions.ts";

type DebugStruct = Extract<DebugType, { kind: "struct" }>;

/** Typedefs of typedefs, arrays of arrays and the like: beyond this it is a cycle in damaged debug information. */
const deepest = 64;

/** Debug information, and how what it has of libraries is described where that is not as strobe does. */
export type DescribedInfo<Info = DebugInfo> = Info & {
  readonly descriptions?: () => Descriptions;
  /** Of a Go program: what values of an interface may be, by its name. */
  readonly goDynamics?: (name: string) => readonly GoDynamic[];
};

/** Types of one binary. Equal objects of the debug information give the same type. */
export class DebugTypes {
  readonly #space: AddressSpace;
  readonly #info: DescribedInfo<Pick<DebugInfo, "typeNamed">>;
  #descriptions: Descriptions | undefined;
  readonly #known = new WeakMap<DebugType, Type>();
  readonly #sources = new WeakMap<Type, DebugType>();

  constructor(info: DescribedInfo<Pick<DebugInfo, "typeNamed">>, space: AddressSpace) {
    this.#info = info;
    this.#space = space;
  }

  /** What is behind pointers and in structs is decoded when it is first read. */
  typeOf(type: DebugType): Type {
    const known = this.#known.get(type);
    if (known !== undefined) return known;
    const made = this.#convert(type);
    this.#known.set(type, made);
    if (type.kind === "struct") this.#sources.set(made, type);
    return made;
  }

  #convert(type: DebugType): Type {
    switch (type.kind) {
      case "void":
      case "function":
        return voidType;
      case "base":
        return baseType(type);
      case "typedef": {
        const behind = behindTypedefs(type);
        return this.#interface(type.name, behind) ?? this.#named(type.name, this.typeOf(behind));
      }
      case "pointer":
        return this.#pointer(() => type.target());
      case "array": {
        const { lengths } = type;
        return lengths
          .toReversed()
          .reduce((element: Type, length): Type => ({ kind: "array", element, length }), this.typeOf(type.element()));
      }
      case "enum": {
        let names: EnumType["names"] | undefined;
        return {
          kind: "enum",
          name: type.name,
          bits: bitsOf(type.bytes),
          signed: type.signed,
          // Of several constants with one value the first names it.
          get names() {
            return (names ??= new Map(
              type
                .values()
                .toReversed()
                .map(({ name, value }) => [value, name]),
            ));
          },
        };
      }
      case "struct":
        return this.#struct(type);
    }
  }

  /** An interface of Go, as the one type that is in it. What is in interfaces in turn is not looked into. */
  #interface(name: string, type: DebugType): Type | undefined {
    const dynamics = type.kind === "struct" ? this.#info.goDynamics : undefined;
    if (dynamics === undefined || type.kind !== "struct" || !/^runtime\.[ie]face$/.test(type.name)) return undefined;
    const { goDynamics: _, ...plain } = { ...this.#info, typeNamed: (wanted: string) => this.#info.typeNamed(wanted) };
    const inner = new DebugTypes(plain, this.#space);
    const whole = this.#struct(type);
    let variants: { readonly are: StructVariants | undefined } | undefined;
    const of = (): StructVariants | undefined =>
      (variants ??= {
        are: interfaceVariants(type.name === "runtime.eface" ? "interface {}" : name, whole.members, {
          dynamics,
          typeNamed: (wanted) => this.#info.typeNamed(wanted),
          typeOf: (one) => inner.typeOf(one),
          boxed: (one) =>
            inner.#named(
              "go.boxed",
              inner.#pointer(() => one),
            ),
        }),
      }).are;
    return {
      ...whole,
      name,
      members: whole.members,
      shape: interfaceShape,
      get variants() {
        return of();
      },
    };
  }

  /** The target is asked for when somebody looks through the pointer: lists point to themselves. */
  #pointer(target: () => DebugType): Type {
    let known: Type | undefined;
    const find = (): Type => this.typeOf(target());
    return {
      kind: "pointer",
      space: this.#space,
      get target() {
        return (known ??= find());
      },
    };
  }

  /** Go's maps and channels are pointers with a name. */
  #named(name: string, type: Type): Type {
    if (type.kind !== "pointer" || name === "") return type;
    let shape: { readonly is: Shape | undefined } | undefined;
    const shapeOf = (): Shape | undefined => (shape ??= { is: this.#shape(name, type) }).is;
    return {
      kind: "pointer",
      space: type.space,
      get target() {
        return type.target;
      },
      get shape() {
        return shapeOf();
      },
    };
  }

  #struct(declared: DebugStruct): StructType {
    const type = withCppVariants(knownLayout(this.#whole(declared)));
    let members: readonly Member[] | undefined;
    let shape: { readonly is: Shape | undefined } | undefined;
    let variants: { readonly are: StructVariants | undefined } | undefined;
    const membersOf = (): readonly Member[] => (members ??= this.#members(type));
    const variantsOf = (): StructVariants | undefined => (variants ??= { are: this.#variants(type.variants?.()) }).are;
    const made: StructType = {
      kind: "struct",
      union: type.tag === "union",
      name: type.name,
      size: type.bytes,
      get members() {
        return membersOf();
      },
      get shape() {
        return (shape ??= { is: undefined, ...(type.tag === "union" ? {} : { is: shapeOf() }) }).is;
      },
      get variants() {
        return variantsOf();
      },
    };
    const shapeOf = (): Shape | undefined => this.#shape(type.name, made);
    return made;
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
    if (bitWidth === undefined)
      return {
        name,
        offset: member.offset,
        get type() {
          return typeOf();
        },
      };
    // Counted from the aligned unit of the declared type, so that one load of that type has all its bits.
    const start = member.offset * 8 + (member.bitOffset ?? 0);
    const unit = Math.max(1, sizeOf(typeOf()));
    let offset = Math.floor(start / (unit * 8)) * unit;
    if (start - offset * 8 + bitWidth > unit * 8 || offset + unit > structSize) offset = start >>> 3;
    return {
      name,
      offset,
      bitOffset: start - offset * 8,
      bitWidth,
      get type() {
        return typeOf();
      },
    };
  }

  #variants(variants: DebugVariants | undefined): StructVariants | undefined {
    if (variants === undefined) return undefined;
    const discriminant =
      variants.discriminant === undefined ? undefined : this.#member(variants.discriminant, Number.MAX_SAFE_INTEGER);
    return {
      // One of 16 bytes tells variants apart by the lower eight.
      ...(discriminant === undefined
        ? {}
        : { discriminant: discriminant.type.kind === "array" ? { ...discriminant, type: u64 } : discriminant }),
      variants: variants.variants.map(({ values, member }) => ({
        values,
        member: this.#member(member, Number.MAX_SAFE_INTEGER),
      })),
    };
  }

  /** What the types of a library are to those who use them, by the descriptions. */
  #shape(name: string, self: StructType | PointerType): Shape | undefined {
    if (name === "") return undefined;
    const of = (type: Type, path: readonly string[]): Type[] => {
      const declared = this.#sources.get(type);
      return declared === undefined
        ? []
        : (parametersAt(declared, path) ?? []).map((parameter) => this.typeOf(parameter));
    };
    return shapeFor(name, self, { of }, (this.#descriptions ??= this.#info.descriptions?.() ?? readDescriptions([])));
  }
}

/** What a struct's type is made of, or that of a member. */
function parametersAt(type: DebugType, path: readonly string[]): readonly DebugType[] | undefined {
  const own = behindTypedefs(type);
  const struct = own.kind === "pointer" ? behindTypedefs(own.target()) : own;
  if (struct.kind !== "struct") return undefined;
  const [name, ...rest] = path;
  if (name === undefined) return ofVariants(struct) ?? struct.parameters?.();
  for (const member of struct.members()) {
    const found =
      member.name === name
        ? parametersAt(member.type(), rest)
        : member.base === true || member.name === ""
          ? parametersAt(member.type(), path)
          : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Rust's compiler says of each variant of an enum what the enum is made of. */
function ofVariants(type: DebugStruct): readonly DebugType[] | undefined {
  for (const { member } of type.variants?.()?.variants ?? []) {
    const one = behindTypedefs(member.type());
    const parameters = one.kind === "struct" ? one.parameters?.() : undefined;
    if (parameters !== undefined && parameters.length > 0) return parameters;
  }
  return undefined;
}

/**
 * Compilers may only declare `std::string`: the library holds it whole. Its layout is part of libstdc++'s ABI: the
 * address, the length, sixteen bytes of short text.
 */
function knownLayout(type: DebugStruct): DebugStruct {
  if (!type.declaration || !type.name.startsWith("std::__cxx11::basic_string<char,")) return type;
  const byte: DebugType = { kind: "base", name: "char", bytes: 1, encoding: "char" };
  const pointer: readonly DebugMember[] = [
    { name: "_M_p", offset: 0, type: () => ({ kind: "pointer", flavour: "pointer", bytes: 8, target: () => byte }) },
  ];
  if (type.name.endsWith(">::_Alloc_hider")) return { ...type, bytes: 8, declaration: false, members: () => pointer };
  if (!type.name.endsWith(">")) return type;
  const members: readonly DebugMember[] = [
    {
      name: "_M_dataplus",
      offset: 0,
      type: () => ({ kind: "struct", tag: "struct", name: "", bytes: 8, declaration: false, members: () => pointer }),
    },
    {
      name: "_M_string_length",
      offset: 8,
      type: () => ({ kind: "base", name: "unsigned long", bytes: 8, encoding: "unsigned" }),
    },
  ];
  return { ...type, bytes: 32, declaration: false, byReference: true, members: () => members };
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
  // Rust's `()`.
  if (bytes === 0) return { kind: "struct", union: false, name, size: 0, members: [] };
  switch (encoding) {
    case "boolean":
      return bytes === 1 ? boolType : integer(bitsOf(bytes), false);
    case "signed":
    case "unsigned":
    case "utf":
      if (bytes === 16) return { kind: "array", element: u64, length: 2 };
      return integer(bitsOf(bytes), encoding === "signed");
    // `signed char` is a small number; `char` is text.
    case "char":
      return name === "char" ? char : integer(bitsOf(bytes), true);
    case "unsigned-char":
      return name === "char" ? char : integer(bitsOf(bytes), false);
    case "float":
      if (bytes === 4) return { kind: "named", of: "float32" };
      if (bytes === 8) return { kind: "named", of: "float64" };
      // Elsewhere it has another form.
      if (name === "long double" && bytes === 16 && process.arch === "x64") return { kind: "named", of: "float80" };
      return { kind: "array", element: u8, length: bytes };
    case "complex": {
      const part = baseType({ kind: "base", name, bytes: bytes / 2, encoding: "float" });
      return { kind: "array", element: part, length: 2 };
    }
    case "other":
      return { kind: "array", element: u8, length: bytes };
  }
}

/** Bytes that a value of a type takes; 0 where it has none. */
export function bytesOfDebugType(type: DebugType): number {
  const own = behindTypedefs(type);
  switch (own.kind) {
    case "void":
    case "function":
    case "typedef":
      return 0;
    case "base":
    case "pointer":
    case "enum":
    case "struct":
      return own.bytes;
    case "array":
      return own.lengths.reduce((product, length) => product * length, bytesOfDebugType(own.element()));
  }
}

/** A type, and a name that has it: `const struct out* to`, `std::string& text`, `int list[3]`. */
export function spellDebugType(type: DebugType, name = ""): string {
  const behind = type.kind === "pointer" && type.constant === true;
  const before = type.constant === true && !behind ? "const " : "";
  const named = (text: string): string => `${before}${text}${behind ? " const" : ""}${name === "" ? "" : ` ${name}`}`;
  switch (type.kind) {
    case "void":
      return named("void");
    case "function":
      return `void (${name})()`;
    case "base":
    case "typedef":
      return named(type.name);
    case "enum":
      return named(type.name === "" ? "enum" : `enum ${type.name}`);
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
    case "array":
      return spellDebugType(
        type.element(),
        `${name}${type.lengths.map((length) => `[${length === 0 ? "" : length}]`).join("")}`,
      );
  }
}
