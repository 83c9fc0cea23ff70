// `$a.x[$i]` with an $i that only running tells: what lies beside the array is not read.
import assert from "node:assert/strict";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../../support/strobe.ts";

const skip = process.geteuid?.() !== 0 && "needs root";
const folder = temporaryFolder();
let program = "";
before(() => {
  program = compileC(
    folder.path,
    "arrays",
    `
    struct pair { int n; char *name; };
    struct arrays { int before; int x[4]; int after; int grid[2][3]; struct pair pairs[2]; char text[4]; int end; int open[]; };
    struct arrays arrays = { 11, { 1, 2, 3, 4 }, 99, { { 1, 2, 3 }, { 4, 5, 6 } }, { { 7, "seven" }, { 8, "eight" } }, "abc", 5, { 31, 32, 33 } };
    __attribute__((noinline)) int callee(struct arrays *a, long two) { __asm__ volatile("" : : "r"(a), "r"(two) : "memory"); return 0; }
    volatile char touched;
    int main(void) { touched = *arrays.pairs[0].name; return callee(&arrays, 2); }`,
  );
});
after(() => folder.remove());

const warning = "Array access out of bounds. This can lead to unexpected results. 0 is being used as the result.";
const declared = `
  struct pair { int n; char *name; };
  struct arrays { int before; int x[4]; int after; int grid[2][3]; struct pair pairs[2]; char text[4]; int end; int open[]; };`;

/** What is printed of an expression in a probe, and which parts of it are warned of. */
async function valueOf(
  setup: string,
  expression: string,
  probe = `uprobe:${program}:callee`,
): Promise<readonly [value: string, warned: readonly string[]]> {
  const start = `${probe} { ${setup} print(`;
  const script = `${declared.replaceAll("\n", " ")} ${start}${expression}); exit(); }`;
  const { stdout, stderr, code } = await strobe(["-q", "-e", script, ...(probe === "begin" ? [] : ["-c", program])]);
  assert.equal(code, 0, stderr);
  const warned = stderr
    .split("\n")
    .filter((line) => line.includes("WARNING"))
    .map((line) => {
      const [, from = "", to = "", said] = /^-e:1:(\d+)-(\d+): WARNING: (.*)$/.exec(line) ?? [];
      assert.equal(said, warning);
      return script.slice(Number(from) - 1, Number(to) - 1);
    });
  return [stdout.trim(), warned];
}

const a = "$a = (struct arrays *)arg0; $two = arg1;";
const inside: readonly (readonly [expression: string, value: string])[] = [
  ["$a.x[$two + 1]", "4"],
  ["$a.grid[$two - 1][$two]", "6"],
  ["$a.pairs[$two - 1].n", "8"],
  ["str($a.pairs[$two - 1].name)", "eight"],
  ["$a.text[$two]", "99"],
  // A pointer is followed however far, as in C, and so is an array that has no length.
  ["((int32 *)arg0)[$two + 3]", "99"],
  ["$a.open[$two]", "33"],
];
const outside: readonly (readonly [expression: string, value: string, warned: readonly string[]])[] = [
  ["$a.x[$two + 2]", "0", ["$a.x[$two + 2]"]],
  ["$a.x[$two - 3]", "0", ["$a.x[$two - 3]"]],
  ["$a.x[(int8)$two - 3]", "0", ["$a.x[(int8)$two - 3]"]],
  ["$a.x[$two << 32]", "0", ["$a.x[$two << 32]"]],
  ["$a.grid[$two][0]", "0", ["$a.grid[$two]"]],
  ["$a.grid[0][$two + 1]", "0", ["$a.grid[0][$two + 1]"]],
  ["$a.pairs[$two].n", "0", ["$a.pairs[$two]"]],
  ["str($a.pairs[$two].name)", "", ["$a.pairs[$two]"]],
  ["$a.grid[$two + 5]", "[0,0,0]", ["$a.grid[$two + 5]"]],
];

test("inside of the array", { skip }, async () => {
  for (const [expression, value] of inside) assert.deepEqual(await valueOf(a, expression), [value, []], expression);
});

test("outside of it", { skip }, async () => {
  for (const [expression, value, warned] of outside)
    assert.deepEqual(await valueOf(a, expression), [value, warned], expression);
});

test("in variables, tuples and maps", { skip }, async () => {
  const copies = `${a} $x = $a.x; $t = (1, $a.x); @m[5] = $a.x;`;
  for (const place of ["$x", "$t.1", "@m[5]"]) {
    assert.deepEqual(await valueOf(copies, `(${place}[$two], 1)`).then(([value]) => value.split("\n")[0]), "(3, 1)");
    const [value, warned] = await valueOf(copies, `(${place}[$two + 3], 1)`);
    assert.deepEqual([value.split("\n")[0], warned], ["(0, 1)", [`${place}[$two + 3]`]]);
  }
});

test("on the host", { skip }, async () => {
  const setup = "$bytes = (uint8[8])(uint64)0x0807060504030201; let $i = 3; while ($i < 7) { $i += 2; }";
  assert.deepEqual(await valueOf(setup, "$bytes[$i]", "begin"), ["8", []]);
  assert.deepEqual(await valueOf(setup, "$bytes[$i + 1]", "begin"), ["0", ["$bytes[$i + 1]"]]);
  assert.deepEqual(await valueOf(setup, "$bytes[$i - 8]", "begin"), ["0", ["$bytes[$i - 8]"]]);
});

test("with -k there is one warning, not a failed read besides", { skip }, async () => {
  const { stdout, stderr } = await strobe([
    "-q",
    "-k",
    "-c",
    program,
    "-e",
    `${declared} uprobe:${program}:callee { $a = (struct arrays *)arg0; print($a.x[arg1 + 2]); }`,
  ]);
  assert.equal(stdout.trim(), "0");
  assert.deepEqual(stderr.match(/WARNING: .*/g), [`WARNING: ${warning}`]);
});

test("in a handler of TypeScript", { skip }, async () => {
  const file = join(folder.path, "outside.ts");
  writeFileSync(
    file,
    `import { map, trace, uprobe } from "strobe";
    const read = map<string, number>();
    await using session = await trace(uprobe(${JSON.stringify(program)}, "callee", ({ a, two }) => {
      read.set("inside", a.x[two + 1]);
      read.set("outside", a.x[two + 2]);
    }), { command: ${JSON.stringify(program)} });
    await session.ended;
    console.log(read.get("inside"), read.get("outside"));`,
  );
  const { stdout, stderr } = await strobe(["run", file]);
  assert.equal(stdout.trim(), "4 0");
  assert.match(stderr, /outside\.ts:5:\d+-\d+: WARNING: Array access out of bounds\./);
});
