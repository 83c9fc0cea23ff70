// Directives: `#include`, `#define`, `#if` and the rest.
import { says, type Message } from "./message.ts";

const filesOfCommand = "the command reads such files; the library is given one text";

export const preprocessor = {
  /** Only in the library: `compile()` of a text that has an include. */
  includeIgnored: (path: string): Message => says("unused", `#include "${path}" is ignored`, filesOfCommand),
  /** Only in the library: `compile()` of a text that has an import. */
  importIgnored: (): Message =>
    says("feature", "imports must come after C definitions and before everything else", filesOfCommand),
  /** @example #if f(x)
   * #endif
   * begin { }
   */
  conditionNotUnderstood: (): Message =>
    says(
      "syntax",
      "unsupported condition, taken as false",
      "use numbers, names of #define, defined(NAME) and C's operators",
    ),
  /**
   * @example
   * #endif
   * begin { }
   */
  withoutIf: (directive: string): Message => says("syntax", `\`#${directive}\` without \`#if\``),
  /**
   * @example
   * #ifdef X
   * begin { }
   */
  withoutEndif: (): Message => says("syntax", "missing `#endif`"),
  /**
   * @example
   * #include x.h
   * begin { }
   */
  includePath: (): Message => says("syntax", 'expected `<path>` or `"path"` after `#include`'),
  /**
   * @example
   * #define 5
   * begin { }
   */
  defineName: (): Message => says("syntax", "expected a name after `#define`"),
  /**
   * @example
   * #define F(x) x
   * begin { }
   */
  defineParameters: (name: string): Message =>
    says("syntax", `\`#define ${name}(…)\` with parameters is ignored`, `write \`macro ${name}(…) { … }\``),
  /**
   * @example
   * #error not here
   * begin { }
   */
  userError: (text: string): Message => says("syntax", text === "" ? "#error" : text),
  /**
   * @example
   * #warning slow
   * begin { }
   */
  userWarning: (text: string): Message => says("syntax", text === "" ? "#warning" : text),
  /**
   * @example
   * #frobnicate
   * begin { }
   */
  unknownDirective: (word: string): Message => says("syntax", `unknown directive \`#${word}\``),
  /**
   * @example
   * #define N
   * begin { print(N); }
   */
  emptyDefinition: (name: string): Message => says("syntax", `\`${name}\` is defined as nothing`),
  /**
   * @example
   * #define N 1 2
   * begin { print(N); }
   */
  notOneExpression: (): Message => says("syntax", "the definition is not one expression"),
  /**
   * @example
   * #define N N + 1
   * begin { print(N); }
   */
  recursive: (name: string): Message => says("placement", `the definition of \`${name}\` uses itself`),
};
