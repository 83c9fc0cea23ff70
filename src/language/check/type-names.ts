// Written types (`struct task_struct *`, `uint8[16]`, `string[64]`) to types.
import type { Message } from "../../messages/message.ts";
import { types } from "../../messages/types.ts";
import type { Context } from "../context.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { nearest } from "../nearest.ts";
import type { EnumDeclaration, Program, StructDeclaration, TypeName } from "../program.ts";
import type { AddressSpace, EnumType, StructType, Type } from "../types.ts";
import { boolType, char, i16, i32, i64, i8, u16, u32, u64, u8, voidType } from "../types.ts";
import type { TypeScope } from "../type-scope.ts";
import { structType } from "./structs.ts";

/** Types that need no debug information: the language's own, C's, and the kernel's fixed-width typedefs. */
const basic: ReadonlyMap<string, Type> = new Map<string, Type>([
  ["void", voidType],
  ["bool", boolType],
  ["_Bool", boolType],
  ["char", char],
  ["signed char", i8],
  ["unsigned char", u8],
  ["short", i16],
  ["short int", i16],
  ["signed short", i16],
  ["unsigned short", u16],
  ["unsigned short int", u16],
  ["short unsigned int", u16],
  ["int", i32],
  ["signed", i32],
  ["signed int", i32],
  ["unsigned", u32],
  ["unsigned int", u32],
  ["long", i64],
  ["long int", i64],
  ["signed long", i64],
  ["unsigned long", u64],
  ["unsigned long int", u64],
  ["long unsigned int", u64],
  ["long long", i64],
  ["long long int", i64],
  ["signed long long", i64],
  ["unsigned long long", u64],
  ["long long unsigned int", u64],
  ["unsigned long long int", u64],
  // Shown, never computed with.
  ["float", { kind: "named", of: "float32" }],
  ["double", { kind: "named", of: "float64" }],
  ["size_t", u64],
  ["ssize_t", i64],
  ["uintptr_t", u64],
  ["intptr_t", i64],
  ["off_t", i64],
  ["pid_t", i32],
  ["uid_t", u32],
  ["gid_t", u32],
  ...(
    [
      [8, i8, u8],
      [16, i16, u16],
      [32, i32, u32],
      [64, i64, u64],
    ] as const
  ).flatMap(([bits, signed, unsigned]): [string, Type][] => [
    [`int${bits}`, signed],
    [`int${bits}_t`, signed],
    [`s${bits}`, signed],
    [`__s${bits}`, signed],
    [`uint${bits}`, unsigned],
    [`uint${bits}_t`, unsigned],
    [`u${bits}`, unsigned],
    [`__u${bits}`, unsigned],
  ]),
]);

export type ResolvedTypeName = { readonly type: Type } | { readonly problem: Message };

/** Looks written types up: the script's own declarations first, then the language's types, then the kernel's. */
export class TypeNames {
  readonly #scope: TypeScope;
  readonly #structs = new Map<string, StructType>();
  readonly #enums = new Map<string, EnumType>();
  readonly #constants = new Map<string, { value: bigint; type: EnumType }>();
  /** What is wrong with the script's own declarations; of their members, as far as anything asked for them. */
  readonly problems: Diagnostic[] = [];

  constructor(program: Program, scope: TypeScope) {
    this.#scope = scope;
    for (const declaration of program.enums) this.#declareEnum(declaration);
    for (const declaration of program.structs) this.#declareStruct(declaration);
  }

  #declareStruct(declaration: StructDeclaration): void {
    const { name, union, span } = declaration;
    if (this.#structs.has(name)) {
      this.problems.push({ severity: "error", span, ...types.alreadyDeclared(union ? "union" : "struct", name) });
      return;
    }
    this.#structs.set(
      name,
      structType(
        declaration,
        (written) => {
          const found = this.resolve(written, "kernel");
          if ("type" in found) return found.type;
          this.problems.push({ severity: "error", span: written.span, ...found.problem });
          return voidType;
        },
        (span, said) => this.problems.push({ severity: "error", span, ...said }),
      ),
    );
  }

  #declareEnum(declaration: EnumDeclaration): void {
    const values = declaration.constants.map((c) => c.value);
    const signed = values.some((v) => v < 0n);
    const wide = values.some((v) => v < -0x8000_0000n || v > 0xffff_ffffn || (signed && v > 0x7fff_ffffn));
    const type: EnumType = {
      kind: "enum",
      name: declaration.name,
      bits: wide ? 64 : 32,
      signed,
      names: new Map(declaration.constants.map((c) => [c.value, c.name])),
    };
    if (declaration.name !== "") this.#enums.set(declaration.name, type);
    for (const { name, value } of declaration.constants) this.#constants.set(name, { value, type });
  }

  struct(name: string): StructType | undefined {
    return this.#structs.get(name);
  }

  /** An enum constant, of the script or the kernel. */
  constant(name: string): { value: bigint; type?: EnumType } | undefined {
    return this.#constants.get(name) ?? this.#scope.enumConstant(name);
  }

  constantNames(): Iterable<string> {
    return this.#constants.keys();
  }

  /**
   * `further` is asked last. `space` is where pointers point. An open array (`int8[]`) has length 0: the cast knows it.
   */
  resolve(written: TypeName, space: AddressSpace, further?: Context["typeNamed"]): ResolvedTypeName {
    const sized = written.pointers === 0 && written.dimensions.length === 1 ? written.dimensions[0] : undefined;
    if (
      written.tag === undefined &&
      (written.name === "string" || written.name === "buffer") &&
      written.pointers === 0
    ) {
      if (written.dimensions.length > 1) return { problem: types.takesOneSize(written.name) };
      const { behind, ...sizedName } = written;
      const own: Type = { kind: written.name, capacity: sized ?? 64 };
      return { type: behind === undefined ? own : this.derived(own, { ...sizedName, dimensions: [], behind }, space) };
    }
    if (written.tag === undefined && written.name === "inet" && written.pointers === 0)
      return { type: { kind: "named", of: "inet" } };
    const base = this.#base(written, further);
    if ("problem" in base) return base;
    return { type: this.derived(base.type, written, space) };
  }

  /** The pointers and dimensions around a base type. */
  derived(base: Type, written: TypeName, space: AddressSpace): Type {
    let type = base;
    for (const { pointers, dimensions } of [written, ...(written.behind ?? [])]) {
      for (let i = 0; i < pointers; i++) type = { kind: "pointer", target: type, space };
      for (const length of dimensions.toReversed()) type = { kind: "array", element: type, length };
    }
    return type;
  }

  #base(written: TypeName, further: Context["typeNamed"]): ResolvedTypeName {
    const { name, tag, ofProgram } = written;
    const own = ofProgram === true ? further?.(name, tag) : undefined;
    if (own !== undefined) return { type: own };
    if (tag === "struct" || tag === "union") {
      const own = this.#structs.get(name);
      if (own !== undefined && own.union === (tag === "union")) return { type: own };
    } else if (tag === "enum") {
      const own = this.#enums.get(name);
      if (own !== undefined) return { type: own };
    } else {
      const own = basic.get(name) ?? this.#structs.get(name) ?? this.#enums.get(name);
      if (own !== undefined) return { type: own };
    }
    const found =
      this.#scope.find(name, tag) ??
      (tag === undefined ? this.#scope.find(name, "struct") : undefined) ??
      further?.(name, tag);
    if (found !== undefined) return { type: found };
    // A pointer to a struct nobody defined is still an address: members cannot be read.
    const near = [
      ...nearest(name, tag === undefined ? basic.keys() : this.#structs.keys()),
      ...this.#scope.similar(name, tag),
    ].slice(0, 3);
    const help = near.length === 0 ? undefined : `did you mean ${near.map((n) => `\`${n}\``).join(" or ")}?`;
    return { problem: types.unknownType(tag === undefined ? name : `${tag} ${name}`, help) };
  }
}
