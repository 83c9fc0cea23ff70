import assert from "node:assert/strict";
import { test } from "node:test";
import { disassemble } from "../../bpf/disassembler.ts";
import { parse } from "../../language/bpftrace/parse.ts";
import { compile } from "../compile.ts";
import { madeUpSystem, resolveMadeUp } from "../../../test/support/made-up-system.ts";

/** How often a handler makes 64 bits of what a function of a map said in 32. */
function extended(body: string, kernel: readonly [number, number]): number {
  const { program } = parse({ name: "maps", text: `kprobe:f { ${body} }` }, { positional: [] });
  const system = { ...madeUpSystem, capabilities: { ...madeUpSystem.capabilities, kernel, mayGoto: false } };
  const { plan, diagnostics } = compile(program, system, { resolve: resolveMadeUp });
  assert.ok(plan, JSON.stringify(diagnostics));
  const text = disassemble(plan.bpf.programs[0].code).join("\n");
  return text.match(/(r\d) <<= 32\b.*\n.*\1 s>>= 32\b/g)?.length ?? 0;
}

test("what functions of maps say is an int before Linux 6.4", () => {
  for (const body of ["@a[arg0] = count();", "@n[arg0]++;", "@n[2] = 1; if (delete(@n, arg0)) { @n[3] = 1; }"]) {
    assert.equal(extended(body, [6, 3]), 1, body);
    assert.equal(extended(body, [6, 4]), 0, body);
  }
});
