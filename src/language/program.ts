// The tree that every front-end writes and everything behind it reads. Designed for the union of the four languages. A
// node carries its span. The checker fills `type` on expressions (and the fields marked "checker"); until then it is
// unknown.
import type { Source, Span } from "./diagnostic.ts";
import type { FaultKind } from "./faults.ts";
import type { ProbeSpec } from "./probe-spec.ts";
import type { Rules } from "./rules.ts";
import type { SequenceForm, SequenceType, StructType, Type } from "./types.ts";

export interface Program {
  readonly source: Source;
  /** What its language means by it. */
  readonly rules: Rules;
  readonly config: readonly ConfigEntry[];
  readonly structs: readonly StructDeclaration[];
  readonly enums: readonly EnumDeclaration[];
  readonly maps: readonly MapDeclaration[];
  readonly functions: readonly FunctionDeclaration[];
  readonly probes: readonly Probe[];
  /** What it asks the command line for, in the order of the text. */
  readonly options?: readonly ScriptOption[];
}

/** `getopt("name", default, "description")` */
export interface ScriptOption {
  readonly name: string;
  readonly takes: "number" | "text" | "truth";
  /** As it is written. */
  readonly fallback: string;
  readonly description?: string;
}

export interface ConfigEntry {
  readonly name: string;
  readonly value: string;
  readonly span: Span;
}

/** A type as it is written: `struct task_struct **`, `uint8[16]`, `string[64]`. */
/** Pointers first, then arrays of them. */
export interface TypeModifiers {
  readonly pointers: number;
  readonly dimensions: readonly number[];
}

export interface TypeName {
  /** Base name without "struct"/"union"/"enum": `task_struct`, `uint64`, `unsigned long`. */
  readonly name: string;
  readonly tag?: "struct" | "union" | "enum";
  /** What the source calls the base, where that is a typedef of it. */
  readonly alias?: string;
  readonly pointers: number;
  /** Array lengths, outermost first; 0 when left open (`(int8[])x`). */
  readonly dimensions: readonly number[];
  /**
   * What stands behind the dimensions from the next `*` on: a pointer, of `int32[4]*`; a pointer and a length, of
   * `int32[4]*[2]`.
   */
  readonly behind?: readonly TypeModifiers[];
  /** The program's own type of the name comes before the kernel's. */
  readonly ofProgram?: true;
  /** The base, where the name was given to a type of a program (Shape of types.ts). */
  readonly is?: Type;
  /** `typeof(expression)`: the base is what that has. */
  readonly of?: Expression;
  readonly span: Span;
}

export interface StructDeclaration {
  readonly union: boolean;
  readonly name: string;
  readonly members: readonly {
    readonly name: string;
    readonly type: TypeName | StructDeclaration;
    readonly bitWidth?: number;
    readonly attributes?: LayoutAttributes;
    readonly span: Span;
  }[];
  readonly attributes?: LayoutAttributes;
  readonly span: Span;
}
/** `__attribute__((packed, aligned(8)))` */
export interface LayoutAttributes {
  readonly packed?: boolean;
  readonly align?: number;
}
export interface EnumDeclaration {
  readonly name: string;
  readonly constants: readonly { readonly name: string; readonly value: bigint }[];
  readonly span: Span;
}
/** `let @m = lruhash(100);` */
export interface MapDeclaration {
  readonly name: string;
  readonly storage: string;
  readonly entries?: number;
  readonly span: Span;
}

export interface FunctionDeclaration {
  readonly name: string;
  /** Without a type a parameter has that of what it is called with. */
  readonly parameters: readonly { readonly name: string; readonly type?: TypeName; readonly span: Span }[];
  readonly result?: TypeName;
  /** It asks what only the probe has that it is called from (`args`, `func`): each handler that calls it has its own. */
  readonly ofProbe?: true;
  /** It may call itself, or be called by what it calls: so deep, and what more fails with. The host runs it. */
  readonly recursion?: Recursion;
  readonly body: Block;
  readonly span: Span;
}

export interface Recursion {
  /** Calls of it that are under way at once. */
  readonly deepest: number;
  readonly words: string;
}

export interface Probe {
  readonly specs: readonly ProbeSpec[];
  /** In front of the predicate, and nobody's own: whether the event is of a process that is traced. */
  readonly guard?: Expression;
  readonly predicate?: Expression;
  readonly body: Block;
  readonly span: Span;
}

// ── statements ───────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Block {
  readonly kind: "block";
  readonly statements: readonly Statement[];
  readonly span: Span;
}

export type Statement =
  | Block
  /** `discard`: written `_ = e`, so that a value nobody uses is no mistake. */
  | { readonly kind: "expression"; readonly expression: Expression; readonly discard?: true; readonly span: Span }
  /**
   * `$v = e`, `@m[k] = e`, and with an operator `@m[k] += e`. `@m = count()` and its kin are `aggregate` statements.
   */
  | {
      readonly kind: "assign";
      readonly target: Variable | MapAccess;
      readonly operator: BinaryOperator | null;
      readonly value: Expression;
      readonly span: Span;
    }
  /** `let $v : T = e` */
  | {
      readonly kind: "declare";
      readonly variable: Variable;
      readonly declared?: TypeName;
      readonly value?: Expression;
      readonly span: Span;
    }
  /** `@m[k] = hist(v, 2)`: value is absent for count(); parameters are hist's bits or lhist's min, max, step. */
  | {
      readonly kind: "aggregate";
      readonly target: MapAccess;
      readonly aggregate: import("./types.ts").AggregateKind;
      readonly value?: Expression;
      readonly parameters: readonly Expression[];
      /** How often the value counts, in buckets. */
      readonly weight?: Expression;
      readonly span: Span;
    }
  | {
      readonly kind: "if";
      readonly condition: Expression;
      readonly then: Block;
      readonly otherwise?: Block;
      readonly span: Span;
    }
  | { readonly kind: "while"; readonly condition: Expression; readonly body: Block; readonly span: Span }
  | { readonly kind: "do-while"; readonly body: Block; readonly condition: Expression; readonly span: Span }
  /** C's `for`: what `before` declares is seen in it alone; `continue` goes on with `step`. Endless without a condition. */
  | {
      readonly kind: "for";
      readonly before: readonly Statement[];
      readonly condition?: Expression;
      readonly step: readonly Statement[];
      readonly body: Block;
      readonly span: Span;
    }
  /**
   * Goes on at the first case that has an equal value, else at the default, else behind it. A body runs on into the next
   * one unless it is left: `break` leaves the switch. `subject` is a name of the front-end's own for what is compared.
   */
  | {
      readonly kind: "switch";
      readonly subject: Variable;
      readonly of: Expression;
      readonly cases: readonly SwitchCase[];
      readonly span: Span;
    }
  /** One of the clauses of an event, which are one handler (Rules: variables.scope). What ends a handler ends it alone. */
  | { readonly kind: "clause"; readonly predicate?: Expression; readonly body: Block; readonly span: Span }
  | { readonly kind: "unroll"; readonly count: Expression; readonly body: Block; readonly span: Span }
  /** `for ($i : from..to)`, `to` excluded. */
  | {
      readonly kind: "for-range";
      readonly variable: Variable;
      readonly from: Expression;
      readonly to: Expression;
      readonly body: Block;
      readonly span: Span;
    }
  /**
   * `for ($kv : @map)`: `variable` is a tuple (key, value). `keys` and `value` bind its parts by themselves, and
   * `variable` is then a name of the front-end's own. `order`: by the keys, by one of them (`part`), or by the value, an
   * aggregation by what it comes to; on the host only. `slice`: only entries with these keys, where there is one.
   * `limit`: so many entries at most.
   */
  | {
      readonly kind: "for-map";
      readonly variable: Variable;
      readonly map: MapAccess;
      readonly keys?: readonly Variable[];
      readonly value?: Variable;
      /** The value is not looked at: it need not be a single one. */
      readonly keysOnly?: true;
      /** Maps with the same keys, of an order by rows. */
      readonly beside?: readonly MapAccess[];
      readonly order?: MapOrder;
      readonly slice?: readonly (Expression | undefined)[];
      readonly limit?: Expression;
      readonly body: Block;
      readonly span: Span;
    }
  /** `for ($x : args.list)`: the elements of what a program has; of a mapping tuples (key, value). */
  | {
      readonly kind: "for-value";
      readonly variable: Variable;
      readonly of: Expression;
      readonly body: Block;
      readonly span: Span;
    }
  | { readonly kind: "break"; readonly span: Span }
  | { readonly kind: "continue"; readonly span: Span }
  | { readonly kind: "return"; readonly value?: Expression; readonly span: Span }
  /** Ends the handler, in functions of the script too; other handlers of the event run as they would. */
  | { readonly kind: "next"; readonly span: Span }
  /**
   * What fails in the body, in functions that it calls too, goes on in the handler, which knows why by the variable (a
   * record: faults.ts). `kinds`: what counts as a failure, `catchable` unless it says. What fails outside of any `try`
   * gives what it always gives: a read 0, a division 1, a full map nothing.
   */
  | {
      readonly kind: "try";
      readonly body: Block;
      readonly kinds?: readonly FaultKind[];
      readonly caught?: Variable;
      /** What fails is told where it does, in the language's words (rules.ts), before the handler of errors runs. */
      readonly tells?: true;
      readonly handler: Block;
      readonly span: Span;
    }
  /** A text is an error of the script's own; a record that was caught is that error again. Uncaught it ends the handler. */
  | { readonly kind: "throw"; readonly value: Expression; readonly span: Span };

/** What entries of a map are ordered by. */
export interface MapOrder {
  /** `rows`: as a layout says, and with the entries that maps beside it have. */
  readonly by: "key" | "value" | "rows";
  readonly layout?: MapLayout;
  /** The number of one key, from 0. */
  readonly part?: number;
  /** Of values that are statistics: what of them. */
  readonly result?: import("./types.ts").AggregateKind;
  readonly descending: boolean;
}

/** The order of rows of maps with the same keys, side by side. Keys are compared as bytes or unsigned numbers. */
export interface MapLayout {
  /** By keys, or by values and then by keys. */
  readonly byKey: boolean;
  /** The key that comes first, from 0, and the map whose values do; the others follow in their order. */
  readonly key: number;
  readonly map: number;
  readonly descending: boolean;
  /** printf's, of 64 bits, for a value that is a number: nothing else is printed then. */
  readonly conversion?: string;
}

export interface SwitchCase {
  readonly values: readonly Expression[];
  /** It is the default as well. */
  readonly otherwise?: true;
  readonly body: Block;
}

// ── expressions ──────────────────────────────────────────────────────────────────────────────────────────────────────

export type UnaryOperator = "-" | "!" | "~" | "*" | "&" | "+";
export type BinaryOperator =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "&"
  | "|"
  | "^"
  | "<<"
  | ">>"
  | "&&"
  | "||"
  | "=="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">=";

interface Node {
  readonly span: Span;
  /** Filled by the checker. */
  type: Type;
}

export interface IntegerLiteral extends Node {
  readonly kind: "integer";
  readonly value: bigint;
}
/** `outside`: not the script's own text, but a name that the machine has, as of a function: a terminal gets it spelled out. */
export interface StringLiteral extends Node {
  readonly kind: "string";
  readonly value: string;
  readonly outside?: boolean;
}
/** A number with a fraction, or with an exponent behind one: a double. */
export interface FloatLiteral extends Node {
  readonly kind: "float";
  readonly value: number;
}
export interface BooleanLiteral extends Node {
  readonly kind: "boolean";
  readonly value: boolean;
}
/**
 * A bare name that is not in the builtin table: an enum constant, or a mistake. The checker folds constants: sets
 * `constant`.
 */
export interface Identifier extends Node {
  readonly kind: "identifier";
  readonly name: string;
  /** The probed program's enumerators are asked before the script's and the kernel's. */
  readonly ofProgram?: true;
  constant?: bigint;
}
/** A builtin value without arguments: `pid`, `comm`, `args`, `arg0`, `retval`. Names are the table's canonical ones. */
export interface Builtin extends Node {
  readonly kind: "builtin";
  readonly name: string;
}
/**
 * A clause-local variable; `name` is without sigil. The checker sets `slot`, an index into the handler's variables
 * (scopes resolved). `lives` elsewhere: each thread has one of its own, which outlives the handler; it is 0 or empty at
 * first. The checker makes it a map by thread, whose name is the variable's.
 */
export interface Variable extends Node {
  readonly kind: "variable";
  readonly name: string;
  readonly lives?: "thread";
  slot?: number;
}
/**
 * `@m[k1, k2]`; no keys for a scalar map. `name` is without "@" ("" for the anonymous map). `map` is set by the
 * checker.
 */
export interface MapAccess extends Node {
  readonly kind: "map";
  readonly name: string;
  readonly keys: readonly Expression[];
  map?: number;
}
export interface Unary extends Node {
  readonly kind: "unary";
  readonly operator: UnaryOperator;
  readonly operand: Expression;
}
export interface Binary extends Node {
  readonly kind: "binary";
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  /** Checker: a quotient is rounded down (Rules). */
  readonly floors?: true;
}
export interface Conditional extends Node {
  readonly kind: "conditional";
  readonly condition: Expression;
  readonly then: Expression;
  readonly otherwise: Expression;
}
/** An assignment whose value, that of the target afterwards, is used. */
export interface Assignment extends Node {
  readonly kind: "assignment";
  readonly target: Variable | MapAccess;
  readonly operator: BinaryOperator | null;
  readonly value: Expression;
}
/** `++@m[k]`, `$i--`: the value is the new one when prefix, else the old one. */
export interface Increment extends Node {
  readonly kind: "increment";
  readonly target: Variable | MapAccess;
  readonly delta: 1 | -1;
  readonly prefix: boolean;
}
/** A call of a function in the builtin table (canonical name) or of the script's own. */
export interface Call extends Node {
  readonly kind: "call";
  readonly name: string;
  readonly args: readonly Expression[];
}
/** `a.b`, `a->b` (the same thing: the checker looks through a pointer). */
export interface MemberAccess extends Node {
  readonly kind: "member";
  readonly object: Expression;
  readonly name: string;
  readonly nameSpan: Span;
  path?: MemberPath;
}
export interface IndexAccess extends Node {
  readonly kind: "index";
  readonly object: Expression;
  readonly index: Expression;
}
/** `t.0` */
export interface TupleAccess extends Node {
  readonly kind: "tuple-index";
  readonly object: Expression;
  readonly index: number;
}
export interface Cast extends Node {
  readonly kind: "cast";
  readonly to: TypeName;
  readonly operand: Expression;
}
/** sizeof and offsetof become integer constants in the checker, which sets `constant`. */
export interface SizeOf extends Node {
  readonly kind: "sizeof";
  readonly of: TypeName | Expression;
  constant?: bigint;
}
export interface OffsetOf extends Node {
  readonly kind: "offsetof";
  readonly of: TypeName | Expression;
  readonly path: readonly string[];
  constant?: bigint;
}
export interface TupleLiteral extends Node {
  readonly kind: "tuple";
  readonly elements: readonly Expression[];
}
export interface RecordLiteral extends Node {
  readonly kind: "record";
  readonly fields: readonly { readonly name: string; readonly value: Expression }[];
}
/**
 * What JavaScript finds of a value that may be missing: whether it counts as true ("truth"), or is there at all
 * ("null": an address of 0 leads nowhere). `there` says so where the value does not: an object, a text. The checker
 * puts in its place what its type asks for. Without `there`, "entry": whether a map has the entry, or was ever given
 * anything; "sense": whether it can be said at this probe (`@defined($x)`), which the checker answers.
 */
export interface Presence extends Node {
  readonly kind: "presence";
  readonly asks: "truth" | "null" | "undefined" | "entry" | "sense";
  readonly of: Expression;
  readonly there?: Expression;
}
/**
 * What the program has as one text, `x=0x1 p=0xff00`: a value, or the probe's variables by name. `depth`: 0 shows numbers
 * in hexadecimal and nothing of what is in a struct; 1 numbers as they are declared and a struct's members; 2 those of
 * structs in it as well; "name" the name of an enumeration's value, or its digits. The checker knows the types, and puts
 * in its place what makes the text.
 */
export interface Described extends Node {
  readonly kind: "described";
  readonly of: Expression | DescribedGroup;
  readonly depth: 0 | 1 | 2 | "name";
  /** Arguments that have no names are `$arg1` and so on. */
  readonly fromOne?: true;
}
export type DescribedGroup = "vars" | "parms" | "locals" | "return";

/**
 * What comes of the values that a map holds as a statistic, `@sum(m[k])`: the aggregation that it would be by itself. A
 * number, or what print() draws.
 */
export interface StatisticResult extends Node {
  readonly kind: "result";
  readonly of: MapAccess;
  readonly aggregate: import("./types.ts").AggregateKind;
  readonly parameters: readonly Expression[];
  /** Of a histogram the number of a bucket, whose count it is then. */
  readonly bucket?: Expression;
  /** Without values it is 0, which fails otherwise where the language has it so. */
  readonly orZero?: true;
  /** Checker: which of the results that the script asks for. */
  readonly asked?: number;
}
/** `{ statements; value }` as an expression. */
export interface BlockExpression extends Node {
  readonly kind: "block-expression";
  readonly statements: readonly Statement[];
  readonly value: Expression;
}

/**
 * A copy of the elements that a program's object has (SequenceType). Those side by side: `data` is where. Others:
 * `item` of each round, where `has` holds, as long as `more` does, with `next` in between; `before` makes the variables
 * for that.
 */
export interface SequenceLiteral extends Node {
  readonly kind: "sequence";
  readonly form: SequenceForm;
  readonly capacity: number;
  readonly before: readonly Statement[];
  readonly length: Expression;
  readonly data?: Expression;
  readonly walk?: {
    readonly more: Expression;
    readonly has?: Expression;
    readonly item: Expression;
    readonly next: readonly Statement[];
  };
}
/** The first alternative whose test holds (ChoiceType); the last has none. */
export interface ChoiceLiteral extends Node {
  readonly kind: "choice";
  readonly alternatives: readonly {
    readonly name?: string;
    readonly none?: true;
    readonly test?: Expression;
    readonly value?: Expression;
  }[];
}

export type Expression =
  | IntegerLiteral
  | FloatLiteral
  | StringLiteral
  | BooleanLiteral
  | Identifier
  | Builtin
  | Variable
  | MapAccess
  | Unary
  | Binary
  | Conditional
  | Assignment
  | Increment
  | Call
  | MemberAccess
  | IndexAccess
  | TupleAccess
  | Cast
  | SizeOf
  | OffsetOf
  | TupleLiteral
  | RecordLiteral
  | Presence
  | Described
  | StatisticResult
  | BlockExpression
  | SequenceLiteral
  | ChoiceLiteral;

/** A member found by the checker, looked up through anonymous structs: the offset is from the start of `container`. */
export interface MemberPath {
  readonly container: StructType | SequenceType | "args";
  readonly offset: number;
  readonly bitOffset?: number;
  readonly bitWidth?: number;
  /** In `args`: index into the context's arguments. */
  readonly argument?: number;
}
