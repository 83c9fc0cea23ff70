// `npm run bench [-- startup handlers unwinding compile passes printing latency weight …] [--peer "COMMAND"] [--node
// PATH] [--rounds N] [--only HANDLER,…] [--stap "COMMAND"] [--binary FILE --line FILE:LINE --function NAME]`
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { asModule } from "../modules.mjs";
import { captured } from "./captured.mjs";
import { compileTime } from "./compile.mjs";
import { completion } from "./completion.mjs";
import { debuginfo } from "./debuginfo.mjs";
import { engineCost } from "./engines.mjs";
import { growth } from "./growth.mjs";
import { handlerCost } from "./handlers.mjs";
import { latency } from "./latency.mjs";
import { iterator } from "./iterator.mjs";
import { passWorth } from "./passes.mjs";
import { findBuilds, findPeers, findSystemTap } from "./peers.mjs";
import { printing } from "./printing.mjs";
import { recordings } from "./recordings.mjs";
import { returnCost } from "./returns.mjs";
import { startup } from "./startup.mjs";
import { weight } from "./weight.mjs";
import { unwinding } from "./unwinding.mjs";

// A setting of the machine's, not of any tracer's: Node before 24 parses all certificates at every start, some 60 ms.
delete process.env.NODE_EXTRA_CA_CERTS;

const suites = {
  startup: ["Start-up", startup],
  completion: ["Completion", completion],
  handlers: ["Cost of an event in the kernel", handlerCost],
  unwinding: ["Unwound stacks", unwinding],
  debuginfo: ["Debug information of a large program", debuginfo],
  compile: ["Compiling scripts of many statements", compileTime],
  growth: ["What grows", growth],
  passes: ["What the optimizer's passes are worth", passWorth],
  printing: ["Printed events", printing],
  captured: ["Handlers that go on at the host", captured],
  engines: ["With BPF and without", engineCost],
  returns: ["Returns of a kernel function", returnCost],
  recordings: ["Recordings", recordings],
  iterator: ["Events in a `for await` loop", iterator],
  latency: ["From an event to its line", latency],
  weight: ["Weight", weight],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    peer: { type: "string" },
    rounds: { type: "string", default: "5" },
    only: { type: "string" },
    binary: { type: "string" },
    line: { type: "string" },
    function: { type: "string" },
    stap: { type: "string" },
    node: { type: "string", multiple: true, default: [] },
  },
});
const chosen = positionals.length ? positionals : Object.keys(suites);
const unknown = chosen.find((name) => !(name in suites));
if (unknown) throw new Error(`no such benchmark: ${unknown} (there are ${Object.keys(suites).join(", ")})`);

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
mkdirSync(here("../build"), { recursive: true });
const workload = here("../build/workload");
const built = spawnSync("gcc", ["-O2", "-o", workload, here("workload.c")], { stdio: "inherit" });
if (built.status !== 0) throw new Error("the workload needs gcc");

await build({ ...asModule, entryPoints: [here("kernel.ts")], outfile: here("../build/bench-kernel.mjs") });
const kernel = await import(here("../build/bench-kernel.mjs"));

const peers = findPeers(values.peer);
const options = {
  peers,
  builds: findBuilds(values.node),
  rounds: Number(values.rounds),
  workload,
  kernel,
  only: values.only,
  binary: values.binary,
  line: values.line,
  fn: values.function,
  stap: findSystemTap(values.stap),
};
const sections = [
  `# Results\n\nLinux ${release()}, ${cpus().length} × ${cpus()[0].model}, Node ${process.version}. ` +
    `Medians of ${options.rounds} alternating rounds, with their range; a ratio is strobe's over the peer's.`,
];
for (const name of chosen) {
  const [title, suite] = suites[name];
  const text = `## ${title}\n\n${await suite(options)}`;
  process.stdout.write(`${text}\n\n`);
  sections.push(text);
}
if (positionals.length === 0) writeFileSync(here("RESULTS.md"), `${sections.join("\n\n")}\n`);
