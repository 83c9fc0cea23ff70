import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "../../language/bpftrace/parse.ts";
import { compile } from "../compile.ts";
import { madeUpSystem, resolveMadeUp } from "../../../test/support/made-up-system.ts";
import { validateModule } from "../../../test/support/validate-ir.ts";
import { withCalledLoops } from "./called-loops.ts";

const parsed = (body: string) => parse({ name: "loops", text: `kprobe:f { ${body} }` }, { positional: [] }).program;
const system = (mayGoto: boolean, kernel: readonly [number, number]) => ({
  ...madeUpSystem,
  capabilities: { ...madeUpSystem.capabilities, mayGoto, kernel },
});

/** How many functions a probe's program has for rounds of its loops. */
function roundsOf(
  body: string,
  { easyToVerify = true, mayGoto = false, kernel = [6, 1] as readonly [number, number] } = {},
): number {
  const { plan, diagnostics } = compile(parsed(body), system(mayGoto, kernel), {
    easyToVerify,
    resolve: resolveMadeUp,
  });
  assert.ok(plan, JSON.stringify(diagnostics));
  return plan.bpf.programs[0].subprograms.filter(({ name }) => name.startsWith("round_")).length;
}

const branches = "if (arg1 > $i) { @a[arg1] = 1; } if (@a[2] > 3) { @b[$i] = 2; }";
const loop = `$i = 0; while ($i < 1000) { ${branches} $i++; }`;

test("rounds are called where the verifier gave up, and there is bpf_loop but no budget of rounds", () => {
  assert.equal(roundsOf(loop), 1);
  assert.equal(roundsOf(loop, { easyToVerify: false }), 0);
  assert.equal(roundsOf(loop, { mayGoto: true, kernel: [6, 9] }), 0);
  assert.equal(roundsOf(loop, { kernel: [5, 15] }), 0);
});

test("each loop in a loop is called, and those in loops over maps", () => {
  assert.equal(roundsOf(`for ($j : 0..arg0) { ${loop} }`), 2);
  assert.equal(roundsOf(`${loop} for ($j : 0..arg0) { @c[$j] = 1; if ($j == 9) { return; } }`), 2);
  assert.equal(roundsOf(`for ($kv : @a) { ${loop} }`), 1);
});

test("loops of few rounds are not called, nor those that share the stack with a loop over a map", () => {
  assert.equal(roundsOf("for ($i : 0..16) { if (arg1 > $i) { @a[$i] = 1; } }"), 0);
  assert.equal(roundsOf(`for ($i : 0..60) { ${branches} }`), 1);
  assert.equal(
    roundsOf(
      "@a[arg0] = 1; $n = 0; for ($i : 0..arg0) { for ($kv : @a) { $n += $kv.1; } if ($n > 5) { @b[$i] = $n; } }",
    ),
    0,
  );
});

test("what loops become is well formed", () => {
  for (const body of [
    loop,
    `$i = 0; for ($j : 0..arg0) { ${loop} if ($i == 7) { break; } } print($i);`,
    `for ($kv : @a) { ${loop} @b[$i] = $kv.1; }`,
  ]) {
    const {
      plan,
      stages: { module },
    } = compile(parsed(body), system(false, [6, 1]), { resolve: resolveMadeUp });
    assert.ok(plan && module);
    const callbacks = module.functions.flatMap(({ kind }, i) => (kind === "map-callback" ? [i] : []));
    const { capabilities } = system(false, [6, 1]);
    const whole = withCalledLoops(module.functions[0], module, callbacks, {
      schemas: plan.schemas,
      storage: plan.bpf.storage,
      counters: plan.bpf.counters,
      kernelMaps: plan.bpf.maps,
      capabilities,
      directLoads: true,
    });
    assert.deepEqual(
      validateModule({ ...whole.module, functions: [whole.fn, ...whole.module.functions.slice(1)] }),
      [],
    );
    assert.ok(whole.module.functions.some(({ kind }) => kind === "round"));
  }
});
