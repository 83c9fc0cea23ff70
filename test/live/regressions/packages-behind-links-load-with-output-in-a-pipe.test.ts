// Node 20 leaves links unresolved right after a pipe was statted: strobe does not stumble over it, nor make programs
// stumble.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";
import { temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** Writes a file, and the folders around it. */
function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), text);
}

const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly dependencies: object };
const installed = join(folder.path, "node_modules/strobe");
cpSync("dist", join(installed, "dist"), { recursive: true });
cpSync("package.json", join(installed, "package.json"));
for (const name of Object.keys(dependencies)) {
  mkdirSync(dirname(join(folder.path, "node_modules", name)), { recursive: true });
  symlinkSync(resolve("node_modules", name), join(folder.path, "node_modules", name));
}
// A package that needs another one, which only it can see.
write("store/outer/index.mjs", 'export { answer } from "inner";');
write("store/outer/package.json", '{ "exports": "./index.mjs" }');
write("store/node_modules/inner/index.mjs", "export const answer = 42;");
write("store/node_modules/inner/package.json", '{ "exports": "./index.mjs" }');
symlinkSync("../store/outer", join(folder.path, "node_modules/outer"));

/** What a shell's command prints into a pipe, with its errors, without what surrounds it. */
function piped(line: string): string {
  const { stdout, status } = spawnSync("sh", ["-c", `${line} 2>&1 | cat`], {
    cwd: folder.path,
    encoding: "utf8",
    timeout: 300_000,
  });
  assert.equal(status, 0);
  return stdout.trim();
}

test("the command starts", () => {
  assert.equal(
    piped(`'${process.execPath}' node_modules/strobe/dist/strobe.js -q -e 'begin { print(6 * 7); exit(); }'`),
    "42",
  );
});

test("a program that statted a pipe loads handlers", () => {
  write("start.mjs", 'import { fstatSync } from "node:fs"; fstatSync(1); await import("./handlers.mjs");');
  write(
    "handlers.mjs",
    'import { begin, exit, print, trace } from "strobe"; await (await trace(begin(() => { print(6 * 7); exit(); }))).ended;',
  );
  assert.equal(piped(`'${process.execPath}' --import strobe/register start.mjs`), "42");
});

test("a program that traced imports its own packages", () => {
  write(
    "traces.mjs",
    `
    import { begin, exit, trace } from "strobe";
    await (await trace(begin(() => exit()))).ended;
    console.log((await import("outer")).answer);
  `,
  );
  assert.equal(piped(`'${process.execPath}' --import strobe/register traces.mjs`), "42");
});
