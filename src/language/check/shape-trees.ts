// What a description says of a type becomes the tree that reads a value of it. Only loaded where a script uses one.
import type {
  BinaryOperator,
  Block,
  Expression,
  MemberAccess,
  SequenceLiteral,
  Statement,
  TypeName,
  Variable,
} from "../program.ts";
import type { Span } from "../diagnostic.ts";
import { mostPlaces, sizeOf } from "../layout.ts";
import type { Part, PointerType, Shape, StructType, StructVariants, Type } from "../types.ts";
import { i64, u64, unknownType } from "../types.ts";
import { textCapacity } from "./config.ts";
import type { Body } from "./pass.ts";
import { integerLiteral } from "./pass.ts";

/** Bytes of a text within another value, the terminator included. */
const innerText = 64;
/** How much deeper a value is that stands for another. */
const aside = 1 / 4;

/** A program's half of the address space. */
const mostAddresses = 1n << 47n;

/** `levels` remembers how deep in other values the trees are that are made here. */
interface Made {
  readonly node: Expression;
  readonly type: StructType | PointerType;
  readonly level: number;
  readonly body: Body;
  readonly levels: WeakMap<Expression, number>;
  readonly isShaped: (type: Type) => boolean;
}

let makers = 0;

export class TreeMaker {
  readonly #node: Expression;
  readonly #type: StructType | PointerType;
  readonly #level: number;
  readonly #body: Body;
  readonly #span: Span;
  /** Tells its variables from all others'. */
  readonly #number = ++makers;

  readonly #levels: WeakMap<Expression, number>;
  readonly #isShaped: (type: Type) => boolean;

  constructor({ node, type, level, body, levels, isShaped }: Made) {
    this.#levels = levels;
    this.#isShaped = isShaped;
    // The object itself, in expressions about it: not what it is shown as.
    this.#node = { ...node };
    levels.set(this.#node, Infinity);
    this.#type = type;
    this.#level = level;
    this.#body = body;
    this.#span = node.span;
  }

  whole(): Expression {
    const type = this.#type;
    const { shape } = type;
    if (type.kind === "struct" && (shape === undefined || shape.form === "variants")) {
      return type.variants === undefined ? this.#record(this.#node, type) : this.#variants(type.variants, shape);
    }
    if (shape === undefined || shape.form === "variants") return this.#node;
    switch (shape.form) {
      case "text":
        return this.#text();
      case "list":
      case "set":
      case "mapping":
        return this.#sequence(shape.form);
      case "optional":
        return this.#choice(this.part("has"), this.#deeper(this.part("item")), shape.none);
      case "pointer":
        return this.#pointer(shape.none);
      case "value":
        return this.#standIn(this.part("item"));
      case "tuple":
        return this.#tuple();
    }
  }

  /** One of the description's expressions, over this value. */
  part(name: Part): Expression {
    const { shape } = this.#type;
    const part = shape?.parts.get(name);
    if (part === undefined || shape === undefined) return this.#integer(0n);
    return this.#bound(part, shape) as Expression;
  }

  #has(name: Part): boolean {
    return this.#type.shape?.parts.has(name) === true;
  }

  /** The same tree, with `$self`, its own variables and the types of its arguments in it. */
  #bound(of: unknown, shape: Shape): unknown {
    if (Array.isArray(of)) return of.map((one) => this.#bound(one, shape));
    if (typeof of !== "object" || of === null) return of;
    const node = of as Partial<Expression & TypeName>;
    if (node.kind === "variable") return node.name === "self" ? this.#node : this.#variable(node.name ?? "");
    const copy = Object.fromEntries(
      Object.entries(of).map(([key, value]) => [
        key,
        key === "span" || key === "nameSpan" ? this.#span : key === "type" ? value : this.#bound(value, shape),
      ]),
    );
    if ("pointers" in of && "dimensions" in of && typeof node.name === "string") {
      const is = shape.types.get(node.name);
      if (is !== undefined) copy["is"] = is;
    }
    return copy;
  }

  #variable(name: string): Variable {
    return { kind: "variable", name: `${name}.${this.#number}`, span: this.#span, type: unknownType };
  }

  #deeper(node: Expression, by = 1): Expression {
    this.#levels.set(node, this.#level + by);
    return node;
  }

  #text(): Expression {
    const span = this.#span;
    const capacity = textCapacity(this.#body.pass.config);
    const room = this.#level < 1 ? capacity : Math.min(capacity, innerText);
    const whole: Expression = {
      kind: "call",
      name: "counted_text",
      args: [this.part("data"), this.part("length"), this.#integer(BigInt(room))],
      span,
      type: unknownType,
    };
    const impossible: Expression = { kind: "string", value: "<impossible length>", span, type: unknownType };
    return {
      kind: "conditional",
      condition: this.#valid(),
      then: whole,
      otherwise: impossible,
      span,
      type: unknownType,
    };
  }

  /**
   * A loop over the elements: the variable is each in turn. What comes next is known before the body runs, which may go
   * on at once.
   */
  loop({ variable, body, span }: Extract<Statement, { kind: "for-value" }>): Statement {
    const { before, length, walk } = this.#sequence(this.#type.shape?.form === "mapping" ? "mapping" : "list", true);
    if (walk === undefined) return body;
    // Names that no description can have.
    const [count, left, places] = [this.#variable(" count"), this.#variable(" left"), this.#variable(" places")];
    const one = (target: Variable): Statement => ({
      kind: "assign",
      target,
      operator: "-",
      value: this.#integer(1n),
      span,
    });
    const either = (condition: Expression, then: Expression, otherwise: Expression): Expression => ({
      kind: "conditional",
      condition,
      then,
      otherwise,
      span,
      type: unknownType,
    });
    const block = (statements: readonly Statement[]): Block => ({ kind: "block", statements, span });
    const most = this.#integer(BigInt(this.#body.pass.config.maxElements));
    const round = [this.#declare(variable, walk.item), one(left), ...walk.next, body];
    const inner: readonly Statement[] =
      walk.has === undefined
        ? round
        : [{ kind: "if", condition: walk.has, then: block(round), otherwise: block(walk.next), span }];
    const none = this.#integer(0n);
    const condition = this.#binary(
      "&&",
      this.#binary("&&", this.#binary("!=", left, none), this.#binary("!=", places, none)),
      walk.more,
    );
    return block([
      ...before,
      this.#declare(count, length),
      this.#declare(places, this.#integer(BigInt(mostPlaces))),
      this.#declare(
        left,
        either(
          this.#binary("==", count, this.#integer((1n << 64n) - 1n)),
          none,
          either(this.#binary("<", count, most), count, most),
        ),
      ),
      { kind: "while", condition, body: block([one(places), ...inner]), span },
    ]);
  }

  /** No more elements than there are addresses, and whatever else the description asks. */
  #valid(): Expression {
    const few = this.#binary("<", this.#unsigned(this.part("length")), this.#integer(mostAddresses));
    return this.#has("valid") ? this.#binary("&&", few, this.part("valid")) : few;
  }

  #unsigned(operand: Expression, bits = 64): Expression {
    return {
      kind: "cast",
      to: { name: `uint${bits}`, pointers: 0, dimensions: [], span: this.#span },
      operand,
      span: this.#span,
      type: unknownType,
    };
  }

  #sequence(form: "list" | "set" | "mapping", walking = false): SequenceLiteral {
    const span = this.#span;
    const most = this.#body.pass.config.maxElements;
    const capacity = Math.max(1, this.#level < 2 ? most : most >> (this.#level - 1));
    const length: Expression = {
      kind: "conditional",
      condition: this.#valid(),
      then: this.#unsigned(this.part("length")),
      otherwise: this.#integer((1n << 64n) - 1n),
      span,
      type: unknownType,
    };
    const whole = { kind: "sequence", form, capacity, length, span, type: unknownType } as const;
    if (this.#has("data")) {
      const data = this.part("data");
      const { type } = this.#body.pass.expression(data, this.#body);
      if (!walking && type.kind === "pointer" && !this.#isShaped(type.target)) return { ...whole, before: [], data };
      const it = (): Variable => this.#variable("it");
      const item = this.#deeper({ kind: "unary", operator: "*", operand: it(), span, type: unknownType });
      const next: Statement = {
        kind: "expression",
        expression: { kind: "increment", target: it(), delta: 1, prefix: false, span, type: unknownType },
        discard: true,
        span,
      };
      return {
        ...whole,
        before: [this.#declare(it(), data)],
        walk: { more: { kind: "boolean", value: true, span, type: unknownType }, item, next: [next] },
      };
    }
    const it = this.#variable("it");
    const own = (this.#type.shape?.variables ?? []).map(({ name, value }) =>
      this.#declare(this.#variable(name), this.#bound(value, this.#type.shape!) as Expression),
    );
    const before = [...own, this.#declare(it, this.part("begin"))];
    const item: Expression =
      form === "mapping"
        ? {
            kind: "tuple",
            elements: [this.#deeper(this.part("key")), this.#deeper(this.part("value"))],
            span,
            type: unknownType,
          }
        : this.#deeper(this.part("item"));
    const next: Statement = { kind: "assign", target: it, operator: null, value: this.part("next"), span };
    const more: Expression = this.#has("more")
      ? this.part("more")
      : { kind: "boolean", value: true, span, type: unknownType };
    return {
      ...whole,
      before,
      walk: { more, item, next: [next], ...(this.#has("has") ? { has: this.part("has") } : {}) },
    };
  }

  #declare(variable: Variable, value: Expression): Statement {
    return { kind: "declare", variable, value, span: this.#span };
  }

  /** What a pointer that owns points to; of what nobody knows, the address. */
  #pointer(none: string): Expression {
    const span = this.#span;
    const address = this.part("data");
    const { type } = this.#body.pass.expression(address, this.#body);
    const known =
      type.kind === "pointer" &&
      type.target.kind !== "void" &&
      !(type.target.kind === "struct" && type.target.size === 0);
    if (!known) return address;
    const item = this.#deeper({ kind: "unary", operator: "*", operand: address, span, type: unknownType }, 2);
    return this.#choice(this.#binary("!=", this.part("data"), this.#integer(0n)), item, none);
  }

  #choice(test: Expression, value: Expression, none: string): Expression {
    return {
      kind: "choice",
      alternatives: [
        { test, value },
        { name: none, none: true },
      ],
      span: this.#span,
      type: unknownType,
    };
  }

  /** What is shown instead is no deeper for who reads it; yet descriptions may go round. */
  #standIn(item: Expression): Expression {
    if (item.kind === "tuple") for (const element of item.elements) this.#deeper(element, aside);
    return this.#deeper(item, aside);
  }

  /** Members of classes that hold one each; where some hold none, a record. */
  #tuple(): Expression {
    const object = this.#has("item") ? this.part("item") : this.#node;
    const { type } = this.#body.pass.expression(object, this.#body);
    const struct = type.kind === "pointer" ? type.target : type;
    if (struct.kind !== "struct") return this.#node;
    const fields = fieldsWithin(struct, 0, []).sort((one, other) => one.within.length - other.within.length);
    if (this.#type.kind !== "struct" || fields.length !== parametersIn(this.#type.name))
      return this.#record(object, struct);
    const elements = fields.map(({ path }) => this.#deeper(this.#at(object, path.offset, path.type, path.bits), aside));
    return { kind: "tuple", elements, span: this.#span, type: unknownType };
  }

  #record(object: Expression, struct: StructType): Expression {
    const fields = fieldsOf(struct).map(({ name, path }) => ({
      name,
      value: this.#deeper(this.#at(object, path.offset, path.type, path.bits)),
    }));
    return { kind: "record", fields, span: this.#span, type: unknownType };
  }

  /** An enum with data: the variant that is there. */
  #variants({ discriminant, variants }: StructVariants, shape: Shape | undefined): Expression {
    const tag = discriminant === undefined ? undefined : this.#at(this.#node, discriminant.offset, discriminant.type);
    const bits =
      discriminant?.type.kind === "integer" || discriminant?.type.kind === "enum" ? discriminant.type.bits : 64;
    const ordered = [...variants].sort((a, b) => Number(a.values.length === 0) - Number(b.values.length === 0));
    const alternatives = ordered.map(({ values, member }, i) => {
      const last = i === ordered.length - 1;
      const test = last || tag === undefined ? {} : { test: this.#among(tag, values, bits) };
      const value = this.#payload(member);
      const bare = shape?.bare === member.name;
      return {
        ...test,
        ...(bare && value !== undefined ? {} : { name: member.name }),
        ...(shape?.none === member.name ? { none: true as const } : {}),
        ...(value === undefined ? {} : { value }),
      };
    });
    return { kind: "choice", alternatives, span: this.#span, type: unknownType };
  }

  /** What a variant holds: one value as it is, several as a tuple, named ones as a record. */
  #payload({ offset, type }: StructVariants["variants"][number]["member"]): Expression | undefined {
    if (type.kind !== "struct") return undefined;
    const object = this.#at(this.#node, offset, type);
    const fields = fieldsOf(type);
    if (fields.length === 0) return undefined;
    if (!fields.every(({ name }) => /^__\d+$/.test(name))) return this.#record(object, type);
    const elements = fields.map(({ path }) => this.#deeper(this.#at(object, path.offset, path.type, path.bits)));
    return elements.length === 1 ? elements[0] : { kind: "tuple", elements, span: this.#span, type: unknownType };
  }

  /** `tag == 1 || (tag >= 3 && tag <= 9)` */
  #among(tag: Expression, values: readonly bigint[], bits: number): Expression {
    const unsigned = this.#unsigned(tag, bits);
    const sorted = values.map((value) => BigInt.asUintN(bits, value)).sort((a, b) => (a < b ? -1 : 1));
    const ranges: { low: bigint; high: bigint }[] = [];
    for (const value of sorted) {
      const last = ranges.at(-1);
      if (last !== undefined && value <= last.high + 1n) last.high = value;
      else ranges.push({ low: value, high: value });
    }
    const tests = ranges.map(({ low, high }) =>
      low === high
        ? this.#binary("==", unsigned, this.#integer(low))
        : this.#binary(
            "&&",
            this.#binary(">=", unsigned, this.#integer(low)),
            this.#binary("<=", unsigned, this.#integer(high)),
          ),
    );
    return tests.reduce(
      (all, test) => this.#binary("||", all, test),
      tests.length === 0 ? { kind: "boolean", value: false, span: this.#span, type: unknownType } : tests.shift()!,
    );
  }

  /** A part of a struct, by where it is. */
  #at(
    object: Expression,
    offset: number,
    type: Type,
    bits?: { readonly bitOffset: number; readonly bitWidth: number },
  ): MemberAccess {
    const container = this.#type.kind === "struct" ? this.#type : "args";
    return {
      kind: "member",
      object,
      name: "",
      nameSpan: this.#span,
      span: this.#span,
      path: { container, offset, ...bits },
      type,
    };
  }

  #integer(value: bigint): Expression {
    return integerLiteral(value, value < 0n ? i64 : u64, this.#span);
  }

  #binary(operator: BinaryOperator, left: Expression, right: Expression): Expression {
    return { kind: "binary", operator, left, right, span: this.#span, type: unknownType };
  }
}

/** How many types `tuple<int, pair<a, b> >` is made of: g++ says of a pack only in the name what is in it. */
function parametersIn(name: string): number {
  const inner = name.slice(name.indexOf("<") + 1, -1).trim();
  let depth = 0;
  let commas = 0;
  for (const character of inner) {
    if ("<([{".includes(character)) depth++;
    else if (">)]}".includes(character)) depth--;
    else if (character === "," && depth === 0) commas++;
  }
  return inner === "" ? 0 : commas + 1;
}

interface Field {
  readonly name: string;
  readonly path: {
    readonly offset: number;
    readonly type: Type;
    readonly bits: { readonly bitOffset: number; readonly bitWidth: number } | undefined;
  };
}

/**
 * Members, those of base classes and nameless structs among them. A name is one member's, the outermost's: others have
 * their class before it.
 */
function fieldsOf(struct: StructType): Field[] {
  const fields = fieldsWithin(struct, 0, []);
  const names = new Map<object, string>();
  const taken = new Set<string>();
  for (const field of [...fields].sort((one, other) => one.within.length - other.within.length)) {
    const { within } = field;
    let { name } = field;
    for (let i = within.length - 1; taken.has(name) && i >= 0; i--) name = `${within[i]}::${name}`;
    for (let number = 2; taken.has(name); number++) name = `${field.name}#${number}`;
    taken.add(name);
    names.set(field, name);
  }
  return fields.map((field) => ({ name: names.get(field) ?? field.name, path: field.path }));
}

/** `within`: the base classes that a member is in. */
function fieldsWithin(
  struct: StructType,
  offset: number,
  within: readonly string[],
): (Field & { readonly within: readonly string[] })[] {
  return struct.members.flatMap((member) => {
    const at = offset + member.offset;
    if (member.absent !== undefined || sizeOf(member.type) === 0) return [];
    if (member.name === "") {
      return member.type.kind === "struct" && !member.type.union
        ? fieldsWithin(member.type, at, member.type.name === "" ? within : [...within, member.type.name])
        : [];
    }
    const bits =
      member.bitWidth === undefined ? undefined : { bitOffset: member.bitOffset ?? 0, bitWidth: member.bitWidth };
    return [{ name: member.name, path: { offset: at, type: member.type, bits }, within }];
  });
}
