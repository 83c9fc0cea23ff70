// The closed table of what TypeScript has and the kernel does not: what is said at such an expression, and what to do
// instead. A row a kind of syntax (by its name in the ESTree, which is the parser's), and a row a global object.

export interface Refusal {
  readonly message: string;
  readonly help: string;
}

const inNode = "do it in Node, with the events and maps that the handler fills";

export const refusedSyntax = {
  ArrowFunctionExpression: {
    message: "a function is not a value in a handler",
    help: "give it a name, const f = (x) => …, and call it: f(1)",
  },
  FunctionExpression: {
    message: "a function is not a value in a handler",
    help: "give it a name, const f = (x) => …, and call it: f(1)",
  },
  ClassDeclaration: { message: "there are no classes in the kernel", help: "use maps and functions" },
  ClassExpression: { message: "there are no classes in the kernel", help: "use maps and functions" },
  NewExpression: {
    message: "there are no objects to make in the kernel",
    help: "emit a record { … }, and make objects of it in Node",
  },
  ThisExpression: {
    message: "`this` is not available in a handler",
    help: "name what you mean: the handler's arguments, a map",
  },
  Super: { message: "`super` is not available in a handler", help: "call a function by its name" },
  MetaProperty: {
    message: "this is nothing in the kernel",
    help: "capture a constant: const name = …, outside of the handler",
  },
  AwaitExpression: { message: "a handler cannot wait", help: inNode },
  YieldExpression: { message: "a handler cannot wait", help: inNode },
  ImportExpression: { message: "a handler cannot import", help: "import at the top of the file" },
  LabeledStatement: { message: "a label stands before a loop, a switch or a block", help: "leave it out" },
  WithStatement: { message: "there is no `with` in a handler", help: "name the members" },
  DebuggerStatement: { message: "a handler cannot be stopped", help: "print(…) what you want to see" },
  ForInStatement: {
    message: "there are no property names in the kernel",
    help: "use for…of over a map, or over range(n)",
  },
  TaggedTemplateExpression: { message: "there are no tagged templates in a handler", help: "print(`…`)" },
  SpreadElement: { message: "there is no spread in a handler", help: "name the elements" },
  RestElement: { message: "there are no rest elements in a handler", help: "name the elements" },
  RegExpLiteral: {
    message: "there are no regular expressions in the kernel",
    help: "ask whether it matches, /x/.test(text), which needs the host; or match in Node",
  },
  async: { message: "a handler cannot wait", help: "leave out `async`; " + inNode },
  generator: { message: "a handler cannot wait", help: "leave out the `*`; " + inNode },
  typeof: {
    message: "there is no typeof in a handler: types are known before it runs",
    help: "is_integer(x) and the like tell it",
  },
  void: { message: "there is no void operator in a handler", help: "leave it out" },
  delete: { message: "there is no delete operator in a handler", help: "use delete() of a map: m.delete(key)" },
  in: { message: "there is no `in` in a handler", help: "use has() of a map: m.has(key)" },
  instanceof: { message: "there are no classes in the kernel", help: "compare numbers" },
  "**": { message: "there is no power operator in a handler", help: "multiply, or shift: 1 << n" },
  inexact: { message: "this number is too large for TypeScript to be exact", help: "write a bigint: 123n" },
  null: { message: "null can only be compared with", help: "a null pointer is 0; use 0" },
  undefined: { message: "undefined can only be compared with", help: "use 0, or leave the value out" },
} as const satisfies Record<string, Refusal>;

export type RefusedSyntax = keyof typeof refusedSyntax;

/** Objects that every program has, and no handler. */
export const refusedGlobals: Readonly<Record<string, Refusal>> = {
  Math: {
    message: "there is no Math in the kernel",
    help: "there are Math.min(), max(), abs(), sign(), floor(), ceil() and trunc(); other mathematics belong in Node",
  },
  Date: { message: "there is no Date in the kernel", help: "use nsecs, or strftime(format, nsecs)" },
  JSON: { message: "there is no JSON in the kernel", help: "emit({ … }), and JSON.stringify in Node" },
  Object: { message: "there are no objects in the kernel", help: inNode },
  Array: { message: "there are no arrays to make in the kernel", help: "use a map" },
  Map: { message: "there is no Map in the kernel", help: "use map() of strobe, outside of the handler" },
  Set: { message: "there is no Set in the kernel", help: "use map() of strobe, outside of the handler" },
  Promise: { message: "a handler cannot wait", help: inNode },
  Symbol: { message: "there are no symbols in the kernel", help: inNode },
  RegExp: {
    message: "there are no regular expressions in the kernel",
    help: "use strcontains(text, part), or match in Node",
  },
  Error: {
    message: "there are no objects to make in the kernel",
    help: 'an error is only thrown: throw new Error("text")',
  },
  performance: {
    message: "`performance` is Node, and the handler runs in the kernel",
    help: 'use nsecs, or nsecs("monotonic")',
  },
  process: {
    message: "`process` is Node, and the handler runs in the kernel",
    help: "capture what you need: const self = process.pid, outside of the handler",
  },
  globalThis: {
    message: "`globalThis` is Node, and the handler runs in the kernel",
    help: "capture what you need in a constant, outside of the handler",
  },
  setTimeout: { message: "there are no timers in a handler", help: "use an interval() probe, or a timer in Node" },
  setInterval: { message: "there are no timers in a handler", help: "use an interval() probe, or a timer in Node" },
  setImmediate: { message: "there are no timers in a handler", help: inNode },
  queueMicrotask: { message: "a handler cannot wait", help: inNode },
  fetch: { message: "a handler cannot wait", help: inNode },
  require: { message: "a handler cannot import", help: "import at the top of the file" },
  Buffer: {
    message: "`Buffer` is Node, and the handler runs in the kernel",
    help: "use buf(pointer, length); it arrives as a Uint8Array",
  },
  arguments: { message: "there is no `arguments` in a handler", help: "name the parameters" },
  NaN: {
    message: "NaN is not available in a handler",
    help: "a constant outside of the handler may be NaN; x !== x asks for it",
  },
  Infinity: {
    message: "Infinity is not available in a handler",
    help: "a constant outside of the handler may be Infinity",
  },
  parseFloat: { message: "a handler cannot parse numbers", help: inNode },
};

const texts = "texts are built and taken apart in Node: emit() them";
const walks = "go over it: for (const [key, value] of m), for (const item of list), for (const i of range(n))";

/** Methods that programs like to call, and what to do instead. */
export const missingMethods: Readonly<Record<string, string>> = {
  split: 'take one part of it, by its number: text.split(",")[0]; or emit() the text, and split it in Node',
  replace: texts,
  replaceAll: texts,
  repeat: texts,
  normalize: texts,
  lastIndexOf: texts,
  join: "print(`${a},${b}`), or emit the values and join them in Node",
  localeCompare: "`<` compares texts by their bytes; sort them by a language's rules in Node",
  match: "ask whether it matches, /x/.test(text); or match in Node",
  search: "ask whether it matches, /x/.test(text); includes(), indexOf(); or match in Node",
  test: "write the regular expression where it is asked: /x/.test(text)",
  toFixed: 'printf("%.2f", x) writes a double with two digits',
  toPrecision: 'printf("%.3g", x) writes a double with three digits',
  forEach: walks,
  map: walks,
  filter: walks,
  reduce: walks,
  find: walks,
  every: walks,
  flatMap: walks,
  some: `list.includes(value), or ${walks}`,
  push: "keep values in a map: m.set(index, value)",
  pop: "keep values in a map: m.delete(index)",
};
