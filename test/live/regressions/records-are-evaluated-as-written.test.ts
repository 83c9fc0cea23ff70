// `(b=f(), a=g())` calls f first, though the variable or the map has a before b.
import assert from "node:assert/strict";
import { test } from "node:test";
import { strobe } from "../../support/strobe.ts";

const body = `
  @r = (a=f(1), b=f(2)); @r = (b=f(3), a=f(4));
  $r = (b=f(5), a=f(6)); $r = (a=f(7), b=f(8));
  $i = 0; $s = (y=$i++, x=$i++); $s = (x=$i++, y=$i++);
  emit("told", (b=f(9), a=f(10)));
  printf("%d %d %d %d %d %d\\n", @r.a, @r.b, $r.a, $r.b, $s.x, $s.y);
  exit();`;
const expected = "1 2 3 4 5 6 7 8 9 10 told: b=9 a=10\n4 3 7 8 2 3\n";
const called = 'fn f($x : int64) : int64 { printf("%d ", $x); return $x; }';

for (const probe of ["begin", "tracepoint:sched:sched_switch"]) {
  test(`in ${probe}`, { skip: process.geteuid?.() !== 0 && "needs root" }, async () => {
    const { stdout, stderr, code } = await strobe([
      "-q",
      "-e",
      `${called} ${probe} { if (!@once) { @once = true; ${body} } } end { clear(@r); clear(@once); }`,
    ]);
    assert.deepEqual({ stdout: stdout.trim(), stderr, code }, { stdout: expected.trim(), stderr: "", code: 0 });
  });
}
