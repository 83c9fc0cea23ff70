// Scripts that say themselves what must come of them: all in one boot of each kernel, which must not complain.
import assert from "node:assert/strict";
import { test } from "node:test";
import { complaint, runGuest, type GuestOptions, type JobResult } from "./guest.ts";
import type { Job } from "./initramfs.ts";
import { partOf, type Comparison } from "../support/part-of.ts";
import { testedKernels } from "./tested-kernels.ts";

export interface Trial extends Job {
  readonly name: string;
  readonly check: (job: JobResult) => void;
  /** On each kernel, also where each compares a part. */
  readonly always?: true;
}

export interface Trials extends Pick<GuestOptions, "modules"> {
  /** Of the title: "Linux 6.12 survives". */
  readonly verb: string;
  /** Of a kernel, by its name. */
  readonly trials: (kernel: string) => readonly Trial[];
  /** The kernels, by their names; all unless given. */
  readonly on?: readonly string[];
  /** Ours as well. */
  readonly own?: boolean;
  /** Files of the guest. */
  readonly files: () => Readonly<Record<string, string>>;
  /** Seconds after which the guest is cut off. */
  readonly deadline: number;
  /** What the trials compare, each kernel a part of its own of them where nothing of that has changed. */
  readonly comparison?: Comparison;
}

export function tryOnKernels({
  verb,
  trials,
  on,
  own = false,
  files,
  modules = [],
  deadline,
  comparison,
}: Trials): void {
  for (const [at, { name, files: kernel }] of testedKernels({ own }).entries()) {
    if (on !== undefined && !on.includes(name)) continue;
    test(
      `Linux ${name} ${verb}`,
      { skip: typeof kernel === "string" && kernel, timeout: (deadline + 30) * 1000 },
      async (t) => {
        assert.ok(typeof kernel !== "string");
        const all = trials(name);
        const chosen =
          comparison === undefined
            ? all
            : partOf(
                comparison,
                all.filter(({ always }) => always !== true),
                at,
              );
        const jobs = all.filter((trial) => trial.always === true || chosen.includes(trial));
        const guest = await runGuest({ kernel, deadline, jobs, files: files(), modules });
        for (const [i, trial] of jobs.entries()) {
          const job = guest.jobs[i];
          await t.test(trial.name, () => {
            assert.ok(
              job,
              `the guest never ended this one; its console, and the end of what its jobs wrote:\n${guest.console.slice(-3000)}\n${guest.lines.slice(-20).join("\n").slice(-3000)}`,
            );
            trial.check(job);
          });
          t.diagnostic(`${trial.name}: ${job?.seconds.toFixed(1)} s`);
        }
        await t.test("the kernel did not complain", () => {
          assert.doesNotMatch(guest.console, complaint);
          assert.ok(guest.complete, guest.console.slice(-3000));
        });
      },
    );
  }
}
