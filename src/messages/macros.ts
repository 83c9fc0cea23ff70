// Macros, positional parameters and options of a script.
import { says, type Message } from "./message.ts";

const plural = (count: string): string => (count === "1" ? "" : "s");

export const macros = {
  /** @example macro m() { 1 } macro m() { 2 } begin { print(m()); } */
  redefinition: (name: string): Message => says("name", `redefinition of macro: ${name}`),
  /** @example macro m($x, $x) { 1 } begin { } */
  sameParameter: (macro: string, parameter: string): Message =>
    says("name", `the macro \`${macro}\` has two parameters named \`${parameter}\``),
  /** @example begin { nothing!(1); } */
  unknown: (name: string): Message => says("name", `\`${name}\` is not a macro`),
  /** @example macro m($x) { $x } begin { m(); } */
  wrongCount: (name: string, counts: string, found: number): Message =>
    says(
      "arguments",
      `call to ${name}() has arguments that do not match any definition`,
      `it takes ${counts} argument${plural(counts)}, not ${found}`,
    ),
  /** @example macro m(@x) { @x } begin { m(1); } */
  wrongKind: (name: string, parameter: string, kind: string): Message =>
    says(
      "arguments",
      `call to ${name}() has arguments that do not match any definition`,
      `\`${parameter}\` takes a ${kind}`,
    ),
  /** @example macro m() { m() } begin { m(); } */
  recursive: (name: string): Message => says("placement", `the macro \`${name}\` uses itself`),
  /** @example macro m() { $x = 1; } begin { $y = m(); } */
  withoutValue: (name: string): Message =>
    says("type", `the macro \`${name}\` has no value`, "its last expression must come without `;`"),
  /** @example macro m(x) { x + 1 } begin { print(m(typeof(pid))); } */
  typeParameter: (name: string): Message => says("type", `\`${name}\` is a type here`),
  /** @example macro m() { @x = 1; } begin { m(); } */
  foreignMap: (macro: string, map: string): Message =>
    says(
      "name",
      `the macro \`${macro}\` uses @${map}, which is not one of its parameters`,
      `add \`@${map}\` to the macro's parameters, and pass the map`,
    ),
  /**
   * @example
   * macro a(x) { (x)+(x) } macro b(x) { a(a(a(a(a(a(x)))))) } begin { print(b(b(b(1)))); }
   */
  expansionTooLarge: (): Message => says("limit", "macros expand to too much text"),
};

export const parameters = {
  /** @example begin { print(str($1 + pid)); } */
  offsetNotConstant: (): Message => says("syntax", "only a constant may be added to a positional parameter"),
  /** Only with parameters: `strobe -e 'begin { print(str($1 + 9)); }' short`. */
  offsetTooLarge: (number: string, bytes: number, skipped: number): Message =>
    says("arguments", `$${number} has ${bytes} bytes: the text from byte ${skipped} on is empty`),
  /** @example begin { print($0); } */
  fromOne: (): Message => says("arguments", "positional parameters are counted from $1"),
  /** @example begin { print($1); } */
  notGiven: (number: string): Message => says("arguments", `missing positional parameter $${number}: it is 0 or ""`),
  /** @example tracepoint:$1 { } */
  notGivenForProbe: (number: string): Message =>
    says("arguments", `the probe needs the positional parameter $${number}, which was not given`),
  /** @example begin { print(getopt(1)); } */
  getoptArguments: (): Message =>
    says("arguments", 'getopt takes the option\'s name in quotes and a default: `getopt("pid", 0)`'),
  /** @example begin { print(getopt("n", 1)); print(getopt("n", 2)); } */
  otherDefault: (name: string, here: string, before: string | undefined): Message =>
    says(
      "arguments",
      `the option --${name} needs to have the same default value in all places it is used: here it is ${here}, before it was ${before}`,
    ),
  /** Only with options: `strobe -e 'begin { print(getopt("all")); }' -- --all=maybe`. */
  expectedBoolean: (name: string, given: string): Message =>
    says("arguments", `program command line option --${name} expects a boolean, true or false, not "${given}"`),
  /** Only with options: `strobe -e 'begin { print(getopt("n", 1)); }' -- --n`. */
  optionNeedsValue: (name: string, what: string): Message =>
    says("arguments", `--${name} needs a value: --${name}=${what}`),
  /** Only with options: `strobe -e 'begin { print(getopt("n", 1)); }' -- --n=x`. */
  expectedInteger: (name: string, given: string): Message =>
    says("arguments", `program command line option --${name} invalid integer: "${given}"`),
  /** @example begin { print(getopt("n", pid)); } */
  defaultNotConstant: (): Message =>
    says("arguments", "an option's default is a constant: a number, a string, true or false"),
};
