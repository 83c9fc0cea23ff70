// What TypeScript, Babel, SWC, esbuild, webpack and Vite call an import of the library: with the module hook, and where
// a person tells what a handler captures. The tools themselves are in bundlers.test.ts; these are the forms they write,
// which need no registry.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { partOf } from "../../support/part-of.ts";
import { run } from "../../support/registry.ts";
import { temporaryFolder } from "../../support/strobe.ts";

const folder = temporaryFolder();
const register = pathToFileURL(resolve("dist/register.mjs")).href;
before(() => {
  mkdirSync(join(folder.path, "node_modules"));
  symlinkSync(resolve("."), join(folder.path, "node_modules/strobe"));
});
after(() => folder.remove());

/** How each loads the library, and what it calls one of its names. */
const forms: Readonly<Record<string, { readonly loads: string; readonly name: (name: string) => string }>> = {
  TypeScript: { loads: 'const strobe_1 = require("strobe");', name: (name) => `(0, strobe_1.${name})` },
  "TypeScript's namespace": {
    loads:
      'var __importStar = (it) => Object.assign({ __esModule: true }, it); const strobe = __importStar(require("strobe"));',
    name: (name) => `strobe.${name}`,
  },
  Babel: { loads: 'var _strobe = require("strobe");', name: (name) => `(0, _strobe.${name})` },
  "Babel's namespace": {
    loads:
      'function _interopRequireWildcard(e) { return { ...e, default: e }; } var strobe = _interopRequireWildcard(require("strobe"));',
    name: (name) => `strobe.${name}`,
  },
  SWC: {
    loads:
      'const _interop_require_wildcard = (it) => it; const _strobe = /*#__PURE__*/ _interop_require_wildcard(require("strobe"));',
    name: (name) => `(0, _strobe.${name})`,
  },
  esbuild: {
    loads: 'var __toESM = (it) => ({ ...it }); var import_strobe = __toESM(require("strobe"));',
    name: (name) => `(0, import_strobe.${name})`,
  },
  webpack: {
    loads:
      'const __webpack_require__ = (id) => require(id); require("strobe"); var strobe__WEBPACK_IMPORTED_MODULE_0__ = __webpack_require__("strobe");',
    name: (name) => `(0,strobe__WEBPACK_IMPORTED_MODULE_0__.${name})`,
  },
};

/** A program that sums 20 and 22, and what it captures if somebody says so. */
function program(loads: string, named: (name: string) => string, captures: string): string {
  return `"use strict"; ${loads}
const sum = ${named("map")}(), twenty = 20;
const add = (n) => n + twenty;
(async () => {
  const session = await ${named("trace")}(${named("begin")}(() => { if (${named("nsecs")} > 0) sum.sum(add(22)); for (const i of ${named("range")}(2)) sum.sum(0); ${named("exit")}(); }${captures}));
  await session.ended;
  console.log(sum.get());
})();
`;
}

for (const [tool, { loads, name }] of partOf("bundles", Object.entries(forms))) {
  test(`${tool}: with the hook, and by hand`, async () => {
    const path = join(folder.path, `${tool.replace(/\W/g, "-")}.cjs`);
    writeFileSync(path, program(loads, name, ""));
    assert.deepEqual(await run(process.execPath, ["--import", register, path], folder.path), {
      stdout: "42\n",
      stderr: "",
      code: 0,
    });
    writeFileSync(path, program(loads, name, ", { sum, add, twenty }"));
    assert.deepEqual(await run(process.execPath, ["--disable-warning=ExperimentalWarning", path], folder.path), {
      stdout: "42\n",
      stderr: "",
      code: 0,
    });
  });
}

test("Vite's numbers are understood by hand, where nothing else is meant", async () => {
  const path = join(folder.path, "vite.mjs");
  const loads = 'import * as __vite_ssr_import_0__ from "strobe";';
  const name = (of: string): string => `(0,__vite_ssr_import_0__.${of})`;
  writeFileSync(path, program(loads, name, ", { sum, add, twenty }"));
  assert.deepEqual(await run(process.execPath, [path], folder.path), { stdout: "42\n", stderr: "", code: 0 });
  // Another module's import is no import of the library.
  writeFileSync(
    path,
    program(`${loads} const __vite_ssr_import_1__ = { limit: 3 };`, name, ", { sum, add, twenty }").replace(
      "sum.sum(0)",
      "sum.sum(__vite_ssr_import_1__.limit)",
    ),
  );
  const { stdout, stderr, code } = await run(process.execPath, [path], folder.path);
  assert.deepEqual([stdout, code], ["", 1]);
  assert.match(stderr, /`__vite_ssr_import_\d__` cannot be resolved from the handler's source/);
  assert.match(
    stderr,
    /Vite and vitest gave an import this name: add strobe's plugin to their configuration, `plugins: \[strobe\(\)\]` with `import { strobe } from "strobe\/vite"`/,
  );
});

test("help names no way that fails", async () => {
  const path = join(folder.path, "other.cjs");
  writeFileSync(
    path,
    `const strobe_1 = require("strobe"); const limits_1 = { most: 3 };
(0, strobe_1.trace)((0, strobe_1.begin)(() => { (0, strobe_1.print)(limits_1.most); (0, strobe_1.exit)(); })).catch((error) => console.log(error.diagnostics[0].help));\n`,
  );
  const { stdout } = await run(process.execPath, ["--disable-warning=ExperimentalWarning", path], folder.path);
  assert.equal(
    stdout,
    "a compiler gave an import this name: run the file with `strobe run` or `node --import strobe/register`, or bundle it with strobe's plugin for esbuild, Vite or Rollup," +
      " which do that; or put what it holds in a constant, and pass that along\n",
  );
  // The first of them, taken.
  assert.deepEqual(await run(process.execPath, ["--import", register, path], folder.path), {
    stdout: "3\n",
    stderr: "",
    code: 0,
  });
});
