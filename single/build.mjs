// One file with everything in it: Node, the command as a snapshot of its heap, the native addon, the instruction decoder.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { inject } from "postject";

const node = process.env.NODE ?? process.execPath;
const scratch = resolve("build/single");
const arch = process.arch;
const target = resolve(process.argv[2] ?? `dist/strobe-linux-${arch}`);

mkdirSync(scratch, { recursive: true });
await build({
  entryPoints: ["single/entry.ts"], outfile: join(scratch, "strobe.cjs"), bundle: true, platform: "node", format: "cjs", target: "node20.19",
  minifySyntax: true, minifyWhitespace: true, logLevel: "warning", define: { "import.meta.url": "__filename" },
  alias: { "node:module": resolve("single/module.ts") }, external: ["koffi", "iced-x86"],
});
const config = {
  main: join(scratch, "strobe.cjs"), output: join(scratch, "strobe.blob"), disableExperimentalSEAWarning: true, useSnapshot: true,
  assets: {
    "koffi.node": resolve(`node_modules/@koromix/koffi-linux-${arch}/linux_${arch}/koffi.node`),
    "iced-x86.js": resolve("node_modules/iced-x86/iced_x86.js"),
    "iced-x86.wasm": resolve("node_modules/iced-x86/iced_x86_bg.wasm"),
  },
};
writeFileSync(join(scratch, "config.json"), JSON.stringify(config));
// Node warns of builtin modules that it has not tried in snapshots; the test runs what comes out.
const made = spawnSync(node, ["--no-warnings", "--experimental-sea-config", join(scratch, "config.json")], { encoding: "utf8" });
if (made.status !== 0) throw new Error(`node could not make the snapshot:\n${made.stderr}`);

copyFileSync(node, target);
chmodSync(target, 0o755);
// The library that rewrites the file warns of section names that Node's own build left out.
console.warn = () => {};
await inject(target, "NODE_SEA_BLOB", readFileSync(join(scratch, "strobe.blob")), { sentinelFuse: "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2" });
