import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { handlers } from "./handlers.mjs";
import { table } from "./statistics.mjs";

const randomPrograms = 25;

/**
 * What each pass is worth: instructions of the twenty handlers, the ready tools, the documentation's examples and
 * random programs without it.
 */
export async function passWorth({ workload, kernel }) {
  const folder = fileURLToPath(new URL("../tools/", import.meta.url));
  const tools = readdirSync(folder)
    .filter((name) => name.endsWith(".bt"))
    .sort()
    .map((name) => readFileSync(`${folder}${name}`, "utf8"));
  const examples = pages().flatMap((page) => [...page.matchAll(/^```bt\n(.*?)^```$/gms)].map(([, text]) => text));
  const compile = kernel.compiledInstructions;
  const sets = [
    { name: "handlers", programs: handlers.map(([, , program]) => program.replaceAll("WORKLOAD", workload)), compile },
    // A tool may want what this machine has not.
    { name: "tools", programs: tools.filter((program) => isAble(() => compile(program))), compile },
    {
      name: "examples of the documentation",
      programs: examples.filter((program) => isAble(() => compile(program))),
      compile,
    },
    { name: "random programs", programs: randomSeeds(kernel), compile: kernel.randomInstructions },
  ];
  const total = (set, without) => set.programs.reduce((sum, program) => sum + set.compile(program, without), 0);
  const all = sets.map((set) => total(set, []));
  const row = (title, without) => [
    title,
    ...sets.flatMap((set, i) => {
      const sum = total(set, without);
      return [String(sum), `${(((sum - all[i]) / all[i]) * 100).toFixed(1)} %`];
    }),
  ];
  const rows = [
    row("nothing", []),
    ...kernel.passNames.map((name) => row(name, [name])),
    row("all of them", kernel.passNames),
  ];
  return table(
    ["left out", ...sets.flatMap(({ name, programs }) => [`instructions of ${programs.length} ${name}`, "more"])],
    rows,
  );
}

/** Those of programs that compile: the checker refuses constants that random arithmetic takes too far. */
function randomSeeds({ randomInstructions }) {
  const seeds = Array.from({ length: 2 * randomPrograms }, (_, seed) => seed + 1);
  return seeds.filter((seed) => isAble(() => randomInstructions(seed))).slice(0, randomPrograms);
}

function pages() {
  const folder = fileURLToPath(new URL("../docs/", import.meta.url));
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => readFileSync(`${folder}${name}`, "utf8"));
}

function isAble(compile) {
  try {
    return compile() > 0;
  } catch {
    return false;
  }
}
