// What TypeScript has and the kernel does not, by its kind of syntax (its name in the ESTree) and by the global object.
import { says, type Message } from "./message.ts";

const inNode = "do it in Node, with the events and maps that the handler fills";

export const refusedSyntax = {
  /** @example (args) => print(() => 1) */
  ArrowFunctionExpression: (): Message =>
    says(
      "placement",
      "a function is not a value in a handler",
      "give it a name, const f = (x) => …, and call it: f(1)",
    ),
  /** @example (args) => m.set(1, function () {}) */
  FunctionExpression: (): Message =>
    says(
      "placement",
      "a function is not a value in a handler",
      "give it a name, const f = (x) => …, and call it: f(1)",
    ),
  /** @example (args) => { class A {} } */
  ClassDeclaration: (): Message => says("placement", "there are no classes in the kernel", "use maps and functions"),
  /** @example (args) => { const a = class {}; } */
  ClassExpression: (): Message => says("placement", "there are no classes in the kernel", "use maps and functions"),
  /** @example (args) => { const a = new Map(); } */
  NewExpression: (): Message =>
    says(
      "placement",
      "there are no objects to make in the kernel",
      "emit a record { … }, and make objects of it in Node",
    ),
  /** @example (args) => m.sum(this.x) */
  ThisExpression: (): Message =>
    says("placement", "`this` is not available in a handler", "name what you mean: the handler's arguments, a map"),
  /** @example handler(args) { m.sum(super.x); } */
  Super: (): Message => says("placement", "`super` is not available in a handler", "call a function by its name"),
  /** @example (args) => print(import.meta) */
  MetaProperty: (): Message =>
    says("placement", "this is nothing in the kernel", "capture a constant: const name = …, outside of the handler"),
  /** In functions that are refused before, or that do not parse. */
  AwaitExpression: (): Message => says("placement", "a handler cannot wait", inNode),
  /** In functions that are refused before, or that do not parse. */
  YieldExpression: (): Message => says("placement", "a handler cannot wait", inNode),
  /** @example (args) => print(import("x")) */
  ImportExpression: (): Message => says("placement", "a handler cannot import", "import at the top of the file"),
  /** @example (args) => { a: m.count(); } */
  LabeledStatement: (): Message =>
    says("placement", "a label stands before a loop, a switch or a block", "leave it out"),
  /** In functions that are refused before, or that do not parse. */
  WithStatement: (): Message => says("placement", "there is no `with` in a handler", "name the members"),
  /** @example (args) => { debugger; } */
  DebuggerStatement: (): Message => says("placement", "a handler cannot be stopped", "print(…) what you want to see"),
  /** @example (args) => { for (const k in args) { } } */
  ForInStatement: (): Message =>
    says("placement", "there are no property names in the kernel", "use for…of over a map, or over range(n)"),
  /** @example (args) => print(tag`x`) */
  TaggedTemplateExpression: (): Message =>
    says("placement", "there are no tagged templates in a handler", "print(`…`)"),
  /** @example (args) => print(...m) */
  SpreadElement: (): Message => says("placement", "there is no spread in a handler", "name the elements"),
  /** @example ({ a, ...rest }) => print(a) */
  RestElement: (): Message => says("placement", "there are no rest elements in a handler", "name the elements"),
  /** @example (args) => print(/x/) */
  RegExpLiteral: (): Message =>
    says(
      "placement",
      "there are no regular expressions in the kernel",
      "ask whether it matches, /x/.test(text), which needs the host; or match in Node",
    ),
  /** @example async (args) => { } */
  async: (): Message => says("placement", "a handler cannot wait", "leave out `async`; " + inNode),
  /** @example function* (args) { } */
  generator: (): Message => says("placement", "a handler cannot wait", "leave out the `*`; " + inNode),
  /** @example (args) => print(typeof pid) */
  typeof: (): Message =>
    says(
      "placement",
      "there is no typeof in a handler: types are known before it runs",
      "is_integer(x) and the like tell it",
    ),
  /** @example (args) => print(void 0) */
  void: (): Message => says("placement", "there is no void operator in a handler", "leave it out"),
  /** @example (args) => { delete args.x; } */
  delete: (): Message =>
    says("placement", "there is no delete operator in a handler", "use delete() of a map: m.delete(key)"),
  /** @example (args) => print("a" in args) */
  in: (): Message => says("placement", "there is no `in` in a handler", "use has() of a map: m.has(key)"),
  /** @example (args) => print(args instanceof Object) */
  instanceof: (): Message => says("placement", "there are no classes in the kernel", "compare numbers"),
  /** @example (args) => m.sum(args.a ** 2) */
  power: (): Message => says("placement", "there is no power operator in a handler", "multiply, or shift: 1 << n"),
  /** @example (args) => m.sum(1e30) */
  inexact: (which = ""): Message =>
    says("limit", `${which}this number is too large for TypeScript to be exact`, "write a bigint: 123n"),
  /** @example (args) => m.set(1, null) */
  null: (): Message => says("placement", "null can only be compared with", "a null pointer is 0; use 0"),
  /** @example (args) => m.set(1, undefined) */
  undefined: (): Message => says("placement", "undefined can only be compared with", "use 0, or leave the value out"),
};

export const refusedGlobals = {
  /** @example (args) => { print(Math.x); } */
  Math: (): Message =>
    says(
      "placement",
      "there is no Math in the kernel",
      "there are Math.min(), max(), abs(), sign(), floor(), ceil() and trunc(); other mathematics belong in Node",
    ),
  /** @example (args) => { print(Date.x); } */
  Date: (): Message => says("placement", "there is no Date in the kernel", "use nsecs, or strftime(format, nsecs)"),
  /** @example (args) => { print(JSON.x); } */
  JSON: (): Message => says("placement", "there is no JSON in the kernel", "emit({ … }), and JSON.stringify in Node"),
  /** @example (args) => { print(Object.x); } */
  Object: (): Message => says("placement", "there are no objects in the kernel", inNode),
  /** @example (args) => { print(Array.x); } */
  Array: (): Message => says("placement", "there are no arrays to make in the kernel", "use a map"),
  /** @example (args) => { print(Map.x); } */
  Map: (): Message => says("placement", "there is no Map in the kernel", "use map() of strobe, outside of the handler"),
  /** @example (args) => { print(Set.x); } */
  Set: (): Message => says("placement", "there is no Set in the kernel", "use map() of strobe, outside of the handler"),
  /** @example (args) => { print(Promise.x); } */
  Promise: (): Message => says("placement", "a handler cannot wait", inNode),
  /** @example (args) => { print(Symbol.x); } */
  Symbol: (): Message => says("placement", "there are no symbols in the kernel", inNode),
  /** @example (args) => { print(RegExp.x); } */
  RegExp: (): Message =>
    says(
      "placement",
      "there are no regular expressions in the kernel",
      "use strcontains(text, part), or match in Node",
    ),
  /** @example (args) => { print(Error.x); } */
  Error: (): Message =>
    says("placement", "there are no objects to make in the kernel", 'an error is only thrown: throw new Error("text")'),
  /** @example (args) => { print(performance.x); } */
  performance: (): Message =>
    says("placement", "`performance` is Node, and the handler runs in the kernel", 'use nsecs, or nsecs("monotonic")'),
  /** @example (args) => { print(process.x); } */
  process: (): Message =>
    says(
      "placement",
      "`process` is Node, and the handler runs in the kernel",
      "capture what you need: const self = process.pid, outside of the handler",
    ),
  /** @example (args) => { print(globalThis.x); } */
  globalThis: (): Message =>
    says(
      "placement",
      "`globalThis` is Node, and the handler runs in the kernel",
      "capture what you need in a constant, outside of the handler",
    ),
  /** @example (args) => { print(setTimeout.x); } */
  setTimeout: (): Message =>
    says("placement", "there are no timers in a handler", "use an interval() probe, or a timer in Node"),
  /** @example (args) => { print(setInterval.x); } */
  setInterval: (): Message =>
    says("placement", "there are no timers in a handler", "use an interval() probe, or a timer in Node"),
  /** @example (args) => { print(setImmediate.x); } */
  setImmediate: (): Message => says("placement", "there are no timers in a handler", inNode),
  /** @example (args) => { print(queueMicrotask.x); } */
  queueMicrotask: (): Message => says("placement", "a handler cannot wait", inNode),
  /** @example (args) => { print(fetch.x); } */
  fetch: (): Message => says("placement", "a handler cannot wait", inNode),
  /** @example (args) => { print(require.x); } */
  require: (): Message => says("placement", "a handler cannot import", "import at the top of the file"),
  /** @example (args) => { print(Buffer.x); } */
  Buffer: (): Message =>
    says(
      "placement",
      "`Buffer` is Node, and the handler runs in the kernel",
      "use buf(pointer, length); it arrives as a Uint8Array",
    ),
  /** @example (args) => { print(arguments.x); } */
  arguments: (): Message => says("placement", "there is no `arguments` in a handler", "name the parameters"),
  /** @example (args) => { print(NaN.x); } */
  NaN: (): Message =>
    says(
      "placement",
      "NaN is not available in a handler",
      "a constant outside of the handler may be NaN; x !== x asks for it",
    ),
  /** @example (args) => { print(Infinity.x); } */
  Infinity: (): Message =>
    says("placement", "Infinity is not available in a handler", "a constant outside of the handler may be Infinity"),
  /** @example (args) => { print(parseFloat.x); } */
  parseFloat: (): Message => says("placement", "a handler cannot parse numbers", inNode),
};

export type RefusedSyntax = keyof typeof refusedSyntax;

export function isRefusedGlobal(name: string): name is keyof typeof refusedGlobals {
  return Object.hasOwn(refusedGlobals, name);
}
