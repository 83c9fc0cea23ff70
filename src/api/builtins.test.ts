import assert from "node:assert/strict";
import { test } from "node:test";
import { builtins, builtinsFor } from "../language/builtins/table.ts";
import { typescriptRules } from "../language/typescript/rules.ts";
import { casts, specialNames } from "../language/typescript/specials.ts";
import * as builtinExports from "./builtins.ts";
import { functionSource } from "./markers.ts";
import { arrayOf, pointerTo } from "./own-types.ts";

const exported = { ...builtinExports, arrayOf, pointerTo };
const names = builtinsFor(typescriptRules);
test("every builtin is exported under its name, and nothing else", () => {
  const wanted = names.names().filter((name) => names.isValue(name) || names.isFunction(name));
  const special = [...specialNames, ...Object.keys(casts)];
  assert.deepEqual(Object.keys(exported).sort(), [...wanted, ...special].sort());
});

test("each means the row that it is named after", () => {
  const source = functionSource(() => {}, exported);
  for (const name of Object.keys(exported)) {
    const binding = source.resolve(name);
    if (binding?.kind === "special") assert.equal(binding.name, name);
    else assert.deepEqual(binding, { kind: "builtin", name: names.canonical(name) });
  }
});

test("used outside of a handler they say so", () => {
  assert.throws(() => exported.pid + 1, /pid has a value in handlers only/);
  assert.throws(() => exported.str("x"), /str has a value in handlers only/);
  assert.throws(() => JSON.stringify({ comm: exported.comm }), /comm has a value in handlers only/);
});

test("aggregations and methods of maps are no functions here", () => {
  for (const { name, form } of builtins()) if (form === "aggregate") assert.ok(!Object.hasOwn(exported, name), name);
});
