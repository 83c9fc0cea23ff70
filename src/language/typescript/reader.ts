// One function while it is read: where its text is, what names mean in it, and how it refuses. `Translation` is what
// the functions of a script share.
import { InternalError } from "../../base/internal-error.ts";
import type { Message } from "../../messages/message.ts";
import { handlers } from "../../messages/typescript.ts";
import type * as js from "acorn";
import type { Diagnostic, Span } from "../diagnostic.ts";
import type {
  Block,
  Call,
  EnumDeclaration,
  Expression,
  FunctionDeclaration,
  MapAccess,
  Presence,
  Statement,
  StructDeclaration,
  TypeName,
  Variable,
} from "../program.ts";
import type { HostTextName } from "../host-texts.ts";
import { unknownType } from "../types.ts";
import type { Binding, EventBinding, FunctionSource, MapBinding, StructBinding, TypeBinding } from "./binding.ts";
import type { Pieces } from "./script-text.ts";
import { refusedSyntax, type RefusedSyntax } from "../../messages/typescript-refused.ts";

/** What an expression of TypeScript stands for here. Only values are values of the tree. */
export type Reference =
  | { readonly kind: "value"; readonly expression: Expression }
  | { readonly kind: "map"; readonly map: MapBinding; readonly name: string }
  | { readonly kind: "entry"; readonly access: MapAccess }
  | { readonly kind: "event"; readonly name: string }
  | { readonly kind: "global"; readonly name: string }
  /** `name` is what the handler calls it. */
  | { readonly kind: "type"; readonly type: TypeBinding; readonly name: string }
  /** A function that the handler makes: it stands for its body wherever it is called. */
  | { readonly kind: "inner"; readonly node: InnerFunction; readonly scopes: readonly Map<string, Meaning>[] }
  | Extract<Binding, { kind: "builtin" | "special" | "function" | "module" | "nothing" }>;

export type InnerFunction = js.ArrowFunctionExpression | js.FunctionExpression | js.FunctionDeclaration;

/** What a name that the function declares stands for. */
export type Meaning =
  /**
   * A variable of the tree. A name that hides another has its own there. `there` is a variable that says whether the
   * entry of a map that it was read from was there. A `parameter` that is given may be missing in another call.
   */
  | {
      readonly kind: "variable";
      readonly name: string;
      readonly constant: boolean;
      readonly there?: string;
      readonly parameter?: true;
    }
  /** Another word for something: a parameter, a part of one, a map's entry. */
  | { readonly kind: "alias"; readonly refer: (span: Span) => Reference };

/** What break and continue may mean, from the outside in: see jumps.ts. */
export interface Jumpable {
  /** Of a loop, continue goes on with it. */
  readonly kind: "loop" | "switch" | "block";
  readonly labels: readonly string[];
  /** The variable that says how something within leaves to here, and which ways there are. */
  leaving?: { readonly name: string; readonly ways: Set<LoopJump>; uses: number };
}
export type LoopJump = "break" | "continue";

/** What a call comes to. */
export type Outcome =
  | { readonly kind: "value"; readonly expression: Expression }
  | { readonly kind: "statement"; readonly statement: Statement };

/**
 * Arguments that are no values: the kernel's functions take none, so the function is compiled with them in their place.
 */
export type GivenObjects = ReadonlyMap<number, Extract<Reference, { kind: "map" | "event" }>>;

/** What is needed below where it is written: statements hold expressions, which hold calls, which hold expressions. */
export interface Grammar {
  effect(reader: Reader, node: js.Expression): Statement[];
  /** What could be read of a statement; nothing after a mistake, which is told already. */
  statements(reader: Reader, node: js.Statement): Statement[];
  value(reader: Reader, node: js.Expression): Expression;
  condition(reader: Reader, node: js.Expression): Expression;
  refer(reader: Reader, node: js.Expression | js.Super): Reference;
  call(reader: Reader, node: js.CallExpression): Outcome;
  /** A call of a function that the program or the handler made; undefined for any other. */
  called(reader: Reader, node: js.CallExpression): Called | undefined;
  function(translation: Translation, source: FunctionSource, name: string, form: CallForm): FunctionDeclaration;
}

export interface Called {
  /** By its form it may return nothing. */
  readonly mayMiss: boolean;
  /** Calls it, and sets two variables: whether it returned anything, and what. */
  readonly give: (there: Variable, to: Variable) => Statement[];
}

/** What a function is compiled for: each form is a function of its own. */
export interface CallForm {
  /** How many arguments it is given: the other parameters have their defaults. */
  readonly count: number;
  /** Parameters that stand for a map or an event, by their index. */
  readonly given: GivenObjects;
  /** Those that may be missing: what says so is handed over behind all arguments. */
  readonly missable: ReadonlySet<number>;
  /** Those that are `undefined`. */
  readonly nothing: ReadonlySet<number>;
  /** It returns a tuple: whether it returned anything, and what. */
  readonly tellsPresence: boolean;
}

/** Thrown at what cannot be translated, after its diagnostic; caught where a statement ends. */
export const refusal = Symbol("refusal");

export class Translation {
  readonly pieces: Pieces;
  readonly grammar: Grammar;
  readonly diagnostics: Diagnostic[] = [];
  readonly maps = new Map<object, { readonly name: string; readonly map: MapBinding; readonly span: Span }>();
  readonly events = new Map<object, string>();
  readonly exact = new Map<string, Set<string>>();
  /** By identity. A struct's declaration is there as soon as its members are read, which may point to it. */
  readonly structs = new Map<object, { readonly name: string; declaration?: StructDeclaration }>();
  readonly enums = new Map<object, EnumDeclaration>();
  /** By identity, and by the maps and events that it was called with: each of these is a function of its own. */
  readonly functions = new Map<object, Map<string, { readonly name: string; declaration?: FunctionDeclaration }>>();
  /** Whether functions may return nothing, by identity. */
  readonly mayMiss = new Map<object, boolean>();
  readonly #taken = new Set<string>();

  constructor(pieces: Pieces, grammar: Grammar) {
    this.pieces = pieces;
    this.grammar = grammar;
  }

  mapName(map: MapBinding, captured: string, span: Span): string {
    const known = this.maps.get(map.identity);
    if (known !== undefined) return known.name;
    const name = this.#unique(map.name ?? captured);
    this.maps.set(map.identity, { name, map, span });
    return name;
  }

  eventName(event: EventBinding, captured: string): string {
    let name = this.events.get(event.identity);
    if (name === undefined) this.events.set(event.identity, (name = this.#unique(event.name ?? captured)));
    return name;
  }

  /** Declares a struct on its first use. One without a name of its own is apart from all that C can name. */
  structName(
    type: StructBinding,
    captured: string,
    span: Span,
    typeOf: (member: string, type: TypeBinding) => TypeName,
  ): string {
    const known = this.structs.get(type.identity);
    if (known !== undefined) return known.name;
    const entry: { readonly name: string; declaration?: StructDeclaration } = {
      name: type.name ?? `${captured}#${this.structs.size + 1}`,
    };
    this.structs.set(type.identity, entry);
    const members = type.members().map(({ name, type: of, bits, attributes }) => ({
      name,
      type: typeOf(name, of),
      ...(bits === undefined ? {} : { bitWidth: bits }),
      ...(attributes === undefined ? {} : { attributes }),
      span,
    }));
    const { attributes } = type;
    entry.declaration = {
      union: type.union,
      name: entry.name,
      members,
      ...(attributes === undefined ? {} : { attributes }),
      span,
    };
    return entry.name;
  }

  enumName(type: Extract<TypeBinding, { kind: "enum" }>, captured: string, span: Span): string {
    const known = this.enums.get(type.identity);
    if (known !== undefined) return known.name;
    const name = type.name ?? `${captured}#${this.enums.size + 1}`;
    this.enums.set(type.identity, {
      name,
      constants: [...type.constants].map(([of, value]) => ({ name: of, value })),
      span,
    });
    return name;
  }

  /** Compiles a function on its first call of this form. */
  functionName(source: FunctionSource, form: CallForm): string {
    const { count, given, missable, nothing, tellsPresence } = form;
    const which = [
      count,
      tellsPresence,
      ...[...given].map(([index, { kind, name }]) => `${index} ${kind} ${name}`),
      "?",
      ...missable,
      "-",
      ...nothing,
    ].join();
    const known = this.functions.get(source.identity)?.get(which);
    if (known !== undefined) return known.name;
    const entry: { readonly name: string; declaration?: FunctionDeclaration } = {
      name: this.#unique(source.name || "fn"),
    };
    this.functions.set(source.identity, (this.functions.get(source.identity) ?? new Map()).set(which, entry));
    entry.declaration = this.grammar.function(this, source, entry.name, form);
    return entry.name;
  }

  #unique(wanted: string): string {
    const base = wanted.replace(/[^\w]/g, "_");
    let name = base;
    for (let n = 2; this.#taken.has(name); n++) name = `${base}_${n}`;
    this.#taken.add(name);
    return name;
  }
}

/** Far beyond what a person writes, and far from what the stack holds. */
const nestingLimit = 400;

export class Reader {
  readonly translation: Translation;
  readonly source: FunctionSource;
  /** The function as it was read. */
  readonly root: js.Node;
  /** Added to a node's offset, it gives the offset in the script's text. */
  readonly #shift: number;
  #scopes: Map<string, Meaning>[] = [new Map()];
  /**
   * Scopes around those that are open, where something is read further out: their variables have their names all the
   * same.
   */
  readonly #around: (readonly Map<string, Meaning>[])[] = [];
  /** Functions of the handler that are being read, for those that call themselves. */
  readonly inside = new Set<InnerFunction>();
  /** Its returns tell whether there is anything. */
  tellsPresence = false;
  #temporaries = 0;
  #depth = 0;
  /** What break and continue may mean here. */
  readonly jumpables: Jumpable[] = [];
  /** Those before the statement that comes. */
  readonly labels: string[] = [];

  constructor(translation: Translation, source: FunctionSource, root: js.Node, shift: number) {
    this.root = root;
    this.translation = translation;
    this.source = source;
    this.#shift = shift;
  }

  takeLabels(): readonly string[] {
    return this.labels.splice(0);
  }

  get grammar(): Grammar {
    return this.translation.grammar;
  }

  span(node: { readonly start: number; readonly end: number }): Span {
    return { start: node.start + this.#shift, end: node.end + this.#shift };
  }

  // ── refusing ──

  report(span: Span, said: Message): void {
    this.translation.diagnostics.push({ severity: "error", span, ...said });
  }

  refuse(node: { readonly start: number; readonly end: number }, said: Message): never {
    this.report(this.span(node), said);
    throw refusal;
  }

  /** Stops at what JavaScript's own grammar, which has parsed this, does not allow: a fault of strobe's. */
  fault(node: { readonly start: number; readonly end: number }, what: string): never {
    const text = this.source.text.slice(node.start, node.end);
    throw new InternalError(what, { during: `reading \`${text.slice(0, 80)}\`` });
  }

  /** Refuses what the kernel has nothing for. */
  refuseSyntax(node: { readonly start: number; readonly end: number }, what: RefusedSyntax): never {
    return this.refuse(node, refusedSyntax[what]());
  }

  /** Reads something within something. What is nested without end is refused, not overflowed by. */
  nested<T>(node: { readonly start: number; readonly end: number }, read: () => T): T {
    if (this.#depth >= nestingLimit) this.refuse(node, handlers.nestedTooDeeply());
    this.#depth++;
    try {
      return read();
    } finally {
      this.#depth--;
    }
  }

  // ── names ──

  scoped<T>(inside: () => T): T {
    this.#scopes.push(new Map());
    try {
      return inside();
    } finally {
      this.#scopes.pop();
    }
  }

  /** The scopes that are open, for `within`. */
  scopesNow(): readonly Map<string, Meaning>[] {
    return [...this.#scopes];
  }

  /** Reads something as it would be read further out. */
  within<T>(scopes: readonly Map<string, Meaning>[], inside: () => T): T {
    const now = this.#scopes;
    this.#around.push(now);
    this.#scopes = [...scopes];
    try {
      return inside();
    } finally {
      this.#scopes = now;
      this.#around.pop();
    }
  }

  find(name: string): Meaning | undefined {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const meaning = this.#scopes[i].get(name);
      if (meaning !== undefined) return meaning;
    }
    return undefined;
  }

  alias(name: string, refer: (span: Span) => Reference): void {
    this.#scopes.at(-1)!.set(name, { kind: "alias", refer });
  }

  /**
   * A variable that no name of the function can be, for one of its names: declared before what it is given was read.
   */
  declareApart(name: string, constant: boolean, there: string): string {
    const own = this.temporary(name);
    this.#scopes.at(-1)!.set(name, { kind: "variable", name: own, constant, there });
    return own;
  }

  /** A variable for a parameter that is given. */
  declareParameter(name: string): string {
    const own = this.declare(name, false);
    this.#scopes.at(-1)!.set(name, { kind: "variable", name: own, constant: false, parameter: true });
    return own;
  }

  /** A parameter that is given in this call. */
  isParameter(node: js.Node): boolean {
    const meaning = node.type === "Identifier" ? this.find((node as js.Identifier).name) : undefined;
    return meaning?.kind === "variable" && meaning.parameter === true;
  }

  /**
   * A new variable; the tree allows no name twice in scopes within each other, TypeScript does. Gives its name there.
   */
  declare(name: string, constant: boolean, there?: string): string {
    const taken = new Set(
      [...this.#around.flat(), ...this.#scopes].flatMap((scope) =>
        [...scope.values()].map((m) => (m.kind === "variable" ? m.name : "")),
      ),
    );
    let own = name;
    for (let n = 2; taken.has(own); n++) own = `${name}_${n}`;
    this.#scopes
      .at(-1)!
      .set(name, { kind: "variable", name: own, constant, ...(there === undefined ? {} : { there }) });
    return own;
  }

  /** A variable that no name of the function can be. */
  temporary(what: string): string {
    this.#temporaries++;
    return `${what}#${this.#temporaries}`;
  }
}

// ── nodes of the tree ────────────────────────────────────────────────────────────────────────────────────────────────

export function integer(value: bigint, span: Span): Expression {
  return { kind: "integer", value, span, type: unknownType };
}
export function text(value: string, span: Span): Expression {
  return { kind: "string", value, span, type: unknownType };
}
export function variable(name: string, span: Span): Extract<Expression, { kind: "variable" }> {
  return { kind: "variable", name, span, type: unknownType };
}
export function builtin(name: string, span: Span): Expression {
  return { kind: "builtin", name, span, type: unknownType };
}
export function call(name: string, args: readonly Expression[], span: Span): Call {
  return { kind: "call", name, args, span, type: unknownType };
}
/** What only the host does with texts. */
export function hostText(name: HostTextName, args: readonly Expression[], span: Span): Expression {
  return call("host_text", [{ kind: "identifier", name, span, type: unknownType }, ...args], span);
}

export function binary(
  operator: Extract<Expression, { kind: "binary" }>["operator"],
  left: Expression,
  right: Expression,
  span: Span,
): Expression {
  return { kind: "binary", operator, left, right, span, type: unknownType };
}
export function not(operand: Expression, span: Span): Expression {
  return { kind: "unary", operator: "!", operand, span, type: unknownType };
}
export function conditional(condition: Expression, then: Expression, otherwise: Expression, span: Span): Expression {
  return { kind: "conditional", condition, then, otherwise, span, type: unknownType };
}
export function member(object: Expression, name: string, nameSpan: Span, span: Span): Expression {
  return { kind: "member", object, name, nameSpan, span, type: unknownType };
}
export function tuplePart(object: Expression, index: number, span: Span): Expression {
  return { kind: "tuple-index", object, index, span, type: unknownType };
}
export function mapAccess(name: string, keys: readonly Expression[], span: Span): MapAccess {
  return { kind: "map", name, keys, span, type: unknownType };
}
export function boolean(value: boolean, span: Span): Expression {
  return { kind: "boolean", value, span, type: unknownType };
}
export function presence(asks: Presence["asks"], of: Expression, there?: Expression): Expression {
  return { kind: "presence", asks, of, ...(there === undefined ? {} : { there }), span: of.span, type: unknownType };
}
/** Whether an entry is in its map; of a map without keys, whether it was ever given anything. */
export function hasKey({ name, keys }: MapAccess, span: Span): Expression {
  return keys.length === 0
    ? presence("entry", mapAccess(name, [], span))
    : call("has_key", [mapAccess(name, [], span), oneKey(keys, span)], span);
}
/** Several keys as one argument. */
export function oneKey(keys: readonly Expression[], span: Span): Expression {
  return keys.length === 1 ? keys[0] : { kind: "tuple", elements: keys, span, type: unknownType };
}
/** An expression, after what has to be done before it. */
export function behind(before: readonly Statement[], of: Expression): Expression {
  return before.length === 0
    ? of
    : { kind: "block-expression", statements: before, value: of, span: of.span, type: unknownType };
}
export function cast(to: TypeName, operand: Expression, span: Span): Expression {
  return { kind: "cast", to, operand, span, type: unknownType };
}
export function block(statements: readonly Statement[], span: Span): Block {
  return { kind: "block", statements, span };
}
export function expressionStatement(expression: Expression, span: Span): Statement {
  return { kind: "expression", expression, span };
}

/** Whether reading it twice is as good as once, in cost and in effect. */
export function isPlain(expression: Expression): boolean {
  switch (expression.kind) {
    case "integer":
    case "float":
    case "string":
    case "boolean":
    case "identifier":
    case "builtin":
    case "variable":
      return true;
    case "member":
    case "tuple-index":
      return isPlain(expression.object);
    default:
      return false;
  }
}

/** The name of a property or of a part that is taken out of an object; undefined where it is computed. */
export function writtenKey({ computed, key }: js.Property | js.AssignmentProperty): string | undefined {
  if (computed) return undefined;
  return key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : undefined;
}
