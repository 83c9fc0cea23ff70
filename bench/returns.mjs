// What a call takes longer whose return a handler sees: `ret:` (the return instructions themselves), kretprobe and fexit of
// one kernel function. In guests, as not every machine's kernel has kprobes; emulation makes all of it slow, so that what
// counts is the ratio. Each round runs all, the first round only warms up.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { asModule } from "../modules.mjs";
import { table } from "./statistics.mjs";

const names = ["6.1", "6.12", "7"];
const calls = 100_000;
const deadline = 900;
// What getppid(2) calls: the system call itself has no type information on Linux 6.1.
const fn = "__task_pid_nr_ns";
const ways = ["none", "ret", "kretprobe", "fexit"];

export async function returnCost({ rounds }) {
  const outfile = fileURLToPath(new URL("../build/bench-guest.mjs", import.meta.url));
  await build({ ...asModule, entryPoints: [fileURLToPath(new URL("guest.ts", import.meta.url))], outfile });
  const { kernelFiles, kernels, missingForGuests, runGuest } = await import(outfile);
  const missing = missingForGuests();
  if (missing !== undefined) return `Skipped: ${missing}`;
  const workload = fileURLToPath(new URL("../build/workload-static", import.meta.url));
  const source = fileURLToPath(new URL("workload.c", import.meta.url));
  if (spawnSync("gcc", ["-O2", "-static", "-o", workload, source], { stdio: "inherit" }).status !== 0)
    throw new Error("the workload needs gcc");
  const rows = [];
  for (const name of names) {
    const guest = await runGuest({
      kernel: kernelFiles(kernels.find((one) => one.name === name)),
      deadline: deadline + 60,
      files: { "/bin/workload": workload },
      jobs: [{ script: script(Math.min(rounds, 5) + 1), deadline }],
    });
    const [job] = guest.jobs;
    if (job?.code !== 0)
      throw new Error(`the guest did not end well:\n${job?.stderr ?? ""}\n${guest.console.slice(-2000)}`);
    const times = Object.fromEntries(ways.map((way) => [way, []]));
    for (const [, way, ns, count] of job.stdout.matchAll(/^way (\w+)\n([\d.]+)\n(?:@: (\d+)\n)?/gm)) {
      // A program calls it a few times as it begins and ends.
      if (way !== "none" && !(Number(count) >= calls && Number(count) < calls + 100))
        throw new Error(`${way} counted ${count} of ${calls} calls`);
      times[way].push(Number(ns));
    }
    // The least of all rounds: what else the machine does only ever adds.
    const least = Object.fromEntries(ways.map((way) => [way, Math.min(...times[way].slice(1))]));
    const [ret, kretprobe, fexit] = ["ret", "kretprobe", "fexit"].map((way) => least[way] - least.none);
    rows.push([
      `Linux ${name}`,
      ...[least.none, ret, kretprobe, fexit].map((ns) => String(Math.round(ns))),
      ...[kretprobe, fexit].map((others) => (ret / others).toFixed(2)),
    ]);
    process.stderr.write(`${rows.at(-1).join(" | ")}\n`);
  }
  return table(
    [
      "in a guest",
      "a call alone, ns",
      "ret: ns more",
      "kretprobe: ns more",
      "fexit: ns more",
      "ret to kretprobe",
      "ret to fexit",
    ],
    rows,
  );
}

/** A round has each way once; the workload says how many nanoseconds a call took, strobe how many it counted. */
function script(rounds) {
  const traced = ways
    .filter((way) => way !== "none")
    .map(
      (way) =>
        `echo way ${way}; strobe -q -c '/bin/workload ${calls}' -e '${way}:${fn} /pid == cpid/ { @ = count(); }' | grep .`,
    );
  return `set -e; for round in $(seq ${rounds}); do echo way none; /bin/workload ${calls}; ${traced.join("; ")}; done`;
}
