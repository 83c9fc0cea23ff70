// The kernel's types as the language's types: BTF records decoded as far as somebody looks.
import { BtfError, type Btf, type BtfConstant, type BtfMember } from "../../debuginfo/btf.ts";
import type { EnumConstant, TypeScope } from "../../language/type-scope.ts";
import {
  boolType,
  char,
  i16,
  i32,
  bitsOf,
  i64,
  i8,
  integer,
  u16,
  u32,
  u64,
  u8,
  voidType,
  type AddressSpace,
  type Member,
  type Type,
} from "../../language/types.ts";
import { nearest } from "../../language/nearest.ts";
import { lazy } from "../../base/lazy.ts";
import { damagedBtf } from "../../messages/on-demand.ts";

export interface Parameter {
  readonly name: string;
  readonly type: Type;
}

/** A function's types. `id` is the BTF id of what was looked up (function, or typedef of a tracepoint). */
export interface Signature {
  readonly id: number;
  readonly parameters: readonly Parameter[];
  readonly result: Type;
  /** Types as the kernel's sources spell them, of the parameters in their order, and of the result. */
  readonly spelled: () => readonly (string | undefined)[];
}

// Loaded for listings.
const declarations = lazy<typeof import("./kernel-declarations.ts")>(() => require("./kernel-declarations.ts"));

const TRACEPOINT_PREFIX = "btf_trace_";
const ITERATOR_PREFIX = "bpf_iter__";
/** Functions that the kernel generates for each tracepoint, with its arguments' names behind a `void *`. */
const TRACEPOINT_FUNCTIONS = ["__probestub_", "__traceiter_", "__bpf_trace_"] as const;
/** Pointers and arrays that nest deeper are a cycle in damaged BTF. */
const DEPTH_LIMIT = 32;

/** Types of one BTF: the kernel's, or a module's on top of it. */
export class KernelTypes implements TypeScope {
  readonly btf: Btf;
  readonly #types = new Map<number, Type>();
  /** Ids of this BTF's own functions, for whoever has listed them all. */
  #functions: ReadonlyMap<string, number> | undefined;
  #depth = 0;

  constructor(btf: Btf) {
    this.btf = btf;
  }

  find(name: string, tag?: "struct" | "union" | "enum"): Type | undefined {
    const btf = this.btf;
    switch (tag) {
      case "struct":
      case "union": {
        // A forward declaration tells that the name exists, and its members are in no BTF.
        const id =
          btf.find(name, tag) ??
          btf.findAll(name).find((other) => {
            const type = btf.type(other);
            return type.kind === "forward" && type.union === (tag === "union");
          });
        return id === undefined ? undefined : this.typeOf(id);
      }
      case "enum": {
        const id = btf.find(name, "enum", "enum64");
        return id === undefined ? undefined : this.typeOf(id);
      }
      case undefined: {
        const fixed = baseType(name);
        if (fixed !== undefined) return fixed;
        const id = btf.find(name, "typedef") ?? btf.find(name, "struct", "union", "enum", "enum64", "int");
        return id === undefined ? systemType(name) : this.typeOf(id);
      }
    }
  }

  enumConstant(name: string): EnumConstant | undefined {
    const constant = this.btf.enumConstant(name);
    if (constant === undefined) return undefined;
    const type = this.typeOf(constant.id);
    return type.kind === "enum" ? { value: constant.value, type } : { value: constant.value };
  }

  /** Constants of this BTF's own enums, some names more than once. */
  *enumConstants(): Iterable<BtfConstant> {
    for (const kind of ["enum", "enum64"] as const) {
      for (const id of this.btf.ids(kind)) {
        const type = this.btf.type(id);
        if (type.kind === "enum" || type.kind === "enum64") yield* type.constants;
      }
    }
  }

  similar(name: string, tag?: "struct" | "union" | "enum"): string[] {
    return nearest(name, this.names(tag));
  }

  /** All names of a kind, some more than once; without a tag those of typedefs and base types. */
  *names(tag: "struct" | "union" | "enum" | undefined): Iterable<string> {
    const inherited = { inherited: true };
    switch (tag) {
      case "struct":
      case "union":
        for (const id of this.btf.ids(tag, inherited)) yield this.btf.name(id);
        return;
      case "enum":
        for (const kind of ["enum", "enum64"] as const) {
          for (const id of this.btf.ids(kind, inherited)) yield this.btf.name(id);
        }
        return;
      case undefined:
        yield* Object.keys(FIXED_WIDTH);
        yield* Object.keys(SYSTEM_TYPES);
        for (const id of this.btf.ids("typedef", inherited)) {
          const typedef = this.btf.name(id);
          if (!typedef.startsWith(TRACEPOINT_PREFIX)) yield typedef;
        }
    }
  }

  /** A kernel function's parameters and result. */
  function(name: string): Signature | undefined {
    const id =
      this.#functions === undefined
        ? this.btf.find(name, "function")
        : (this.#functions.get(name) ?? this.btf.base?.find(name, "function"));
    if (id === undefined) return undefined;
    const type = this.btf.type(id);
    return type.kind === "function" && this.btf.kind(type.type) === "function-prototype"
      ? this.#signature(id, type.type, 0)
      : undefined;
  }

  /** A raw tracepoint's arguments. Its id is that of the typedef, which is what attaching by BTF wants. */
  rawTracepoint(name: string): Signature | undefined {
    const btf = this.btf;
    const id = btf.find(TRACEPOINT_PREFIX + name, "typedef");
    if (id === undefined) return undefined;
    const pointer = btf.type(btf.strip(id));
    if (pointer.kind !== "pointer" || btf.kind(pointer.type) !== "function-prototype") return undefined;
    // To attach there takes no more than the id.
    let signature: Signature | undefined;
    const whole = (): Signature => (signature ??= this.#tracepointSignature(name, id, pointer.type));
    return {
      id,
      get parameters() {
        return whole().parameters;
      },
      get result() {
        return whole().result;
      },
      spelled: () => whole().spelled(),
    };
  }

  #tracepointSignature(name: string, id: number, prototypeId: number): Signature {
    const btf = this.btf;
    const bare = this.#signature(id, prototypeId, 1);
    if (bare.parameters.every((parameter) => parameter.name !== "")) return bare;

    // The typedef's prototype names nothing; the functions made for the same tracepoint do.
    for (const prefix of TRACEPOINT_FUNCTIONS) {
      const named = btf.find(prefix + name, "function");
      const type = named === undefined ? undefined : btf.type(named);
      if (type?.kind !== "function") continue;
      const prototype = btf.type(type.type);
      if (prototype.kind !== "function-prototype" || prototype.parameters.length !== bare.parameters.length + 1)
        continue;
      return {
        ...bare,
        parameters: bare.parameters.map((parameter, i) => ({ ...parameter, name: prototype.parameters[i + 1].name })),
      };
    }
    return {
      ...bare,
      parameters: bare.parameters.map((parameter, i) => ({ ...parameter, name: parameter.name || `arg${i}` })),
    };
  }

  /** Names of this BTF's own functions. */
  functionNames(): Iterable<string> {
    if (this.#functions === undefined) {
      const functions = new Map<string, number>();
      for (const id of this.btf.ids("function")) {
        const name = this.btf.name(id);
        if (!functions.has(name)) functions.set(name, id);
      }
      this.#functions = functions;
    }
    return this.#functions.keys();
  }

  rawTracepointNames(): string[] {
    return [...this.btf.ids("typedef", { prefix: TRACEPOINT_PREFIX })]
      .map((id) => this.btf.name(id).slice(TRACEPOINT_PREFIX.length))
      .sort();
  }

  iteratorNames(): string[] {
    // `bpf_iter__task__safe_trusted` and its like are notes to the verifier.
    return [...this.btf.ids("struct", { prefix: ITERATOR_PREFIX })]
      .map((id) => this.btf.name(id).slice(ITERATOR_PREFIX.length))
      .filter((name) => !name.includes("__"))
      .sort();
  }

  /** @throws BtfError when that is no prototype */
  #signature(id: number, prototypeId: number, skip: number): Signature {
    const prototype = this.btf.type(prototypeId);
    if (prototype.kind !== "function-prototype") throw new BtfError(damagedBtf().noPrototype(prototypeId));
    const parameters: Parameter[] = [];
    for (const { name, type } of prototype.parameters.slice(skip)) {
      // The nameless void at the end is `...`.
      if (type !== 0) parameters.push({ name, type: typedPointer(this.typeOf(type)) });
    }
    const spelled = (): (string | undefined)[] =>
      [...prototype.parameters.slice(skip).flatMap(({ type }) => (type === 0 ? [] : [type])), prototype.result].map(
        (type) => declarations().spellKernelType(this.btf, type),
      );
    return { id, parameters, result: typedPointer(this.typeOf(prototype.result)), spelled };
  }

  /** The language's type for a BTF id. Equal ids give the same object. @throws BtfError */
  typeOf(id: number): Type {
    const known = this.#types.get(id);
    if (known !== undefined) return known;
    if (this.#depth >= DEPTH_LIMIT) throw new BtfError(damagedBtf().typeOfItself(id));
    this.#depth++;
    try {
      const { base, typedef } = this.#behindTypedefs(id);
      // An anonymous struct or enum behind a typedef goes by the typedef's name: one object for each typedef of it.
      const key = typedef !== undefined && this.btf.name(base) === "" && this.#isTagged(base) ? typedef : base;
      let type = this.#types.get(key);
      if (type === undefined) {
        type = this.#convert(base, key === base ? undefined : this.btf.name(key));
        this.#types.set(key, type);
      }
      this.#types.set(id, type);
      return type;
    } finally {
      this.#depth--;
    }
  }

  #isTagged(id: number): boolean {
    const kind = this.btf.kind(id);
    return kind === "struct" || kind === "union" || kind === "enum" || kind === "enum64";
  }

  /** The type behind typedefs and modifiers, and the typedef next to it. */
  #behindTypedefs(id: number): { base: number; typedef: number | undefined } {
    let typedef: number | undefined;
    const base = this.btf.strip(id);
    let at = this.btf.strip(id, "modifiers");
    while (at !== base) {
      typedef = at;
      const type = this.btf.type(at);
      if (type.kind !== "typedef") break;
      at = this.btf.strip(type.type, "modifiers");
    }
    return { base, typedef };
  }

  #convert(id: number, typedef: string | undefined): Type {
    const type = this.btf.type(id);
    switch (type.kind) {
      case "void":
        return voidType;
      case "int":
        if (type.boolean && type.size === 1) return boolType;
        // The kernel is built with unsigned char, and people mean text or a small signed number.
        if (type.name === "char" && type.size === 1) return char;
        if (type.size === 16) return { kind: "array", element: u64, length: 2 };
        return integer(bitsOf(type.size), type.signed);
      case "float":
        return { kind: "struct", union: false, name: type.name, size: type.size, members: [] };
      case "enum":
      case "enum64": {
        let names: ReadonlyMap<bigint, string> | undefined;
        return {
          kind: "enum",
          name: type.name || typedef || "",
          bits: bitsOf(type.size),
          signed: type.signed,
          // Of several constants with one value the first names it.
          get names() {
            return (names ??= new Map([...type.constants].reverse().map((c) => [c.value, c.name])));
          },
        };
      }
      case "pointer": {
        const target = this.btf.strip(type.type);
        const space = this.#spaceOf(type.type);
        if (this.btf.kind(target) === "function-prototype") return { kind: "pointer", target: voidType, space };
        return { kind: "pointer", target: this.typeOf(type.type), space };
      }
      case "array":
        return { kind: "array", element: this.typeOf(type.element), length: type.length };
      case "struct":
      case "union": {
        let members: readonly Member[] | undefined;
        const decode = (): readonly Member[] => type.members.map((member) => this.#member(type.size, member));
        return {
          kind: "struct",
          union: type.kind === "union",
          name: type.name || typedef || "",
          size: type.size,
          get members() {
            return (members ??= decode());
          },
          // Of a struct's hundreds of members, a script uses one or two.
          member: (name) => {
            const found = members === undefined ? this.btf.member(id, name) : undefined;
            return found && this.#member(type.size, found);
          },
        };
      }
      case "forward": {
        const whole = this.btf.find(type.name, type.union ? "union" : "struct");
        if (whole !== undefined) return this.typeOf(whole);
        return { kind: "struct", union: type.union, name: type.name, size: 0, members: [] };
      }
      // Function types only make sense behind pointers; the rest are not types of values.
      case "function-prototype":
      case "function":
      case "variable":
      case "data-section":
      case "declaration-tag":
      case "typedef":
      case "volatile":
      case "const":
      case "restrict":
      case "type-tag":
        return voidType;
    }
  }

  #member(structSize: number, { name, type: id, bitOffset: start, bitWidth: width }: BtfMember): Member {
    if (width === 0) return new KernelMember(this, id, name, start >>> 3);
    // Counted from the aligned unit of the declared type, so that a single load of that type has all its bits.
    const base = this.btf.type(this.btf.strip(id));
    const unit = base.kind === "int" || base.kind === "enum" || base.kind === "enum64" ? base.size : 1;
    let offset = Math.floor(start / (unit * 8)) * unit;
    if (start - offset * 8 + width > unit * 8 || offset + unit > structSize) offset = start >>> 3;
    return new KernelBits(this, id, name, offset, start - offset * 8, width);
  }

  /** Compilers mark pointers to user memory with type tags, where they mark them at all. */
  #spaceOf(target: number): AddressSpace {
    for (let step = 0; step < DEPTH_LIMIT && target !== 0; step++) {
      const type = this.btf.type(target);
      switch (type.kind) {
        case "type-tag":
          if (type.name === "user" || type.name === "address_space(1)") return "user";
          target = type.type;
          break;
        case "const":
        case "volatile":
        case "restrict":
          target = type.type;
          break;
        default:
          return "kernel";
      }
    }
    return "kernel";
  }
}

/**
 * Its type is converted when it is read: of a struct's hundreds of members, a script uses one or two. (The type is the
 * class's to tell: a copy of a member needs it said.)
 */
class KernelMember implements Member {
  readonly name: string;
  /** Bytes from the start of the struct. */
  readonly offset: number;
  readonly #types: KernelTypes;
  readonly #id: number;

  constructor(types: KernelTypes, id: number, name: string, offset: number) {
    this.name = name;
    this.offset = offset;
    this.#types = types;
    this.#id = id;
  }

  get type(): Type {
    return this.#types.typeOf(this.#id);
  }

  get declared(): string | undefined {
    return declarations().spellKernelType(this.#types.btf, this.#id, this.name);
  }
}

class KernelBits extends KernelMember {
  readonly bitOffset: number;
  readonly bitWidth: number;

  constructor(types: KernelTypes, id: number, name: string, offset: number, bitOffset: number, bitWidth: number) {
    super(types, id, name, offset);
    this.bitOffset = bitOffset;
    this.bitWidth = bitWidth;
  }
}

/** By the pointer that is not: tens of thousands of parameters are of a few thousand types. */
const typedPointers = new WeakMap<Type, Type>();

/** The verifier knows what a kernel pointer to a struct points to when it comes from a BTF-typed context. */
function typedPointer(type: Type): Type {
  if (type.kind !== "pointer" || type.space !== "kernel" || type.target.kind !== "struct") return type;
  let typed = typedPointers.get(type);
  if (typed === undefined) typedPointers.set(type, (typed = { ...type, typed: true }));
  return typed;
}

/** Names that mean the same everywhere. */
const FIXED_WIDTH: Readonly<Record<string, Type>> = {
  void: voidType,
  bool: boolType,
  _Bool: boolType,
  u8,
  u16,
  u32,
  u64,
  s8: i8,
  s16: i16,
  s32: i32,
  s64: i64,
  __u8: u8,
  __u16: u16,
  __u32: u32,
  __u64: u64,
  __s8: i8,
  __s16: i16,
  __s32: i32,
  __s64: i64,
  uint8: u8,
  uint16: u16,
  uint32: u32,
  uint64: u64,
  int8: i8,
  int16: i16,
  int32: i32,
  int64: i64,
  uint8_t: u8,
  uint16_t: u16,
  uint32_t: u32,
  uint64_t: u64,
  int8_t: i8,
  int16_t: i16,
  int32_t: i32,
  int64_t: i64,
  size_t: u64,
  ssize_t: i64,
  ptrdiff_t: i64,
  intptr_t: i64,
  uintptr_t: u64,
};

/** Names that the kernel's BTF explains where there is one. */
const SYSTEM_TYPES: Readonly<Record<string, Type>> = {
  pid_t: i32,
  uid_t: u32,
  gid_t: u32,
  mode_t: u32,
  umode_t: u16,
  dev_t: u32,
  ino_t: u64,
  off_t: i64,
  loff_t: i64,
  time_t: i64,
  clockid_t: i32,
  socklen_t: u32,
  sector_t: u64,
  ktime_t: i64,
  gfp_t: u32,
};

const own = (table: Readonly<Record<string, Type>>, name: string): Type | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** C's own integer types, in every order of their words, and the fixed-width names. Needs no BTF. */
export function baseType(name: string): Type | undefined {
  return own(FIXED_WIDTH, name) ?? arithmeticType(name);
}

/** What `pid_t` and its like are where no BTF says so. */
export function systemType(name: string): Type | undefined {
  return own(SYSTEM_TYPES, name);
}

function arithmeticType(name: string): Type | undefined {
  let long = 0;
  let short = 0;
  let char = 0;
  let int = 0;
  let sign: boolean | undefined;
  for (const word of name.trim().split(/\s+/)) {
    switch (word) {
      case "unsigned":
      case "signed":
        if (sign !== undefined) return undefined;
        sign = word === "signed";
        break;
      case "long":
        long++;
        break;
      case "short":
        short++;
        break;
      case "char":
        char++;
        break;
      case "int":
        int++;
        break;
      default:
        return undefined;
    }
  }
  if (long > 2 || short > 1 || char > 1 || int > 1 || (long > 0 && short + char > 0) || (char > 0 && short + int > 0))
    return undefined;
  const signed = sign ?? true;
  if (char > 0) return integer(8, signed);
  if (short > 0) return integer(16, signed);
  return integer(long > 0 ? 64 : 32, signed);
}

/** Base types alone, for kernels without BTF. */
export const plainTypes: TypeScope = {
  find: (name, tag) => (tag === undefined ? (baseType(name) ?? systemType(name)) : undefined),
  enumConstant: () => undefined,
  similar: (name, tag) =>
    tag === undefined ? nearest(name, [...Object.keys(FIXED_WIDTH), ...Object.keys(SYSTEM_TYPES)]) : [],
};
