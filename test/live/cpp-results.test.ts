// What functions of C++ return: each value that is shown is the program's own, whether it comes back in registers or in
// memory.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing } from "../support/compilers.ts";
import { resultReads, resultsSource } from "../support/cpp-results.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";

before(() => {
  objects = bpfObjects();
  writeFileSync(join(folder.path, "results.cpp"), resultsSource);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

/** Enumerators and booleans as the program prints them. */
const numbers: Readonly<Record<string, string>> = { BLUE: "9", A: "200", true: "1", false: "0" };

/** Values by function, in order of its calls. */
function byName(text: string, names: ReadonlySet<string>): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const line of text.split("\n")) {
    const [name, ...values] = line.split(" ");
    if (names.has(name))
      (found[name] ??= []).push(
        values.map((value) => String(BigInt.asIntN(64, BigInt(numbers[value] ?? value)))).join(" "),
      );
  }
  return found;
}

/** Names of what is read; those of static functions may be refused where the compiler knew all callers. */
async function compare(path: string, mayRefuse: boolean): Promise<number> {
  const names = new Set(Object.keys(resultReads).flatMap((name) => [name, `s_${name}`]));
  const output = join(folder.path, "output");
  for (;;) {
    const probes = [...names].map((name) => {
      const leaves = resultReads[name.replace(/^s_/, "")];
      return `uretprobe:${path}:"${name}(int)" { printf("${name}${" %d".repeat(leaves.length)}\\n", ${leaves.map((leaf) => `retval${leaf}`).join(", ")}); }`;
    });
    const script = join(folder.path, "results.bt");
    writeFileSync(script, probes.join("\n"));
    const { code, stdout, stderr } = await strobe(["-o", output, "-c", path, script], { deadline: 300_000 });
    if (code === 0) {
      assert.deepEqual(byName(readFileSync(output, "utf8"), names), byName(stdout, names));
      return [...names].reduce((sum, name) => sum + 2 * resultReads[name.replace(/^s_/, "")].length, 0);
    }
    const lines = [...stderr.matchAll(/results\.bt:(\d+):\d+: error: (.*)/g)];
    const ordered = [...names];
    assert.ok(lines.length > 0, stderr);
    for (const [, line, message] of lines) {
      const name = ordered[Number(line) - 1];
      assert.ok(mayRefuse && name.startsWith("s_"), `${name}: ${message}`);
      assert.match(
        message,
        /retval is (returned in memory, whose address the function does not give back|not known: the compiler changed)/,
      );
      names.delete(name);
    }
  }
}

for (const [compiler, ...flags] of [
  ["g++", "-O0"],
  ["g++", "-O2", "-gdwarf-4"],
  ["clang++", "-O0"],
  ["clang++", "-O2"],
  ["clang++", "-O3", "-gdwarf-4"],
]) {
  test(`results of functions, by ${compiler} ${flags.join(" ")}`, { skip: missing(compiler) }, async () => {
    const values = await compare(
      compileWith(compiler, folder.path, "results.cpp", "results", "-std=c++17", ...flags),
      compiler === "clang++" && !flags.includes("-O0"),
    );
    assert.ok(values >= 150, `${values} values`);
  });
}
