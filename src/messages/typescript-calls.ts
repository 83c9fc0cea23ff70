// Calls in TypeScript's handlers.
import { says, type Message, type Shown } from "./message.ts";

export const handlerCalls = {
  /** @example (args) => { m(); } */
  mapCannotCalled: (help?: string): Message => says("type", "a map cannot be called", help),
  /** @example (args) => { opened(); } */
  eventCannotCalled: (): Message => says("type", "an event cannot be called", "emit({ … }) sends one"),
  /** @example (args) => { header(args.p) } */
  typeCannotCalled: (name: Shown): Message =>
    says("type", "a type cannot be called", `cast a pointer to it: cast(pointer, ${name})`),
  /**
   * @example
   * (args) => { 1
   * (1, true)
   * x }
   */
  cannotCalledHandler: (): Message =>
    says("type", "this cannot be called in a handler", "a handler can call functions that are declared outside of it"),
  /**
   * @example
   * ({ filename }) => {
   *     print(`x x x x x x`);
   *     opened.at(str(filename, 32)).count();
   *     if (comm === "cat") console.log(strlen(str(filename)));
   *     const name = str(filename);
   *     if (name.startsWith("/etc")) etc.set(name);
   *     print([1, comm]);
   *     text.set(pid > 5 ? "big" : "small one");
   *   }
   */
  eventNoHandler: (name: Shown): Message =>
    says("name", `an event has no \`${name}\` in a handler`, "emit({ … }) sends one"),
  /** @example (args) => { String.raw("x"); } */
  thereNoHandler: (name: Shown, name2: Shown): Message =>
    says("placement", `there is no ${name}.${name2}() in a handler`),
  /** @example (args) => { pid.toString() } */
  numbersBecomeTextWhereThey: (): Message =>
    says(
      "placement",
      "numbers become text where they are printed",
      "print(`${n}`); or emit the number, and build the text in Node",
    ),
  /** @example (args) => print(ports.includes()) */
  takesOneArgumentHandler: (name: Shown): Message => says("arguments", `${name}() takes one argument in a handler`),
  /** @example (args) => print(ports.map((port) => port)) */
  noMethodOfValue: (name: Shown, what: Shown, help?: string): Message =>
    says("name", `there is no ${name}() of ${what} in a handler`, help),
  /** @example (args) => print([1, 2].includes()) */
  includesTakesOneArgumentHandler: (): Message => says("arguments", "includes() takes one argument in a handler"),
  /** @example (args) => { emit(); } */
  emitTakesOneRecordEmit: (): Message => says("arguments", "emit() takes one record: emit({ … })"),
  /** @example (args) => { emit(args.a); } */
  emitWantsRecord: (): Message => says("arguments", "emit() wants a record", "write emit({ name: value, … })"),
  /** @example (args) => { console.table() } */
  thereNoConsoleHandler: (name: Shown): Message =>
    says("placement", `there is no console.${name}() in a handler`, "console.log(…) prints"),
  /** @example (args) => print(arg0()) */
  value: (): Message => says("type", "this is a value", "leave out the parentheses"),
  /** @example (args) => print(containerOf(args.p, "enum color", "x")) */
  structWantedHere: (): Message => says("arguments", "expected a struct"),
  /** @example (args) => { sizeof() } */
  takes: (name: Shown, what: Shown, usage: Shown): Message =>
    says("arguments", `${name}() takes ${what}`, `usage: ${usage}`),
  /** @example (args) => { range() } */
  rangeStandsLoop: (): Message =>
    says("placement", "range() is allowed only in a `for` loop", "for (const i of range(10)) …"),
  /** @example (args) => { enums("TCP_LISTEN"); } */
  enumsNamedNotCalled: (): Message => says("type", "an enum cannot be called", "enums.TCP_LISTEN"),
  /** @example (args) => { arrayOf() } */
  type: (name: Shown): Message =>
    says(
      "placement",
      `${name}() is a type`,
      `a type stands in cast(), sizeof() and offsetof(): cast(pointer, ${name}(…))`,
    ),
  /** @example (args) => print(offsetof("struct sock", 5)) */
  offsetofWantsMemberNameString: (): Message => says("arguments", "offsetof() wants a member's name as a string"),
  /** @example (args) => { undefined(1); } */
  nameCannotBeCalled: (name: Shown): Message => says("placement", `\`${name}\` cannot be called in a handler`),
  /** @example (args) => m.push(1) */
  thereNoMapHandler: (name: Shown, help?: string): Message =>
    says("name", `there is no ${name}() of a map in a handler`, help),
  /** @example (args) => { m.set(); } */
  setWantsKeysValue: (): Message => says("arguments", "set() wants the keys and a value", "m.set(key, value)"),
  /** @example (args) => { m.top(10) } */
  mapNoMethodHandler: (name: Shown, help?: string): Message =>
    says("name", `a map has no method \`${name}\` in a handler`, help),
  /** @example (args) => print(m.at(1).get(2)) */
  entryTakesNoArguments: (name: Shown): Message => says("arguments", `${name}() of an entry takes no arguments`),
  /** @example (args) => { m.at(1).set(); } */
  setEntryTakesValue: (): Message => says("arguments", "set() of an entry takes its value"),
  /** @example (args) => { m.at(1).push(2); } */
  entryMapNoMethod: (name: Shown, help?: string): Message =>
    says("name", `an entry of a map has no method \`${name}\``, help),
  /** @example (args) => print(Math.abs()) */
  mathTakesOneArgument: (name: Shown): Message => says("arguments", `Math.${name}() takes one argument`),
  /** @example (args) => print(Math.max()) */
  mathWantsNumbers: (name: Shown): Message => says("arguments", `Math.${name}() wants numbers`),
  /** @example (args) => { Math.round(args.a / 2) } */
  thereNoMathRoundKernel: (): Message =>
    says(
      "placement",
      "there is no Math.round() in the kernel",
      "(a + b / 2) / b rounds a division; what is divided is positive",
    ),
  /** @example (args) => { Math.sqrt(2) } */
  thereNoMathKernel: (name: Shown, help?: string): Message =>
    says("placement", `there is no Math.${name}() in the kernel`, help),
  /** @example (args) => print(`${args.a.toString(3)}`) */
  tostringKnowsBases: (): Message => says("arguments", "toString() supports the bases 2, 8, 10 and 16"),
  /** @example (args) => print(`${args.a.padStart(args.b)}`) */
  wantsWidthWrittenOutPads: (name: Shown, what: Shown): Message =>
    says("arguments", `${name}() expects a literal width, and pads with spaces${what}`),
  /** @example (args) => print(`${`${pid} ${tid}`.padStart(8)}`) */
  oneValueName: (name: Shown): Message => says("arguments", `${name}() is for one value: \`\${name.${name}(16)}\``),
  /** @example (args) => { console.error(m); } */
  mapPrintedPrint: (help?: string): Message => says("type", "a map is printed with print()", help),
  /** @example (args) => print(limits[args.n]) */
  notLookedThroughHandler: (what: Shown): Message =>
    says("type", `${what} cannot be searched in a handler`, "name its members"),
  /** @example (args) => print(hundred.includes(args.a)) */
  entriesTooLongLookedThrough: (what: Shown, count: Shown): Message =>
    says(
      "limit",
      `${what} with ${count} entries is too long to be searched in a handler`,
      "make a map of it: const known = map<number, boolean>(), known.set(value, true), and known.has(value)",
    ),
  /** @example (args) => print(maps.includes(args.a)) */
  whatHandlerLooksThroughHolds: (): Message =>
    says("type", "a list that a handler searches holds numbers or strings only"),
  /** @example (args) => print(empty[args.a]) */
  withoutMembersLeadsNowhere: (what: Shown): Message => says("type", `${what} needs a member`),
  /** @example (args) => print(comm.startsWith()) */
  takesHandler: (name: Shown, what: Shown): Message => says("arguments", `${name}() takes ${what} in a handler`),
  /** @example (args) => print(comm.normalize()) */
  noFunction: (name: Shown, help?: string): Message => says("name", `there is no ${name}() in a handler`, help),
  /** @example (args) => { comm.substring(-1) } */
  substringCountsFromBeginning: (): Message =>
    says("arguments", "substring() takes no negative positions", "slice() counts from the end where it is negative"),
};
