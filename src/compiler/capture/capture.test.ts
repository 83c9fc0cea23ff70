// Handlers in two parts: random programs leave the same as whole and as captured, both parts run by the JavaScript
// executor.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compileScript, randomInputs, runCaptured, runOnHost } from "../../../test/support/differential.ts";
import { randomProgram } from "../../../test/support/random-programs.ts";
import { render } from "../../../test/support/random-pieces.ts";
import { validateModule } from "../../../test/support/validate-ir.ts";
import type { Compiled } from "../compile.ts";
import { printFunction, printModule } from "../ir/print-ir.ts";

const first = Number(process.env["STROBE_SEED"] ?? 1);
const programs = Number(process.env["STROBE_PROGRAMS"] ?? 40);

/** All maps on the host, none that need not be there, or some. */
const homes: Readonly<Record<string, (map: string) => boolean>> = {
  "all maps on the host": () => true,
  "maps in the kernel as far as they can be": () => false,
  "some maps on the host": (map) => (map.length + (map.codePointAt(0) ?? 0)) % 2 === 0,
};
for (const [where, captureOf] of Object.entries(homes))
  test(`random programs leave the same when they are captured: ${where}`, () => {
    let compared = 0;
    for (let seed = first; seed < first + programs; seed++) {
      const program = render(randomProgram(seed).pieces);
      // Every other program is left early, as a map says that may be on the host.
      const guard = "if (@left > 1) { return; } @left += arg0 & 1;";
      const script =
        seed % 2 === 0 ? program.replace(/(rawtracepoint:differential [^\n]*\{)\n/, `$1\n${guard}\n`) : program;
      assert.equal(script === program, seed % 2 === 1);
      const whole = compileScript(script);
      if (whole.plan === undefined) continue;
      const captured = compileScript(script, [], false, true, undefined, captureOf);
      const say = (what: string): string =>
        `seed ${seed}: ${what}\n${script}\n${captured.stages.module ? printModule(captured.stages.module) : ""}`;
      const { plan, stages } = captured;
      if (plan === undefined || stages.module === undefined || stages.lowered === undefined) {
        if (captured.diagnostics.every(({ code }) => code === "placement")) continue;
        assert.fail(say(captured.diagnostics.map(({ message }) => message).join("\n")));
      }
      assert.deepEqual(
        [...validateModule(stages.lowered.module), ...validateModule(stages.module)],
        [],
        say("invalid IR"),
      );
      const inputs = randomInputs(seed, 3);
      const expected = runOnHost(whole.stages.module!, 0, whole.plan.schemas, inputs);
      let found: typeof expected;
      try {
        found = runCaptured(stages.module, stages.lowered, plan.schemas, inputs);
      } catch (error) {
        assert.fail(say(String((error as Error).stack)));
      }
      assert.deepEqual(found, expected, say("they differ"));
      compared++;
    }
    assert.ok(compared >= programs * 0.8, `${compared} of ${programs} programs were compared`);
  });

const probe = "rawtracepoint:differential";
const of = (script: string): Compiled => compileScript(script);

test("what is read cannot depend on what the host knows: both places are told", () => {
  const said = (body: string): string[] =>
    of(`${probe} { @d = stddev(arg0); ${body} }`).diagnostics.map(({ message }) => message);
  assert.deepEqual(said("$x = (uint64)@d; print(*(uint64 *)$x);"), [
    "what is read here depends on what only the host knows (`@d` in line 1)",
  ]);
  assert.deepEqual(said("if (@d > 1.0) { print(*(uint64 *)arg1); }"), []);
});

test("the kernel reads on where the host may have left the handler, and the host does what comes of it", () => {
  const script = `${probe} {
    if (@left > 1.0) { return; }
    $at = arg0;
    if (arg1 > 5) { $at = *(uint64 *)(arg0 + 8); }
    @last = *(uint64 *)$at;
    @left = stddev(arg2);
  }`;
  const { plan, stages } = of(script);
  assert.deepEqual(plan!.placements.slice(0, 1), [
    `${probe}: captured, since the stddev() in @left needs the host (line 2)`,
  ]);
  const kernel = printFunction(stages.module!.functions[0]);
  assert.equal(kernel.match(/read /g)?.length, 2);
  assert.doesNotMatch(kernel, /map-/);
});

test("a record has what the host needs, and is not sent where it needs nothing", () => {
  const { plan, stages } = of(
    `${probe} /arg0 == 1/ { @n++; if (arg1 > 5) { @d = stddev(arg1); if (@d > 1.0) { print(arg2); } } }`,
  );
  const { fields } = plan!.schemas.find(({ action }) => action.kind === "captured")!;
  assert.equal(fields.length, 2);
  const records = runCaptured(stages.module!, stages.lowered!, plan!.schemas, [words(1, 4), words(2, 9), words(1, 9)]);
  assert.deepEqual(
    records.maps.filter((line) => line.startsWith("@n")).map((line) => line.replace(/\D+/g, "")),
    ["0200000000000000"],
  );
});

test("maps that the host changes live there, and all that use them are captured", () => {
  const { plan } = of(`
    ${probe} { @d = stddev(arg0); @other++; }
    ${probe} { if (@d > 1.0) { @k[arg0] = 1; } }
    ${probe} { if (@k[1]) { @next = arg1; } }
    ${probe} { print(@next + 1); }
    ${probe} { clear(@k); }`);
  assert.deepEqual(plan!.placements, [
    `${probe}: in the kernel`,
    `${probe}: captured, since the stddev() in @d needs the host (line 3)`,
    `${probe}: captured, since @k is on the host`,
    `${probe}: captured, since @next is on the host`,
    "@k: on the host, since line 3 asks for it there",
    "@next: on the host, since line 4 asks for it there",
  ]);
});

function words(...values: readonly number[]): Uint8Array {
  return new Uint8Array(new BigInt64Array([...values, 0, 0, 0, 0].slice(0, 6).map(BigInt)).buffer);
}
