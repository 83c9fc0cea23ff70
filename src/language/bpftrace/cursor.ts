// The parser's place in the text, and everything its parts share: tokens, diagnostics, macros, and the means to read a
// piece of text again (macro bodies and arguments, #define bodies), which is how both kinds of macro are carried out.
import type { Message } from "../../messages/message.ts";
import { macros } from "../../messages/macros.ts";
import { preprocessor } from "../../messages/preprocessor.ts";
import { syntax } from "../../messages/syntax.ts";
import type { Diagnostic, Source, Span } from "../diagnostic.ts";
import type { Expression, ScriptOption, Statement, TypeName } from "../program.ts";
import { builtinsFor, type BuiltinNames } from "../builtins/table.ts";
import { unknownType } from "../types.ts";
import type { Preprocessed } from "./preprocess.ts";
import { bpftraceRules } from "./rules.ts";
import { scan, type Token } from "./tokens.ts";
import type { FindSpelling } from "../probe-spelling.ts";
import { failure } from "../words.ts";

export interface ParseOptions {
  readonly positional: readonly string[];
  readonly named?: ReadonlyMap<string, string | true>;
  /** How the kinds of probes are written; without it, any is `kind:part:part` and no part is a path. */
  readonly probes?: FindSpelling;
}

/** What stands between braces. A value is a last expression without a semicolon. */
export interface Body {
  readonly statements: readonly Statement[];
  readonly value?: Expression;
  readonly span: Span;
}

/** A body as an expression; undefined when it has no value. */
export function blockValue(body: Body): Expression | undefined {
  const { statements, value, span } = body;
  if (value === undefined || statements.length === 0) return value;
  return { kind: "block-expression", statements, value, type: unknownType, span };
}

/** An `if` is a statement, and an expression as well where every branch ends in a value. */
export interface IfElse {
  readonly statement: Extract<Statement, { kind: "if" }>;
  readonly value?: Expression;
}

/** What is needed below where it is written: statements hold expressions, which hold statements. */
export interface Grammar {
  expression(p: Cursor): Expression;
  /** From `{` to `}`; `of` ends the message about a missing brace. */
  body(p: Cursor, of: string): Body;
  ifElse(p: Cursor): IfElse;
}

export interface Macro {
  readonly name: string;
  readonly parameters: readonly { readonly kind: "variable" | "map" | "expression"; readonly name: string }[];
  /** The offset of its `{`. */
  readonly body: number;
}

/** What a macro's parameter stands for in one use of it. */
export type Argument =
  | { readonly kind: "variable" | "map"; readonly name: string }
  | {
      readonly kind: "expression";
      readonly start: number;
      readonly where: Expansion | undefined;
      readonly text: string;
    }
  | { readonly kind: "type"; readonly type: TypeName }
  /** While the definition itself is read, for its errors. */
  | { readonly kind: "parameter" };

/** One use of a macro. Keys of `arguments` have their sigil. `number` tells its own variables from everyone else's. */
export interface Expansion {
  readonly macro: Macro;
  readonly arguments: ReadonlyMap<string, Argument>;
  readonly number: number;
  readonly caller: Expansion | undefined;
}

const nestingLimit = 200;
/** Operators and accesses within one statement: they lean to the left, and what walks the tree goes down them. */
const linkLimit = 2000;
const errorLimit = 20;
/** Tokens read again on behalf of macros, in all. Stops macros that double at every level. */
const replayLimit = 200_000;

export class Cursor {
  readonly source: Source;
  readonly grammar: Grammar;
  readonly builtins: BuiltinNames = builtinsFor(bpftraceRules);
  readonly spelling: FindSpelling;
  readonly positional: readonly string[];
  readonly named: ReadonlyMap<string, string | true> | undefined;
  readonly definitions: Preprocessed["definitions"];
  readonly bodies: string;
  /** The whole text, directives blanked; `text` is another one while a #define's body is read. */
  readonly sourceText: string;
  readonly diagnostics: Diagnostic[];
  readonly macros = new Map<string, Macro[]>();
  readonly typedefs = new Map<string, TypeName>();
  /** What getopt() asks for, by name. */
  readonly options = new Map<string, ScriptOption>();
  readonly constants = new Map<string, bigint>();
  text: string;
  token: Token;
  /** The end of the token before `token`. */
  last = 0;
  expansion: Expansion | undefined;
  /** #defines whose bodies are being read. */
  readonly open = new Set<string>();
  expansions = 0;
  /** Where the statement being read starts, and the body of the macro that is all of it, when that has no value. */
  statement = -1;
  withoutValue: Body | undefined;
  /** Something could not be read: it is not in the tree. */
  failed = false;
  /** A missing `}` has been reported: the blocks around it are not closed either. */
  unclosed = false;
  /** `/` followed by `{` ends the expression being read. */
  predicate = false;
  private links = 0;
  private depth = 0;
  private replays = 0;
  private replayed = 0;
  private errors = 0;
  private readonly reported = new Set<string>();
  private readonly textEnd: number;
  private next: Token | undefined;

  constructor(source: Source, prepared: Preprocessed, options: ParseOptions, grammar: Grammar) {
    this.grammar = grammar;
    this.source = source;
    this.textEnd = source.text.trimEnd().length;
    this.text = prepared.text;
    this.sourceText = prepared.text;
    this.bodies = prepared.bodies;
    this.definitions = prepared.definitions;
    this.diagnostics = [...prepared.diagnostics];
    this.spelling = options.probes ?? (() => undefined);
    this.positional = options.positional;
    this.named = options.named;
    this.token = scan(this.text, 0);
  }

  get tooManyErrors(): boolean {
    return this.errors >= errorLimit;
  }

  advance(): Token {
    const token = this.token;
    this.last = token.end;
    this.token = this.next ?? scan(this.text, token.end);
    this.next = undefined;
    if (this.replays > 0 && ++this.replayed > replayLimit) this.fail(macros.expansionTooLarge(), token);
    return token;
  }

  peek(): Token {
    return (this.next ??= scan(this.text, this.token.end));
  }

  seek(offset: number): void {
    this.next = undefined;
    this.token = scan(this.text, offset);
  }

  at(text: string): boolean {
    return this.token.kind === "punctuation" && this.token.text === text;
  }

  atWord(text: string): boolean {
    return this.token.kind === "identifier" && this.token.text === text;
  }

  accept(text: string): boolean {
    if (!this.at(text)) return false;
    this.advance();
    return true;
  }

  expect(text: string, where: string): Token {
    if (this.at(text)) return this.advance();
    // What is missing belongs behind the last token rather than at the next one, which may be lines away.
    const span = this.token.kind === "bad" || !this.lineEnds() ? this.token : { start: this.last, end: this.last };
    return this.fail(syntax.expected(`\`${text}\` ${where}`, this.describe()), span);
  }

  expectName(what: string): Token {
    if (this.token.kind === "identifier") return this.advance();
    return this.fail(syntax.expected(what, this.describe()));
  }

  /** Whether a line ends between the last token and this one. */
  lineEnds(): boolean {
    return this.token.kind === "end" || this.text.slice(this.last, this.token.start).includes("\n");
  }

  describe(token: Token = this.token): string {
    const text = token.text.length > 30 ? `${token.text.slice(0, 27)}…` : token.text;
    switch (token.kind) {
      case "end":
        return "the end of the script";
      case "string":
        return `the string "${text}"`;
      case "variable":
      case "positional":
        return `\`$${text}\``;
      case "map":
        return `\`@${text}\``;
      case "identifier":
      case "integer":
      case "float":
      case "punctuation":
      case "bad":
        return `\`${text}\``;
    }
  }

  report(severity: Diagnostic["severity"], span: Span, said: Message): void {
    const { start, end } = span;
    // One mistake may be met more than once (a macro's body is read at each use), and the end of the text by everyone.
    const key = severity === "error" && start >= this.textEnd ? "end" : `${severity} ${start} ${said.message}`;
    if (this.reported.has(key)) return;
    this.reported.add(key);
    if (severity === "error") this.errors++;
    this.diagnostics.push({ severity, span: { start, end }, ...said });
  }

  fail(said: Message, span: Span = this.token): never {
    const token = this.token;
    if (token.problem !== undefined && span === token) this.report("error", token, token.problem);
    else this.report("error", span, said);
    this.failed = true;
    throw failure;
  }

  /** Keeps deep nesting from exhausting the stack, here and in everything that walks the tree. */
  nested<T>(read: () => T): T {
    if (this.depth >= nestingLimit) this.fail(syntax.nestedTooDeeply());
    this.depth++;
    try {
      return read();
    } finally {
      this.depth--;
    }
  }

  /** One more operator or access in the statement being read. */
  link(): void {
    if (++this.links > linkLimit) this.fail(syntax.expressionTooLong());
  }

  /** Counts the links of a statement on top of those of the expression it is in. */
  statementLinks<T>(read: () => T): T {
    const { links } = this;
    try {
      return read();
    } finally {
      this.links = links;
    }
  }

  /** Reads other text as if it stood here: `name` is its #define, which may not come up in it again. */
  replay<T>(
    place: { text: string; start: number; where: Expansion | undefined; name?: string; at: Span },
    read: () => T,
  ): T {
    if (place.name !== undefined && this.open.has(place.name)) {
      this.fail(preprocessor.recursive(place.name), place.at);
    }
    const { text, token, next, last, expansion, predicate, statement } = this;
    return this.nested(() => {
      if (place.name !== undefined) this.open.add(place.name);
      this.replays++;
      this.text = place.text;
      this.expansion = place.where;
      this.predicate = false;
      this.seek(place.start);
      try {
        return read();
      } finally {
        this.replays--;
        if (place.name !== undefined) this.open.delete(place.name);
        this.text = text;
        this.token = token;
        this.next = next;
        this.last = last;
        this.expansion = expansion;
        this.predicate = predicate;
        this.statement = statement;
      }
    });
  }
}
