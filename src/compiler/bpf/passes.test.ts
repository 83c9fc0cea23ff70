import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { disassemble } from "../../bpf/disassembler.ts";
import { parse } from "../../language/bpftrace/parse.ts";
import { compile } from "../compile.ts";
import { madeUpSystem, resolveMadeUp } from "../../../test/support/made-up-system.ts";
import { machinePasses } from "./passes.ts";

// A script for each, beside the code that it becomes without the pass and with it. STROBE_UPDATE=1 rewrites them.
const folder = "src/compiler/bpf/fixtures";

function code(name: string, withoutPasses: readonly string[]): string {
  const text = readFileSync(`${folder}/${name}.bt`, "utf8");
  const parsed = parse({ name, text }, { positional: [] });
  assert.deepEqual(parsed.diagnostics, []);
  const { plan, diagnostics } = compile(parsed.program, madeUpSystem, { resolve: resolveMadeUp, withoutPasses });
  assert.deepEqual(
    diagnostics.filter((d) => d.severity === "error"),
    [],
  );
  return (plan?.bpf.programs ?? [])
    .map((program) => `${program.name}\n${disassemble(program.code).join("\n")}\n`)
    .join("\n");
}

for (const name of machinePasses) {
  test(`${name} does what its fixture says`, () => {
    const [before, after] = [code(name, [name]), code(name, [])];
    assert.notEqual(before, after);
    const actual = `── before ──\n${before}\n── after ──\n${after}`;
    const path = `${folder}/${name}.asm`;
    if (process.env["STROBE_UPDATE"]) writeFileSync(path, actual);
    assert.equal(actual, readFileSync(path, "utf8"));
  });
}
