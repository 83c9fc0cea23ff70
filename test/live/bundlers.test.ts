// Programs with probes as other tools hand them to Node: vitest, Vite and Rollup with strobe's plugin; what TypeScript,
// Babel, SWC, esbuild and webpack make of modules, with the module hook; and, of all of them, handlers that a person
// tells what they capture.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { install, run, withoutRegistry, type Ended } from "../support/registry.ts";
import { bpfObjects, nothingLeft, temporaryFolder } from "../support/strobe.ts";

const skip = await withoutRegistry();
const folder = temporaryFolder();
const root = join(folder.path, "root");
const register = pathToFileURL(resolve("dist/register.mjs")).href;
const atStart = bpfObjects();

before(async () => {
  mkdirSync(root);
  writeFileSync(join(root, "package.json"), '{ "private": true }');
  // Vite 8 wants a newer npm than some versions of Node have.
  if (skip === false)
    await install(
      root,
      "vite@7",
      "vitest@3",
      "rollup@4",
      "webpack@5",
      "@babel/core@7",
      "@babel/plugin-transform-modules-commonjs@7",
    );
  mkdirSync(join(root, "node_modules"), { recursive: true });
  symlinkSync(resolve("."), join(root, "node_modules/strobe"));
});
after(async () => {
  folder.remove();
  await nothingLeft(atStart);
});

/** Counts its own reads of 777 bytes, by a function of another module too; in JavaScript that is TypeScript as well. */
const counting = `import { openSync, readSync } from "node:fs";
import { comm, map, pid, trace, tracepoint } from "strobe";
import * as probes from "./probes.js";

const self = process.pid, bytes = map();
export const calls = map();
export async function count() {
  const session = await trace(
    tracepoint("syscalls:sys_exit_read", (args) => {
      if (pid !== self || args.ret !== probes.large) return;
      bytes.at(comm).sum(probes.half(args.ret));
    }),
    probes.readsOf(777, (args) => { if (pid === self) calls.count(); }),
  );
  const zeros = openSync("/dev/zero", "r");
  for (let i = 0; i < 5; i++) readSync(zeros, new Uint8Array(777));
  session.stop();
  await session.ended;
  return [...bytes.values(), calls.get()];
}
`;
const probes = `import { tracepoint, u64 } from "strobe";
export const large = 777;
export const half = (n) => u64(n) / 2;
export function readsOf(size, handler) { return tracepoint("syscalls:sys_exit_read", { filter: (args) => args.ret === size, handler }); }
`;
const main = 'import { count } from "./count.js";\ncount().then((counts) => console.log(JSON.stringify(counts)));\n';
const expected = "[1940,5]\n";

/** Tells by hand what the handler captures, so that nothing has to be rewritten. */
const byHand = `import { openSync, readSync } from "node:fs";
import { comm, map, pid, trace, tracepoint } from "strobe";
const self = process.pid, bytes = map();
export async function count() {
  const session = await trace(tracepoint("syscalls:sys_exit_read", (args) => { if (pid === self && args.ret === 777) bytes.at(comm).count(); }, { self, bytes }));
  const zeros = openSync("/dev/zero", "r");
  for (let i = 0; i < 5; i++) readSync(zeros, new Uint8Array(777));
  session.stop();
  await session.ended;
  return [...bytes.values()];
}
`;
const handMade = "[5]\n";

function project(name: string, files: Readonly<Record<string, string>>): string {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text);
  return path;
}

const node = (path: string, ...args: readonly string[]): Promise<Ended> => run(process.execPath, args, path);
const tool = (name: string): string => join(root, "node_modules/.bin", name);
const prints = (stdout: string): Ended => ({ stdout, stderr: "", code: 0 });
/** What a tool that is installed exports. */
const required = (name: string): unknown => createRequire(join(root, "package.json"))(name);

const typed = (text: string): string =>
  `type Unused = string;\n${text.replaceAll("(args) =>", "(args: any) =>").replaceAll("(n) =>", "(n: any) =>").replace("(size, handler)", "(size: number, handler: (args: any) => void)")}`;
const inTypeScript = { "count.ts": typed(counting), "probes.ts": typed(probes), "main.ts": main };
const inJavaScript = { "count.js": counting, "probes.js": probes, "main.js": main };

test("vitest, with the plugin", { skip }, async () => {
  const path = project("vitest", {
    ...inTypeScript,
    "package.json": '{ "type": "module" }',
    "vitest.config.ts": 'import { strobe } from "strobe/vite";\nexport default { plugins: [strobe()] };\n',
    "count.test.ts": `import { expect, test } from "vitest"; import { count } from "./count.js";\ntest("counts", async () => { expect(await count()).toEqual(${expected.trim()}); });\n`,
  });
  const { stdout, code } = await run(tool("vitest"), ["run"], path);
  assert.match(stdout, /1 passed/);
  assert.equal(code, 0);
});

test("vitest, without the plugin: by hand, and the help names the plugin", { skip }, async () => {
  const path = project("vitest-by-hand", {
    "hand.ts": typed(byHand),
    "count.ts": typed(counting),
    "probes.ts": typed(probes),
    "package.json": '{ "type": "module" }',
    "vitest.config.ts": "export default {};\n",
    "hand.test.ts": `import { expect, test } from "vitest"; import { count } from "./hand.js";\ntest("counts", async () => { expect(await count()).toEqual(${handMade.trim()}); });\n`,
    "told.test.ts": `import { expect, test } from "vitest"; import { count } from "./count.js";
test("says what to do", async () => { await expect(count()).rejects.toThrow(/add strobe's plugin to their configuration, .plugins: \\[strobe\\(\\)\\]. with .import { strobe } from "strobe\\/vite"/); });\n`,
  });
  const { stdout, code } = await run(tool("vitest"), ["run"], path);
  assert.match(stdout, /2 passed/);
  assert.equal(code, 0);
});

test("Vite, for Node, minified and not", { skip }, async () => {
  for (const minify of [false, true]) {
    const path = project(`vite-${minify}`, {
      ...inTypeScript,
      "package.json": '{ "type": "module" }',
      "vite.config.ts": `import { strobe } from "strobe/vite";\nexport default { plugins: [strobe()], logLevel: "error", build: { ssr: "main.ts", minify: ${minify}, sourcemap: true } };\n`,
    });
    assert.deepEqual(await run(tool("vite"), ["build"], path), prints(""));
    assert.deepEqual(await node(path, "dist/main.js"), prints(expected));
  }
});

test("Rollup, as a module and as CommonJS", { skip }, async () => {
  for (const format of ["es", "cjs"]) {
    const extension = format === "es" ? "mjs" : "cjs";
    const path = project(`rollup-${format}`, {
      ...inJavaScript,
      "rollup.config.mjs": `import { strobe } from "strobe/rollup";
        export default { input: "main.js", external: [/^node:/], plugins: [strobe()], output: { file: "out.${extension}", format: "${format}", sourcemap: true } };\n`,
    });
    const { code, stderr } = await run(tool("rollup"), ["-c", "--silent"], path);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await node(path, `out.${extension}`), prints(expected));
  }
});

/** What makes CommonJS of a module's text. */
const toCommonJS: Readonly<Record<string, (text: string) => string | Promise<string>>> = {
  Babel: (text) => {
    const babel = required("@babel/core") as {
      transformSync(text: string, options: object): { readonly code: string };
    };
    return babel.transformSync(text, {
      configFile: false,
      babelrc: false,
      plugins: [required("@babel/plugin-transform-modules-commonjs")],
    }).code;
  },
  SWC: async (text) => {
    const { transform } = await import("@swc/core");
    return (
      await transform(text, {
        configFile: false,
        swcrc: false,
        jsc: { target: "es2022", externalHelpers: false },
        module: { type: "commonjs" },
      })
    ).code;
  },
  esbuild: async (text) => {
    const { transform } = await import("esbuild");
    return (await transform(text, { format: "cjs", platform: "node", target: "node20" })).code;
  },
};

for (const [name, transform] of Object.entries(toCommonJS)) {
  test(`CommonJS of ${name}, with the hook and by hand`, { skip }, async () => {
    const files = {
      "count.js": counting,
      "probes.js": probes,
      "main.js": main,
      "hand.js": byHand,
      "hand-main.js": main.replace("count.js", "hand.js"),
    };
    const compiled = Object.fromEntries(
      await Promise.all(Object.entries(files).map(async ([file, text]) => [file, await transform(text)] as const)),
    );
    const path = project(`common-${name}`, { ...compiled, "package.json": '{ "type": "commonjs" }' });
    assert.deepEqual(await node(path, "--import", register, "main.js"), prints(expected));
    assert.deepEqual(await node(path, "--disable-warning=ExperimentalWarning", "hand-main.js"), prints(handMade));
  });
}

test("CommonJS of TypeScript, with the hook and by hand", { skip }, async () => {
  const path = project("tsc", {
    ...inTypeScript,
    "hand.ts": typed(byHand),
    "hand-main.ts": main.replace("count.js", "hand.js"),
    "package.json": '{ "type": "commonjs" }',
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        module: "commonjs",
        moduleResolution: "bundler",
        target: "es2022",
        outDir: "out",
        noCheck: true,
        noImplicitAny: false,
        types: ["node"],
      },
      files: ["main.ts", "hand-main.ts"],
    }),
  });
  const { stdout, code } = await run(resolve("node_modules/.bin/tsc"), [], path);
  assert.deepEqual([stdout, code], ["", 0]);
  assert.deepEqual(await node(path, "--import", register, "out/main.js"), prints(expected));
  assert.deepEqual(await node(path, "--disable-warning=ExperimentalWarning", "out/hand-main.js"), prints(handMade));
});

test("bundles of webpack and esbuild, with the hook and by hand", { skip }, async () => {
  const path = project("bundled", {
    ...inJavaScript,
    "one.js": byHand.replace(", { self, bytes })", ")"),
    "one-main.js": main.replace("count.js", "one.js"),
    "hand.js": byHand,
    "hand-main.js": main.replace("count.js", "hand.js"),
  });
  const webpack = required("webpack") as (
    options: object,
    done: (error: unknown, stats: { hasErrors(): boolean; toString(): string }) => void,
  ) => void;
  await new Promise<void>((done, failed) =>
    webpack(
      {
        context: path,
        mode: "development",
        devtool: false,
        target: "node",
        entry: { main: "./one-main.js", hand: "./hand-main.js" },
        output: { path: join(path, "webpack") },
        externals: { strobe: "commonjs strobe" },
      },
      (error, stats) => (error || stats.hasErrors() ? failed(error ?? new Error(stats.toString())) : done()),
    ),
  );
  await build({
    entryPoints: { main: join(path, "main.js"), hand: join(path, "hand-main.js") },
    bundle: true,
    platform: "node",
    format: "cjs",
    outdir: join(path, "esbuild"),
    external: ["strobe"],
    logLevel: "error",
  });
  // What a module of webpack's hands to another is not followed.
  for (const [bundler, counted] of [
    ["webpack", handMade],
    ["esbuild", expected],
  ]) {
    assert.deepEqual(await node(path, "--import", register, `${bundler}/main.js`), prints(counted), bundler);
    assert.deepEqual(
      await node(path, "--disable-warning=ExperimentalWarning", `${bundler}/hand.js`),
      prints(handMade),
      bundler,
    );
  }
});
