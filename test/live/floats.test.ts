// Floating-point numbers of programs: what a script reads, computes and prints is what the program itself does, bit for
// bit.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { bpfObjects, compileC, nothingLeft, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const objects = bpfObjects();
after(async () => {
  await nothingLeft(objects);
  folder.remove();
});

/** Pairs of doubles at random (any bits, near 1, subnormal, at the edges), and what the processor makes of them. */
const source = `
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
struct pair { double a, b; float f; long i; long double wide; };
double table[3] = { 0.1, -2.5, 1e300 };
float ratio = 3.14159f;
__attribute__((noinline)) void visit(struct pair *p, double direct) { __asm__ volatile("" : : "r"(p), "x"(direct) : "memory"); }
static uint64_t state = 88172645463325252ull;
static uint64_t rnd(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
static double of(uint64_t bits) { double d; memcpy(&d, &bits, 8); return d; }
static double pick(void)
{
  static const double edges[] = { 0.0, -0.0, 1.0, -1.0, 0.5, 1e308, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308, INFINITY, -INFINITY, 3.0, 1e-320, 4503599627370497.5 };
  uint64_t r = rnd();
  switch (r % 6) {
    case 0: return of(rnd());
    case 1: return edges[rnd() % 14];
    case 2: return of((rnd() & 0x800fffffffffffffull) | ((uint64_t)(1019 + rnd() % 8) << 52));
    case 3: return of(rnd() & 0x800fffffffffffffull);
    case 4: return (double)(int64_t)rnd() / (1 << (rnd() % 20));
    default: return (double)(int)(rnd() % 2000 - 1000) / 8;
  }
}
int main(int argc, char **argv)
{
  volatile struct pair p;
  for (int i = 0; i < atoi(argv[1]); i++) {
    p.a = pick();
    p.b = rnd() % 4 ? pick() : p.a * (1 + (double)(int)(rnd() % 3 - 1) * 2.3e-16);
    p.f = (float)pick();
    p.i = (long)(rnd() >> (rnd() % 60));
    p.wide = i / 7.0L;
    volatile double a = p.a, b = p.b, f = p.f, n = (double)p.i;
    volatile long whole = (long)a;
    volatile float narrow = (float)b;
    printf("%.17g %.17g %.17g %.17g %d%d%d%d%d%d %.17g %.17g %ld %.17g %.9g %.17g %.17g %.17g %.17g\\n", a + b, a - b, a * b, a / b,
      a < b, a <= b, a > b, a >= b, a == b, a != b, f, n, whole, -a, narrow, floor(a), ceil(a), trunc(a), round(a));
    visit((struct pair *)&p, a);
  }
}`;
const program = compileC(folder.path, "floats", source, ["-g", "-O1", "-Wl,--no-as-needed", "-lm"]);

async function output(script: string, rounds: number): Promise<{ ours: string; theirs: string }> {
  const path = join(folder.path, "output");
  const { stdout, stderr, code } = await strobe(["-q", "-o", path, "-c", `${program} ${rounds}`, "-e", script]);
  assert.equal(code, 0, stderr);
  return { ours: readFileSync(path, "utf8").trimEnd(), theirs: stdout.trimEnd() };
}

test("arithmetic, comparisons, conversions and %g are the processor's and the C library's", async () => {
  const { ours, theirs } = await output(
    `uprobe:${program}:visit {
    $a = args.p->a; $b = args.p->b;
    printf("%.17g %.17g %.17g %.17g %d%d%d%d%d%d %.17g %.17g %ld %.17g %.9g %.17g %.17g %.17g %.17g\\n", $a + $b, $a - $b, $a * $b, $a / $b,
      $a < $b, $a <= $b, $a > $b, $a >= $b, $a == $b, $a != $b, args.p->f, (double)args.p->i, (int64)$a, -$a, (float)$b, floor($a), ceil($a), trunc($a), round($a));
  }`,
    3000,
  );
  assert.equal(ours.split("\n").length, 3000);
  assert.equal(ours, theirs);
});

test("aggregations, maps and tuples of doubles", async () => {
  const { ours } = await output(
    `uprobe:${program}:visit {
    $x = (double)(args.p->i % 1000) / 4;
    @sum = sum($x); @whole = sum(args.p->i % 1000); @avg[1] = avg($x); @count = count(); @min = min($x); @max = max($x); @stats = stats(0.1);
    @none = sum(args.p->a); @least = min(args.p->a); @last["x"] = (2.5, args.p->f * 0, 1); @from = 1; @from = 0.25; @half[0.5] += 0.5; @narrow = (float)0.1;
  }
  end {
    print(@sum * 4 == (double)@whole); print(@avg[1] == @sum / (double)@count); print(@half[0.5]); print(@stats); print(@from); print(@narrow); print(@none); print(@least);
    printf("%d %d %s\\n", @min >= -249.75, @max <= 249.75, @last["x"].0 > 2 ? "more" : "less"); @sorted[1] = 0.25; @sorted[2] = -1; @sorted[3] = 1.0e10;
    for ($kv : @sorted) { @order += $kv.1; } print(@order); print(@sorted);
    clear(@sum); clear(@whole); clear(@avg); clear(@count); clear(@min); clear(@max); clear(@last); clear(@half); clear(@stats); clear(@from); clear(@narrow); clear(@none); clear(@least); clear(@sorted); clear(@order);
  }`,
    200,
  );
  assert.equal(
    ours,
    `true
true
100
@stats: { .count = 200, .average = 0.1, .total = 20 }
@from: 0.25
@narrow: 0.1
@none: nan
@least: -inf
1 1 more
@order: 9999999999.25
@sorted[2]: -1
@sorted[1]: 0.25
@sorted[3]: 10000000000`,
  );
});

test("JSON has them as numbers, and texts for what are none", async () => {
  const path = join(folder.path, "json");
  const { code, stderr } = await strobe([
    "-q",
    "-f",
    "json",
    "-o",
    path,
    "-e",
    "begin { print((2.5, -0.0, 1.0e300, 1.0 / 0, -1.0 / 0, 0.0 / 0)); @avg = avg(1.5); @avg = avg(2); exit(); }",
  ]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { data: unknown }).data),
    [[2.5, -0, 1e300, "inf", "-inf", "nan"], { "@avg": 1.75 }],
  );
});

test("memory, globals and casts of pointers", async () => {
  const { ours } = await output(
    `uprobe:${program}:visit {
    $p = uaddr("table"); print(*(double *)$p); print(((double *)$p)[1]); print(var("table")); print(*(float *)uaddr("ratio")); print(var("ratio") > 3.14 && !(var("ratio") > 3.15)); exit();
  }`,
    1,
  );
  assert.equal(ours, "0.1\n-2.5\n[0.1,-2.5,1e+300]\n3.14159\ntrue");
});

test("what a probe cannot see, and what is not there, is refused with what to do", async () => {
  const refused: readonly (readonly [body: string, message: RegExp])[] = [
    ["print(args.direct);", /`direct` is in a vector register, which a probe cannot read/],
    [
      "@ = hist(args.p->a);",
      /hist\(\) only supports integer arguments \(double provided\)\n[^]*help: cast it, which cuts its fraction off: \(int64\)/,
    ],
    ["print(args.p->a % 2);", /'%': it cannot be used on double and int64\n[^]*help: cast to integers first/],
    ["print(args.p->a & 1);", /'&': it cannot be used on double and int64\n[^]*help: it works on integers: \(int64\)x/],
    ["$x = 1.5; $x++;", /`\+\+` expects an integer, and \$x is a double\n[^]*help: \$x \+= 1/],
    ['printf("%f", 1);', /unsupported format specifier for type 'int64': %f\n[^]*help: cast it: \(double\)/],
    [
      'printf("%d", 1.5);',
      /unsupported format specifier for type 'double': %d\n[^]*help: use %f, %e or %g, or cast it: \(int64\)/,
    ],
    [
      "let $x : int64 = args.p->a;",
      /type mismatch for \$x: trying to assign value of type 'double' when variable already has a type 'int64'/,
    ],
    ["print(1e300);", /1e300 does not fit in 64 bits\n[^]*help: 1.0e300 is a double/],
    ["print(1.5x);", /`1.5x` is not a number/],
  ];
  for (const [body, message] of refused) {
    const { stderr, code } = await strobe(["-e", `uprobe:${program}:visit { ${body} }`]);
    assert.equal(code, 1, body);
    assert.match(stderr, message);
  }
});
