import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "./parse.ts";
import { spellingOf } from "../../providers/registry.ts";

test("every script in tools/ parses without a word", () => {
  const tools = join(process.cwd(), "tools");
  const scripts = readdirSync(tools).filter((name) => name.endsWith(".bt"));
  assert.ok(scripts.length >= 15);
  for (const name of scripts) {
    const text = readFileSync(join(tools, name), "utf8");
    assert.deepEqual(parse({ name, text }, { positional: ["1", "2", "3"], probes: spellingOf }).diagnostics, [], name);
  }
});
