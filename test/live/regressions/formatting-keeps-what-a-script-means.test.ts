// What is laid out anew is the same script: it prints the same, and laid out again it stays as it is. What does not parse is
// refused with the place, and left alone. (Random scripts and tokens: src/language/bpftrace/format.test.ts.)
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());
const file = join(folder.path, "script.bt");

const script = `begin{$y=5;$z= - -$y;print($z);print(- -3);print(- - -$y);print(~ ~$y);print(! !$y);
print($y- -1);print($y - - - 2);print(1-(-2));print(10-(3-2));print((8/4)/2);print(8/(4/2));
print((1?0:1)?2:3);print((2|1)==3);print((2&3)<<1);if($y==5){if($y==6){print("no")}else{print("else")}}exit();}`;

test("signs, parentheses and branches mean what they meant", async () => {
  writeFileSync(file, script);
  const before = await strobe(["-q", file]);
  assert.equal(before.code, 0, before.stderr);
  assert.equal(before.stdout.trim().split("\n").slice(0, 7).join(" "), "5 3 -5 5 true 6 3");
  const laid = await strobe(["fmt", file]);
  assert.equal(laid.code, 0, laid.stderr);
  const once = readFileSync(file, "utf8");
  assert.notEqual(once, script);
  const after = await strobe(["-q", file]);
  assert.equal(after.stdout, before.stdout);
  await strobe(["fmt", file]);
  assert.equal(readFileSync(file, "utf8"), once);
});

test("what does not parse is told, and stays", async () => {
  for (const broken of ["begin { f(n!!!!}", "begin { - }", "begin { print((1 }"]) {
    writeFileSync(file, broken);
    const { code, stderr } = await strobe(["fmt", file]);
    assert.notEqual(code, 0);
    assert.match(stderr, /script\.bt:1:\d+: error: /);
    assert.doesNotMatch(stderr, /TypeError|strobe's own fault/);
    assert.equal(readFileSync(file, "utf8"), broken);
  }
});
