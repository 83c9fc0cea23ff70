// Expressions: operators, members, values.
import { says, saysOf, type Message, type Shown } from "./message.ts";

export const expressions = {
  /** `reason`: "optimised out here", "its DWARF …". */
  absent: (name: Shown, reason: string): Message =>
    says("placement", reason.startsWith("its ") ? `\`${name}\` cannot be read: ${reason}` : `\`${name}\` is ${reason}`),
  /** @example struct s { int a; }; kprobe:f { print(((struct s *)arg0).b); } */
  noField: (owner: string, name: Shown, help?: string): Message =>
    says(
      "name",
      /^(?:struct|union) /.test(owner)
        ? `struct/union of type '${owner}' does not contain a field named '${name}'`
        : owner === "the record"
          ? `record does not contain a field named '${name}'`
          : `${owner} has no member \`${name}\``,
      help,
    ),
  /** @example begin { x } */
  unknownIdentifier: (name: Shown, help?: string): Message => says("name", `unknown identifier: '${name}'`, help),
  /** @example begin { &$x; } */
  undefinedOrUndeclaredVariable: (body: Shown, help?: string): Message =>
    says("name", `undefined or undeclared variable: ${body}`, help),
  /** @example begin { @x = hist(1); print(@x + 1) } */
  holdsWhichNoSingleValue: (body: Shown, aggregate: Shown): Message =>
    says("type", `${body} holds a ${aggregate}(), which has no single value`, "print it whole"),
  /** @example begin { @ = count(); @++; } */
  holdsCannotChangedOtherwise: (body: Shown, aggregate: Shown): Message =>
    says("type", `${body} holds ${aggregate}() and takes no other assignment`),
  /** @example begin { @ = "a"; @++; } */
  mapNotNumber: (body: Shown, value: Shown): Message => says("type", `${body} is ${value}, not a number`),
  /** @example begin { $x = "a"; $x++; } */
  variableNotNumber: (body: Shown, type: Shown): Message => says("type", `${body} is ${type}, not a number`),
  /** @example begin { $x = 1.5; $x++; } */
  countsIntegersDouble: (twice: Shown, name: Shown, once: Shown): Message =>
    says("type", `\`${twice}\` expects an integer, and ${name} is a double`, `${name} ${once} 1`),
  /** @example begin { & &$y; } */
  variablesMaps: (): Message => says("type", "`&` takes a variable or a map"),
  /** @example begin { print(-18446744073709551615); } */
  numberDoesNotFitInto: (): Message => says("limit", "the number does not fit in 64 bits"),
  /** @example kprobe:f { print(*(void *)arg0); } */
  cannotDereferenceVoidPointer: (): Message => says("type", "cannot dereference a void pointer", "cast it first"),
  /** @example begin { -"a"; } */
  operatorCanNotUsedExpressions: (operator: Shown, type: Shown): Message =>
    says("type", `the ${operator} operator can not be used on expressions of type '${type}'`),
  /** @example begin { @m[1] = 1; print(&@m[1]) } */
  entryNoAddress: (body: Shown): Message =>
    says("type", `an entry of ${body} has no address`, `\`&${body}\` is that of the map`),
  /** @example begin { @c = count(); print(&@c) } */
  noAddressEachCpuOwn: (body: Shown, value: Shown): Message =>
    says("type", `${body} has no address: each CPU has its own ${value}`, "give it a key"),
  /** @example kprobe:f { print(&((struct file *)arg0)->low); } */
  bitFieldNoAddress: (): Message => says("type", "a bit field has no address"),
  /** @example begin { print(1 << -1); print(1 >> 64) } */
  shiftOutsideBits: (value: Shown): Message => says("limit", `a shift by ${value} is outside of 64 bits`),
  /** Of `probe` and `func` where many functions share one program. */
  nameLookedUpWhenPrinted: (name: Shown): Message =>
    says("type", `${name} is resolved when it is printed and cannot be compared here`, "give it a probe of its own"),
  /** @example begin { print(pid ? 1 : "a"); } */
  branchesDifferentTypes: (type: Shown, type2: Shown): Message =>
    says("type", `the branches of \`?:\` have different types: ${type} and ${type2}`),
  /** @example begin { $t = (1, 2); print($t[pid]); } */
  tupleIndexMustConstant: (): Message => says("arguments", "a tuple's index must be a constant"),
  /** @example kprobe:f { print(((struct file *)arg0)->numbers["a"]); } */
  indexCannot: (type: Shown): Message => says("type", `an index cannot be ${type}`),
  /** @example kprobe:f { print(((struct file *)arg0)->numbers[9]); } */
  indexOutside: (constant: Shown, type: Shown): Message => says("limit", `index ${constant} is outside ${type}`),
  /** @example begin { $x = 1; $x[0]; } */
  arrayIndexOperatorCanOnly: (type: Shown): Message =>
    says("type", `the array index operator [] can only be used on arrays, pointers, and tuples, found ${type}`),
  /** @example begin { print(1 .5) } */
  notTuple: (type: Shown, hinted: unknown): Message =>
    says(
      "type",
      `${type} is not a tuple`,
      hinted ? "write a fraction with digits on both sides of the point: 2.5" : undefined,
    ),
  /** @example begin { $x = (1,2); $x.5; } */
  invalidTupleIndexFoundElements: (index: Shown, count: Shown): Message =>
    says("limit", `invalid tuple index: ${index}, found ${count} elements in tuple`),
  /** @example kprobe:f { print(arg0.x) } */
  canNotAccessFieldExpression: (name: Shown, type: Shown, help?: string): Message =>
    says("type", `can not access field '${name}' on expression of type '${type}'`, help),
  /** @example tracepoint:a:b { @[args.name]; } */
  noArgument: (value: Shown, name: Shown, help?: string): Message =>
    says("name", `${value} has no argument \`${name}\``, help),
  /** @example uprobe:stripped:main { print(args.x); } */
  argsNotKnownHere: (reason: Shown): Message =>
    says("feature", `args is not known here: ${reason}`, "use arg0, arg1, … here"),
  /** @example begin { (args); } */
  argsNotAvailable: (body: Shown, help?: string): Message =>
    says("placement", `args is not available in ${body}`, help),
  /** @example begin { print(offsetof(uint32, x)); } */
  noMembers: (at: Shown): Message => says("type", `${at} has no members`),
  /** @example begin { $a = "a"; print($a + 1) } */
  typeMismatchCannotUsed: (operator: Shown, l: Shown, r: Shown, help?: string): Message =>
    says("type", `type mismatch for '${operator}': it cannot be used on ${l} and ${r}`, help),
  /** @example begin { "a" == 1; } */
  typeMismatchComparing: (operator: Shown, l: Shown, r: Shown, help?: string): Message =>
    saysOf(
      { kind: "types", operator: String(operator), left: String(l), right: String(r) },
      says("type", `type mismatch for '${operator}': comparing ${l} with ${r}`, help),
    ),
  /** @example begin { print(5 / 0); } */
  divisionZero: (): Message => says("type", "division by zero"),
  /** @example begin { $x = exit(); } */
  givesNoValue: (what: Shown): Message => says("placement", `${what} has no value`, "use it as a statement"),
  /** @example begin { if ((1, 2)) { } } */
  conditionCannot: (type: Shown): Message => says("type", `a condition cannot be ${type}`),
};
