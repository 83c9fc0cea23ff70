// Runs in the guest: what the kernel can, or the programs of scripts through its verifier, compiled where that is
// fast. A script that is too much for the verifier is compiled again here, easier to verify.
import { appendFileSync, readFileSync } from "node:fs";
import { fromText, toText } from "../../src/api/plan-text.ts";
import type { Plan } from "../../src/compiler/plan.ts";
import { E2BIG } from "../../src/linux/error.ts";
import type { Capabilities } from "../../src/linux/kernel/capabilities.ts";
import { Features } from "../../src/linux/kernel/features.ts";
import { loadScript, refusalOf, tasksHere, type Loaded, type Tasks } from "../support/loading.ts";
import { faultOf, randomScript } from "../support/random-scripts.ts";

/** What scripts are compiled for. */
export interface Asked {
  readonly capabilities: Capabilities;
  readonly tasks: Tasks;
}

/** One script of the list: its programs by its seed. */
export interface Compiled {
  readonly seed: number;
  readonly bpf: Plan["bpf"];
}

export type Verdict = Pick<Loaded, "outcome"> & { readonly seed: number; readonly fault?: string | undefined };

const list = process.argv[2];
if (list === undefined) {
  const asked: Asked = { capabilities: { ...new Features().capabilities() }, tasks: tasksHere() };
  process.stdout.write(toText(asked));
} else {
  for (const line of readFileSync(list, "latin1").trim().split("\n")) {
    const { seed, bpf } = fromText(line) as Compiled;
    const { outcome, fault } = verdict(seed, bpf);
    appendFileSync("/dev/ttyS1", `verdict ${JSON.stringify({ seed, outcome, fault })}\n`);
  }
}

function verdict(seed: number, bpf: Plan["bpf"]): Omit<Verdict, "seed"> {
  const refusal = refusalOf({ bpf });
  if (refusal === undefined) return { outcome: "loaded" };
  const { place, text } = randomScript(seed);
  const loaded: Loaded =
    refusal.code === E2BIG
      ? loadScript(text, place)
      : { outcome: "refused", instructions: 0, detail: `${refusal.message}\n${refusal.log ?? ""}`.slice(-4000) };
  return { outcome: loaded.outcome, fault: faultOf(loaded) };
}
