import assert from "node:assert/strict";
import { test } from "node:test";
import { InternalError } from "../faults/internal-error.ts";
import { parse } from "../language/bpftrace/parse.ts";
import { builtinsFor } from "../language/builtins/table.ts";
import { ScriptError } from "../language/diagnostic.ts";
import { compile, type Compiled, type CompileOptions } from "./compile.ts";
import { madeUpSystem, resolveMadeUp } from "./made-up-system.ts";

function compiled(text: string, options: CompileOptions = {}): Compiled {
  const { program, diagnostics } = parse({ name: "script", text }, { positional: [], builtins: builtinsFor("bpftrace") });
  assert.deepEqual(diagnostics, []);
  return compile(program, madeUpSystem, { resolve: resolveMadeUp, ...options });
}

test("what goes wrong inside of the compiler is strobe's fault, not the script's", () => {
  const resolve = (): never => { throw new TypeError("broken"); };
  assert.throws(() => compiled("kprobe:f { }", { resolve }), (error) => (
    error instanceof InternalError && !(error instanceof ScriptError) && error.fault === "TypeError: broken, while compiling the script"));
});

test("an integer is cast to an array of as many bytes as integers have, and no more", () => {
  const refusals = (text: string): (readonly [string, string | undefined])[] => compiled(text).diagnostics.map(({ message, help }) => [message, help]);
  assert.deepEqual(refusals("kprobe:f { $x = (int8[10])0 }"), [["cannot cast int64 to int8[10]", "the one has 8 bytes, the other 10"]]);
  assert.deepEqual(refusals("begin { @ = (uint64[2])1 }"), [["cannot cast int64 to uint64[2]", "the one has 8 bytes, the other 16"]]);
  for (const bytes of [1, 2, 3, 4, 5, 6, 7, 8]) {
    for (const probe of ["begin", "kprobe:f"]) {
      const { plan, diagnostics } = compiled(`${probe} { $x = (int8[${bytes}])5; @ = $x; print($x); }`);
      assert.deepEqual([diagnostics, plan !== undefined], [[], true], `${bytes} bytes in ${probe}`);
    }
  }
});
