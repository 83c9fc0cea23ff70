// Types that the kernel and the binaries do not tell: structs of a program's own, described once, for cast() and
// sizeof() in handlers.
import { library } from "../messages/on-demand.ts";
import { casts } from "../language/typescript/specials.ts";
import type { StructBinding, TypeBinding } from "../language/typescript/binding.ts";
import type { FixedArray, Pointer, StructNamed, Structs, Unchecked } from "./declarations.ts";
import { bind, bindingOf } from "./markers.ts";

declare const seenAs: unique symbol;
declare const structure: unique symbol;

/** A type that was described; `T` is what a handler sees of a value of it. */
export interface CType<T> {
  readonly [seenAs]: T;
}
/** A struct or union. cast(pointer, type) is a pointer to one. */
export interface CStruct<T> extends CType<T> {
  readonly [structure]: true;
}

/** What says a type: u8 and its kin, a text as C writes it, what struct() and the others gave. */
export type TypeLike = string | CType<unknown> | ((value: unknown) => number);

type IntegerWord =
  | "u8"
  | "u16"
  | "u32"
  | "u64"
  | "i8"
  | "i16"
  | "i32"
  | "i64"
  | `${"u" | ""}int${8 | 16 | 32 | 64}${"_t" | ""}`
  | "short"
  | "int"
  | "long"
  | "long long"
  | "size_t"
  | "ssize_t"
  | "pid_t"
  | "uintptr_t"
  | `unsigned ${"char" | "short" | "int" | "long" | "long long"}`;

/** What a handler sees of a value of a type. */
export type SeenAs<D> =
  D extends CType<infer T>
    ? T
    : D extends (value: unknown) => infer N
      ? N
      : D extends IntegerWord
        ? number
        : D extends "bool"
          ? boolean
          : D extends `char[${number}]`
            ? string
            : D extends `${string}[]`
              ? Unchecked
              : D extends `${infer Element}[${number}]`
                ? FixedArray<SeenAs<Element>>
                : D extends `${"struct" | "union"} ${infer Tag} *` | `struct ${infer Tag}` | `union ${infer Tag}`
                  ? StructNamed<Tag>
                  : D extends `${infer Target} *` | `${infer Target}*`
                    ? Pointer<SeenAs<Target>>
                    : D extends keyof Structs
                      ? Structs[D]
                      : Unchecked;

/** What cast() gives: of a struct, a pointer to one. */
export type CastTo<D> = D extends CStruct<infer T> ? Pointer<T> : SeenAs<D>;

/** How a struct lies other than C has it by itself: with no room between members, at a multiple of so many bytes. */
export interface StructLayout {
  readonly packed?: boolean;
  readonly align?: number;
}

type Members = Readonly<Record<string, TypeLike>>;
/** Members of the member "", a struct or union without a name, are the struct's own. */
type MembersSeen<M> = { readonly [P in Exclude<keyof M, "">]: SeenAs<M[P]> } & (M extends { readonly "": infer Inner }
  ? SeenAs<Inner>
  : unknown);

/**
 * A struct that C lays out: `const header = struct({ kind: u8, length: u16, name: arrayOf("char", 16), next: "struct
 * sock *" })`, then `cast(pointer, header).length` in handlers. A name before the members is for types in texts:
 * `"struct header *"`. What points to itself is a text, or a getter with a type: `get next(): CType<unknown> { return
 * pointerTo(header); }`. Behind the members stands how it lies in memory: `struct({ … }, { packed: true })`.
 */
export function struct<const M extends Members>(members: M, layout?: StructLayout): CStruct<MembersSeen<M>>;
export function struct<const M extends Members>(
  name: string,
  members: M,
  layout?: StructLayout,
): CStruct<MembersSeen<M>>;
export function struct(...args: readonly unknown[]): CStruct<unknown> {
  return structOf("struct", false, args);
}

/** As struct(), with all members in one place. */
export function union<const M extends Members>(
  members: M,
  layout?: StructLayout,
): CStruct<Partial<MembersSeen<M>> & MembersSeen<M>>;
export function union<const M extends Members>(
  name: string,
  members: M,
  layout?: StructLayout,
): CStruct<MembersSeen<M>>;
export function union(...args: readonly unknown[]): CStruct<unknown> {
  return structOf("union", true, args);
}

function structOf(what: string, isUnion: boolean, args: readonly unknown[]): CStruct<unknown> {
  const [name, members, layout] =
    typeof args[0] === "string" ? (args as [string, unknown, unknown]) : [undefined, ...args];
  if (typeof members !== "object" || members === null)
    throw new TypeError(library().takesMembers(what, members === null ? "null" : typeof members).message);
  const attributes = layoutOf(layout, what);
  const identity = {};
  const type: StructBinding = {
    kind: "struct",
    identity,
    union: isUnion,
    ...(name === undefined ? {} : { name }),
    ...(attributes === undefined ? {} : { attributes }),
    members: () =>
      Object.entries(members).map(([member, of]) => {
        const bits = bitsOf.get(of as object);
        const own = attributesOf.get(of as object);
        return {
          name: member,
          type: typeBinding(of, `${what}()`),
          ...(bits === undefined ? {} : { bits }),
          ...(own === undefined ? {} : { attributes: own }),
        };
      }),
  };
  return bind(identity, { kind: "type", type }) as CStruct<unknown>;
}

function layoutOf(layout: unknown, what: string): StructLayout | undefined {
  if (layout === undefined) return undefined;
  const { packed, align } = Object(layout) as StructLayout;
  const known =
    typeof layout === "object" &&
    (packed === undefined || typeof packed === "boolean") &&
    (align === undefined || isAlignment(align));
  if (!known) throw new TypeError(library().takesLayout(what, mostAligned).message);
  return { ...(packed ? { packed } : {}), ...(align === undefined ? {} : { align }) };
}

const mostAligned = 4096;

function isAlignment(bytes: unknown): boolean {
  return typeof bytes === "number" && bytes >= 1 && bytes <= mostAligned && Number.isInteger(Math.log2(bytes));
}

/**
 * Numbers with names, which are printed by them: `const color = enumeration({ RED: 1, BLUE: 5 })`, then
 * `cast(args.color, color)` and `color.RED`, which in Node is the number. A name before them is for types in texts:
 * `"enum color"`.
 */
export function enumeration<const C extends Readonly<Record<string, number | bigint>>>(constants: C): C & CType<number>;
export function enumeration<const C extends Readonly<Record<string, number | bigint>>>(
  name: string,
  constants: C,
): C & CType<number>;
export function enumeration(...args: readonly unknown[]): CType<number> {
  const [name, constants] = (args.length > 1 ? args : [undefined, args[0]]) as [
    string | undefined,
    Readonly<Record<string, number | bigint>>,
  ];
  const values = Object.entries(constants).map(([constant, value]) => {
    if (typeof value !== "bigint" && !Number.isSafeInteger(value))
      throw new TypeError(library().takesIntegers(constant, value).message);
    return [constant, BigInt(value)] as const;
  });
  const identity = Object.freeze({ ...constants });
  bind(identity, {
    kind: "type",
    type: { kind: "enum", identity, ...(name === undefined ? {} : { name }), constants: new Map(values) },
  });
  return identity as unknown as CType<number>;
}

/** A pointer to a type: `next: pointerTo("struct sock")`, `cast(pointer, pointerTo(u32))`. */
export function pointerTo<D extends TypeLike>(type: D): CType<Pointer<SeenAs<D>>> {
  return bind(
    {},
    { kind: "type", type: { kind: "pointer", to: typeBinding(type, "pointerTo()") } },
  ) as unknown as CType<Pointer<SeenAs<D>>>;
}
bind(pointerTo, { kind: "special", name: "pointerTo" });

/** An array of a fixed length: `addresses: arrayOf(u32, 4)`. Of "char" it is text. */
export function arrayOf<D extends TypeLike>(
  type: D,
  length: number,
): CType<D extends "char" ? string : FixedArray<SeenAs<D>>> {
  if (!Number.isSafeInteger(length) || length < 0) throw new RangeError(library().takesLength(length).message);
  return bind(
    {},
    { kind: "type", type: { kind: "array", of: typeBinding(type, "arrayOf()"), length } },
  ) as unknown as ReturnType<typeof arrayOf<D>>;
}
bind(arrayOf, { kind: "special", name: "arrayOf" });

const bitsOf = new WeakMap<object, number>();

/** A member of so many bits: `struct({ version: bits(u8, 4), length: bits(u8, 4) })`. */
export function bits<D extends TypeLike>(type: D, width: number): CType<SeenAs<D>> {
  if (!Number.isSafeInteger(width) || width < 0 || width > 64)
    throw new RangeError(library().takesWidth(width).message);
  const made = bind({}, { kind: "type", type: typeBinding(type, "bits()") });
  bitsOf.set(made, width);
  return made as unknown as CType<SeenAs<D>>;
}

const attributesOf = new WeakMap<object, StructLayout>();

/**
 * A member at a multiple of so many bytes, as C's aligned(16) has it: `struct({ kind: u8, value: aligned(u32, 16) })`.
 * 1 packs it.
 */
export function aligned<D extends TypeLike>(type: D, bytes: number): CType<SeenAs<D>> {
  if (!isAlignment(bytes)) throw new RangeError(library().takesAlignment(mostAligned, bytes).message);
  const made = bind({}, { kind: "type", type: typeBinding(type, "aligned()") });
  const inner = attributesOf.get(type as object);
  attributesOf.set(made, bytes === 1 ? { ...inner, packed: true } : { ...inner, align: bytes });
  const width = bitsOf.get(type as object);
  if (width !== undefined) bitsOf.set(made, width);
  return made as unknown as CType<SeenAs<D>>;
}

for (const maker of [struct, union, enumeration, bits, aligned])
  bind(maker, { kind: "unusable", what: "for types, which are described outside of handlers" });

function typeBinding(described: unknown, where: string): TypeBinding {
  if (typeof described === "string") return { kind: "written", text: described };
  const binding = typeof described === "object" || typeof described === "function" ? bindingOf(described) : undefined;
  if (binding?.kind === "type") return binding.type;
  if (binding?.kind === "special" && Object.hasOwn(casts, binding.name))
    return { kind: "written", text: casts[binding.name as keyof typeof casts] };
  throw new TypeError(library().takesType(where, described === null ? "null" : typeof described).message);
}
