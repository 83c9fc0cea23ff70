// -f svg, -f speedscope and -f pprof of one run, read by what is not ours: an XML parser, JSON, and pprof itself.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const file = (name: string): string => join(folder.path, name);
const calls = 300;

const source = `
#include <unistd.h>
__attribute__((noinline)) int leaf(int n) { return getppid() + n; }
__attribute__((noinline)) int often(int n) { return leaf(n) + 1; }
__attribute__((noinline)) int seldom(int n) { return leaf(n) + 2; }
int main(void)
{
	int sum = 0;
	for (int i = 0; i < ${calls}; i++)
		sum += i % 3 ? often(i) : seldom(i);
	return sum == 42;
}
`;

before(async () => {
  const program = compileC(folder.path, "stacks", source, [
    "-O1",
    "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls",
  ]);
  const formats = ["folded", "svg", "speedscope", "pprof"].map((name) => ["-f", `${name}=${file(name)}`]);
  const script = `uprobe:${program}:leaf { @calls[comm, ustack] = count(); @sizes = hist(arg0); }`;
  const { code, stderr } = await strobe(["-q", ...formats.flat(), "-c", program, "-e", script]);
  assert.equal(code, 0, stderr);
});
after(() => folder.remove());

/** Calls from each caller of leaf, as folded lines say. */
const expected = { often: (calls * 2) / 3, seldom: calls / 3 };

test("folded lines are the program's calls", () => {
  const found = Object.fromEntries(
    [...readFileSync(file("folded"), "utf8").matchAll(/;main;(\w+);leaf (\d+)$/gm)].map(([, name, count]) => [
      name,
      Number(count),
    ]),
  );
  assert.deepEqual(found, expected);
});

test("the picture is XML, with the program's frames by name and share", () => {
  const reader =
    "import sys, xml.etree.ElementTree as t\n" +
    "for e in t.parse(sys.argv[1]).iter('{http://www.w3.org/2000/svg}title'): print(e.text.replace(chr(10), ': '))";
  const titles = execFileSync("python3", ["-c", reader, file("svg")], { encoding: "utf8" }).split("\n");
  assert.deepEqual(
    titles.filter((title) => /^(often|seldom|leaf): /.test(title)),
    [
      `often: ${expected.often} (66.67 %)`,
      `leaf: ${expected.often} (66.67 %)`,
      `seldom: ${expected.seldom} (33.33 %)`,
      `leaf: ${expected.seldom} (33.33 %)`,
    ],
  );
});

test("speedscope's file weighs each stack as often as it was", () => {
  const { shared, profiles } = JSON.parse(readFileSync(file("speedscope"), "utf8")) as {
    shared: { frames: readonly { name: string }[] };
    profiles: readonly {
      name: string;
      endValue: number;
      samples: readonly (readonly number[])[];
      weights: readonly number[];
    }[];
  };
  assert.deepEqual(
    profiles.map(({ name, endValue }) => [name, endValue]),
    [["@calls", calls]],
  );
  const [{ samples, weights }] = profiles;
  const callers = samples.map((frames, i) => [shared.frames[frames[frames.length - 2]].name, weights[i]]);
  assert.deepEqual(Object.fromEntries(callers), expected);
});

test(
  "pprof reads the profile",
  { skip: spawnSync("go", ["version"]).status === 0 ? false : "needs Go's pprof" },
  () => {
    const text = execFileSync("go", ["tool", "pprof", "-raw", file("pprof")], {
      encoding: "utf8",
      env: { ...process.env, HOME: folder.path, GOTOOLCHAIN: "local", GOFLAGS: "-mod=mod" },
      stdio: ["ignore", "pipe", "ignore"],
    });
    const names = new Map([...text.matchAll(/^ +(\d+): 0x0 M=\d+ (\S+) /gm)].map(([, id, name]) => [id, name]));
    const samples = [...text.matchAll(/^ +(\d+): (\d+) (\d+) /gm)].filter(([, , leaf]) => names.get(leaf) === "leaf");
    assert.deepEqual(
      Object.fromEntries(samples.map(([, count, , caller]) => [names.get(caller), Number(count)])),
      expected,
    );
    assert.match(text, /^@calls\/count$/m);
    assert.match(text, /key0:\[stacks\]/);
  },
);
