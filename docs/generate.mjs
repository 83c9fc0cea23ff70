// Writes docs/builtins.md, docs/languages.md, docs/probes.md, docs/systemtap-library.md,
// docs/strobe.1 and TypeScript's declarations of aggregations
// (src/api/aggregations.ts) from the tables that the checker and the command read. `--check` writes nothing and fails when a
// file is out of date.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { build } from "esbuild";
import { asModule } from "../modules.mjs";
import { builtinsPage, languagesPage, manPage, probesPage, systemtapLibraryPage } from "./pages.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The tables, bundled to a place from which the packages they need are found. */
async function tables() {
  const outfile = resolve(here(".."), "build/docs/tables.mjs");
  await build({
    stdin: {
      contents: `
        export { aggregations } from "./src/language/aggregations/table.ts";
        export { builtins } from "./src/language/builtins/table.ts";
        export { allProviders } from "./src/providers/registry.ts";
        export { languages } from "./src/language/registry.ts";
        export { libraryFunction, libraryNames } from "./src/language/systemtap/library.ts";
        export { refusedFunctions } from "./src/language/systemtap/refused.ts";
        export { libraryHeads } from "./src/language/systemtap/tapset.ts";
        export { flags } from "./src/cli/flags.ts";
        export { subcommands } from "./src/cli/subcommands.ts";`,
      resolveDir: here(".."),
    },
    ...asModule,
    outfile,
  });
  return import(pathToFileURL(outfile).href);
}

function declarations(aggregations) {
  const shapes = { number: "number", buckets: "readonly Bucket[]", series: "readonly SeriesPoint[]" };
  const stored = ({ shape, name, results }) => {
    const fields = Object.keys(results({ kind: "aggregate", aggregate: name, signed: true }));
    const members = fields.map((field) => `readonly ${field}: number`);
    const line = shapes[shape] ?? `{ ${members.join("; ")} }`;
    return line.length < 90 ? line : `{\n${members.map((member) => `    ${member};\n`).join("")}  }`;
  };
  const spellings = ({ name, spelling }) => spelling?.typescript ?? [name];
  const parameter = (one) =>
    `${one.name}${"default" in one ? "?" : ""}: ${"choices" in one ? one.choices.map((choice) => `"${choice}"`).join(" | ") : "number"}`;
  const methods = (one) => {
    const parameters = [
      ...(one.takes === "nothing" ? [] : ["value: number"]),
      ...(one.parameters ?? []).map(parameter),
    ];
    return spellings(one).map((name) => `  /** ${one.doc} */\n  ${name}(${parameters.join(", ")}): void;\n`);
  };
  const rows = [...aggregations.values()];
  return `// Written by \`npm run docs\`: change language/aggregations, not this file.
import type { Bucket, SeriesPoint } from "./values.ts";

/** What Node reads of a map of each. */
export interface StoredAggregations {
${rows.map((one) => `  readonly ${one.name}: ${stored(one)};\n`).join("")}}

/** The methods that add to each. */
export interface AggregationMethods {
${rows
  .map(
    (one) =>
      `  readonly ${one.name}: ${spellings(one)
        .map((name) => `"${name}"`)
        .join(" | ")};\n`,
  )
  .join("")}}

export interface Aggregating {
${rows.flatMap(methods).join("")}}
`;
}

const {
  aggregations,
  builtins,
  allProviders,
  languages,
  libraryFunction,
  libraryNames,
  libraryHeads,
  refusedFunctions,
  flags,
  subcommands,
} = await tables();
const { functions, probes } = libraryHeads();
const inTypeScript = libraryNames()
  .filter((name) => !name.startsWith("__"))
  .map((name) => {
    const { doc, result, parameters } = libraryFunction(name);
    return { head: `${name}${result === undefined ? "" : `:${result}`} (${parameters.join(", ")})`, doc };
  });
const pages = {
  "builtins.md": builtinsPage(builtins(), languages),
  "languages.md": languagesPage(languages),
  "probes.md": probesPage(allProviders()),
  "systemtap-library.md": systemtapLibraryPage([...inTypeScript, ...functions], probes, refusedFunctions()),
  "strobe.1": manPage(flags, subcommands, allProviders()),
  "../src/api/aggregations.ts": declarations(aggregations),
};
let stale = false;
for (const [name, text] of Object.entries(pages)) {
  const path = here(name);
  let old = "";
  try {
    old = readFileSync(path, "utf8");
  } catch {
    // Not written yet.
  }
  if (old === text) continue;
  if (process.argv.includes("--check")) {
    console.error(`${name} is out of date: npm run docs`);
    stale = true;
  } else {
    writeFileSync(path, text);
  }
}
process.exitCode = stale ? 1 : 0;
