// C's long double of x86: rounded to a double, in arguments, members, variables, maps and JSON; what cannot be done with it is
// refused with its name.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const skip =
  process.geteuid?.() !== 0
    ? "needs root"
    : process.arch !== "x64"
      ? "long double is x87's on x86-64 alone"
      : spawnSync("gcc", ["--version"]).status !== 0
        ? "needs gcc"
        : false;
const folder = temporaryFolder();
after(() => folder.remove());
const program = skip
  ? ""
  : compileC(
      folder.path,
      "longs",
      `#include <stdio.h>
       struct pair { int before; long double value; } pair;
       long double global;
       __attribute__((noinline)) void see(int n, long double x, struct pair *p) { __asm__ volatile("" :: "r"(p), "r"(n) : "memory"); }
       static const long double values[] = { 0.0L, -0.0L, 1.0L, -2.5L, 0.1L, 1.0L / 3, 123456789012345678.0L, 18446744073709551615.0L,
         1e300L, -1e-300L, 4.9e-324L, 1.0L + 0x1p-60L, 1.0L / 0.0L, -1.0L / 0.0L };
       int main(void) {
         for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
           global = pair.value = values[i];
           see(i, values[i], &pair);
           printf("%.17g\\n", (double)values[i]);
         }
         return 0;
       }`,
      ["-O1", "-g"],
    );

test("as the program says", { skip }, async () => {
  const script = `uprobe:${program}:see { printf("%s %s %s\\n", args.x, args.p->value, var("global")); @of[args.n] = args.x; }`;
  const output = `${program}.out`;
  const { code, stderr } = await strobe(["-q", "-o", output, "-c", program, "-e", script]);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  const lines = readFileSync(output, "utf8").trim().split("\n");
  const number = (text: string): number => Number(text.replace("inf", "Infinity"));
  const said = spawnSync(program, { encoding: "utf8" }).stdout.trim().split("\n").map(number);
  assert.deepEqual(
    lines.slice(0, said.length).map((line) => line.split(" ").map(number)),
    said.map((value) => [value, value, value]),
  );
  const kept = new Map(lines.flatMap((line) => [...line.matchAll(/^@of\[(\d+)\]: (.*)$/g)].map(([, n, x]) => [+n, x])));
  assert.deepEqual(
    said.map((_, i) => number(kept.get(i) ?? "")),
    said,
  );
});

test("as JSON, inside a struct", { skip }, async () => {
  const script = `uprobe:${program}:see /args.n == 3/ { print(*args.p); }`;
  const { stdout } = await strobe(["-q", "-f", "json", "-c", program, "-e", script]);
  assert.match(stdout, /^\{"type": "value", "data": \{"before": 0, "value": -2\.5\}\}$/m);
});

for (const [what, message] of [
  ["$y = args.x + 1;", "type mismatch for '+': it cannot be used on long double and int64"],
  ["@ = sum(args.x);", "sum() only supports integer arguments (long double provided)"],
  ['printf("%f", args.x);', "unsupported format specifier for type 'long double': %f"],
] as const) {
  test(`refused: ${what}`, { skip }, async () => {
    const { code, stderr } = await strobe(["-e", `uprobe:${program}:see { ${what} }`]);
    assert.equal(code, 1);
    assert.ok(stderr.includes(`error: ${message}`), stderr);
  });
}
