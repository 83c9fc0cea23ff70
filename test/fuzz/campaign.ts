// Watches a worker: an input that takes too long, too much memory or the whole process is a failure as well. Keeps what
// failed.
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { targets } from "./targets.ts";
import { done, inputOf, type Failure } from "./worker.ts";

/** CPU time that an input may take, and the memory that its process may come to. */
const mostSeconds = 10;
const mostBytes = 1.5 * 2 ** 30;
/** Making an input smaller takes many runs of it. */
const minimiseSeconds = 60;

const { values } = parseArgs({
  options: { seconds: { type: "string" }, inputs: { type: "string" }, only: { type: "string", default: "" } },
});
const seed = Number(process.env["STROBE_SEED"] ?? Date.now() % 1_000_000);
const names = values.only === "" ? [] : values.only.split(",");
for (const name of names)
  if (!targets.some((target) => target.name === name))
    throw new Error(`no such target: ${name} (there are ${targets.map((target) => target.name).join(", ")})`);

/** Of each target; where they are told, it takes as long as it takes. */
const inputs = values.inputs === undefined ? undefined : Number(values.inputs);
const seconds = Number(values.seconds ?? (inputs === undefined ? 3600 : Infinity));
const until = performance.now() + seconds * 1000;
const from: Record<string, number> = {};
const kinds = new Set<string>();
let kept = 0;
process.stdout.write(`STROBE_SEED=${seed}\n`);

function keep(failure: Failure): void {
  if (kinds.has(`${failure.target} ${failure.kind}`)) return;
  kinds.add(`${failure.target} ${failure.kind}`);
  const folder = `test/fuzz/fixtures/${failure.target}`;
  mkdirSync(folder, { recursive: true });
  const path = `${folder}/${seed}-${failure.index}`;
  writeFileSync(path, Buffer.from(failure.input, "base64"));
  kept++;
  process.stdout.write(`\n${failure.target} ${failure.index}: ${failure.kind}\n${failure.error}\nkept as ${path}\n`);
}

interface State {
  readonly place: string;
  readonly cpu: number;
  readonly memory: number;
}

/** Of the worker: where it is, the CPU time that it has taken in seconds, and its memory. */
function stateOf(pid: number): State | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { place: readFileSync(progress, "latin1").trim(), cpu: ticks / 100, memory: Number(fields[21]) * 4096 };
  } catch {
    return undefined;
  }
}

const progress = `.cache/fuzz/progress-${process.pid}`;

/** Until the worker ends or is ended; says why when it is an input's fault. */
async function watched(worker: ChildProcess, ended: Promise<unknown>): Promise<string | undefined> {
  const stop = ended.then(() => true);
  let since: State | undefined;
  while (!(await Promise.race([sleep(200, false), stop]))) {
    if (performance.now() > until) {
      worker.kill("SIGKILL");
      await stop;
      return undefined;
    }
    const now = worker.pid === undefined ? undefined : stateOf(worker.pid);
    if (now === undefined) continue;
    if (since?.place !== now.place) since = now;
    const limit = now.place.endsWith("minimise") ? minimiseSeconds : mostSeconds;
    const why =
      now.cpu - since.cpu > limit
        ? `takes more than ${limit} s`
        : now.memory > mostBytes
          ? "takes more than 1.5 GB"
          : undefined;
    if (why === undefined) continue;
    worker.kill("SIGKILL");
    await stop;
    return why;
  }
  return "ends the process";
}

while (performance.now() < until) {
  writeFileSync(progress, "");
  const worker = spawn(
    process.execPath,
    ["--enable-source-maps", "--max-old-space-size=1400", ".cache/fuzz/worker.js"],
    {
      stdio: ["pipe", "pipe", "pipe", openSync(progress, "r+")],
      env: { ...process.env, STROBE_FUZZ_WORKER: "1" },
    },
  );
  worker.stdin?.end(JSON.stringify({ seed, from, names, inputs }));
  createInterface({ input: worker.stdout! }).on("line", (line) => keep(JSON.parse(line) as Failure));
  let last = "";
  worker.stderr?.on("data", (data: Buffer) => {
    last = (last + data.toString()).slice(-2000);
  });
  const why = await watched(worker, new Promise((done) => worker.on("close", done)));
  const [name, index] = readFileSync(progress, "latin1").trim().split(" ");
  if (name === done) break;
  const target = targets.find((one) => one.name === name);
  if (target === undefined) {
    if (why !== undefined) throw new Error(`the worker ${why} before its first input`);
    break;
  }
  from[name] = Number(index) + 1;
  if (why === undefined) continue;
  const input = inputOf(target, target.seeds(), seed, Number(index));
  keep({
    target: name,
    index: Number(index),
    kind: why,
    error: `${input.length} bytes${last === "" ? "" : `: ${last}`}`,
    input: input.toString("base64"),
  });
}
process.stdout.write(kept === 0 ? "nothing failed\n" : `\n${kept} kinds of failures\n`);
process.exit(kept === 0 ? 0 : 1);
