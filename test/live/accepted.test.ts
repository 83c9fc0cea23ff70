// Random scripts through the verifier of this machine: none is refused. STROBE_ROUNDS scripts from STROBE_SEED on;
// `npm run test:verifier` takes twenty thousand.
import { describe, it } from "node:test";
import { loadScript } from "../support/loading.ts";
import { assertAccepted, faultOf, randomScript } from "../support/random-scripts.ts";

const first = Number(process.env["STROBE_SEED"] ?? 1);
const rounds = Number(process.env["STROBE_ROUNDS"] ?? 150);
const mostFaults = 5;

describe("the verifier", { skip: process.geteuid?.() !== 0 && "needs root" }, () => {
  it(`takes ${rounds} random scripts`, { timeout: 4 * 3600_000 }, (t) => {
    const verdicts: Parameters<typeof assertAccepted>[0][number][] = [];
    for (let seed = first, faults = 0; seed < first + rounds && faults < mostFaults; seed++) {
      const { place, text } = randomScript(seed);
      const loaded = loadScript(text, place);
      const fault = faultOf(loaded);
      if (fault !== undefined) faults++;
      verdicts.push({ seed, outcome: loaded.outcome, fault });
    }
    t.diagnostic(assertAccepted(verdicts));
  });
});
