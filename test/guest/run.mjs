// Bundles command.ts and runs it: Node 20 reads no TypeScript.
import { build } from "esbuild";

const outfile = "build/guest/command.mjs";
await build({
  entryPoints: ["test/guest/command.ts"], outfile, bundle: true, platform: "node", target: "node20.19", format: "esm", packages: "external",
  logLevel: "warning",
});
await import(`../../${outfile}`);
