// Handlers in two parts: random programs leave the same as whole and as captured, both parts run by the JavaScript
// executor.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compileScript, randomInputs, runCaptured, runOnHost } from "../../../test/support/differential.ts";
import { randomProgram } from "../../../test/support/random-programs.ts";
import { render } from "../../../test/support/random-pieces.ts";
import { validateModule } from "../../../test/support/validate-ir.ts";
import { printModule } from "../ir/print-ir.ts";

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
      const script = render(randomProgram(seed).pieces);
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
