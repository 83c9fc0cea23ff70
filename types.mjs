// Writes dist/types: the declarations that the package's entries reach. The compiler writes those of every file that the
// entries are made of, most of which no declaration names.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, rmdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const config = JSON.parse(readFileSync("tsconfig.types.json", "utf8"));
const folder = resolve(config.compilerOptions.outDir);
rmSync(folder, { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.types.json"], { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);

const declaration = (path) => path.replace(/\.ts$/, ".d.ts");
const reached = new Set(config.include.map((path) => declaration(join(folder, path.replace(/^src\//, "")))));
for (const file of reached) {
  for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
    reached.add(declaration(join(dirname(file), path)));
  }
}
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath ?? entry.path, entry.name);
  if (entry.isFile() && !reached.has(path)) rmSync(path);
}
// Deepest first.
for (const name of readdirSync(folder, { recursive: true }).sort().reverse()) {
  try {
    rmdirSync(join(folder, name));
  } catch {
    // A file, or a folder that has some.
  }
}
