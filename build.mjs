// Bundles the command, the library and the tests with esbuild. `--quiet` prints only failures, `--tests` adds the tests.
import { chmodSync, rmSync } from "node:fs";
import { globSync } from "./test/support/glob.mjs";
import { build } from "esbuild";

const flags = new Set(process.argv.slice(2));

/** Options that the command, the library and the tests share. */
const shared = {
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  splitting: true,
  sourcemap: "linked",
  packages: "external",
  logLevel: flags.has("--quiet") ? "warning" : "info",
};

rmSync("dist", { recursive: true, force: true });
await build({
  ...shared,
  entryPoints: { strobe: "src/cli/main.ts", index: "src/index.ts" },
  outdir: "dist",
  chunkNames: "chunks/[name]-[hash]",
  minifySyntax: true,
});
chmodSync("dist/strobe.js", 0o755);

if (flags.has("--tests")) {
  rmSync("build", { recursive: true, force: true });
  await build({
    ...shared,
    logLevel: "warning",
    entryPoints: [...globSync("src", ".test.ts"), ...globSync("test", ".test.ts")],
    outbase: ".",
    outdir: "build",
    chunkNames: "chunks/[name]-[hash]",
  });
}
