// Types: casts, conversions, names of types.
import { says, type Message, type Shown } from "./message.ts";

export const types = {
  /** @example begin { $x = 1; $x = "a"; } */
  mismatch: (what: "variable" | "map", name: Shown, has: Shown, given: Shown): Message =>
    says(
      "type",
      `type mismatch for ${name}: trying to assign value of type '${given}' when ${what} already has a type '${has}'`,
    ),
  /**
   * What is wrong with a type that is named.
   *
   * @example begin { print(sizeof(struct nobody)); }
   */
  unresolved: (problem: string, help?: string): Message => says("name", problem, help),
  /** @example begin { @ = (uint64[2])1 } */
  cannotCast: (from: Shown, to: Shown, help?: string): Message => says("type", `cannot cast ${from} to ${to}`, help),
  /** @example enum e { A, B = 5 }; begin { print((enum e)5); print((enum e)7) } */
  doesnTContainVariantValue: (to: Shown, value: Shown, known: Shown, what: Shown, hinted: unknown): Message =>
    says("limit", `${to} doesn't contain a variant value of ${value}`, hinted ? undefined : `it has ${known}${what}`),
  /**
   * @example
   * struct s { int a; }; struct s { int b; }; struct t { none_t a; int b; }; begin { print(sizeof(struct t)) }
   */
  alreadyDeclared: (what: Shown, name: Shown): Message => says("name", `${what} ${name} is already declared`),
};
