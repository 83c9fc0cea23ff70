// Inputs that failed once are taken, or refused as they should be.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { recordingTargets } from "./recordings.ts";
import { targets } from "./targets.ts";
import { failureOf } from "./worker.ts";

const folder = "test/fuzz/fixtures";

for (const name of readdirSync(folder).sort()) {
  test(name, () => {
    const target = targets.find((one) => one.name === name);
    assert.ok(target !== undefined && existsSync(`${folder}/${name}`), "fixtures are of a target");
    for (const file of readdirSync(`${folder}/${name}`))
      assert.equal(failureOf(target, readFileSync(`${folder}/${name}/${file}`)), undefined, `${name}/${file}`);
  });
}

for (const target of recordingTargets) {
  test(`${target.name}: what is damaged was valid`, () => {
    for (const { bytes } of target.seeds()) target.run(bytes);
  });
}
