// Bundles command.ts and runs it, or, asked for `build-kernel`, that: Node 20 reads no TypeScript.
import { build } from "esbuild";
import { asModule } from "../../modules.mjs";

const name = process.argv[2] === "build-kernel" ? "build-kernel" : "command";
const outfile = `build/guest/${name}.mjs`;
await build({ ...asModule, entryPoints: [`test/guest/${name}.ts`], outfile });
await import(`../../${outfile}`);
