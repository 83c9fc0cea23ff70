// Declarations that are there already. Whatever adds or removes a tracepoint makes them out of date: this runs alone.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { compileC, strobe, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const types = join(folder.path, "types");
let program = "";

before(async () => {
  program = compileC(folder.path, "prog", "int main(void) { return 0; }", ["-g"]);
  const { stderr, code } = await strobe(["types", "-o", types, "--binary", program], { deadline: 300_000 });
  assert.deepEqual([stderr, code], ["", 0]);
});
after(() => folder.remove());

test("nothing is written twice, and nothing else is overwritten", async () => {
  const again = await strobe(["types", "-o", types, "--binary", program]);
  assert.deepEqual([again.stdout, again.code], [`${types} is up to date\n`, 0]);
  assert.match((await strobe(["types", "-o", types, "--binary", program, "--force"])).stdout, /tracepoints/);
  const index = join(types, "index.d.ts");
  writeFileSync(index, readFileSync(index, "utf8").replace(/Linux \S+/, "Linux 5.15.0"));
  const project = join(folder.path, "stale");
  mkdirSync(project);
  symlinkSync(types, join(project, "strobe-types"));
  writeFileSync(join(project, "program.mjs"), "console.log(1);\n");
  const stale = await strobe(["run", join(project, "program.mjs")]);
  assert.deepEqual([stale.stdout, stale.code], ["1\n", 0]);
  assert.equal(
    stale.stderr,
    `strobe: ${join(project, "strobe-types")} is of Linux 5.15.0, and this is Linux ${release()}; \`strobe types\` writes it anew\n`,
  );
  const renewed = await strobe(["types", "-o", types, "--binary", program]);
  assert.match(renewed.stdout, /tracepoints/);
  assert.equal((await strobe(["run", join(project, "program.mjs")])).stderr, "");
  const foreign = join(folder.path, "foreign");
  mkdirSync(foreign);
  writeFileSync(join(foreign, "mine.ts"), "");
  const refused = await strobe(["types", "-o", foreign]);
  assert.deepEqual([refused.stdout, refused.code], ["", 1]);
  assert.match(refused.stderr, /holds something else/);
  assert.deepEqual(readdirSync(foreign), ["mine.ts"]);
  assert.deepEqual(
    readdirSync(folder.path).filter((name) => name.startsWith("types.")),
    [],
  );
});
