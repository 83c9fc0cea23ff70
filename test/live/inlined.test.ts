// Inlined functions: programs that count how often each of theirs runs, and probes on where its copies begin and end,
// which count the same, whatever compiled it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing } from "../support/compilers.ts";
import { inlinedC, inlinedCpp, inlinedRust } from "../support/inlined.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";
before(() => {
  objects = bpfObjects();
  writeFileSync(join(folder.path, "inlined.c"), inlinedC);
  writeFileSync(join(folder.path, "inlined.cpp"), inlinedCpp);
  writeFileSync(join(folder.path, "inlined.rs"), inlinedRust);
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const compile = (compiler: string, file: string, ...flags: readonly string[]): string =>
  compileWith(compiler, folder.path, file, `${compiler}${flags.join("")}`.replaceAll(/[^\w.]/g, ""), ...flags);

const rounds = 200;
/** Functions whose copies have ends that no instruction tells from others: what is missed is said. */
const untold = /(?:copies|copy) of `([^`]+)` (?:has|have) an end that no instruction tells/g;

async function agrees(path: string): Promise<{ readonly exact: number; readonly untold: readonly string[] }> {
  const printed = spawnSync(path, [`${rounds}`], { encoding: "utf8" })
    .stdout.trim()
    .split("\n")
    .map((line) => line.split(" "));
  assert.ok(printed.length > 5);
  const script = printed
    .map(
      ([name], i) => `
    uprobe:${path}:${name} { @in[${i}] = count(); @since[tid, ${i}] = nsecs; }
    uretprobe:${path}:${name} { @out[${i}] = count(); if (nsecs >= @since[tid, ${i}] && @since[tid, ${i}] > 0) { @timed[${i}] = count(); } }`,
    )
    .join("");
  const output = join(folder.path, "output");
  const { stderr, code } = await strobe(
    ["-o", output, "-c", `${path} ${rounds}`, "-e", `${script} end { clear(@since); }`],
    { deadline: 300_000 },
  );
  assert.equal(code, 0, stderr);
  const shown = readFileSync(output, "utf8");
  const counts = (map: string): number[] =>
    printed.map((_, i) => Number(new RegExp(`^@${map}\\[${i}\\]: (\\d+)$`, "m").exec(shown)?.[1] ?? 0));
  const expected = printed.map(([, count]) => Number(count));
  const [began, ended, timed] = ["in", "out", "timed"].map(counts);
  assert.deepEqual(began, expected);
  assert.deepEqual(timed, ended);
  const left = [...new Set([...stderr.matchAll(untold)].map(([, name]) => name))];
  for (const [i, [name]] of printed.entries()) {
    if (left.includes(name)) assert.ok(ended[i] <= expected[i], `${name}: ${ended[i]} of ${expected[i]}`);
    else assert.equal(ended[i], expected[i], name);
  }
  return { exact: printed.length - left.length, untold: left };
}

for (const [compiler, file, ...levels] of [
  ["gcc", "inlined.c", "-O1", "-O2", "-O3", "-Os"],
  ["clang", "inlined.c", "-O1", "-O2", "-O3"],
  ["g++", "inlined.cpp", "-O1", "-O2", "-O3"],
  ["clang++", "inlined.cpp", "-O1", "-O2"],
  ["rustc", "inlined.rs", "-Copt-level=1", "-Copt-level=2", "-Copt-level=3"],
] as const) {
  for (const level of levels) {
    test(
      `entries and returns of copies, by ${compiler} ${level}`,
      { skip: missing(compiler), timeout: 300_000 },
      async (t) => {
        const { exact, untold: left } = await agrees(
          compile(compiler, file, level, ...(compiler.startsWith("clang") ? ["-w"] : [])),
        );
        // At most those that end with a call, where somebody else goes on as well.
        assert.ok(left.length <= 3, left.join(", "));
        t.diagnostic(`${exact} functions exactly; told to be incomplete: ${left.join(", ") || "none"}`);
      },
    );
  }
}

test(
  "a function with a body and copies is all of them, and what only the body has is asked of it alone",
  { skip: missing("gcc") },
  async () => {
    const path = compile("gcc", "inlined.c", "-O2");
    const over = async (script: string): Promise<{ readonly shown: string; readonly said: string }> => {
      const output = join(folder.path, "output");
      const { stderr, code } = await strobe(["-o", output, "-c", `${path} ${rounds}`, "-e", script]);
      assert.equal(code, 0, stderr);
      return { shown: readFileSync(output, "utf8").trim(), said: stderr };
    };
    // 200 calls through a pointer and 100 directly, in round_of, and 100 through it in second.
    const all = await over(`uprobe:${path}:both { @[func] = count(); }`);
    assert.deepEqual(
      [all.shown, /`both` is inlined: probing its body and its one copy, in `round_of`/.test(all.said)],
      ["@[both]: 400", true],
    );
    const typed = await over(`uprobe:${path}:both { @[args.k >= 0] = count(); }`);
    assert.equal(
      [...typed.shown.matchAll(/: (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0),
      400,
      typed.shown,
    );
    const numbered = await over(`uprobe:${path}:both { @[arg0 & 0] = count(); }`);
    assert.match(
      numbered.said,
      /`both` is inlined into `round_of`, and the parameters of a copy are in no registers by number: probing its body alone, not its one copy/,
    );
    assert.equal(numbered.shown, "@[0]: 300");
    const results = await over(`uretprobe:${path}:both { @[retval & 0] = count(); }`);
    assert.match(
      results.said,
      /where a copy ends, its result is in no register of its own: probing its body alone, not its one copy/,
    );
    assert.equal(results.shown, "@[0]: 300");
    const wild = await over(`uprobe:${path}:bot* { @ = count(); }`);
    assert.equal(wild.shown, "@: 300");
    assert.equal((await over(`uretprobe:${path}:inlined:both { @ = count(); }`)).shown, "@: 100");
  },
);
