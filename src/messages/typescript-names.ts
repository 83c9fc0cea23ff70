// Names in TypeScript's handlers: what they mean outside of them.
import { says, type Message, type Shown } from "./message.ts";

export const handlerNames = {
  /** @example (args) => m.sum(99999999999999999999n) */
  doesNotFitBits: (value: Shown): Message => says("limit", `${value} does not fit 64 bits`),
  /** @example (args) => print(limits.high) */
  thereNo: (name: Shown): Message => says("name", `there is no \`${name}\` in it`),
  /** @example (args) => { const { deep: { x: { y } } } = limits; print(y); } */
  cannotTakenApart: (): Message => says("type", "this cannot be destructured"),
  /** @example (args) => { const { [comm]: x } = args; print(x); } */
  memberNameMustWrittenOut: (): Message => says("arguments", "a member's name must be a literal"),
  /**
   * In a file that was read as it was loaded.
   *
   * @on loaded-file
   * @example (args) => print(nosuch)
   */
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
  /** @example (args) => print(m.at(1).size) */
  entryMapNo: (name: Shown): Message =>
    says("name", `an entry of a map has no \`${name}\``, "its value is `.value`, or get()"),
  /** @example (args) => print(opened.size) */
  eventNoHandler: (name: Shown): Message =>
    says("name", `an event has no \`${name}\` in a handler`, "emit({ … }) sends one"),
  /** @example (args) => print(double.length) */
  functionNoMembersHandler: (): Message => says("type", "a function has no members in a handler"),
  /** @example (args) => print(Number.MAX_VALUE) */
  thereNoHandler: (name: Shown, name2: Shown): Message =>
    says("placement", `there is no ${name}.${name2} in a handler`),
  /** @example (args) => { const f = (x) => x.y; m.sum(f()); } */
  nothingGivenWhichNoMembers: (): Message => says("type", "a parameter without an argument has no members"),
  /** @example (args) => print(sizeof.name) */
  noMembers: (): Message => says("placement", "this has no members"),
  /** @example (args) => print(header.kind) */
  typeNoMembersHandler: (captured: Shown): Message =>
    says("type", "a type has no members in a handler", `cast a pointer to it: cast(pointer, ${captured})`),
  /** @example (args) => print(color.GREEN) */
  no: (captured: Shown, name: Shown, value: Shown): Message =>
    says("name", `${captured} has no \`${name}\``, `it has ${value}`),
  /** @example (args) => print(args[pid]) */
  argumentNumberMustWrittenOut: (): Message =>
    says("arguments", "an argument's number must be a literal", "args[0], args[1], …"),
  /** @example (args) => emit({ [comm]: 1 }) */
  fieldNameMustWrittenOut: (): Message => says("arguments", "a field's name must be a literal"),
  /** @example (args) => emit({}) */
  recordNeedsField: (): Message => says("arguments", "a record needs a field"),
  /** @example (args) => { const f = () => 1; m.sum(f); } */
  functionMessage: (): Message => says("type", "this is a function", "call it"),
  /** @example (args) => print(1 + m.at(1)) */
  entryMapNoValue: (): Message => says("type", "an entry of a map is not a value", "its value is `.value`, or get()"),
  /** @example (args) => { { start, value } } */
  threadVariableNoValueItself: (): Message =>
    says("type", "a thread's variable is not a value itself", "its value is `.value`, or get()"),
  /** @example (args) => print(1 + m) */
  mapNoValue: (help?: string): Message => says("type", "a map is not a value", help),
  /** @example (args) => print(1 + opened) */
  eventNoValue: (): Message => says("type", "an event is not a value", "emit({ … }) sends one"),
  /** @example (args) => print(ports) */
  memberCannotBeUsed: (name: Shown, what: Shown): Message =>
    says(
      "type",
      `\`${name}\` is ${what}, which a handler cannot use`,
      "name a member of it: numbers, bigints, strings, booleans, maps, events and functions can be captured",
    ),
  /** @example (args) => print(1 + limits.deep) */
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
  /** @example (args) => print(1 + Number) */
  nameNotValue: (name: Shown): Message => says("type", `\`${name}\` is not a value in a handler`),
  /** @example (args) => print(cast(args.p, pointerTo())) */
  takes: (name: Shown, what: Shown): Message => says("arguments", `${name}() takes ${what}`),
  /** @example (args) => print(sizeof(arrayOf("u32", pid))) */
  arrayLengthConstant: (): Message => says("arguments", "an array's length is a constant"),
  /** @example (args) => print(cast(args.p, m)) */
  noType: (): Message =>
    says(
      "arguments",
      "expected a type",
      'write it as C does, "struct sock", "u32 *", "char[16]"; or describe it: const header = struct({ … })',
    ),
  /** @example (args) => print(sizeof(misspelt)) */
  textNotType: (text: Shown): Message =>
    says("type", `${text} is not a type`, 'a type is written as C writes it: "struct sock *", "u32", "char[16]"'),
};
