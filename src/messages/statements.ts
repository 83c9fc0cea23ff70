// Statements and variables.
import { says, saysOf, type Message, type Shown } from "./message.ts";

export const statements = {
  /** @example begin { if (pid) { exit(); } else { return; } print(1); } */
  unreachableStatement: (): Message => says("unused", "unreachable statement"),
  /** @example begin { unroll (pid) { } } */
  unrollNeedsConstant: (): Message => says("arguments", "unroll() needs a constant"),
  /** @example begin { unroll (0) { } } */
  unrollMinimumValue: (): Message => says("limit", "unroll minimum value is 1"),
  /** @example begin { unroll (101) { } } */
  unrollMaximumValue: (): Message => says("limit", "unroll maximum value is 100"),
  /** @example begin { 1; } */
  returnValueDiscarded: (): Message => says("unused", "return value discarded"),
  /** @example begin { if (arg1 & x) { $sum += x; }; } */
  undefinedOrUndeclaredVariable: (body: Shown): Message => says("name", `undefined or undeclared variable: ${body}`),
  /** @example begin { let $a : uint16 = -1; } */
  doesNotFit: (constant: Shown, declared: Shown, help?: string): Message =>
    says("type", `${constant} does not fit ${declared}`, help),
  /** @example begin { @m = -1; let $a: uint16 = @m; let $b: uint64 = cpu; let $c: uint8 = $a + 1; } */
  notEveryFits: (type: Shown, declared: Shown, help?: string): Message =>
    says("type", `not every ${type} fits ${declared}`, help),
  /** @example begin { let $x = 1; let $x = 2; } */
  variableWasAlreadyDeclared: (body: Shown): Message =>
    says("name", `variable ${body} was already declared`, "variables cannot be shadowed: choose another name"),
  /** @example begin { let $a; let $b: int32; if (find(@m, 1, $b)) { return; print(1); } @m[1] = (int32)2; } */
  variableWasNeverAssigned: (body: Shown): Message => says("unused", `variable ${body} was never assigned to`),
  /** @example begin { for ($i : "a"..5) { } } */
  rangeGoesOverIntegersNot: (type: Shown): Message => says("type", `a range expects integers, got ${type}`),
  /** @example begin { let $i = 1; for ($i : 0..5) { } } */
  loopVariableWasAlreadyDeclared: (body: Shown): Message =>
    says("name", `variable ${body} was already declared`, "a loop declares its own variable: choose another name"),
  /** @example begin { @s = 1; for ($kv : @s) { } } */
  noExplicitKeysScalarMap: (body: Shown): Message =>
    says("type", `${body} has no explicit keys (scalar map), and cannot be used for iteration`),
  /** @example begin { @m[arg0] = 1; for ($a : @m) { $i = 0; while ($i < $a.1) { $i++; @n = $i; } }; } */
  nothingSaysWhatKeys: (body: Shown): Message =>
    says(
      "type",
      `nothing says what the keys of ${body} are`,
      "use it with a key: store in it, or ask whether it has one",
    ),
  /**
   * Of a loop in an order, which no language writes yet.
   *
   * @tested src/compiler/made-up-language.test.ts
   */
  keysNoKeyOrdered: (body: Shown, count: Shown, part: Shown): Message =>
    says("limit", `${body} has ${count} keys, and no key ${part} to be ordered by`),
  /** @example begin { @[1] = hist(5); for ($kv : @) { print($kv.1); } } */
  valuesWhichNoSingleValue: (body: Shown, aggregate: Shown): Message =>
    says("type", `the values of ${body} are ${aggregate}(), which have no single value`),
  /** @example begin { for ($x : pid) { } } */
  loopGoesOverMapRange: (type: Shown): Message =>
    says("type", `\`for\` expects a map, a range or a value with elements, got ${type}`),
  /** @example begin { return "a"; } */
  probeCanReturnIntegersOnly: (type: Shown): Message => says("type", `a probe returns an integer, got ${type}`),
  /** @example fn f() : int64 { return "a"; } begin { print(f()); } */
  givesCannotReturn: (body: Shown, result: Shown, type: Shown): Message =>
    says("type", `${body}() gives ${result} and cannot return ${type}`),
  /** @example fn f() : int64 { return; } begin { print(f()); } */
  mustReturn: (body: Shown, result: Shown): Message => says("type", `${body}() must return ${result}`),
  /** @example begin { print(vars); } */
  notAvailable: (what: Shown, body: Shown): Message =>
    says(
      "placement",
      `${what} is not available in ${body}`,
      "variables are known at places of programs (uprobe) and, with its debug information, of the kernel (kprobe); its globals wherever handlers run in it",
    ),
  /** @example uprobe:stripped:main { print(var("x")); } */
  notKnownHere: (what: Shown, reason: Shown, help?: string, symbol?: string): Message => {
    const said = says("feature", `${what} is not known here: ${reason}`, help);
    return symbol === undefined ? said : saysOf({ kind: "symbol", name: symbol }, said);
  },
  /** @example kprobe:f { print(var(5)); } */
  varExpectsNameStringLiteral: (): Message => says("arguments", "var() expects a name as a string literal"),
  /** @example uprobe:app:main { print(var("gone")); } */
  variableOutOfReach: (reason: Shown): Message => says("name", `${reason}`),
  /** @example uprobe:app:main { print(var("coutn")); } */
  seesNoVariable: (value: Shown, name: Shown, help?: string): Message =>
    says("name", `${value} sees no variable \`${name}\``, help),
};
