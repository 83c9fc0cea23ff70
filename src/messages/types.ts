// Types: casts, conversions, names of types.
import { says, saysOf, type Message, type Shown } from "./message.ts";

export const types = {
  /** @example begin { $x = 1; $x = "a"; } */
  mismatch: (what: "variable" | "map", name: Shown, has: Shown, given: Shown): Message =>
    saysOf(
      { kind: "types", operator: "=", left: String(has), right: String(given) },
      says(
        "type",
        `type mismatch for ${name}: trying to assign value of type '${given}' when ${what} already has a type '${has}'`,
      ),
    ),
  /** @example begin { print(sizeof(struct nobody)); } */
  unknownType: (name: Shown, help?: string): Message => says("name", `cannot resolve unknown type "${name}"`, help),
  /** @example begin { print(sizeof(string[2][3])); } */
  takesOneSize: (name: Shown): Message => says("name", `\`${name}\` takes one size`),
  /** @example struct s { int8 a[2147483647]; int b; }; begin { print(sizeof(struct s)); } */
  structTooLarge: (member: Shown, most: Shown): Message =>
    says("type", `\`${member}\` makes its struct larger than ${most} bytes`),
  /** @example struct s { struct s inner; }; begin { print(sizeof(struct s)); } */
  structInItself: (member: Shown): Message =>
    says("type", `\`${member}\` would hold the struct that it is in; a pointer to it can be a member`),
  /** @example struct s { int *p : 3; }; begin { print(sizeof(struct s)); } */
  bitFieldNoInteger: (member: Shown): Message => says("type", `the bit-field \`${member}\` is no integer`),
  /** @example struct s { int8 a : 9; }; begin { print(sizeof(struct s)); } */
  bitFieldTooWide: (member: Shown, bits: Shown): Message =>
    says("type", `the bit-field \`${member}\` has at most the ${bits} bits of its type`),
  /** @example struct s { int a : 0; }; begin { print(sizeof(struct s)); } */
  bitFieldWithoutBits: (member: Shown): Message => says("type", `a bit-field of no bits has no name: \`${member}\``),
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
