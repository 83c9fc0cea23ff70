// Names in TypeScript's handlers: what they mean outside of them.
import { says, type Message, type Shown } from "./message.ts";

export const handlerNames = {
  /** @example (args) => m.sum(99999999999999999999n) */
  doesNotFitBits: (value: Shown): Message => says("limit", `${value} does not fit 64 bits`),
  noValue: (): Message => says("type", "expected a value"),
  thereNothingTakeApart: (): Message => says("syntax", "expected a value to destructure"),
  /** @example (args) => print(limits.high) */
  thereNo: (name: Shown): Message => says("name", `there is no \`${name}\` in it`),
  cannotTakenApart: (): Message => says("type", "this cannot be destructured"),
  memberNameMustWrittenOut: (): Message => says("arguments", "a member's name must be a literal"),
  declarationMakesVariables: (): Message => says("syntax", "a declaration makes variables"),
  unknownName: (name: Shown): Message => says("name", `there is no \`${name}\``),
  /** @example (args) => x */
  whatCannotSeenFromHandler: (name: Shown, help?: string): Message =>
    says("name", `\`${name}\` cannot be resolved from the handler's source`, help),
  /** @example (args) => print(list) */
  whichHandlerCannotUse: (name: Shown, what: Shown): Message =>
    says(
      "type",
      `\`${name}\` is ${what}, which a handler cannot use`,
      "numbers, bigints, strings, booleans, maps, events and functions can be captured; name a member of it in a constant of its own",
    ),
  /** @example (args) => print(m.first) */
  mapNoHandler: (name: Shown, help?: string): Message => says("name", `a map has no \`${name}\` in a handler`, help),
  entryMapNo: (name: Shown): Message =>
    says("name", `an entry of a map has no \`${name}\``, "its value is `.value`, or get()"),
  eventNoHandler: (name: Shown): Message =>
    says("name", `an event has no \`${name}\` in a handler`, "emit({ … }) sends one"),
  functionNoMembersHandler: (): Message => says("type", "a function has no members in a handler"),
  thereNoHandler: (name: Shown, name2: Shown): Message =>
    says("placement", `there is no ${name}.${name2} in a handler`),
  nothingGivenWhichNoMembers: (): Message => says("type", "a parameter without an argument has no members"),
  noMembers: (): Message => says("placement", "this has no members"),
  typeNoMembersHandler: (captured: Shown): Message =>
    says("type", "a type has no members in a handler", `cast a pointer to it: cast(pointer, ${captured})`),
  /** @example (args) => print(color.GREEN) */
  no: (captured: Shown, name: Shown, value: Shown): Message =>
    says("name", `${captured} has no \`${name}\``, `it has ${value}`),
  argumentNumberMustWrittenOut: (): Message =>
    says("arguments", "an argument's number must be a literal", "args[0], args[1], …"),
  fieldNameMustWrittenOut: (): Message => says("arguments", "a field's name must be a literal"),
  recordNeedsField: (): Message => says("arguments", "a record needs a field"),
  /** @example (args) => { const f = () => 1; m.sum(f); } */
  functionMessage: (): Message => says("type", "this is a function", "call it"),
  entryMapNoValue: (): Message => says("type", "an entry of a map is not a value", "its value is `.value`, or get()"),
  /** @example (args) => { { start, value } } */
  threadVariableNoValueItself: (): Message =>
    says("type", "a thread's variable is not a value itself", "its value is `.value`, or get()"),
  mapNoValue: (help?: string): Message => says("type", "a map is not a value", help),
  eventNoValue: (): Message => says("type", "an event is not a value", "emit({ … }) sends one"),
  /** @example (args) => print(ports) */
  memberCannotBeUsed: (name: Shown, what: Shown): Message =>
    says(
      "type",
      `\`${name}\` is ${what}, which a handler cannot use`,
      "name a member of it: numbers, bigints, strings, booleans, maps, events and functions can be captured",
    ),
  noValueHandler: (what: Shown): Message =>
    says(
      "type",
      `${what} is not a value in a handler`,
      "name a member of it: numbers, bigints, strings, booleans, maps, events and functions can be captured",
    ),
  /** @example (args) => print(header) */
  typeNoValue: (name: Shown): Message =>
    says("type", "a type is not a value", `cast a pointer to it: cast(pointer, ${name})`),
  /** @example (args) => { const f = (x) => x; m.sum(f()); } */
  notGiven: (what: Shown): Message =>
    says("type", `${what} is not given`, "ask for it before: name === undefined, name ?? 0"),
  nameNotValue: (name: Shown): Message => says("type", `\`${name}\` is not a value in a handler`),
  takes: (name: Shown, what: Shown): Message => says("arguments", `${name}() takes ${what}`),
  arrayLengthConstant: (): Message => says("arguments", "an array's length is a constant"),
  /** @example (args) => print(cast(args.p, m)) */
  noType: (): Message =>
    says(
      "arguments",
      "expected a type",
      'write it as C does, "struct sock", "u32 *", "char[16]"; or describe it: const header = struct({ … })',
    ),
  textNotType: (text: Shown): Message =>
    says("type", `${text} is not a type`, 'a type is written as C writes it: "struct sock *", "u32", "char[16]"'),
};
