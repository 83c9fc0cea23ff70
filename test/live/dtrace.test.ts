// Scripts in D, one after the other, by strobe as the real dtrace runs them: dtrace/*.cases say what that printed.
// STROBE_DTRACE_GAPS=rewrite notes in the files which cases differ; a reason is written by hand.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { partOf } from "../support/part-of.ts";
import { command as strobe } from "../support/strobe.ts";
import { readCases, runCase, writeCases, type Case, type Printed } from "./dtrace/cases.ts";

const folder = resolve("test/live/dtrace");
const rewrites = process.env["STROBE_DTRACE_GAPS"] === "rewrite";
const dtrace = `${process.execPath} ${strobe} dtrace`;
const files = readdirSync(folder).filter((name) => name.endsWith(".cases"));

for (const name of files) {
  const file = join(folder, name);
  const { about, cases: all } = readCases(readFileSync(file, "utf8"));
  const cases = rewrites ? all : partOf("d", all);
  test(
    `${name}: ${cases.length} scripts print what the real dtrace printed, but for ${cases.filter(isKnown).length} known differences`,
    { timeout: 1_200_000, skip: process.geteuid?.() !== 0 && "needs root" },
    async () => {
      const wrong: string[] = [];
      const made: Case[] = [];
      for (const [at, printed] of (await allPrinted(cases)).entries()) {
        const one = cases[at];
        const same = JSON.stringify(printed) === JSON.stringify(one.printed);
        if (same === isKnown(one))
          wrong.push(
            same
              ? `${one.name}: is alike now: take out "${one.gap ?? one.differs}"`
              : `${one.name}: printed ${JSON.stringify(printed, undefined, 2)}`,
          );
        const { gap, ...rest } = one;
        made.push(same || isKnown(one) ? (same ? rest : one) : { ...one, gap: gap ?? "not looked into yet" });
      }
      if (rewrites) writeFileSync(file, writeCases({ about, cases: made }));
      else assert.deepEqual(wrong, []);
    },
  );
}

/** Some at a time: most of each is waiting. */
async function allPrinted(cases: readonly Case[]): Promise<readonly Printed[]> {
  const printed = cases.map(() => ({ stdout: "", stderr: "", code: 0 }));
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < cases.length) {
      const at = next++;
      printed[at] = await runCase(cases[at], dtrace, 60);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return printed;
}

function isKnown({ gap, differs }: Case): boolean {
  return gap !== undefined || differs !== undefined;
}
