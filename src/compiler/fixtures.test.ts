import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "../language/bpftrace/parse.ts";
import { madeUpSystem, resolveMadeUp } from "../../test/support/made-up-system.ts";
import { compile } from "./compile.ts";
import { printModule } from "./ir/print-ir.ts";
import { validateModule } from "../../test/support/validate-ir.ts";

// Scripts beside the IR they become, first as lowered, then as optimized. STROBE_UPDATE=1 rewrites the expectation.
const folder = "src/compiler/fixtures";

for (const file of readdirSync(folder)
  .filter((name) => name.endsWith(".bt"))
  .sort()) {
  test(`fixtures/${file} compiles to the IR beside it`, () => {
    const source = { name: file, text: readFileSync(`${folder}/${file}`, "utf8") };
    const parsed = parse(source, { positional: [] });
    assert.deepEqual(parsed.diagnostics, []);
    const compiled = compile(parsed.program, madeUpSystem, { resolve: resolveMadeUp, unsafe: true });
    assert.deepEqual(
      compiled.diagnostics.filter((d) => d.severity === "error"),
      [],
    );
    const { lowered, module } = compiled.stages;
    assert.ok(lowered && module);
    assert.deepEqual(validateModule(lowered.module), []);
    assert.deepEqual(validateModule(module), []);
    const text = printModule(module, lowered.schemas);
    const expected = `${folder}/${file.replace(/\.bt$/, ".ir")}`;
    if (process.env["STROBE_UPDATE"]) writeFileSync(expected, text);
    assert.equal(text, readFileSync(expected, "utf8"));
  });
}
