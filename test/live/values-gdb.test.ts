// Values of libstdc++: what strobe prints as JSON is what gdb has by libstdc++'s own printers.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing } from "../support/compilers.ts";
import { bpfObjects, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
let objects = "";

before(() => {
  objects = bpfObjects();
});
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

const printers = "/usr/share/gcc/python/libstdcxx/v6/printers.py";

for (const compiler of ["g++", "clang++"]) {
  const lacking = missing(compiler) || missing("gdb") || (!existsSync(printers) && `needs ${printers}`);
  test(`values of libstdc++ by ${compiler} are those of its printers in gdb`, { skip: lacking }, async () => {
    copyFileSync("test/live/values/library.cpp", join(folder.path, "library.cpp"));
    const numbers = [...readFileSync("test/live/values/library.cpp", "utf8").matchAll(/SEE\((\d+)/g)].map(
      ([, number]) => number,
    );
    // Optimised, so that gdb stops where the argument is in its register. Of types that a unit only declares it wants
    // the library's own debug information.
    const flags = compiler === "clang++" ? ["-fno-limit-debug-info"] : [];
    const path = compileWith(compiler, folder.path, "library.cpp", compiler, "-std=c++17", "-O1", ...flags);
    const names = JSON.stringify(numbers.map((number) => `see_${number}`));
    const gdb = spawnSync(
      "gdb",
      [
        "-batch",
        "-nx",
        "-iex",
        "add-auto-load-safe-path /",
        "-ex",
        `python NAMES=${names}`,
        "-x",
        resolve("test/live/values/printers.py"),
        path,
      ],
      { encoding: "utf8", timeout: 300_000 },
    );
    const theirs = [...gdb.stdout.matchAll(/^SEEN (.*)$/gm)].map(([, line]) => JSON.parse(line) as unknown);
    assert.ok(theirs.length >= numbers.length, gdb.stderr);
    assert.doesNotMatch(gdb.stderr, /Exception/);
    const output = join(folder.path, "output");
    const script = numbers.map((number) => `uprobe:${path}:see_${number} { print(args.v) }`).join("\n");
    const { stderr, code } = await strobe(["-q", "-f", "json", "-o", output, "-c", path, "-e", script]);
    assert.deepEqual({ stderr, code }, { stderr: "", code: 0 });
    const ours = readFileSync(output, "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { data: unknown }).data);
    assert.deepEqual(ours, theirs);
  });
}
