// A script while it is read: what its names mean so far, and what is known of its expressions.
import type { Span } from "../diagnostic.ts";
import type { Given } from "../language.ts";
import * as nodes from "../nodes.ts";
import type { EnumDeclaration, Expression, MapLayout, Statement, StructDeclaration, TypeName } from "../program.ts";
import type { Attributes } from "./attributes.ts";
import type { Cursor } from "./cursor.ts";
import type { Token } from "./tokens.ts";
import { isNumber, named, type KeyKind, type Known } from "./types.ts";

/** A variable: of all, of a thread (`self->`), of an event (`this->`). */
export interface Storage {
  readonly known: Known | undefined;
  /** `int a[10]`, `a[k]`: has keys. */
  readonly keyed: boolean;
  /** Of an array that was declared: how many. */
  readonly dimensions?: number;
  /** It is in memory of the script's own, by a number: a struct, or what `&` takes the address of. */
  readonly memory?: { readonly number: number; readonly type: TypeName };
  /** Of an associative array that was declared. */
  readonly keyTypes?: readonly TypeName[];
  /** Of one that was not: the types of the keys that it was first given, as far as they are known. */
  readonly keyKnown?: readonly (Known | undefined)[];
  /** It was declared, and may never be given a value. */
  readonly declared?: true;
  readonly type?: TypeName;
}

export interface Inline {
  readonly value: Expression;
  readonly known: Known | undefined;
  /** Of one that is applied to something: what it calls that, and its words. */
  readonly parameters?: readonly { readonly name: string; readonly type: TypeName }[];
  readonly words?: readonly Token[];
}

/** What the members of a type are, in terms of a value of another. */
export interface Translator {
  /** What the members call the value that is translated. */
  readonly parameter: string;
  readonly input: TypeName;
  /** Members, as the words of their expressions. */
  readonly members: ReadonlyMap<string, readonly Token[]>;
}

/** How a script's output looks, and what else `#pragma D option` says. */
export interface Options {
  quiet: boolean;
  flowindent: boolean;
  destructive: boolean;
  defaultargs: boolean;
  /** Arguments need not be used. */
  argref: boolean;
  /** A script need have nothing in it. */
  empty: boolean;
  /** How many there can be, and how many bytes are kept for each; 0: as many as strobe thinks fit. */
  speculations: number;
  speculationSize: number;
  /** Bytes of a text without its end, where `strsize` says; and of memory that alloca() gives. */
  textBytes?: number;
  scratchSize: number;
  /** What is traced is shown as bytes. */
  rawBytes: boolean;
  /** Bytes that print() looks at. */
  printSize: number;
  /** Of stacks that do not say themselves how many frames they have. */
  stackFrames?: number;
  userStackFrames?: number;
  /** Less stable names than these are refused (`amin`). */
  least?: Attributes;
  /** Probes fire on this processor only. */
  cpu?: number;
  /** How aggregations are ordered. */
  layout: MapLayout;
}

/** The clause that is being read. */
export interface ClauseScope {
  readonly provider: string;
  /** Of the probe: `off-cpu`. */
  readonly name?: string;
  /** Of all probes of the clause. */
  readonly names?: readonly string[];
  readonly returns: boolean;
  /** Among the clauses of the script, from 1 on; and whether it is of more than one probe. */
  readonly number?: number;
  readonly several?: boolean;
  /** What stands in front of its predicate and body. */
  readonly description?: string;
  /** Addresses are of the traced process. */
  readonly user: boolean;
}

export interface StatementNames {
  readonly actions: ReadonlySet<string>;
  /** How many arguments an action is given, and of which types. */
  readonly check: (unit: Unit, name: string, args: readonly Expression[], span: Span) => void;
  readonly aggregating: ReadonlySet<string>;
}

/** Clauses of D's own that a script may need (helpers.ts). */
export type HelperName = "vtimestamp" | "waits" | "contention";

export class Unit {
  #cursor: Cursor;
  readonly given: Given;
  readonly options: Options;
  readonly globals = new Map<string, Storage>();
  readonly thread = new Map<string, Storage>();
  readonly event = new Map<string, Storage>();
  /** Variables that were first given a pointer of a type: `this->p`. */
  readonly pointed = new Map<string, TypeName>();
  readonly #pointers = new WeakMap<Expression, TypeName>();
  readonly typedefs = new Map<string, TypeName>();
  readonly structs: StructDeclaration[] = [];
  readonly enums: EnumDeclaration[] = [];
  readonly constants = new Map<string, bigint>();
  readonly inlines = new Map<string, Inline>();
  /** By name with `@`: how many keys, and how it adds. */
  readonly aggregations = new Map<
    string,
    {
      keys: number;
      readonly types: readonly (Known | undefined)[];
      /** Of keys that are stacks or symbols. */
      readonly kinds: readonly (KeyKind | undefined)[];
      readonly aggregate: string;
      /** Behind the value. */
      readonly constants: readonly bigint[];
      /** Of the source, where it is first added to. */
      readonly line: number;
      printed: boolean;
    }
  >();
  /** Aggregations that are divided somewhere. */
  readonly normalized = new Set<string>();
  /** What runs where something fails: clauses of ERROR. */
  readonly errors: Statement[] = [];
  readonly translators = new Map<string, Translator>();
  /** Clauses of D's own that the script needs (helpers.ts). */
  readonly helpers = new Set<HelperName>();
  readonly usedMacros = new Set<string>();
  /** Variables that are given a value somewhere, as they are written: `self->x`. */
  readonly assigned = new Set<string>();
  /** Texts that are no entries and may be given NULL, as they are written (nulls.ts). */
  maybeNull: Set<string> = new Set();
  /** Names that `&` stands in front of. */
  readonly addressed: ReadonlySet<string>;
  /** Options that setopt() sets somewhere, with the values that it gives them (setopt.ts). */
  switched: ReadonlyMap<string, ReadonlySet<number>> = new Map();
  /** Some clause prints rows, which stand below a heading. */
  rows = false;
  /** The number of the clause that a body is of. */
  readonly clauseOf = new WeakMap<Statement, number>();
  #memories = 0;
  #clauses = 0;
  /** Some clause raises a fault itself (raise.ts). */
  raises = false;
  /** A slash may end what is being read. */
  inPredicate = false;
  /** What is read next may be an aggregation, which is complained of there. */
  takesAggregations = false;
  /** What is read next is a format, of which nothing is cut. */
  format = false;
  /** `++` stands in front of what is being read. */
  increments = false;
  clause: ClauseScope = { provider: "", returns: false, user: false };
  /** Aggregations where values stand. */
  readonly aggregates = new WeakSet<Expression>();
  /** Expressions without a value: `(void)0`. */
  readonly voids = new WeakSet<Expression>();
  readonly #known = new WeakMap<Expression, Known>();
  readonly #computed = new WeakMap<Expression, Expression>();
  #names = 0;

  /** Functions that are no expressions. */
  readonly statements: StatementNames;

  constructor(
    cursor: Cursor,
    given: Given,
    options: Options,
    statements: StatementNames,
    addressed: ReadonlySet<string> = new Set(),
  ) {
    this.addressed = addressed;
    this.statements = statements;
    this.#cursor = cursor;
    this.given = given;
    this.options = options;
  }

  get cursor(): Cursor {
    return this.#cursor;
  }

  /** Reads words that stand elsewhere. */
  reading<T>(cursor: Cursor, read: () => T): T {
    const { cursor: outer, inPredicate, increments } = this;
    this.#cursor = cursor;
    this.inPredicate = this.increments = false;
    try {
      return read();
    } finally {
      this.#cursor = outer;
      this.inPredicate = inPredicate;
      this.increments = increments;
      outer.diagnostics.push(...cursor.diagnostics);
    }
  }

  /** The place of a variable in memory. */
  memory(type: TypeName): { readonly memory: { readonly number: number; readonly type: TypeName } } {
    return { memory: { number: ++this.#memories, type } };
  }

  nextClause(): number {
    return ++this.#clauses;
  }

  /** A name that no script has. */
  name(of: string): string {
    return `${of}#${++this.#names}`;
  }

  /** The pointer's type, as far as the script says it. */
  pointerOf(e: Expression): TypeName | undefined {
    return this.#pointers.get(e);
  }

  /** An expression that is a pointer of a type. */
  pointing<E extends Expression>(e: E, type: TypeName | undefined): E {
    if (type !== undefined && type.pointers > 0 && type.dimensions.length === 0) this.#pointers.set(e, type);
    return e;
  }

  known(e: Expression): Known | undefined {
    return this.#known.get(e);
  }

  /** An expression whose type is known. */
  typed<E extends Expression>(e: E, known: Known | undefined): E {
    if (known !== undefined) this.#known.set(e, known);
    return e;
  }

  /** Read as a number of a type. */
  cast(known: Exclude<Known, "string">, e: Expression, span: Span = e.span): Expression {
    return this.typed(nodes.cast(named(known, span), e, span), known);
  }

  /**
   * A number that was computed with 64 bits, of which its type has fewer: what is stored or printed has the type's bits,
   * and what is computed of it goes on with all.
   */
  narrowed(known: Exclude<Known, "string">, e: Expression): Expression {
    if (known.endsWith("64")) return this.typed(e, known);
    const narrow = this.cast(known, e);
    this.#computed.set(narrow, e);
    return narrow;
  }

  /** All bits of a number that was computed; the expression itself where it was not. */
  computed(e: Expression): Expression {
    return this.#computed.get(e) ?? e;
  }

  /** As it is stored or printed: a literal and a truth are numbers of C's type. */
  value(e: Expression): Expression {
    const known = this.known(e);
    return isNumber(known) &&
      (e.kind === "integer" || isTruth(e) || ["conditional", "map", "block-expression"].includes(e.kind))
      ? this.cast(known, e)
      : e;
  }
}

/** A comparison and its kin: in the tree no number. */
export function isTruth(e: Expression): boolean {
  return (
    (e.kind === "binary" && ["&&", "||", "==", "!=", "<", "<=", ">", ">="].includes(e.operator)) ||
    (e.kind === "unary" && e.operator === "!") ||
    e.kind === "boolean"
  );
}
