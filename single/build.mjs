// One file with everything in it: Node, the command with V8's compiled code for it, the native addon, the instruction
// decoder. `node single/build.mjs [FILE]`; NODE names the Node that goes in.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { inject } from "postject";
import { libraryOptions, loader, serverOptions } from "../modules.mjs";
import { buildParts } from "../parts.mjs";

const node = process.env.NODE ?? process.execPath;
const scratch = resolve("build/single");
const arch = process.arch;
const target = resolve(process.argv[2] ?? `dist/strobe-linux-${arch}`);
/** The tools, which no folder beside the file has, and pages that `strobe help` reads. */
const tools = readdirSync("tools")
  .filter((name) => /\.(bt|ts)$/.test(name))
  .sort();
const programs = tools.filter((name) => name.endsWith(".ts"));
const read = /^(?:language|messages|from-\w+)\.md$/;
const pages = readdirSync("docs").filter((name) => read.test(name));
const texts = [...tools.map((name) => `tools/${name}`), ...pages.map((name) => `docs/${name}`)];
const bundle = {
  loader,
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20.19",
  minify: true,
  logLevel: "warning",
  define: { "import.meta.url": "__filename", TOOLS: JSON.stringify(tools), PROGRAMS: JSON.stringify(programs) },
};
/** Packages that are assets (assets.ts). */
const packagesInside = ["koffi", "@koromix/*", "iced-x86"];
const assets = {
  "koffi.node": resolve(`node_modules/@koromix/koffi-linux-${arch}/linux_${arch}/koffi.node`),
  "iced-x86.js": resolve("node_modules/iced-x86/iced_x86.js"),
  "iced-x86.wasm": resolve("node_modules/iced-x86/iced_x86_bg.wasm"),
  ...Object.fromEntries(texts.map((path) => [path, resolve(path)])),
  ...Object.fromEntries(programs.map((name) => [name, resolve("tools", name)])),
};

function run(command, ...args) {
  const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed:\n${stderr}`);
}

/** `keep`: the file is to write the compiled code there, when it has run; else it has it. */
async function make(file, keep, more) {
  const main = join(scratch, "entry.cjs");
  await build({
    ...bundle,
    entryPoints: ["single/entry.ts"],
    outfile: main,
    define: {
      ...bundle.define,
      KEEP: JSON.stringify(keep),
      BUILD: JSON.stringify(Object.values(parts).join(" ")),
      LIBRARY: JSON.stringify(Object.keys(library)),
      LIBRARY_SUM: JSON.stringify(sumOf(Object.values(library))),
    },
  });
  const blob = join(scratch, "strobe.blob");
  const config = join(scratch, "config.json");
  writeFileSync(
    config,
    JSON.stringify({ main, output: blob, disableExperimentalSEAWarning: true, assets: { ...assets, ...more } }),
  );
  run(node, "--no-warnings", "--experimental-sea-config", config);
  copyFileSync(node, file);
  chmodSync(file, 0o755);
  // A seventh of Node is names of its own functions, which nothing here asks for. Without binutils they stay.
  spawnSync("strip", [file]);
  await inject(file, "NODE_SEA_BLOB", readFileSync(blob), {
    sentinelFuse: "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2",
  });
}

/** What programs import, with its packages in it: writes it, gives its files by name. */
async function makeLibrary() {
  const outdir = join(scratch, "library");
  rmSync(outdir, { recursive: true, force: true });
  await build({
    ...bundle,
    ...libraryOptions,
    format: "esm",
    splitting: true,
    keepNames: true,
    define: {},
    // The addon and the decoder are had from the file that this is in (entry.ts). Threads have none of it, nor any use.
    banner: {
      js: 'import { createRequire as createRequireHere } from "node:module"; const require = globalThis[Symbol.for("strobe.require")] ?? createRequireHere(import.meta.url);',
    },
    external: packagesInside,
    outdir,
  });
  return Object.fromEntries(readdirSync(outdir).map((name) => [name, join(outdir, name)]));
}

/** Of files. */
function sumOf(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

mkdirSync(scratch, { recursive: true });
// The library that rewrites the file warns of section names that Node's own build left out.
console.warn = () => {};
const parts = await buildParts({ ...bundle, outdir: scratch, external: packagesInside });
const library = await makeLibrary();
Object.assign(assets, library);
assets["lsp.js"] = join(scratch, "lsp.js");
await build({ ...bundle, ...serverOptions, outdir: scratch, external: packagesInside });
for (const [name, file] of Object.entries(parts)) assets[`${name}.js`] = join(scratch, file);
// Code is compiled when it runs, so it has to run once: in such a file, since V8 takes compiled code only from its
// like.
const maker = join(scratch, "maker");
await make(maker, scratch, {});
run(maker, "-q", "-e", 'begin { printf("%d\\n", 1); exit(); }');
await make(
  target,
  "",
  Object.fromEntries(Object.keys(parts).map((name) => [`${name}.cache`, join(scratch, `${name}.cache`)])),
);
