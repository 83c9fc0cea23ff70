// Bundles command.ts and runs it, or another that is asked for by its name: Node 20 reads no TypeScript.
import { build } from "esbuild";
import { asModule } from "../../modules.mjs";

const others = ["build-kernel", "systemtap-fixtures"];
const name = others.includes(process.argv[2]) ? process.argv.splice(2, 1)[0] : "command";
const outfile = `build/guest/${name}.mjs`;
await build({ ...asModule, entryPoints: [`test/guest/${name}.ts`], outfile });
await import(`../../${outfile}`);
