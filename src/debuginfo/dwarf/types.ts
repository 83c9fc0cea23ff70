// Types of debug information as facts.ts wants them. Each is made once an entry, so that equal types are one object.
import { AT, TAG } from "./constants.ts";
import { Cursor } from "./cursor.ts";
import type { DebugMember, DebugType, DebugVariants } from "./facts.ts";
import { qualifiedName } from "./names.ts";
import type { Entry } from "./units.ts";

const VOID: DebugType = { kind: "void" };
const notes = {};
/** Qualifiers and aliases in a row: a chain of its own makes damage, not C. */
const CHAIN = 64;

/** The type that an entry has (DW_AT_type, looked for along its origins); void when it has none. */
export function typeOf(entry: Entry): DebugType {
  const typed = entry.withAttribute(AT.type);
  const target = typed?.reference(AT.type);
  return target === undefined ? VOID : typeFrom(target);
}

/** The type that an entry is. */
export function typeFrom(entry: Entry): DebugType {
  const known = entry.unit.note(notes, () => new Map<number, DebugType>());
  let type = known.get(entry.index);
  if (type === undefined) known.set(entry.index, (type = made(entry, 0)));
  return type;
}

function made(entry: Entry, depth: number): DebugType {
  if (depth > CHAIN) return VOID;
  switch (entry.tag) {
    case TAG.base_type:
      return base(entry);
    case TAG.pointer_type:
      return pointer(entry, "pointer");
    case TAG.reference_type:
      return pointer(entry, "reference");
    case TAG.rvalue_reference_type:
      return pointer(entry, "rvalue-reference");
    case TAG.ptr_to_member_type:
      return { kind: "base", name: "member pointer", bytes: entry.unit.header.addressSize, encoding: "unsigned" };
    case TAG.structure_type:
      return struct(entry, "struct");
    case TAG.class_type:
    case TAG.interface_type:
      return struct(entry, "class");
    case TAG.union_type:
      return struct(entry, "union");
    case TAG.array_type:
      return { kind: "array", lengths: lengths(entry), element: () => typeOf(entry) };
    case TAG.string_type: {
      const character: DebugType = { kind: "base", name: "char", bytes: 1, encoding: "char" };
      return { kind: "array", lengths: [entry.number(AT.byte_size) ?? 0], element: () => character };
    }
    case TAG.enumeration_type:
      return enumeration(entry);
    case TAG.typedef:
    case TAG.template_alias:
      return { kind: "typedef", name: qualifiedName(entry), target: () => typeOf(entry) };
    case TAG.subroutine_type:
      return { kind: "function" };
    case TAG.const_type: {
      const target = entry.reference(AT.type);
      return { ...(target === undefined ? VOID : made(target, depth + 1)), constant: true };
    }
    case TAG.volatile_type:
    case TAG.restrict_type:
    case TAG.atomic_type:
    case TAG.immutable_type:
    case TAG.packed_type:
    case TAG.shared_type:
    case TAG.subrange_type: {
      const target = entry.reference(AT.type);
      return target === undefined ? VOID : made(target, depth + 1);
    }
    default:
      return VOID;
  }
}

type Encoding = Extract<DebugType, { kind: "base" }>["encoding"];

const ENCODINGS: Readonly<Record<number, Encoding>> = {
  1: "unsigned",
  2: "boolean",
  3: "complex",
  4: "float",
  5: "signed",
  6: "char",
  7: "unsigned",
  8: "unsigned-char",
  0x10: "utf",
  0x11: "utf",
  0x12: "utf",
};

function base(entry: Entry): DebugType {
  const bits = entry.number(AT.bit_size);
  const bytes = entry.number(AT.byte_size) ?? (bits === undefined ? 0 : Math.ceil(bits / 8));
  return {
    kind: "base",
    name: entry.name ?? "",
    bytes,
    encoding: ENCODINGS[entry.number(AT.encoding) ?? 0] ?? "other",
    ...goType(entry),
  };
}

/** What Go's linker says of a type beside DWARF. */
function goType(entry: Entry): { readonly goType?: number } {
  const at = entry.address(AT.go_runtime_type) ?? entry.number(AT.go_runtime_type);
  return at === undefined || at === 0 ? {} : { goType: at };
}

function pointer(entry: Entry, flavour: "pointer" | "reference" | "rvalue-reference"): DebugType {
  const name = entry.name;
  const bytes = entry.number(AT.byte_size) ?? entry.unit.header.addressSize;
  return { kind: "pointer", flavour, bytes, ...(name !== undefined && { name }), target: () => typeOf(entry) };
}

/** DW_CC_pass_by_reference, DW_CC_pass_by_value */
const BY_REFERENCE = 4,
  BY_VALUE = 5;
/** DW_LANG_C_plus_plus: 98, 03, 11, 14, 17, 20 */
const CPP: ReadonlySet<number> = new Set([0x04, 0x19, 0x1a, 0x21, 0x2a, 0x2b]);
/** DW_DEFAULTED_in_class */
const DEFAULTED = 1;

/** A destructor or a copy constructor that somebody wrote; compilers say so outright, or list the functions. */
function copiesItself(entry: Entry): boolean {
  const convention = entry.number(AT.calling_convention);
  if (convention === BY_REFERENCE || convention === BY_VALUE) return convention === BY_REFERENCE;
  // Constructors go by the name without a template's arguments; those that are templates themselves copy nothing (C++,
  // class.copy.ctor).
  const constructor = entry.name?.replace(/<.*$/s, "");
  for (const child of entry.children()) {
    if (child.tag !== TAG.subprogram || child.name === undefined) continue;
    if (child.number(AT.defaulted) === DEFAULTED && child.number(AT.virtuality) === undefined) continue;
    if (child.name.startsWith("~")) return true;
    if (child.name !== constructor) continue;
    const [first] = [...child.children()].filter(
      (each) => each.tag === TAG.formal_parameter && !each.flag(AT.artificial),
    );
    const target = first?.reference(AT.type);
    const copied =
      target?.tag === TAG.reference_type || target?.tag === TAG.rvalue_reference_type
        ? target.reference(AT.type)
        : undefined;
    const own = copied?.tag === TAG.const_type ? copied.reference(AT.type) : copied;
    if (own !== undefined && own.offset === entry.offset && own.unit === entry.unit) return true;
  }
  return false;
}

/** A declaration may say where the whole type is, in a unit of its own. */
function definition(entry: Entry): Entry {
  return entry.reference(AT.signature) ?? entry;
}

function struct(declared: Entry, tag: "struct" | "class" | "union"): DebugType {
  const entry = definition(declared);
  let members: readonly DebugMember[] | undefined;
  let variants: { readonly found: DebugVariants | undefined } | undefined;
  return {
    kind: "struct",
    tag,
    name: qualifiedName(entry),
    bytes: entry.number(AT.byte_size) ?? 0,
    declaration: entry.flag(AT.declaration),
    ...goType(entry),
    ...(CPP.has(entry.unit.root.number(AT.language) ?? 0) && {
      cpp: true,
      get byReference() {
        return copiesItself(entry);
      },
    }),
    members: () => (members ??= [...membersOf(entry)]),
    variants: () => (variants ??= { found: variantsOf(entry) }).found,
    parameters: () => [...entry.children()].filter((child) => child.tag === TAG.template_type_parameter).map(typeOf),
  };
}

function* membersOf(entry: Entry): Iterable<DebugMember> {
  for (const child of entry.children()) {
    if (child.tag === TAG.inheritance) {
      const offset = placeOf(child);
      const target = child.reference(AT.type);
      // A virtual base is where the object's table of virtual functions says.
      if (offset === undefined || target === undefined) continue;
      const type = typeFrom(target);
      yield { name: "name" in type ? (type.name ?? "") : "", offset, base: true, type: () => type };
    } else if (child.tag === TAG.member && !child.flag(AT.external) && !child.flag(AT.declaration)) {
      yield member(child);
    }
  }
}

function placeOf(entry: Entry): number | undefined {
  const value = entry.value(AT.data_member_location);
  if (value === undefined) return entry.tag === TAG.inheritance ? undefined : 0;
  if (value.kind === "constant") return Number(value.value);
  // DWARF 2 writes an operation: DW_OP_plus_uconst.
  if (value.kind !== "block" || value.bytes[0] !== 0x23) return undefined;
  return new Cursor(value.bytes, 1).uleb();
}

function member(entry: Entry): DebugMember {
  let type: DebugType | undefined;
  const typed = (): DebugType => (type ??= typeOf(entry));
  const name = entry.name ?? "";
  const bitWidth = entry.number(AT.bit_size);
  const offset = placeOf(entry) ?? 0;
  if (bitWidth === undefined) return { name, offset, type: typed };
  const storage = entry.number(AT.byte_size) ?? bytesOf(typed()) ?? 4;
  const fromStart = entry.number(AT.data_bit_offset);
  if (fromStart !== undefined) {
    // From the unit of its type that holds it whole, else from the nearest byte.
    const unit = Math.floor(fromStart / (8 * storage)) * storage;
    const fits = storage > 0 && fromStart - unit * 8 + bitWidth <= storage * 8;
    const from = fits ? unit : Math.floor(fromStart / 8);
    return { name, offset: from, bitOffset: fromStart - from * 8, bitWidth, type: typed };
  }
  // DWARF 2 counts from the most significant bit of the storage.
  const fromTop = entry.number(AT.bit_offset) ?? 0;
  return { name, offset, bitOffset: storage * 8 - fromTop - bitWidth, bitWidth, type: typed };
}

/** Size in bytes; undefined where a type does not tell it. */
export function bytesOf(type: DebugType, depth = 0): number | undefined {
  if (depth > CHAIN) return undefined;
  switch (type.kind) {
    case "base":
    case "pointer":
    case "struct":
    case "enum":
      return type.bytes;
    case "typedef":
      return bytesOf(type.target(), depth + 1);
    case "array": {
      const element = bytesOf(type.element(), depth + 1);
      return element === undefined ? undefined : type.lengths.reduce((product, length) => product * length, element);
    }
    case "void":
    case "function":
      return undefined;
  }
}

function variantsOf(entry: Entry): DebugVariants | undefined {
  for (const part of entry.children()) {
    if (part.tag !== TAG.variant_part) continue;
    const discriminant = part.reference(AT.discr);
    const variants: { values: readonly bigint[]; member: DebugMember }[] = [];
    for (const child of part.children()) {
      if (child.tag !== TAG.variant) continue;
      const value = child.value(AT.discr_value);
      const values =
        value?.kind === "constant"
          ? [value.value]
          : // Sixteen bytes, of which the lower eight tell.
            value?.kind === "block"
            ? [Buffer.from(value.bytes).readBigUInt64LE()]
            : listedValues(child);
      for (const inner of child.children())
        if (inner.tag === TAG.member) variants.push({ values, member: member(inner) });
    }
    return { ...(discriminant !== undefined && { discriminant: member(discriminant) }), variants };
  }
  return undefined;
}

/** DW_AT_discr_list: single values and ranges. Ranges are given by their values while there are few. */
function listedValues(entry: Entry): readonly bigint[] {
  const value = entry.value(AT.discr_list);
  if (value?.kind !== "block") return [];
  const cursor = new Cursor(value.bytes);
  const values: bigint[] = [];
  while (cursor.at < cursor.end && values.length < 4096) {
    const isRange = cursor.u8() === 1;
    const low = cursor.ulebExact();
    const high = isRange ? cursor.ulebExact() : low;
    for (let each = low; each <= high && values.length < 4096; each++) values.push(each);
  }
  return values;
}

function lengths(entry: Entry): readonly number[] {
  const found: number[] = [];
  for (const child of entry.children()) {
    if (child.tag === TAG.enumeration_type) found.push([...child.children()].length);
    if (child.tag !== TAG.subrange_type) continue;
    const count = child.constant(AT.count);
    const upper = child.value(AT.upper_bound);
    const lower = child.number(AT.lower_bound) ?? 0;
    if (count !== undefined) found.push(count < 0n ? 0 : Number(count));
    else if (upper?.kind === "constant") found.push(Math.max(0, lengthUpTo(upper.value, upper.bytes) - lower));
    else found.push(0);
  }
  return found.length === 0 ? [0] : found;
}

/** `int a[0]` has the upper bound -1, in as many bytes as the compiler liked. */
function lengthUpTo(upper: bigint, bytes: number): number {
  return BigInt.asIntN(8 * bytes, upper) === -1n && bytes > 1 ? 0 : Number(upper) + 1;
}

function enumeration(declared: Entry): DebugType {
  const entry = definition(declared);
  const underlying = entry.reference(AT.type);
  const base = underlying && typeFrom(underlying);
  const values = (): { readonly name: string; readonly value: bigint; readonly signed: boolean }[] =>
    [...entry.children()]
      .filter((child) => child.tag === TAG.enumerator)
      .map((child) => {
        const value = child.value(AT.const_value);
        return value?.kind === "constant"
          ? { name: child.name ?? "", value: value.value, signed: value.signed }
          : { name: child.name ?? "", value: 0n, signed: false };
      });
  let signed: boolean;
  const resolved = base === undefined ? undefined : aliased(base);
  if (resolved?.kind === "base") signed = resolved.encoding === "signed" || resolved.encoding === "char";
  else signed = values().some((each) => each.signed && each.value < 0n);
  let listed: readonly { readonly name: string; readonly value: bigint }[] | undefined;
  return {
    kind: "enum",
    name: qualifiedName(entry),
    bytes: entry.number(AT.byte_size) ?? (base === undefined ? 4 : (bytesOf(base) ?? 4)),
    signed,
    values: () => (listed ??= values().map(({ name, value }) => ({ name, value }))),
  };
}

function aliased(type: DebugType): DebugType {
  let result = type;
  for (let links = 0; result.kind === "typedef" && links < CHAIN; links++) result = result.target();
  return result;
}
