// What the parser of bpftrace's language expected.
import type { Reason } from "../base/failure.ts";
import { reason, says, type Message } from "./message.ts";

export const syntax = {
  /** @example begin { print((1; } */
  expected: (what: string, found: string, help?: string): Message =>
    says("syntax", `expected ${what}, found ${found}`, help),
  /** @example begin { if (1) { } */
  unclosedBlock: (of: string): Message =>
    says("syntax", `expected \`}\` at the end ${of}`, "this `{` has no matching `}`"),
  /**
   * @example
   * begin { print(1);
   * end { }
   */
  probeInBlock: (of: string): Message => says("syntax", `expected \`}\` at the end ${of}, before this probe`),
  /** @example begin { } } */
  unmatchedBrace: (): Message => says("syntax", "unmatched `}`"),
  /** @example struct S { int x; */
  unclosedStruct: (name: string): Message => says("syntax", `expected \`}\` at the end of \`${name}\``),
  /** @example struct S { int __attribute__((packed x; }; begin { } */
  unclosedParenthesis: (): Message => says("syntax", "unmatched `(`"),
  /** @example begin { print("text); } */
  unclosedString: (): Message => says("syntax", "unterminated string"),
  /** @example begin { print(1); /* note } */
  unclosedComment: (): Message => says("syntax", "unterminated comment"),
  /** @example begin { print($); } */
  namelessVariable: (): Message => says("syntax", "`$` without a name"),
  /** @example begin { print($1x); } */
  badVariable: (name: string): Message =>
    says("syntax", `\`$${name}\` is neither a variable nor a positional parameter`, "names begin with a letter or `_`"),
  /** @example begin { print('a'); } */
  characterLiteral: (): Message =>
    says("syntax", "there are no character literals", "text is in double quotes; a character is written as its number"),
  /** @example begin { ` } */
  meaninglessCharacter: (shown: string): Message => says("syntax", `unexpected character ${shown}`),
  /** @example { print(1); } */
  expectedProbe: (before: string): Message =>
    says("syntax", `expected a probe before \`${before}\``, "as in `tracepoint:sched:sched_switch { … }`"),
  /** @example tracepoint:a:b print(1); */
  expectedBody: (probe: string, found: string, bare: boolean): Message =>
    says(
      "syntax",
      `expected \`{\` or \`/\` after the probe \`${probe}\`, found ${found}`,
      !bare
        ? undefined
        : probe === "probe"
          ? "SystemTap's scripts are run by `strobe stap`, or with --lang systemtap"
          : "a probe is written `provider:what`, as in `tracepoint:sched:sched_switch`",
    ),
  /** @example config = { max_map_keys = 100 } */
  noProbe: (): Message => says("syntax", "the script has no probe"),
  /** @example config = { cache_user_symbols = PER_PID } config = { max_map_keys = 9 } begin { } */
  secondConfig: (): Message =>
    says("placement", "duplicate config block", "put all settings into one `config = { … }`"),
  /** @example begin { } config = { max_map_keys = 9 } */
  lateConfig: (): Message => says("placement", "the config block must come before all probes"),
  /** @example config = { max_map_keys = 9; max_map_keys = 10 } begin { } */
  settingTwice: (name: string): Message => says("name", `duplicate setting \`${name}\``),
  /** @example begin { import "x.bt"; } */
  notInExpression: (word: string): Message => says("syntax", `\`${word}\` is not allowed in an expression`),
  /** @example begin { $x = typeof(1); } */
  typeofIsType: (): Message =>
    says("syntax", "`typeof` names a type, not a value", "use it in a cast, a declaration or a macro's argument"),
  /** @example begin { $x = { let $y = 1; }; } */
  blockWithoutValue: (): Message =>
    says("syntax", "the block has no value", "its last expression must come without `;`"),
  /** @example begin { $x = if 1 { 2 }; } */
  ifWithoutValue: (): Message =>
    says("syntax", "the `if` has no value", "each branch must end in an expression without `;`, and needs an `else`"),
  /** @example begin { 5 = 1; } */
  assignmentTarget: (operator: string, memory: boolean): Message =>
    says(
      "syntax",
      `\`${operator}\` needs a variable or a map on its left`,
      memory ? "memory, tuples and records are immutable; copy the value to a variable" : undefined,
    ),
  /** @example begin { $t = (1, 2); $t.0 = 5; } */
  immutableTuple: (): Message => says("syntax", "tuples and records are immutable", "make a new one and assign that"),
  /** @example begin { 5++; } */
  incrementTarget: (operator: string): Message => says("syntax", `\`${operator}\` needs a variable or a map`),
  /** @example begin { for ($i : 5) { } } */
  forOver: (): Message => says("syntax", "`for` takes a map (`$kv : @map`) or a range (`$i : 0..10`)"),
  /** @example begin { let @m = lruhash(10); } */
  mapInProbe: (): Message =>
    says("syntax", "maps are declared outside of probes", "move this line to before the first probe"),
  /** @example let @m = lruhash(); begin { } */
  noEntries: (map: string, storage: string): Message =>
    says("syntax", `missing number of entries of @${map}`, `as in \`${storage}(100)\``),
  /** @example struct { int x; }; begin { } */
  namelessStruct: (): Message => says("syntax", "a struct outside of another struct needs a name"),
  /** @example struct S { int a[pid]; }; begin { } */
  expectedConstant: (what: string): Message => says("syntax", `${what} must be a constant`),
  /** @example begin { print((a=1, a=2)); } */
  fieldTwice: (name: string): Message => says("name", `duplicate field \`${name}\``),
  /** @example begin { print(0189); } */
  octalDigit: (literal: string): Message =>
    says("syntax", `\`${literal}\` is octal, and has a digit 8 or 9`, "leave out the leading 0 for a decimal number"),
  /** @example begin { print(12abc); } */
  notInteger: (literal: string): Message => says("syntax", `\`${literal}\` is not an integer`),
  /** @example begin { print(1e20); } */
  integerTooLarge: (literal: string, double: string | undefined): Message =>
    says("syntax", `${literal} does not fit in 64 bits`, double === undefined ? undefined : `${double} is a double`),
  /** @example begin { print(1.5x); } */
  notNumber: (literal: string): Message => says("syntax", `\`${literal}\` is not a number`),
  /** @example begin { print(1.5e999); } */
  doubleTooLarge: (literal: string): Message => says("syntax", `${literal} is larger than any double`),
  /** @example begin { print("\q"); } */
  unknownEscape: (letter: string): Message =>
    says("syntax", `unknown escape sequence \`\\${letter}\``, "write `\\\\` for a backslash"),
  /** @example begin { print(⟨( × 300⟩1); } */
  nestedTooDeeply: (): Message => says("limit", "nesting is too deep", "use variables"),
  /** @example begin { print(1⟨ + 1 × 2100⟩); } */
  expressionTooLong: (): Message => says("limit", "the expression is too long", "use variables"),
  /** @example begin { let $x : int64 ⟨* × 101⟩; } */
  pointerTooDeep: (): Message => says("limit", "too many levels of pointers"),
  /** @example begin { if (1) { } ⟨else if (1) { }  × 1000⟩ } */
  tooManyArms: (most: number): Message =>
    says("limit", `a chain has at most ${most} \`else if\``, "look the value up in a map, or divide the chain"),
  /** @example begin { print((1⟨, 1 × 1000⟩)); } */
  tooManyValues: (most: number): Message => says("limit", `a tuple or a key has at most ${most} values`),
};

/** Of an expression that stands outside a script, as what `strobe events` defines. */
export const syntaxReasons = {
  noExpression: (): Reason => reason("no expression"),
  unexpected: (token: string): Reason => reason(`unexpected ${token}`),
};

/** Help for a mistake of any language where one of the characters stands that slides, pages and mail put in place of others. */
export const typography = {
  replaced: (found: string, meant: string): Reason =>
    reason(`scripts are written with ${meant}: slides, pages and mail have ${found} in its place`),
};
