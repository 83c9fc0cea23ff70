// Random scripts through the verifiers of other kernels: none is refused. STROBE_ROUNDS scripts from STROBE_SEED on;
// `npm run test:verifier` takes two thousand of each kernel. They are compiled here, for what the kernel says that it
// can: only the verifier runs in emulation.
import assert from "node:assert/strict";
import { build } from "esbuild";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { asModule } from "../../modules.mjs";
import { fromText, toText } from "../../src/api/plan-text.ts";
import { compileScript } from "../support/loading.ts";
import { assertAccepted, faultOf, randomScript } from "../support/random-scripts.ts";
import { temporaryFolder } from "../support/strobe.ts";
import { complaint, runGuest } from "./guest.ts";
import { testedKernels } from "./tested-kernels.ts";
import type { Asked, Compiled, Verdict } from "./verify.ts";
import { partOf } from "../support/part-of.ts";

const first = Number(process.env["STROBE_SEED"] ?? 1);
const seeds = partOf(
  "verifiers",
  Array.from({ length: Number(process.env["STROBE_ROUNDS"] ?? 60) }, (_, i) => first + i),
);
const rounds = seeds.length;
const bootSeconds = 1800;
/** It exists to end what hangs: one script takes less than a second of a processor that has nothing else to do. */
const secondsEach = 20;

const folder = temporaryFolder();
after(() => folder.remove());
const driver = join(folder.path, "verify.mjs");

for (const { name, files } of testedKernels({ own: false })) {
  const deadline = bootSeconds + rounds * secondsEach;
  test(
    `Linux ${name} takes ${rounds} random scripts`,
    { skip: typeof files === "string" && files, timeout: (deadline + 2 * bootSeconds) * 1000 },
    async (t) => {
      assert.ok(typeof files !== "string");
      await build({ ...asModule, entryPoints: ["test/guest/verify.ts"], outfile: driver });
      const asked = await runGuest({
        kernel: files,
        deadline: bootSeconds,
        files: { "/strobe/verify.mjs": driver },
        jobs: [{ script: "node /strobe/verify.mjs" }],
      });
      assert.equal(asked.jobs[0]?.code, 0, asked.jobs[0]?.stderr ?? asked.console.slice(-3000));
      const { capabilities, tasks } = fromText(asked.jobs[0].stdout) as Asked;
      const verdicts: Verdict[] = [];
      const compiled: Compiled[] = [];
      for (const seed of seeds) {
        const { place, text } = randomScript(seed);
        const result = compileScript(text, place, capabilities, false, tasks);
        if ("outcome" in result) verdicts.push({ seed, outcome: result.outcome, fault: faultOf(result) });
        else compiled.push({ seed, bpf: result.plan.bpf });
      }
      const list = join(folder.path, "scripts");
      writeFileSync(list, compiled.map((each) => `${toText(each)}\n`).join(""));
      const guest = await runGuest({
        kernel: files,
        deadline,
        files: { "/strobe/verify.mjs": driver, "/scripts": list },
        jobs: [{ script: "node /strobe/verify.mjs /scripts", deadline }],
      });
      for (const line of guest.lines.filter((each) => each.startsWith("verdict ")))
        verdicts.push(JSON.parse(line.slice("verdict ".length)) as Verdict);
      t.diagnostic(`boot ${guest.bootSeconds.toFixed(1)} s, all ${guest.seconds.toFixed(1)} s`);
      assert.doesNotMatch(guest.console, complaint);
      assert.equal(verdicts.length, rounds, `${guest.console.slice(-3000)}\n${guest.jobs[0]?.stderr ?? ""}`);
      t.diagnostic(`${assertAccepted(verdicts)}, tasks ${tasks.ofCpu === undefined ? "by a call" : "read"}`);
    },
  );
}
