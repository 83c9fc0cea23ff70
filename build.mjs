// Bundles the command, the library and the tests with esbuild. `--quiet` prints only failures, `--tests` adds the
// tests.
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { globSync } from "./test/support/glob.mjs";
import { build } from "esbuild";
import { asModule, libraryOptions, serverOptions } from "./modules.mjs";
import { buildParts } from "./parts.mjs";

const flags = new Set(process.argv.slice(2));

/** Options that the command, the library and the tests share. */
const shared = {
  ...asModule,
  splitting: true,
  sourcemap: "linked",
  logLevel: flags.has("--quiet") ? "warning" : "info",
};

rmSync("dist", { recursive: true, force: true });
await build({ ...shared, ...libraryOptions, outdir: "dist" });

// The command is CommonJS, which Node starts faster; its launcher keeps the compiled code.
const command = {
  ...shared,
  format: "cjs",
  banner: {},
  splitting: false,
  outdir: "dist",
  minify: true,
  define: { "import.meta.url": "__filename" },
};
const parts = await buildParts(command);
await build({
  ...command,
  entryPoints: { strobe: "src/cli/launch.ts" },
  sourcemap: false,
  define: { ...command.define, PARTS: JSON.stringify(parts) },
});
await build({ ...command, ...serverOptions });
// A thread's own code: it is started by its file.
await build({ ...command, entryPoints: { "scan-worker": "src/machine/binaries/scan-worker.ts" }, sourcemap: false });
writeFileSync("dist/package.json", '{ "type": "commonjs" }\n');
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
