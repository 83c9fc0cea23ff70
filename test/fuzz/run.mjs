// `npm run test:fuzz [-- --seconds N | --inputs N] [--only TARGET,…]`: see README.md.
import { spawnSync } from "node:child_process";
import { build } from "esbuild";
import { asModule } from "../../modules.mjs";

await build({
  ...asModule,
  logLevel: "warning",
  sourcemap: "linked",
  splitting: true,
  outdir: ".cache/fuzz",
  entryPoints: { campaign: "test/fuzz/campaign.ts", worker: "test/fuzz/worker.ts" },
});
const { status } = spawnSync(
  process.execPath,
  ["--enable-source-maps", ".cache/fuzz/campaign.js", ...process.argv.slice(2)],
  { stdio: "inherit" },
);
process.exit(status ?? 1);
