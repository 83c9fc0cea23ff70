// A size that no machine has room for is refused at its place, before anything is made of it; a long chain and a long script
// are none. (How long compiling takes, by the script's length, is a row of bench/RESULTS.md.)
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { strobe, temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

for (const [script, message] of [
  [`begin { @ = memcmp("a", "b", 0x7fffffff); }`, /^-e:1:30: error: memcmp\(\) compares 16384 bytes at most$/m],
  [`begin { printf("%1000000000d", 1); }`, /^-e:1:16: error: bad format: `%1000000000d` is too wide/m],
  [`begin { print(((int8[10])0)); }`, /^-e:1:1\d: error: /m],
  [
    `begin { ${Array.from({ length: 1001 }, (_, i) => `if (pid == ${i}) { @ = 1; } else `).join("")} { @ = 2; } }`,
    /: error: a chain has at most 1000 `else if`$/m,
  ],
] as const) {
  test(`refused: ${script.slice(0, 60)}`, async () => {
    const { code, stderr } = await strobe(["-e", script]);
    assert.equal(code, 1);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /fault of strobe|InternalError/);
  });
}

test("200 times `else if`, and 10,000 statements", async () => {
  const chain = Array.from({ length: 200 }, (_, i) => `if ($x == ${i}) { @ = ${i}; } else `).join("");
  const long = Array.from({ length: 10_000 }, () => "@sum = @sum + 1;").join(" ");
  const file = join(folder.path, "long.bt");
  writeFileSync(file, `begin { $x = 150; ${chain} { @ = 1000; } ${long} exit(); }`);
  const { code, stdout, stderr } = await strobe(["-q", file]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^@: 150$/m);
  assert.match(stdout, /^@sum: 10000$/m);
});
