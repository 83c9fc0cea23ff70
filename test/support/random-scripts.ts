// Random scripts through a verifier, this machine's or a guest's: none is refused, unless as too complex, with the loop
// named.
import assert from "node:assert/strict";
import { places, type Loaded, type Place } from "./loading.ts";
import { render } from "./random-pieces.ts";
import { randomProgram } from "./random-programs.ts";

/** Of a hundred scripts, so many may be more than the verifier walks. */
const mostTooComplex = 2;

/** Every other one reads memory, and of those every other one is at a function of a program. */
export function randomScript(seed: number): { readonly place: Place; readonly text: string } {
  const memory = seed % 2 === 0;
  return {
    place: memory ? (places[(seed / 2) % places.length] ?? "uprobe") : "rawtracepoint",
    text: render(randomProgram(seed, memory).pieces),
  };
}

/** What is wrong with what became of a script; nothing where all is as it should be. */
export function faultOf({ outcome, detail }: Loaded): string | undefined {
  if (outcome === "loaded" || outcome === "recompiled" || outcome === "no script") return undefined;
  if (outcome === "too complex" && /more ways through it than the kernel's verifier walks/.test(detail))
    return undefined;
  return `${outcome}\n${detail}`;
}

/** All were taken, nearly all of them as a whole; how many of each outcome there are. */
export function assertAccepted(
  verdicts: readonly (Pick<Loaded, "outcome"> & { readonly seed: number; readonly fault?: string | undefined })[],
): string {
  const outcomes: Record<string, number> = {};
  for (const { outcome } of verdicts) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const faults = verdicts.flatMap(({ seed, fault }) => {
    const { place, text } = randomScript(seed);
    return fault === undefined ? [] : [`seed ${seed} at a ${place}: ${fault}\n\n${text}`];
  });
  const said = JSON.stringify(outcomes);
  assert.equal(faults.length, 0, `${said}\n${faults.join("\n\n────────\n\n")}`);
  assert.ok((outcomes["too complex"] ?? 0) <= Math.ceil((verdicts.length * mostTooComplex) / 100), said);
  assert.ok((outcomes["loaded"] ?? 0) > verdicts.length / 2, said);
  return said;
}
