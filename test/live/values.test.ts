// Values of libraries: a script shows what the program itself prints, by every compiler and library, optimised or not.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith, missing, runTool } from "../support/compilers.ts";
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

function source(name: string): string {
  copyFileSync(join("test/live/values", name), join(folder.path, name));
  return readFileSync(join("test/live/values", name), "utf8");
}

/** What a program printed, and what a script over it did. */
async function over(path: string, script: string, ...options: readonly string[]): Promise<{ readonly program: string; readonly script: string }> {
  const output = join(folder.path, "output");
  const { stdout, stderr, code } = await strobe(["-q", ...options, "-o", output, "-c", path, "-e", script]);
  assert.equal(code, 0, stderr);
  assert.equal(stderr, "");
  return { program: stdout.trim(), script: readFileSync(output, "utf8").trim() };
}

const libraries = [["g++", "libstdc++"], ["clang++", "libstdc++"], ["clang++", "libc++"]] as const;

for (const [compiler, library] of libraries) {
  for (const level of ["-O0", "-O2"]) {
    test(`values of C++: ${library} by ${compiler} ${level}`, { skip: missing(compiler) }, async () => {
      const text = source("library.cpp");
      const flags = library === "libc++" ? ["-stdlib=libc++", "-fno-limit-debug-info"] : [];
      const path = compileWith(compiler, folder.path, "library.cpp", `${library}-${compiler}${level}`, "-std=c++17", level, ...flags);
      const numbers = [...text.matchAll(/SEE\((\d+)/g)].map(([, number]) => number);
      assert.equal(numbers.length, 24);
      const { program, script } = await over(path, numbers.map((number) => `uprobe:${path}:see_${number} { print(args.v) }`).join("\n"));
      assert.deepEqual(script.split("\n"), program.split("\n"));
    });
  }
}

for (const level of ["0", "3"]) {
  test(`values of Rust, -C opt-level=${level}`, { skip: missing("rustc") }, async () => {
    const text = source("library.rs");
    const path = compileWith("rustc", folder.path, "library.rs", `rust${level}`, "--edition", "2021", "-C", `opt-level=${level}`);
    const numbers = [...text.matchAll(/^see!\(see_(\d+)/gm)].map(([, number]) => number);
    assert.equal(numbers.length, 19);
    const { program, script } = await over(path, numbers.map((number) => `uprobe:${path}:see_${number} { print(args.v) }`).join("\n"));
    assert.deepEqual(script.split("\n"), program.split("\n"));
  });
}

/** Maps of Go have no order. */
const inOrder = (line: string): string => (/^\{\d/.test(line) ? `{${line.slice(1, -1).split(/, (?=\d+: )/).sort().join(", ")}}` : line);

for (const flags of [["-gcflags=-N -l"], []]) {
  test(`values of Go, ${flags.join(" ") || "optimised"}`, { skip: spawnSync("go", ["version"]).status !== 0 && "needs go" }, async () => {
    source("library.go");
    const path = join(folder.path, `go${flags.length}`);
    runTool(folder.path, "go", ["build", ...flags, "-o", path, "library.go"]);
    const shown = [1, 2, 3, 4, 5, 7].map((number) => `uprobe:${path}:main.see${number} { print(args.v) }`);
    const { program, script } = await over(path, [...shown, `uprobe:${path}:main.see6 { print(*args.v) }`, `uprobe:${path}:main.see8 { print(len(args.v)) }`].join("\n"));
    assert.deepEqual(script.split("\n").map(inOrder), program.split("\n").map(inOrder));
  });
}
