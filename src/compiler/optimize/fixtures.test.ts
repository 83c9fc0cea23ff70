import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "../../language/bpftrace/parse.ts";
import { compile } from "../compile.ts";
import type { IrModule } from "../ir/ir.ts";
import { madeUpSystem, resolveMadeUp } from "../../../test/support/made-up-system.ts";
import { printModule } from "../ir/print-ir.ts";
import { validateModule } from "../../../test/support/validate-ir.ts";
import { passes } from "./optimize.ts";

// A script for each pass, beside the IR before it and after.
// STROBE_UPDATE=1 rewrites them.
const folder = "src/compiler/optimize/fixtures";

for (const { name } of passes) {
  test(`${name} does what its fixture says`, () => {
    const text = readFileSync(`${folder}/${name}.bt`, "utf8");
    const parsed = parse({ name, text }, { positional: [] });
    assert.deepEqual(parsed.diagnostics, []);
    const compiled = compile(parsed.program, madeUpSystem, { resolve: resolveMadeUp });
    assert.deepEqual(
      compiled.diagnostics.filter((d) => d.severity === "error"),
      [],
    );
    const { lowered } = compiled.stages;
    assert.ok(lowered);
    const [before, after] = change(name, lowered.module).map((module) => printModule(module, lowered.schemas));
    assert.notEqual(before, after);
    const actual = `── before ──\n${before}\n── after ──\n${after}`;
    const path = `${folder}/${name}.ir`;
    if (process.env["STROBE_UPDATE"]) writeFileSync(path, actual);
    assert.equal(actual, readFileSync(path, "utf8"));
  });
}

/** The module as the passes ahead of a pass leave it, and as that does. */
function change(name: string, lowered: IrModule): readonly [before: IrModule, after: IrModule] {
  let module = lowered;
  for (const pass of passes) {
    const next = { ...module, functions: module.functions.map(pass.run) };
    assert.deepEqual(validateModule(next), []);
    if (pass.name === name) return [module, next];
    module = next;
  }
  return assert.fail(`there is no pass ${name}`);
}
