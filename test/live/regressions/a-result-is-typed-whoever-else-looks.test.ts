// What a function returns is what its type says, however a script asks: printf("%d", retval) gave an unsigned char of
// 250 as -6, and as 250 once print(retval) stood beside it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileWith } from "../../support/compilers.ts";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());
let path = "";

/** Functions, what each returns, and what print() shows. */
const functions: readonly (readonly [type: string, name: string, given: string, number: string, shown?: string])[] = [
  ["unsigned char", "uc", "250", "250"],
  ["signed char", "sc", "-6", "-6"],
  ["short", "sh", "-300", "-300"],
  ["unsigned short", "us", "65000", "65000"],
  ["int", "in", "-7", "-7"],
  ["unsigned", "un", "7u", "7"],
  ["long", "lo", "-8", "-8"],
  ["_Bool", "bo", "1", "1", "true"],
  ["enum sign", "es", "NEG", "-2", "NEG"],
  ["enum plain", "ep", "BIG", "200", "BIG"],
];

before(() => {
  writeFileSync(
    join(folder.path, "narrow.c"),
    `
    enum sign { NEG = -2, POS = 1 }; enum plain { SMALL, BIG = 200 };
    struct bits { enum sign e : 3; enum plain u : 8; _Bool f : 1; int s : 4; unsigned w : 5; };
    ${functions.map(([type, name]) => `__attribute__((noinline)) ${type} ${name}(long x) { __asm__ volatile("" : "+r"(x)); return x; }`).join("\n")}
    __attribute__((noinline)) struct bits st(int e) { struct bits b = { e, BIG, 1, -3, 9 }; __asm__ volatile("" : "+r"(e)); return b; }
    __attribute__((noinline)) void vo(int x) { __asm__ volatile("" : "+r"(x)); }
    __attribute__((noinline)) double fl(int x) { __asm__ volatile("" : "+r"(x)); return x; }
    int main(void) { ${functions.map(([, name, given]) => `${name}(${given});`).join(" ")} vo(st(NEG).s); return fl(2) != 2; }`,
  );
});

async function over(
  script: string,
): Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number | null }> {
  return strobe(["-c", path, "-e", script]);
}

for (const compiler of ["gcc", "clang"]) {
  for (const level of ["-O0", "-O2"]) {
    test(`results of narrow types, by ${compiler} ${level}`, async () => {
      path = compileWith(compiler, folder.path, "narrow.c", "narrow", level);
      for (const kind of ["uretprobe", "ret"]) {
        const alone = await over(
          functions.map(([, name]) => `${kind}:${path}:${name} { printf("${name} %d\\n", retval); }`).join("\n"),
        );
        assert.equal(
          alone.stdout.trim(),
          functions.map(([, name, , number]) => `${name} ${number}`).join("\n"),
          alone.stderr,
        );
        const beside = await over(
          functions
            .map(
              ([, name]) =>
                `${kind}:${path}:${name} { printf("${name} %d ", retval); print(retval); @["${name}"] = sum(retval); }`,
            )
            .join("\n"),
        );
        const printed = beside.stdout.split("\n").filter((line) => line !== "" && !line.startsWith("@"));
        assert.deepEqual(
          printed,
          functions.map(([, name, , number, shown = number]) => `${name} ${number} ${shown}`),
          beside.stderr,
        );
      }
    });
  }
}

test("bit fields inside a struct are as by themselves", async () => {
  path = compileWith("gcc", folder.path, "narrow.c", "narrow", "-O2");
  const { stdout } = await over(
    `uretprobe:${path}:st { print(retval); print((retval.e, retval.u, retval.f, retval.s, retval.w)); printf("%d", retval.e); }`,
  );
  assert.deepEqual(stdout.trim().split("\n"), [
    "{ .e = NEG, .u = BIG, .f = true, .s = -3, .w = 9 }",
    "(NEG, BIG, true, -3, 9)",
    "-2",
  ]);
});

test("functions of one wildcard return numbers, each with its sign; what has none is left out and said", async () => {
  path = compileWith("gcc", folder.path, "narrow.c", "narrow", "-O2");
  const { stdout, stderr } = await over(
    `uretprobe:${path}:?[cshnsop], uretprobe:${path}:sc { @[func] = sum(retval); }`,
  );
  assert.match(
    stderr,
    /warning: 1 of the 11 places of `uretprobe:.*` is left out: at uretprobe:.*:vo retval is not there/,
  );
  // One of them by its name as well.
  assert.deepEqual(
    stdout.trim().split("\n").sort(),
    functions.map(([, name, , number]) => `@[${name}]: ${name === "sc" ? -12 : number}`).sort(),
    stderr,
  );
});

test("of what returns nothing nothing is shown", async () => {
  path = compileWith("gcc", folder.path, "narrow.c", "narrow", "-O2");
  const nothing = await over(`uretprobe:${path}:vo { print(retval); }`);
  assert.equal(nothing.code, 1);
  assert.match(nothing.stderr, /error: retval is not there: `vo` returns nothing/);
  const some = await over(`uretprobe:${path}:[uv]? { @[func] = sum(retval); }`);
  assert.match(
    some.stderr,
    /warning: 1 of the 4 places of `uretprobe:.*` is left out: at uretprobe:.*:vo retval is not there: `vo` returns nothing/,
  );
  assert.deepEqual(some.stdout.trim().split("\n").sort(), ["@[uc]: 250", "@[un]: 7", "@[us]: 65000"]);
});
