// Every message that has an example is what the example gets, and docs/messages.md shows them all. STROBE_UPDATE=1
// writes the page anew.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { messageOf, readTables, used, wholeExample, type Entry } from "../../test/support/messages.ts";
import { usageOf } from "../../test/support/command-examples.ts";
import { refusalOf } from "../../test/support/library-examples.ts";
import { told, type Told } from "../../test/support/message-examples.ts";
import { renderDiagnostic } from "../language/render-diagnostic.ts";

const tables = readTables();
/** What an entry's example prints, where the entry is what says it. */
async function shown(entry: Entry, wrong: string[]): Promise<string> {
  const { name, example = "" } = entry;
  if (example.startsWith("strobe ")) return shownOnCommandLine(name, example, wrong);
  if (entry.file === "library") return shownToProgram(name, example, wrong);
  let found: Told | undefined;
  const said = (await used(tables, () => void (found = told(entry, wholeExample(example))))).get(name) ?? [];
  const { source, diagnostics } = found!;
  const own = diagnostics.filter((d) => said.some(({ message, help }) => d.message === message && d.help === help));
  if (own.length === 0) wrong.push(`the example of ${name} gets ${JSON.stringify(diagnostics.map((d) => d.message))}`);
  return own
    .slice(0, 1)
    .map((d) => renderDiagnostic(source, d, { color: false }))
    .join("");
}

/** The same of a command line. */
async function shownOnCommandLine(name: string, example: string, wrong: string[]): Promise<string> {
  let found: string | undefined;
  const said = await used(tables, async () => {
    found = await usageOf(example);
  });
  if (found === undefined || !said.get(name)?.some(({ message }) => message === found))
    wrong.push(`the example of ${name} gets ${JSON.stringify(found)}`);
  return `strobe: ${found}`;
}

/** The same of a call of the library. */
async function shownToProgram(name: string, example: string, wrong: string[]): Promise<string> {
  let found: Error | undefined;
  const said = await used(tables, async () => {
    found = await refusalOf(example);
  });
  if (found === undefined || !said.get(name)?.some(({ message }) => message === found?.message))
    wrong.push(`the example of ${name} gets ${String(found)}`);
  return String(found);
}

/** What an entry names as its test, where that does not have its words. */
async function untested({ name, file, tested = "" }: Entry): Promise<string[]> {
  const message = await messageOf(name, file);
  const words = message
    .split("\0")
    .sort((a, b) => b.length - a.length)[0]
    .trim();
  const text = existsSync(tested) ? readFileSync(tested, "utf8").replaceAll("\\", "") : "";
  return text.includes(words) ? [] : [`${tested} does not have the words of ${name}: ${words}`];
}

const tableOf = (name: string): string => name.split(".", 1)[0];

/** The words of a part, with `…` where it names something. */
async function line({ name, file }: Entry): Promise<string> {
  return `- ${(await messageOf(name, file)).replaceAll("\0", "…")}`;
}

const code = (text: string): string => `\`\`\`\n${text.trimEnd()}\n\`\`\`\n`;

test("each example gets its message, and the page shows what", async () => {
  const sections: string[] = [];
  const wrong: string[] = [];
  for (const { about, entries, notes } of tables) {
    for (const entry of entries) if (entry.tested !== undefined) wrong.push(...(await untested(entry)));
    for (const { name, example, note, part } of entries)
      if (part ? !notes.has(tableOf(name)) : example === undefined && note === undefined)
        wrong.push(`${name} has no example, and no note why not`);
    sections.push(`## ${about.replace(/\.$/, "")}\n`);
    for (const [table, when] of notes) {
      const parts = entries.filter(({ name, part }) => part && tableOf(name) === table);
      if (parts.length > 0)
        sections.push(`### ${table}\n`, `${when}\n`, `${(await Promise.all(parts.map(line))).join("\n")}\n`);
    }
    for (const entry of entries.filter(({ part }) => !part)) {
      sections.push(`### ${entry.name}\n`);
      if (entry.note !== undefined) sections.push(`${entry.note}\n`);
      if (entry.example !== undefined) sections.push(code(entry.example), code(await shown(entry, wrong)));
    }
  }
  assert.deepEqual(wrong, []);
  const text = `# Messages

<!-- Written by the test of src/messages: change the table there, and run it with STROBE_UPDATE=1. -->

What strobe says of a script or a command line, by the tables in \`src/messages\`, each with an example that gets it.
\`⟨x × 3⟩\` stands for \`xxx\`. The scripts are compiled for a made-up machine; handlers in TypeScript have a map \`m\` and
an event \`opened\` around them. Reasons that are a part of what is said stand in lists, with \`…\` for what they name.

${sections.join("\n")}`;
  if (process.env["STROBE_UPDATE"]) writeFileSync("docs/messages.md", text);
  assert.equal(readFileSync("docs/messages.md", "utf8"), text);
});
