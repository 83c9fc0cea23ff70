import assert from "node:assert/strict";
import { test } from "node:test";
import { disassemble } from "../../bpf/disassembler.ts";
import { parse } from "../../language/bpftrace/parse.ts";
import { compile } from "../compile.ts";
import { madeUpSystem, resolveMadeUp } from "../../../test/support/made-up-system.ts";

/** What a probe's program has of scratch memory, and how often the kernel's budget of rounds is asked for. */
function loopsOf(
  body: string,
  { easyToVerify = false, mayGoto = true } = {},
): readonly [scratch: boolean, guards: number] {
  const parsed = parse(
    { name: "loops", text: `config = { hash_tables = kernel } kprobe:f { ${body} }` },
    { positional: [] },
  );
  assert.deepEqual(parsed.diagnostics, []);
  const system = { ...madeUpSystem, capabilities: { ...madeUpSystem.capabilities, mayGoto } };
  const { plan, diagnostics } = compile(parsed.program, system, {
    easyToVerify,
    resolve: resolveMadeUp,
  });
  assert.ok(plan, JSON.stringify(diagnostics));
  const [{ code, relocations }] = plan.bpf.programs;
  const scratch = plan.bpf.maps.findIndex(({ role }) => role.kind === "scratch");
  return [
    relocations.some(({ kind, map }) => kind === "map" && map === scratch),
    disassemble(code).filter((line) => line.includes("may_goto")).length,
  ];
}

const few = "@a[$i] = arg0;";
const many = `if (arg1 > $i) { @a[arg1] = 1; } if (@a[2] > 3) { @b["text", $i] = 2; } if (@b["text", 3]) { @c[arg2] = count(); }`;

test("what loops with few branches write is on the stack, of those with many in scratch memory", () => {
  assert.deepEqual(loopsOf(`for ($i : 0..arg0) { ${few} }`), [false, 1]);
  assert.deepEqual(loopsOf(`for ($i : 0..arg0) { ${many} }`), [true, 1]);
  assert.deepEqual(loopsOf(`for ($kv : @b) { $i = $kv.1; ${many} }`), [true, 0]);
  // Branches beside a loop are walked once.
  assert.deepEqual(loopsOf(`$i = arg0; ${many} ${many} for ($j : 0..arg0) { @a[$j] = arg0; }`), [false, 1]);
});

test("a loop with a constant bound is guarded when its rounds have many branches in all", () => {
  assert.deepEqual(loopsOf(`for ($i : 0..16) { ${few} }`), [false, 0]);
  assert.deepEqual(loopsOf(`for ($i : 0..3) { ${many} }`), [false, 0]);
  assert.deepEqual(loopsOf(`for ($i : 0..16) { ${many} }`), [true, 1]);
  // In a loop whose rounds cannot be counted, the rounds of both would multiply.
  assert.deepEqual(loopsOf(`for ($j : 0..arg0) { for ($i : 0..3) { ${few} } }`), [false, 2]);
});

test("loops that are made easy to verify write to scratch memory", () => {
  assert.deepEqual(loopsOf(`for ($i : 0..arg0) { ${few} }`, { easyToVerify: true }), [true, 1]);
});

test("kernels without a budget of rounds count those of unknown number, and no others", () => {
  assert.deepEqual(loopsOf(`for ($i : 0..16) { ${many} }`, { mayGoto: false }), [false, 0]);
  assert.deepEqual(loopsOf(`for ($i : 0..arg0) { ${few} }`, { mayGoto: false }), [false, 0]);
});
