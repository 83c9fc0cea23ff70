// Handlers in TypeScript, and what is around them in tests: `m` and `n` are maps, `start` a thread's variable, `opened` an
// event, `limit` 100, `half` 0.5, `name` "cat", `list` an array that cannot be captured, `ports` [80, 443],
// `hundred` a list of 100 numbers, `maps` [m], `empty` [].
import { builtinsFor } from "../../src/language/builtins/table.ts";
import { typescriptRules } from "../../src/language/typescript/rules.ts";
import type {
  Binding,
  FunctionSource,
  ProbeSource,
  StructBinding,
  TypeBinding,
} from "../../src/language/typescript/binding.ts";
import { casts, specialNames } from "../../src/language/typescript/specials.ts";

const builtins = builtinsFor(typescriptRules);
const written = (text: string): TypeBinding => ({ kind: "written", text });
const header: StructBinding = {
  kind: "struct",
  identity: {},
  union: false,
  name: "header",
  members: () => [
    { name: "kind", type: written("uint8") },
    { name: "low", type: written("uint8"), bits: 4 },
    { name: "color", type: color },
    { name: "name", type: { kind: "array", of: written("char"), length: 16 } },
    { name: "next", type: { kind: "pointer", to: header } },
    {
      name: "",
      type: {
        kind: "struct",
        identity: {},
        union: true,
        members: () => [
          { name: "a", type: written("int64") },
          { name: "b", type: written("struct sock *") },
        ],
      },
    },
  ],
};
const color: TypeBinding = {
  kind: "enum",
  identity: {},
  name: "color",
  constants: new Map([
    ["RED", 1n],
    ["BLUE", 5n],
  ]),
};
const map = (name: string, more: object = {}): Binding => ({
  kind: "map",
  map: { identity: { name }, ...more },
});
const known: Record<string, Binding> = {
  m: map("m"),
  n: map("n"),
  start: map("start", { threadLocal: true }),
  opened: { kind: "event", event: { identity: { name: "opened" } } },
  limit: { kind: "constant", value: 100 },
  half: { kind: "constant", value: 0.5 },
  name: { kind: "constant", value: "cat" },
  list: { kind: "unusable", what: "an array" },
  header: { kind: "type", type: header },
  color: { kind: "type", type: color },
  ports: listed([80, 443]),
  hundred: listed(Array.from({ length: 100 }, (_, i) => i)),
  maps: tableOf([map("m")]),
  empty: tableOf([]),
  limits: {
    kind: "module",
    what: "an object",
    member: (name) =>
      name === "deep"
        ? { kind: "module", what: "an object", member: () => ({ kind: "constant", value: 3 }) }
        : undefined,
  },
  word: { kind: "type", type: { kind: "written", text: "u16 *" } },
  misspelt: { kind: "type", type: { kind: "written", text: "u16 **x" } },
  double: { kind: "function", source: fn("(x) => x * 2", "double") },
  note: {
    kind: "function",
    source: fn("function note(key, value) { if (value > 9) return; m.at(key).sum(value); }", "note"),
  },
  tally: {
    kind: "function",
    source: fn("function tally(of, key, sent) { of.at(key).count(); sent.emit({ key }); }", "tally"),
  },
  shift: { kind: "function", source: fn("(x, by = 3, more = by + limit) => (x << by) + more", "shift") },
  apart: { kind: "function", source: fn("({ size }) => size", "apart") },
};

function listed(values: readonly number[]): Binding {
  return tableOf(values.map((value) => ({ kind: "constant", value })));
}

function tableOf(values: readonly Binding[]): Binding {
  return {
    kind: "module",
    what: "an array",
    length: values.length,
    table: { form: "list", entries: () => values.map((value, i) => [{ kind: "constant", value: i }, value]) },
    member: (name) => (Object.hasOwn(values, name) ? values[Number(name)] : undefined),
  };
}

export function resolve(name: string): Binding | undefined {
  if (Object.hasOwn(known, name)) return known[name];
  if ((specialNames as readonly string[]).includes(name) || Object.hasOwn(casts, name))
    return { kind: "special", name: name as keyof typeof casts };
  return builtins.isValue(name) || builtins.isFunction(name)
    ? { kind: "builtin", name: builtins.canonical(name) }
    : undefined;
}

export function fn(text: string, name = ""): FunctionSource {
  return { identity: { text }, name, text, resolve, complete: false };
}

export function probe(text: string, filter?: string): ProbeSource {
  return {
    provider: "tracepoint",
    parts: ["a", "b"],
    constructorName: "tracepoint",
    words: ["a:b"],
    parameters: ["args"],
    handler: fn(text),
    ...(filter === undefined ? {} : { filter: fn(filter) }),
  };
}
