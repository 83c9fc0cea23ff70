// SystemTap's language as it is written: what the parser makes, and what types are inferred on before it is translated
// to the tree that all languages share.
import type { Source, Span } from "../diagnostic.ts";
import type { BinaryOperator } from "../program.ts";

export interface Script {
  readonly source: Source;
  readonly globals: readonly Global[];
  readonly functions: readonly FunctionDefinition[];
  readonly probes: readonly ProbeDefinition[];
  readonly aliases: readonly Alias[];
}

export interface Global {
  readonly name: string;
  /** Entries at most: `global a[500]`. */
  readonly size?: number;
  /** A new key takes the place of an old one when it is full: `global a%[500]`. */
  readonly wraps: boolean;
  readonly initial?: Expr;
  readonly span: Span;
}

/** What a value is. Everything is inferred; what nothing tells is a number. */
export type ValueType = "long" | "string" | "stats";

export interface FunctionDefinition {
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly type?: ValueType; readonly span: Span }[];
  readonly result?: ValueType;
  /** `function f():2`: of several with the same name the least is tried first. */
  readonly priority?: number;
  readonly body: Stmt;
  readonly span: Span;
}

export interface ProbeDefinition {
  readonly points: readonly Point[];
  readonly body: Stmt;
  readonly span: Span;
}

/** `probe a.b = points { … }`; with `+=` the body runs behind the probe's own. */
export interface Alias extends ProbeDefinition {
  readonly name: readonly Component[];
  readonly epilogue: boolean;
  /** `= points { prologue }, { epilogue }` */
  readonly behind?: Stmt;
}

/** `kernel.function("f").call?` */
export interface Point {
  readonly components: readonly Component[];
  readonly optional: boolean;
  readonly sufficient: boolean;
  readonly condition?: Expr;
  readonly text: string;
  readonly span: Span;
}

export interface Component {
  /** With wildcards `*` and `**` as written. */
  readonly name: string;
  readonly argument?: string | bigint;
  readonly span: Span;
}

interface Node {
  readonly span: Span;
}

export type Stmt =
  | (Node & { readonly kind: "block"; readonly statements: readonly Stmt[] })
  | (Node & { readonly kind: "expression"; readonly expression: Expr })
  | (Node & { readonly kind: "if"; readonly condition: Expr; readonly then: Stmt; readonly otherwise?: Stmt })
  | (Node & { readonly kind: "while"; readonly condition: Expr; readonly body: Stmt })
  | (Node & {
      readonly kind: "for";
      readonly before?: Expr;
      readonly condition?: Expr;
      readonly step?: Expr;
      readonly body: Stmt;
    })
  | Foreach
  | (Node & { readonly kind: "break" | "continue" | "next" })
  | (Node & { readonly kind: "return"; readonly value?: Expr })
  | (Node & { readonly kind: "delete"; readonly target: Expr })
  | (Node & { readonly kind: "try"; readonly body: Stmt; readonly message?: string; readonly handler: Stmt });

export interface Foreach extends Node {
  readonly kind: "foreach";
  /** `foreach (value = key in array)` */
  readonly value?: string;
  readonly keys: readonly string[];
  /** Of the numbers of a histogram's buckets: `foreach (b in @hist_log(s))`. */
  readonly buckets?: Extract<Expr, { kind: "histogram" }>;
  readonly array: string;
  readonly arraySpan: Span;
  /** `array[*, x]`: undefined where any key will do. */
  readonly slice?: readonly (Expr | undefined)[];
  readonly order?: {
    /** The number of a key, or the value; of statistics one of its results. */
    readonly by: number | "value" | StatisticsOperator;
    readonly descending: boolean;
    readonly span: Span;
  };
  readonly limit?: Expr;
  readonly body: Stmt;
}

export const statisticsOperators = ["count", "sum", "min", "max", "avg", "variance"] as const;
export type StatisticsOperator = (typeof statisticsOperators)[number];

export type BinaryWord = BinaryOperator | "." | "=~" | "!~";

/** `=`, `+=`, …; `<<<` adds to statistics. */
export type AssignWord = "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" | ".=" | "<<<";

/** What stands behind `$x`: `->f`, `[i]`. */
export type Step = { readonly member: string; readonly span: Span } | { readonly index: Expr; readonly span: Span };

/** A value of the traced program or kernel. */
export interface TargetExpr extends Node {
  readonly kind: "target";
  /** `x` of `$x`, `$vars` of `$$vars`; what a base is made of otherwise. */
  readonly base:
    | { readonly kind: "name"; readonly name: string }
    | { readonly kind: "var"; readonly name: string; readonly module?: string }
    | { readonly kind: "cast"; readonly of: Expr; readonly type: string; readonly module?: string }
    /** `n->id`, where `n = $n` was: the type is that of what is stored in it. */
    | { readonly kind: "value"; readonly of: Expr };
  readonly steps: readonly Step[];
  readonly address: boolean;
  /** `$x$`: one level, `$x$$`: all. */
  readonly pretty: 0 | 1 | 2;
}

export type Expr =
  | (Node & { readonly kind: "number"; readonly value: bigint })
  | (Node & { readonly kind: "string"; readonly value: string })
  /** A global or a local. */
  | (Node & { readonly kind: "name"; readonly name: string })
  /** `a[k, *]` */
  | (Node & { readonly kind: "element"; readonly name: string; readonly keys: readonly (Expr | undefined)[] })
  | (Node & { readonly kind: "call"; readonly name: string; readonly args: readonly Expr[] })
  | TargetExpr
  /** `@defined(…)`, `@entry(…)`, `@const("…")`, … */
  | (Node & { readonly kind: "operator"; readonly name: string; readonly args: readonly Expr[] })
  /** `@count(s)`; `@variance(s, shift)` */
  | (Node & {
      readonly kind: "statistics";
      readonly operator: StatisticsOperator;
      readonly of: Expr;
      readonly parameters: readonly bigint[];
    })
  /** `@hist_log(s)`, `@hist_linear(s, low, high, step)`; `index`: one bucket. */
  | (Node & {
      readonly kind: "histogram";
      readonly index?: Expr;
      readonly linear: boolean;
      readonly of: Expr;
      readonly parameters: readonly bigint[];
    })
  | (Node & { readonly kind: "unary"; readonly operator: "-" | "!" | "~" | "+"; readonly operand: Expr })
  /** `sign`: where the operator stands. */
  | (Node & {
      readonly kind: "binary";
      readonly operator: BinaryWord;
      readonly left: Expr;
      readonly right: Expr;
      readonly sign?: Span;
    })
  | (Node & {
      readonly kind: "conditional";
      readonly condition: Expr;
      readonly then: Expr;
      readonly otherwise: Expr;
    })
  | (Node & {
      readonly kind: "assign";
      readonly operator: AssignWord;
      readonly target: Expr;
      readonly value: Expr;
      readonly sign?: Span;
    })
  | (Node & { readonly kind: "increment"; readonly target: Expr; readonly delta: 1 | -1; readonly prefix: boolean })
  /** `[a, *] in array` */
  | (Node & { readonly kind: "in"; readonly keys: readonly (Expr | undefined)[]; readonly array: string });
