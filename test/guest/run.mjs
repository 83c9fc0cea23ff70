// Bundles command.ts and runs it, or, asked for `build-kernel`, that: Node 20 reads no TypeScript.
import { build } from "esbuild";

const name = process.argv[2] === "build-kernel" ? "build-kernel" : "command";
const outfile = `build/guest/${name}.mjs`;
await build({
  entryPoints: [`test/guest/${name}.ts`], outfile, bundle: true, platform: "node", target: "node20.19", format: "esm", packages: "external",
  logLevel: "warning",
});
await import(`../../${outfile}`);
