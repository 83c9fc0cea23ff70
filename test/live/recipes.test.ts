// The recipes of CONTRIBUTING.md, walked: in a copy of the sources each edit is made that the page shows, the copy is
// checked and built once, and each command of the page is run with it and prints what the page says.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";

/** Below the checkout, so that packages are found. */
const copy = resolve("build/recipes");

interface Recipe {
  readonly title: string;
  readonly edits: readonly Edit[];
  /** A command line, and what it prints. */
  readonly runs: readonly { readonly command: string; readonly output: string }[];
}

/** `at`: undefined for a new file. */
interface Edit {
  readonly file: string;
  readonly at?: { readonly how: "after" | "before" | "instead of"; readonly line: string };
  readonly text: string;
}

const recipes = readRecipes(readFileSync("CONTRIBUTING.md", "utf8"));

/**
 * Below each `### ` title: paragraphs that end in ``New file `F`:`` or ``In `F`, after `LINE`:`` (or before, or instead
 * of) with a fenced block behind them, and blocks of `console`, where lines after `$ ` are run.
 */
function readRecipes(page: string): Recipe[] {
  return page
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [title] = section.split("\n");
      const edits: Edit[] = [];
      const runs: { command: string; output: string }[] = [];
      for (const { 1: before, 2: language, 3: text } of section.matchAll(
        /([^\n]*(?:\n[^\n]+)*)\n\n```(\w+)\n(.*?)^```$/gms,
      )) {
        if (language === "console") {
          for (const part of text.split(/^\$ /m).slice(1)) {
            const [command, ...output] = part.split("\n");
            runs.push({ command, output: output.join("\n") });
          }
          continue;
        }
        const made = /New file `([^`]+)`:$/.exec(before.replaceAll("\n", " "));
        const changed = /In `([^`]+)`, (after|before|instead of) (?:`([^`]+)`|``(.+?)``):$/.exec(
          before.replaceAll("\n", " "),
        );
        if (made) edits.push({ file: made[1], text });
        else if (changed)
          edits.push({
            file: changed[1],
            at: { how: changed[2] as "after" | "before" | "instead of", line: (changed[3] ?? changed[4]).trim() },
            text,
          });
        else assert.fail(`CONTRIBUTING.md: ${title}: a block without its file: ${before}`);
      }
      return { title, edits, runs };
    });
}

function apply({ file, at, text }: Edit): void {
  const path = join(copy, file);
  if (at === undefined) {
    assert.ok(!existsSync(path), `${file} is there already`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  const lines = readFileSync(path, "utf8").split("\n");
  const found = lines.flatMap((line, i) => (line.trim() === at.line ? [i] : []));
  assert.equal(found.length, 1, `${file} has the line \`${at.line}\` ${found.length} times`);
  const block = text.replace(/\n$/, "").split("\n");
  lines.splice(at.how === "after" ? found[0] + 1 : found[0], at.how === "instead of" ? 1 : 0, ...block);
  writeFileSync(path, lines.join("\n"));
}

function run(command: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: copy, encoding: "utf8", timeout: 120_000 });
  assert.equal(status, 0, `${stdout}${stderr}`);
}

before(() => {
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(join(copy, "test/support"), { recursive: true });
  for (const path of ["src", "docs", "build.mjs", "modules.mjs", "parts.mjs", "package.json", "test/support/glob.mjs"])
    cpSync(path, join(copy, path), { recursive: true });
  writeFileSync(
    join(copy, "tsconfig.json"),
    JSON.stringify({ extends: "../../tsconfig.json", include: ["src"], exclude: ["**/*.test.ts"] }),
  );
  for (const { edits } of recipes) for (const edit of edits) apply(edit);
  run(resolve("node_modules/.bin/tsc"), ["--noEmit"]);
  run(process.execPath, ["build.mjs", "--quiet"]);
  const wrapper = join(copy, "strobe");
  writeFileSync(wrapper, `#!/bin/sh\nexec "${process.execPath}" "${join(copy, "dist/strobe.js")}" "$@"\n`);
  chmodSync(wrapper, 0o755);
});
after(() => rmSync(copy, { recursive: true, force: true }));

test("there are recipes, and each is tried", () => {
  assert.ok(recipes.length > 0);
  for (const { title, edits, runs } of recipes) {
    assert.ok(edits.length > 0, title);
    assert.ok(runs.length > 0, title);
  }
});

for (const { title, runs } of recipes) {
  for (const { command, output } of runs) {
    test(`${title}: ${command}`, () => {
      const { stdout, stderr } = spawnSync("sh", ["-c", command], {
        cwd: copy,
        encoding: "utf8",
        timeout: 30_000,
        env: { ...process.env, PATH: `${copy}:${process.env["PATH"]}` },
      });
      assert.deepEqual({ stdout: stdout.trim(), stderr }, { stdout: output.trim(), stderr: "" });
    });
  }
}
