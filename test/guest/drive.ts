// What tests share that run many cases by one driver: its files, its list, its results.
import assert from "node:assert/strict";
import { build } from "esbuild";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asModule } from "../../modules.mjs";
import { usdtSource } from "../support/programs.ts";
import { compileC } from "../support/strobe.ts";
import type { CaseResult, ProbeCase } from "./cases.ts";
import { framelessSource, sleepersSource, workSource } from "./workload.ts";

/** Programs and the driver, by their places in a guest. */
export async function programs(folder: string): Promise<Readonly<Record<string, string>>> {
  const driver = join(folder, "driver.mjs");
  if (!existsSync(driver)) {
    await build({ ...asModule, entryPoints: ["test/guest/driver.ts"], outfile: driver });
  }
  return {
    "/strobe/driver.mjs": driver,
    "/bin/work": compileC(folder, "work", workSource, ["-O1", "-g", "-fno-omit-frame-pointer", "-no-pie"]),
    "/bin/frameless": compileC(folder, "frameless", framelessSource, ["-O2", "-fomit-frame-pointer"]),
    "/bin/sleepers": compileC(folder, "sleepers", sleepersSource),
    "/bin/usdt": compileC(folder, "usdt", usdtSource),
  };
}

export function listOf(folder: string, cases: readonly ProbeCase[], name: string): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    JSON.stringify(cases.map(({ script, tool, command, args }) => ({ script, tool, command, args }))),
  );
  return path;
}

export function resultsIn(lines: readonly string[]): CaseResult[] {
  return lines.filter((line) => line.startsWith("case ")).map((line) => JSON.parse(line.slice(5)) as CaseResult);
}

/**
 * On a kernel that preempts handlers, another process may come by the same probe meanwhile, and is missed: in emulation
 * that happens. What a case itself does is counted exactly.
 */
const interrupted = /^WARNING: \S+ missed \d+ events? \(its handler was already running\)\n/gm;

export function check({ script, output, refusal, warning }: ProbeCase, result: CaseResult): void {
  const text = `${script}\n${result.stderr}`;
  const said = refusal ?? warning;
  const stderr = result.stderr.replaceAll(interrupted, "");
  if (said) assert.match(stderr, said, text);
  else assert.equal(stderr, "", text);
  if (typeof output !== "string") assert.match(result.stdout.trim(), output, text);
  else assert.equal(result.stdout.trim(), output.trim(), text);
  assert.equal(result.code, refusal ? 1 : 0, text);
}
