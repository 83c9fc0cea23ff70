// Types of a script's own, on the way back to TypeScript: struct(), union() and enumeration(), and what is made of
// them.
import { typeNameText } from "../../print-tree.ts";
import type {
  EnumDeclaration,
  Expression,
  LayoutAttributes,
  Program,
  StructDeclaration,
  TypeName,
} from "../../program.ts";

/** What is needed of the program around. */
export interface TypeWriterNeeds {
  /** Imports a name of the library, and gives it back. */
  readonly imported: (name: string) => string;
  /** A name that nothing else has. */
  readonly unique: (wanted: string) => string;
  /** An operand of `typeof`. */
  readonly operand: (value: Expression) => string;
}

export class TypeWriter {
  readonly #needs: TypeWriterNeeds;
  /** By their tags, and constants of enums. */
  readonly #structs = new Map<string, { readonly name: string; readonly union: boolean; written: boolean }>();
  readonly #enums = new Map<string, string>();
  readonly #constants = new Map<string, string>();

  constructor(needs: TypeWriterNeeds) {
    this.#needs = needs;
  }

  /** The declarations, a line each. Everything else comes after. */
  declarations({ structs, enums }: Pick<Program, "structs" | "enums">): string[] {
    for (const one of structs)
      this.#structs.set(one.name, { name: this.#needs.unique(one.name), union: one.union, written: false });
    return [...enums.map((one) => this.#enumeration(one)), ...structs.map((one) => this.#struct(one))];
  }

  /** An enum's constant of the script's own. */
  constant(name: string): string | undefined {
    return this.#constants.get(name);
  }

  struct(tag: string): string | undefined {
    return this.#structs.get(tag)?.name;
  }

  #enumeration({ name, constants }: EnumDeclaration): string {
    const own = this.#needs.unique(name === "" ? "constants" : name);
    if (name !== "") this.#enums.set(name, own);
    for (const one of constants) this.#constants.set(one.name, `${own}.${one.name}`);
    const given = name === "" ? "" : `${JSON.stringify(name)}, `;
    return `const ${own} = ${this.#needs.imported("enumeration")}(${given}{ ${constants.map((one) => `${one.name}: ${integerText(one.value)}`).join(", ")} });\n`;
  }

  #struct(declaration: StructDeclaration): string {
    const own = this.#structs.get(declaration.name)!;
    const text = `const ${own.name} = ${this.#structText(declaration)};\n`;
    own.written = true;
    return text;
  }

  #structText({ union, name, members, attributes }: StructDeclaration): string {
    const texts = members.map((member) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(member.name) ? member.name : JSON.stringify(member.name);
      const type = "members" in member.type ? this.#nested(member.type) : this.#memberType(member.type);
      if (type === undefined) return `get ${key}(): any { return ${this.text(member.type as TypeName)}; }`;
      return `${key}: ${this.#aligned(member.bitWidth === undefined ? type : `${this.#needs.imported("bits")}(${type}, ${member.bitWidth})`, member.attributes)}`;
    });
    const { packed, align } = attributes ?? {};
    const layout = [...(packed ? ["packed: true"] : []), ...(align === undefined ? [] : [`align: ${align}`])];
    return `${this.#needs.imported(union ? "union" : "struct")}(${name === "" ? "" : `${JSON.stringify(name)}, `}{ ${texts.join(", ")} }${layout.length === 0 ? "" : `, { ${layout.join(", ")} }`})`;
  }

  /** One that has a tag is declared for all, before the struct that it is in. */
  #nested(declaration: StructDeclaration): string {
    const own = this.#structs.get(declaration.name);
    return own?.written ? own.name : this.#structText(declaration);
  }

  #aligned(type: string, { packed, align }: LayoutAttributes = {}): string {
    const inner = packed ? `${this.#needs.imported("aligned")}(${type}, 1)` : type;
    return align === undefined ? inner : `${this.#needs.imported("aligned")}(${inner}, ${align})`;
  }

  /** Undefined for what is not written yet: it has to be asked for later. */
  #memberType(type: TypeName): string | undefined {
    const own = this.#ownType(type);
    if (own !== undefined && !own.written) return undefined;
    return this.text(type);
  }

  /** The script's own struct or enum that a type is made of. */
  #ownType({ name, tag }: TypeName): { readonly name: string; readonly written: boolean } | undefined {
    const struct = tag === "enum" ? undefined : this.#structs.get(name);
    if (struct !== undefined && (tag === undefined || struct.union === (tag === "union"))) return struct;
    const own = tag === undefined || tag === "enum" ? this.#enums.get(name) : undefined;
    return own === undefined ? undefined : { name: own, written: true };
  }

  /**
   * A type as an argument: as C writes it, or made of the script's own. `pointer`: where a struct alone means a pointer
   * to it.
   */
  text(type: TypeName, pointer = false): string {
    if (type.of !== undefined) return this.#around(`typeof ${this.#needs.operand(type.of)}`, type, 0);
    const own = this.#ownType(type);
    if (own === undefined) {
      const structure = type.tag === "struct" || type.tag === "union";
      return JSON.stringify(
        typeNameText(
          pointer && structure && type.pointers === 1 && type.dimensions.length === 0 ? { ...type, pointers: 0 } : type,
        ),
      );
    }
    return this.#around(
      own.name,
      type,
      pointer && this.#structs.has(type.name) && type.pointers === 1 && type.dimensions.length === 0 ? 1 : 0,
    );
  }

  #around(base: string, type: TypeName, less: number): string {
    let text = base;
    let given = less;
    for (const { pointers, dimensions } of [type, ...(type.behind ?? [])]) {
      for (; given < pointers; given++) text = `${this.#needs.imported("pointerTo")}(${text})`;
      for (const length of dimensions.toReversed()) text = `${this.#needs.imported("arrayOf")}(${text}, ${length})`;
      given = 0;
    }
    return text;
  }
}

export function integerText(value: bigint): string {
  return value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER)
    ? `${value}n`
    : String(value);
}
