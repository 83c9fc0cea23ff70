// Random programs through the verifier: none of them is refused, unless as too complex, with the loop named.
// STROBE_ROUNDS scripts from STROBE_SEED on; `npm run test:verifier` takes twenty thousand.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadScript, places } from "../support/loading.ts";
import { render } from "../support/random-pieces.ts";
import { randomProgram } from "../support/random-programs.ts";

const first = Number(process.env["STROBE_SEED"] ?? 1);
const rounds = Number(process.env["STROBE_ROUNDS"] ?? 150);
const mostFailures = 5;
/** Of a hundred programs, so many may be more than the verifier walks. */
const mostTooComplex = 2;

describe("the verifier", { skip: process.geteuid?.() !== 0 && "needs root" }, () => {
  it(`takes ${rounds} random programs`, { timeout: 4 * 3600_000 }, (t) => {
    const outcomes: Record<string, number> = {};
    const failures: string[] = [];
    for (let seed = first; seed < first + rounds && failures.length < mostFailures; seed++) {
      const { place, text } = scriptOf(seed);
      const { outcome, detail } = loadScript(text, place);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (outcome === "too complex") assert.match(detail, /more ways through it than the kernel's verifier walks/);
      if (outcome === "rejected" || outcome === "crash" || outcome === "refused")
        failures.push(`seed ${seed} at a ${place}: ${outcome}\n${detail}\n\n${text}`);
    }
    t.diagnostic(JSON.stringify(outcomes));
    assert.equal(failures.length, 0, failures.join("\n\n────────\n\n"));
    assert.ok((outcomes["too complex"] ?? 0) <= Math.ceil((rounds * mostTooComplex) / 100), JSON.stringify(outcomes));
    assert.ok((outcomes["loaded"] ?? 0) > rounds / 2, JSON.stringify(outcomes));
  });
});

/** Every other one reads memory, and of those every other one is at a function of a program. */
function scriptOf(seed: number): { readonly place: (typeof places)[number]; readonly text: string } {
  const memory = seed % 2 === 0;
  return {
    place: memory ? places[(seed / 2) % places.length] : "rawtracepoint",
    text: render(randomProgram(seed, memory).pieces),
  };
}
