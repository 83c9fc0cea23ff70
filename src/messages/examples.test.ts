// Every message that has an example is what the example gets, and docs/messages.md shows them all. STROBE_UPDATE=1
// writes the page anew.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { readTables, used, wholeExample, type Entry } from "../../test/support/messages.ts";
import { compile } from "../compiler/compile.ts";
import { madeUpSystem, resolveMadeUp } from "../../test/support/made-up-system.ts";
import { parse } from "../language/bpftrace/parse.ts";
import { resolveSpec } from "../providers/registry.ts";
import { ScriptError, type Diagnostic, type Source } from "../language/diagnostic.ts";
import { parseProbes } from "../language/typescript/parse.ts";
import { probe } from "../../test/support/handlers.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";
import { spellingOf } from "../providers/registry.ts";

const tables = readTables();
const madeUpKinds = new Set(["begin", "end", "interval", "tracepoint", "kprobe"]);

interface Told {
  readonly source: Source;
  readonly diagnostics: readonly Diagnostic[];
}

/** What is said of an example of the tables of a file. */
function told(file: string, example: string): Told {
  const { program, diagnostics } = file.startsWith("typescript")
    ? parseProbes([probe(example)])
    : parse({ name: "script.bt", text: example }, { positional: [], probes: spellingOf });
  const { source } = program;
  if (diagnostics.some((d) => d.severity === "error")) return { source, diagnostics };
  // Probes and places are those of the providers on a machine that has none; others are there whatever they name.
  const real = file.endsWith("probes") || file === "places";
  try {
    const compiled = compile(program, madeUpSystem, {
      resolve: (spec, system, options) =>
        madeUpKinds.has(spec.provider) && !real ? resolveMadeUp(spec) : resolveSpec(spec, system, options),
      unsafe: false,
    });
    return { source, diagnostics: [...diagnostics, ...compiled.diagnostics] };
  } catch (error) {
    if (error instanceof ScriptError) return error;
    throw error;
  }
}

/** What an entry's example prints, where the entry is what says it. */
async function shown({ name, file, example = "" }: Entry, wrong: string[]): Promise<string> {
  let found: Told | undefined;
  const said = (await used(tables, () => (found = told(file, wholeExample(example))))).get(name) ?? [];
  const { source, diagnostics } = found!;
  const own = diagnostics.filter((d) => said.some(({ message, help }) => d.message === message && d.help === help));
  if (own.length === 0) wrong.push(`the example of ${name} gets ${JSON.stringify(diagnostics.map((d) => d.message))}`);
  return own
    .slice(0, 1)
    .map((d) => renderDiagnostic(source, d, { color: false }))
    .join("");
}

const code = (text: string): string => `\`\`\`\n${text.trimEnd()}\n\`\`\`\n`;

test("each example gets its message, and the page shows what", async () => {
  const sections: string[] = [];
  const wrong: string[] = [];
  let without = 0;
  for (const { about, entries } of tables) {
    const shownOnes = entries.filter(({ example, note }) => example !== undefined || note !== undefined);
    without += entries.length - shownOnes.length;
    if (shownOnes.length > 0) sections.push(`## ${about.replace(/\.$/, "")}\n`);
    for (const entry of shownOnes) {
      sections.push(`### ${entry.name}\n`);
      if (entry.note !== undefined) sections.push(`${entry.note}\n`);
      if (entry.example !== undefined) sections.push(code(entry.example), code(await shown(entry, wrong)));
    }
  }
  assert.deepEqual(wrong, []);
  const text = `# Messages

<!-- Written by the test of src/messages: change the table there, and run it with STROBE_UPDATE=1. -->

What strobe says of a script, by the tables in \`src/messages\`, each with a script that gets it. \`⟨x × 3⟩\` stands for
\`xxx\`. The scripts are compiled for a made-up machine; handlers in TypeScript have a map \`m\` and an event \`opened\` around
them. ${without} more messages have no example yet.

${sections.join("\n")}`;
  if (process.env["STROBE_UPDATE"]) writeFileSync("docs/messages.md", text);
  assert.equal(readFileSync("docs/messages.md", "utf8"), text);
});
