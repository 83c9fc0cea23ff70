// What strobe prints for scripts in SystemTap's language is what SystemTap itself printed
// (`npm run systemtap:fixtures` writes that beside the scripts).
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { compileC, strobe } from "../support/strobe.ts";
import { missing } from "../support/compilers.ts";
import {
  atBegin,
  groups,
  hasPrinted,
  inProgram,
  printedBy,
  programOf,
  sections,
  together,
  type Case,
  type Printed,
} from "../support/systemtap-cases.ts";

const folder = mkdtempSync(join(tmpdir(), "strobe-systemtap-cases-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const root = { timeout: 600_000, skip: process.geteuid?.() !== 0 && "needs root" };
const compiled = { ...root, skip: root.skip || missing("gcc") };

let scripts = 0;

/** Without what is warned of before a script runs. */
async function run(
  text: string,
  options: readonly string[] = [],
  positional: readonly string[] = [],
): Promise<Printed> {
  const name = `script${scripts++}.stp`;
  writeFileSync(join(folder, name), text);
  const command = ["stap", ...options, name, ...positional];
  const { stdout, stderr, code } = await strobe(command, { cwd: folder, deadline: 120_000 });
  const said = stderr
    .replaceAll(name, "script.stp")
    .replaceAll(/^script\.stp:\d+:\d+: warning: .*\n(?: .*\n|help: .*\n)*/gm, "");
  return { stdout, stderr: said, failed: code !== 0 };
}

const trimmed = (text: string): string => text.replace(/\n+$/, "\n").replace(/^\n$/, "");
const lastPoint = "probe begin(1000000) { exit() }\n";

test("every group has what SystemTap printed", () => {
  assert.deepEqual(
    groups().filter(({ name }) => !hasPrinted(name)),
    [],
  );
});

for (const { name: group, cases } of groups()) {
  const printed = printedBy(group);
  const wanted = ({ name }: Case): Printed => {
    const found = printed.get(name);
    assert.ok(found, `${group}.out has no "${name}": npm run systemtap:fixtures`);
    return found;
  };
  const shared = cases.filter(({ kind }) => kind === "together");
  const right = shared.filter(({ gap, differs }) => gap === undefined && differs === undefined);

  if (right.length > 0) {
    test(`${group}: begin probes print the same`, root, async () => {
      const { stdout, stderr, failed } = await run(together(right, atBegin, lastPoint), ["-w"]);
      assert.deepEqual({ stderr, failed }, { stderr: "", failed: false });
      const found = sections(stdout);
      assert.deepEqual(
        Object.fromEntries(right.map(({ name }) => [name, found.get(name)])),
        Object.fromEntries(right.map((one) => [one.name, wanted(one).stdout])),
      );
    });

    test(`${group}: probes of a program print the same`, compiled, async () => {
      const here = right.filter(({ gapInEvents }) => gapInEvents === undefined);
      const { stdout, stderr, failed } = await inEvents(here);
      assert.deepEqual({ stderr, failed }, { stderr: "", failed: false });
      const found = sections(stdout);
      assert.deepEqual(
        Object.fromEntries(here.map(({ name }) => [name, found.get(name)])),
        Object.fromEntries(here.map((one) => [one.name, wanted(one).stdout])),
      );
    });
  }

  const inside = cases.filter(({ kind }) => kind === "in a program");
  const rightInside = inside.filter(({ gap, differs }) => gap === undefined && differs === undefined);
  if (rightInside.length > 0) {
    test(`${group}: functions of a program are seen the same`, compiled, async () => {
      const { stdout, stderr, failed } = await inItsProgram(rightInside);
      assert.deepEqual({ stderr, failed }, { stderr: "", failed: false });
      const found = sections(stdout);
      assert.deepEqual(
        Object.fromEntries(rightInside.map(({ name }) => [name, found.get(name)])),
        Object.fromEntries(rightInside.map((one) => [one.name, wanted(one).stdout])),
      );
    });
  }

  const around = cases.filter(
    ({ kind, gap, differs }) => kind === "around a program" && gap === undefined && differs === undefined,
  );
  if (around.length > 0) {
    test(`${group}: what a program does is seen the same`, compiled, async () => {
      const found: [string, Printed][] = [];
      for (const one of around) found.push([one.name, await aroundItsProgram(one)]);
      assert.deepEqual(Object.fromEntries(found), Object.fromEntries(around.map((one) => [one.name, wanted(one)])));
    });
  }

  const alone = cases.filter(
    ({ kind, gap, differs }) => kind === "alone" && gap === undefined && differs === undefined,
  );
  if (alone.length > 0) {
    test(`${group}: scripts of their own print the same, errors too`, root, async () => {
      const found = await Promise.all(alone.map(({ script }) => run(script)));
      assert.deepEqual(
        Object.fromEntries(alone.map(({ name }, i) => [name, { ...found[i], stdout: trimmed(found[i].stdout) }])),
        Object.fromEntries(alone.map((one) => [one.name, wanted(one)])),
      );
    });
  }

  const refused = cases.filter(
    ({ kind, gap, differs }) => kind === "refused" && gap === undefined && differs === undefined,
  );
  if (refused.length > 0) {
    test(`${group}: mistakes are found at the same place`, root, async () => {
      const found = await Promise.all(refused.map(({ script }) => run(script, ["-p2"])));
      assert.deepEqual(
        Object.fromEntries(refused.map(({ name }, i) => [name, placeOf(found[i])])),
        Object.fromEntries(refused.map((one) => [one.name, placeOf(wanted(one))])),
      );
    });
  }

  const known = cases.filter((one) => one.gap ?? one.differs ?? one.gapInEvents);
  if (known.length > 0) {
    test(`${group}: what is known to be missing or another is so still`, compiled, async () => {
      const same: string[] = [];
      for (const one of known) if (await isSame(one, wanted(one))) same.push(one.name);
      assert.deepEqual(same, [], "these print the same: take away their lines `# gap:` or `# differs:`");
    });
  }
}

/** Each case's handler at a function of its own, which a program calls in their order. */
async function inEvents(cases: readonly Case[]): Promise<Printed> {
  const name = `calls${scripts++}`;
  const functions = cases.map((_, i) => `void __attribute__((noinline)) case${i}(void) { __asm__(""); }`);
  const calls = cases.map((_, i) => `case${i}();`);
  const binary = compileC(folder, name, `${functions.join("\n")}\nint main(void) { ${calls.join(" ")} return 0; }\n`);
  return run(
    together(cases, (i) => `process(${JSON.stringify(binary)}).function("case${i}")`),
    ["-w", "-c", binary],
  );
}

/** Static and without optimisation, as the program is that SystemTap saw. */
function itsProgram(cases: readonly Case[]): string {
  return compileC(folder, `program${scripts++}`, programOf(cases), ["-g", "-O0", "-static", "-w"]);
}

async function inItsProgram(cases: readonly Case[]): Promise<Printed> {
  const binary = itsProgram(cases);
  return run(together(cases, inProgram), ["-w", "-c", `${binary} cases`], [binary]);
}

async function aroundItsProgram(one: Case): Promise<Printed> {
  const binary = itsProgram([]);
  const found = await run(one.script, ["-c", `${binary} ${one.run}`], [binary]);
  return { ...found, stdout: trimmed(found.stdout) };
}

async function isSame(one: Case, wanted: Printed): Promise<boolean> {
  if (one.kind === "refused") return placeOf(await run(one.script, ["-p2"])) === placeOf(wanted);
  if (one.kind === "alone") {
    const found = await run(one.script);
    return JSON.stringify({ ...found, stdout: trimmed(found.stdout) }) === JSON.stringify(wanted);
  }
  if (one.kind === "around a program") return JSON.stringify(await aroundItsProgram(one)) === JSON.stringify(wanted);
  if (one.kind === "in a program") {
    const found = await inItsProgram([one]);
    return !found.failed && found.stderr === "" && sections(found.stdout).get(one.name) === wanted.stdout;
  }
  const found =
    one.gapInEvents === undefined ? await run(together([one], atBegin, lastPoint), ["-w"]) : await inEvents([one]);
  return !found.failed && found.stderr === "" && sections(found.stdout).get(one.name) === wanted.stdout;
}

/** `1:23`, where a script is wrong: SystemTap's warnings come first, and its later places are without the file's name. */
function placeOf({ stderr, failed }: Printed): string {
  if (!failed) return "nothing is wrong";
  const [, place] = /(?:script\.stp|at ):(\d+:\d+)/.exec(stderr.replaceAll(/^WARNING: .*$/gm, "")) ?? [];
  return place ?? "without a place";
}
